package replay

// The documented defaults of Anthropic's context_management (platform.claude.com,
// build-with-claude/context-editing and compaction-threshold, 2026-10): results are
// cleared from 100,000 tokens on, all but those of the newest 3 tool uses and however
// little that is; from 150,000 on everything is replaced by a summary, which in the
// documentation's example has 3,500 tokens.
const (
	editTrigger    = 100_000
	editKeep       = 3
	compactTrigger = 150_000
	compactSummary = 3_500
)

// contextEditing leaves both to the provider: clear_tool_uses_20250919 and
// compact_20260112. What was cleared stays cleared, as the documentation promises that
// later requests read the new prefix. In a window that is smaller than the triggers,
// the summary is written when it is full.
type contextEditing struct {
	history
	compactions int
}

func (p *contextEditing) choose(req request) (c choice) {
	size := func() int { return p.rec.opt.FixedTokens + p.tokens(req.end) }
	if size() > editTrigger && p.clear(req.end, editKeep, 1) {
		c.cut = "clear"
	}
	if size() > min(compactTrigger, req.room+p.rec.opt.FixedTokens) {
		p.compactions++
		c.cut = "compact"
		c.summarise(p.tokens(req.end), p.rec.sum(p.rec.seen(req.n), req.end), compactSummary)
		p.lead, p.from = []item{p.rec.summary(p.compactions, compactSummary)}, req.end
	}
	c.items = p.items(req.end)
	return c
}
