package policies

import (
	"cmp"

	"github.com/memkernel/memkernel/replay"
)

// Observation masking, as agents for software commonly have it: the newest results stay,
// and a line is in the place of every older one.
const (
	maskKeep  = 10
	maskBatch = 30
	masked    = "[Old tool result left out]"
)

// masking masks every result but the newest. Rolling, it does so for every call; in
// batches, once so many are waiting or the cache is cold anyway. What no call has shown
// stays. It compacts as append-late does once the window is full.
type masking struct {
	*replay.Late
	edits
	keep  int
	batch int // 0 for rolling
}

func newMasking(rec *replay.Recording, keep int) replay.Chooser {
	late := replay.NewLate(rec, 0)
	return &masking{late, editsOf(&late.History), cmp.Or(keep, maskKeep), 0}
}

func newMaskingBatch(rec *replay.Recording, batch int) replay.Chooser {
	late := replay.NewLate(rec, 0)
	return &masking{late, editsOf(&late.History), maskKeep, cmp.Or(batch, maskBatch)}
}

func (p *masking) Choose(req replay.Request) replay.Choice {
	cut := ""
	if p.mask(req) {
		cut = "mask"
	}
	c := p.CompactIfFull(req)
	if c.Cut == "" {
		c.Cut = cut
	}
	c.Items = p.Items(req.End)
	c.Stable = p.stable(req.End)
	return c
}

// stable counts the items before the oldest result that is still in full.
func (p *masking) stable(end int) int {
	for _, r := range p.results(end) {
		if p.form(r) == "" && p.saves(r, masked) > 0 {
			return len(p.Lead) + r.message - p.From
		}
	}
	return 0
}

func (p *masking) mask(req replay.Request) bool {
	all, seen := p.results(req.End), p.Rec.Seen(req.N)
	var old []result
	for _, r := range all[:max(0, len(all)-p.keep)] {
		if r.message < seen && p.form(r) == "" && p.saves(r, masked) > 0 {
			old = append(old, r)
		}
	}
	free := req.Cold && req.N > 0
	if len(old) == 0 || len(old) < p.batch && !free {
		return false
	}
	for _, r := range old {
		p.replace(r, masked)
	}
	return true
}
