package cachelayout

import (
	"fmt"
	"time"
)

// Bill holds the tokens that a request is expected to read and write, and its expected cost.
type Bill struct {
	// The four buckets are disjoint and sum to the whole prompt.
	ReadTokens int `json:"read_tokens"`
	// Write5mTokens are written with the provider's short lifetime.
	Write5mTokens int `json:"write_5m_tokens"`
	// Write1hTokens are written with the provider's long lifetime.
	Write1hTokens  int `json:"write_1h_tokens"`
	UncachedTokens int `json:"uncached_tokens"`
	// A, B and C are the borders of the package comment, in tokens.
	A int `json:"a"`
	B int `json:"b"`
	C int `json:"c"`
	// HitBlock is the index of the last block that is read, -1 if no block is read.
	HitBlock int `json:"hit_block"`
	// CostUSD is the cost of the input in dollars. It is nil if a required price is unknown.
	CostUSD *float64 `json:"cost_usd"`
	// NoLayoutCostUSD is the cost of the same prompt without any caching.
	NoLayoutCostUSD *float64 `json:"no_layout_cost_usd"`
	// Tier is the AboveTokens of the tier that prices the request.
	Tier int `json:"tier"`
	// Notes are further remarks for the user.
	Notes []string `json:"notes,omitempty"`
}

// Total returns the whole prompt in tokens.
func (b Bill) Total() int {
	return b.ReadTokens + b.Write5mTokens + b.Write1hTokens + b.UncachedTokens
}

func (b *Bill) note(format string, args ...any) {
	b.Notes = append(b.Notes, fmt.Sprintf(format, args...))
}

// Bill predicts the tokens that a request sent at now with these markers reads and writes, and its
// cost. It depends only on content, identity and our own clock. It does not foresee that a provider
// evicts an entry early or routes the request to another machine.
func (l *Ledger) Bill(m Model, id Identity, blocks []Block, bps []Breakpoint, now time.Time) Bill {
	b := Bill{HitBlock: -1}
	at := sums(blocks)
	total := at[len(blocks)].tokens
	switch {
	case l.Expect(m).Cache != m.Cache:
		b.note("the provider promises no cache hit and usage has shown none: none is counted on")
	case m.Cache.marked():
		l.billMarked(&b, m, id, blocks, at, bps, now)
	case m.Cache.automatic():
		l.billAutomatic(&b, m, id, blocks, at, now)
	}
	b.UncachedTokens = total - b.C
	b.price(m, total)
	return b
}

// billMarked fills in a bill by the A/B/C rule of the package comment.
func (l *Ledger) billMarked(b *Bill, m Model, id Identity, blocks []Block, at []sum, bps []Breakpoint, now time.Time) {
	kept := l.common(blocks)
	best := -1 // the furthest live entry, whether seen or not
	for i := range l.Marks {
		mark := &l.Marks[i]
		if mark.Index >= kept || !mark.live(now) || at[mark.Index+1].tokens < m.MinCacheTokens ||
			!mark.readable(id, levelOf(blocks[mark.Index].Region)) {
			continue
		}
		best = max(best, mark.Index)
		if mark.Index > b.HitBlock && seen(mark.Index, m, at, bps) {
			b.HitBlock = mark.Index
		}
	}
	if b.HitBlock >= 0 {
		b.A = at[b.HitBlock+1].tokens
	}
	if best > b.HitBlock {
		b.note("a live entry at block %d is out of every marker's look-back of %d positions", best, m.LookbackPositions)
	}
	b.B, b.C = b.A, b.A
	for _, bp := range bps {
		if bp.Block < 0 || bp.Block >= len(blocks) || at[bp.Block+1].tokens < m.MinCacheTokens {
			continue
		}
		tokens := at[bp.Block+1].tokens
		b.C = max(b.C, tokens)
		if m.longLived(bp.TTL) {
			b.B = max(b.B, tokens)
		}
	}
	b.ReadTokens, b.Write1hTokens, b.Write5mTokens = b.A, b.B-b.A, b.C-b.B
	if total := at[len(blocks)].tokens; b.C == 0 && total < m.MinCacheTokens {
		b.note("prompt of %d tokens is below the model's minimum of %d: nothing is cached", total, m.MinCacheTokens)
	}
}

// seen reports whether a marker's look-back reaches the entry that ends at
// block index. The look-back counts the marked position itself.
func seen(index int, m Model, at []sum, bps []Breakpoint) bool {
	for _, bp := range bps {
		if bp.Block < index || bp.Block+1 >= len(at) {
			continue
		}
		if m.LookbackPositions <= 0 || at[bp.Block+1].positions-at[index+1].positions < m.LookbackPositions {
			return true
		}
	}
	return false
}

// billAutomatic fills in a bill for a cache without markers. The request reads the longest
// unchanged prefix, rounded down to the provider's step. The rest is plain input.
func (l *Ledger) billAutomatic(b *Bill, m Model, id Identity, blocks []Block, at []sum, now time.Time) {
	if cold, _ := l.Cold(m, id, now); cold {
		return
	}
	n := l.common(blocks)
	tokens := at[n].tokens
	if m.StepTokens > 0 {
		tokens -= tokens % m.StepTokens
	}
	if n == 0 || tokens == 0 || tokens < m.MinCacheTokens {
		if total := at[len(blocks)].tokens; total < m.MinCacheTokens {
			b.note("prompt of %d tokens is below the model's minimum of %d: nothing is cached", total, m.MinCacheTokens)
		}
		return
	}
	if len(m.TTLs) == 0 {
		b.note("the provider documents no lifetime: %s assumed", AssumedTTL)
	}
	b.HitBlock = n - 1
	b.A, b.B, b.C = tokens, tokens, tokens
	b.ReadTokens = tokens
}

// price fills in the costs.
func (b *Bill) price(m Model, total int) {
	t := m.TierFor(total)
	b.Tier = t.AboveTokens
	if t.AboveTokens > 0 {
		b.note("prompt of %d tokens is over the price cliff at %d: the whole request costs more", total, t.AboveTokens)
	}
	b.CostUSD = m.Cost(b.ReadTokens, b.Write5mTokens, b.Write1hTokens, b.UncachedTokens, 0)
	b.NoLayoutCostUSD = m.Cost(0, 0, 0, total, 0)
	if b.CostUSD == nil {
		b.note("unpriced: the price book does not know what this costs")
	}
}

// Cost returns the price in dollars of a call with these token counts. The sum of the four input
// counts decides the price tier of the whole call. Cost returns nil if a required price is
// unknown.
func (m Model) Cost(read, write5m, write1h, uncached, output int) *float64 {
	t := m.TierFor(read + write5m + write1h + uncached)
	if t.Input == nil {
		return nil
	}
	var usd float64
	for _, p := range [...]struct {
		tokens int
		price  *float64
	}{{read, t.Read}, {write5m, t.Write5m}, {write1h, t.Write1h}, {uncached, t.Input}, {output, t.Output}} {
		if p.tokens == 0 {
			continue
		}
		if p.price == nil {
			return nil
		}
		usd += float64(p.tokens) * *p.price / 1e6
	}
	return &usd
}
