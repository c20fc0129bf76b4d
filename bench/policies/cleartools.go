package policies

import (
	"cmp"

	"github.com/memkernel/memkernel/replay"
)

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
	*replay.Late
	edits
	keep int
}

func newClearTools(rec *replay.Recording, keep int) replay.Chooser {
	late := replay.NewLate(rec, 0)
	return &clearTools{Late: late, edits: editsOf(&late.History), keep: cmp.Or(keep, clearKeep)}
}

func (p *clearTools) Choose(req replay.Request) replay.Choice {
	cut := ""
	least := max(clearAtLeast, int(clearAtLeastShare*float64(req.Window)))
	if p.Rec.Opt.FixedTokens+p.Tokens(req.End) > clearTrigger && p.clear(req.End, p.keep, least) {
		cut = "clear"
	}
	c := p.CompactIfFull(req)
	if c.Cut == "" {
		c.Cut = cut
	}
	c.Items = p.Items(req.End)
	return c
}

// clear clears all results before message end but the newest, if that saves enough. It
// reports whether it did.
func (h *edits) clear(end, keep, least int) bool {
	all := h.results(end)
	var old []result
	saves := 0
	for _, r := range all[:max(0, len(all)-keep)] {
		if h.form(r) == "" {
			old = append(old, r)
			saves += h.saves(r, cleared)
		}
	}
	if saves < least {
		return false
	}
	for _, r := range old {
		h.replace(r, cleared)
	}
	return true
}

// saves returns what a text in the place of a result would save, in tokens.
func (h *edits) saves(r result, text string) int {
	part := h.part(r)
	before, after := h.of.Rec.Messages[r.message], h.of.Rec.Messages[r.message]
	before.Parts, after.Parts = before.Parts[r.part:r.part+1], nil
	after.Parts = append(after.Parts, withText(*part, text))
	return max(0, h.of.Rec.Counter.Message(&before)-h.of.Rec.Counter.Message(&after))
}
