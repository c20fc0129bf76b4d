package replay

import (
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/cachelayout"
)

// bound is a lower limit of the cost of any policy that shows all new text once and marks the end
// of every prompt for the cache. Each token is written once when it is new and never retained. The
// fixed part is written once and read by every later call. A result that is large when it first
// appears costs nothing, since a policy may show a preview from the start. Prices are those of the
// cheapest tier.
type bound struct {
	// WriteTokens are the new tokens, without the fixed part.
	WriteTokens int `json:"write_tokens"`
	// CostUSD is nil where a price is unknown.
	CostUSD *float64 `json:"cost_usd"`
	// NetCostUSD leaves the fixed part out.
	NetCostUSD *float64 `json:"net_cost_usd"`
}

// bound returns the contribution of call n to the bound.
func (r *Recording) bound(n int) bound {
	m := r.Model(r.Calls[n].Start)
	window := orElse(r.Opt.ContextWindow, m.ContextWindow)
	var tier cachelayout.Tier
	if len(m.Tiers) > 0 {
		tier = m.Tiers[0]
	}
	write := cheaper(writePrice(m, tier, r.Opt.TTL), tier.Input, r.Opt.FixedTokens < m.MinCacheTokens)
	out := bound{WriteTokens: r.Sum(r.Seen(n), r.End(n)) - r.large(r.Seen(n), r.End(n), budget.LargeResult(window))}
	fixed := tier.Read
	if n == 0 {
		fixed = cheaper(write, tier.Input, true)
	}
	out.NetCostUSD = priced(out.WriteTokens, write)
	out.CostUSD = add(out.NetCostUSD, priced(r.Opt.FixedTokens, fixed))
	return out
}

// add adds another call's share.
func (b *bound) add(o bound) {
	b.WriteTokens += o.WriteTokens
	b.CostUSD, b.NetCostUSD = add(b.CostUSD, o.CostUSD), add(b.NetCostUSD, o.NetCostUSD)
}

// large sums the sizes of the results that are over limit.
func (r *Recording) large(from, end, limit int) int {
	n := 0
	for i := from; i < end; i++ {
		for _, p := range r.Messages[i].Parts {
			if p.Result == nil {
				continue
			}
			if t := r.Counter.Message(&memkernel.Message{Parts: []memkernel.Part{p}}); t > limit {
				n += t
			}
		}
	}
	return n
}

// cheaper returns the smaller of the two prices if a prompt may go uncached, and the price of
// writing if not.
func cheaper(write, plain *float64, uncached bool) *float64 {
	if uncached && write != nil && plain != nil && *plain < *write {
		return plain
	}
	return write
}

// priced returns the cost of tokens at a price in dollars per million, nil if a needed price is
// unknown.
func priced(tokens int, price *float64) *float64 {
	if tokens == 0 {
		return new(float64)
	}
	if price == nil {
		return nil
	}
	usd := float64(tokens) * *price / 1e6
	return &usd
}

// writePrice returns the price of a new token that is written for ttl. A model without a price for
// writing has its input price.
func writePrice(m cachelayout.Model, t cachelayout.Tier, ttl time.Duration) *float64 {
	long := len(m.TTLs) > 1 && m.TTL(ttl) >= m.TTLs[1]
	switch {
	case long && t.Write1h != nil:
		return t.Write1h
	case !long && t.Write5m != nil:
		return t.Write5m
	case m.Cache == cachelayout.CacheAnthropic || m.Cache == cachelayout.CacheOpenAIExplicit:
		return nil
	}
	return t.Input
}
