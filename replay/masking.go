package replay

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
	*appendLate
	keep  int
	batch int // 0 for rolling
}

func newMasking(rec *recording, keep int) *masking {
	return &masking{newAppendLate(rec, 0), orElse(keep, maskKeep), 0}
}

func newMaskingBatch(rec *recording, batch int) *masking {
	return &masking{newAppendLate(rec, 0), maskKeep, orElse(batch, maskBatch)}
}

func (p *masking) choose(req request) choice {
	cut := ""
	if p.mask(req) {
		cut = "mask"
	}
	c := p.compactIfFull(req)
	if c.cut == "" {
		c.cut = cut
	}
	c.items = p.items(req.end)
	c.stable = p.stable(req.end)
	return c
}

// stable counts the items before the oldest result that is still in full.
func (p *masking) stable(end int) int {
	for _, r := range p.results(end) {
		if p.form(r) == "" && p.saves(r, masked) > 0 {
			return len(p.lead) + r.message - p.from
		}
	}
	return 0
}

func (p *masking) mask(req request) bool {
	all, seen := p.results(req.end), p.rec.seen(req.n)
	var old []result
	for _, r := range all[:max(0, len(all)-p.keep)] {
		if r.message < seen && p.form(r) == "" && p.saves(r, masked) > 0 {
			old = append(old, r)
		}
	}
	free := req.cold && req.n > 0
	if len(old) == 0 || len(old) < p.batch && !free {
		return false
	}
	for _, r := range old {
		p.replace(r, masked)
	}
	return true
}
