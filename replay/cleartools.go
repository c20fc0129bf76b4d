package replay

// The defaults of Anthropic's clear_tool_uses_20250919 (platform.claude.com,
// build-with-claude/context-editing): the prompt size that triggers it and the tool
// uses kept. clear_at_least has no default there; it is set as OpenClaw 2026.9
// sets it, to 5 % of the window and at least 12,500 tokens.
const (
	clearTrigger      = 100_000
	clearKeep         = 3
	clearAtLeast      = 12_500
	clearAtLeastShare = 0.05
	cleared           = "[Old tool result content cleared]"
)

// clearTools clears all but the newest tool results whenever the prompt is over the
// trigger and enough would go. What was cleared stays cleared; the documentation
// promises that later requests read the new prefix. A host compacts as append-late
// does once the window is full.
type clearTools struct {
	*appendLate
	keep int
}

func newClearTools(rec *recording, keep int) *clearTools {
	return &clearTools{appendLate: newAppendLate(rec, 0), keep: orElse(keep, clearKeep)}
}

func (p *clearTools) choose(req request) choice {
	cut := ""
	if p.rec.opt.FixedTokens+p.tokens(req.end) > clearTrigger && p.clear(req) {
		cut = "clear"
	}
	c := p.compactIfFull(req)
	if c.cut == "" {
		c.cut = cut
	}
	c.items = p.items(req.end)
	return c
}

func (p *clearTools) clear(req request) bool {
	least := max(clearAtLeast, int(clearAtLeastShare*float64(req.window)))
	all := p.results(req.end)
	var old []result
	saves := 0
	for _, r := range all[:max(0, len(all)-p.keep)] {
		if p.form(r) == "" {
			old = append(old, r)
			saves += p.saves(r)
		}
	}
	if saves < least {
		return false
	}
	for _, r := range old {
		p.replace(r, cleared)
	}
	return true
}

// saves returns what clearing a result would save, in tokens.
func (p *clearTools) saves(r result) int {
	part := p.part(r)
	before, after := p.rec.msgs[r.message], p.rec.msgs[r.message]
	before.Parts, after.Parts = before.Parts[r.part:r.part+1], nil
	after.Parts = append(after.Parts, withText(*part, cleared))
	return max(0, p.rec.counter.Message(&before)-p.rec.counter.Message(&after))
}
