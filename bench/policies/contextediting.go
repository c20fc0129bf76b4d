package policies

import "github.com/memkernel/memkernel/replay"

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
	replay.History
	edits
	compactions int
}

func newContextEditing(rec *replay.Recording) replay.Chooser {
	p := &contextEditing{History: replay.NewHistory(rec)}
	p.edits = editsOf(&p.History)
	return p
}

func (p *contextEditing) Choose(req replay.Request) (c replay.Choice) {
	size := func() int { return p.Rec.Opt.FixedTokens + p.Tokens(req.End) }
	if size() > editTrigger && p.clear(req.End, editKeep, 1) {
		c.Cut = "clear"
	}
	if size() > min(compactTrigger, req.Room+p.Rec.Opt.FixedTokens) {
		p.compactions++
		c.Cut = "compact"
		c.Summarise(p.Tokens(req.End), p.Rec.Sum(p.Rec.Seen(req.N), req.End), compactSummary)
		p.Lead, p.From = []replay.Item{p.Rec.Summary(p.compactions, compactSummary)}, req.End
	}
	c.Items = p.Items(req.End)
	return c
}
