package replay

import (
	"slices"

	"github.com/memkernel/memkernel/cachelayout"
)

// Parts is a cost taken apart by its causes, in US dollars: with the fixed part the parts
// sum to it. Of two policies, or of a policy and the [Bound], the difference of their
// parts says where the distance between them comes from. All are nil where a price is
// unknown.
type Parts struct {
	// SelectionUSD is what was shown: new messages when they are sent first, and what
	// stands of older ones, read by every call.
	SelectionUSD *float64 `json:"selection_usd"`
	// FixedUSD is the fixed part, written and read.
	FixedUSD *float64 `json:"fixed_usd"`
	// CutsUSD is what a call that cut had to write of older messages, and the calls
	// that wrote summaries.
	CutsUSD *float64 `json:"cuts_usd"`
	// GapsUSD is what a call that found the cache cold had to write of older messages,
	// and such calls' summaries.
	GapsUSD *float64 `json:"gaps_usd"`
	// RestUSD is what other calls had to write beyond what was new: a policy's own
	// notes, and older messages that stood and were not found in the cache.
	RestUSD *float64 `json:"rest_usd"`
}

func noParts() Parts {
	return Parts{new(float64), new(float64), new(float64), new(float64), new(float64)}
}

func (p *Parts) all() []**float64 {
	return []**float64{&p.SelectionUSD, &p.FixedUSD, &p.CutsUSD, &p.GapsUSD, &p.RestUSD}
}

// Add sums two costs part by part.
func (p Parts) Add(o Parts) Parts { return p.with(o, 1) }

// Over returns what p is more than o, part by part.
func (p Parts) Over(o Parts) Parts { return p.with(o, -1) }

func (p Parts) with(o Parts, sign float64) Parts {
	for i, v := range p.all() {
		if w := *o.all()[i]; w == nil {
			*v = nil
		} else {
			w := sign * *w
			*v = add(*v, &w)
		}
	}
	return p
}

// Total returns the sum of the parts.
func (p Parts) Total() *float64 {
	sum := new(float64)
	for _, v := range p.all() {
		sum = add(sum, *v)
	}
	return sum
}

// Parts takes the bound apart: it selects what it must and breaks nothing.
func (b Bound) Parts() Parts {
	p := noParts()
	p.SelectionUSD, p.FixedUSD = b.NetCostUSD, nil
	if b.CostUSD != nil && b.NetCostUSD != nil {
		fixed := *b.CostUSD - *b.NetCostUSD
		p.FixedUSD = &fixed
	}
	return p
}

// sections are the tokens of a prompt by how they are billed, in the order of the prompt.
type sections struct{ read, write1h, write5m, uncached int }

// first takes n tokens off the front and returns them.
func (s *sections) first(n int) (f sections) {
	for _, p := range [][2]*int{{&s.read, &f.read}, {&s.write1h, &f.write1h}, {&s.write5m, &f.write5m}, {&s.uncached, &f.uncached}} {
		*p[1] = min(*p[0], n)
		*p[0], n = *p[0]-*p[1], n-*p[1]
	}
	return f
}

func (s *sections) tokens() int { return s.read + s.written() }

func (s *sections) written() int { return s.write1h + s.write5m + s.uncached }

func (s *sections) cost(t cachelayout.Tier) *float64 {
	return costAt(t, s.read, s.write5m, s.write1h, s.uncached)
}

// apart takes a call's cost apart: fixed and messages are the sections of its prompt,
// grown is how many of its tokens are new, and extra what else it paid.
func (c *Call) apart(fixed, messages sections, grown int, t cachelayout.Tier, extra *float64) Parts {
	p := noParts()
	p.FixedUSD = fixed.cost(t)
	older := messages.first(messages.read + max(0, messages.written()-grown)) // the new ones stay in messages
	reads := older.first(older.read)
	p.SelectionUSD = add(reads.cost(t), messages.cost(t))
	again := add(older.cost(t), extra)
	switch {
	case c.Cold && !c.first:
		p.GapsUSD = again
	case c.Cut != "":
		p.CutsUSD = again
	default:
		p.RestUSD = again
	}
	return p
}

// ToBound is what a [Distance] is to if not to a policy.
const ToBound = "bound"

// Distance is how much more the kernel costs than the oracle or the bound, and where that
// comes from.
type Distance struct {
	Policy string `json:"policy"`
	// To is [Oracle] or [ToBound].
	To string `json:"to"`
	// CostUSD is the sum of the parts.
	CostUSD *float64 `json:"cost_usd"`
	Parts
}

// Distances returns those of the kernel's result to the oracle's, if that is among the
// results, and to the bound; none without a result of the kernel's.
func Distances(results []*Result) []Distance {
	out := []Distance{}
	ours := find(results, Memkernel)
	if ours == nil {
		return out
	}
	if best := find(results, Oracle); best != nil {
		out = append(out, distance(Oracle, ours.Parts.Over(best.Parts)))
	}
	return append(out, distance(ToBound, ours.Parts.Over(ours.Bound.Parts())))
}

func distance(to string, p Parts) Distance { return Distance{Memkernel, to, p.Total(), p} }

func find(results []*Result, policy string) *Result {
	i := slices.IndexFunc(results, func(r *Result) bool { return r.Policy == policy })
	if i < 0 {
		return nil
	}
	return results[i]
}
