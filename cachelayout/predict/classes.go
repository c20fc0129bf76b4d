package predict

import "slices"

// Class is what calls added of one class of content.
type Class struct {
	// Class is user, injected, answer, thinking, call, result, media or other.
	Class  string `json:"class"`
	Blocks int    `json:"blocks"`
	Bytes  int    `json:"bytes"`
	// Tokens is the counter's figure with its framing.
	Tokens int `json:"counted_tokens"`
	// Calls added little else; BilledRatio is the median, over those, of what was
	// billed over what was counted; nil if there were none.
	Calls       int      `json:"calls"`
	BilledRatio *float64 `json:"billed_over_counted"`

	ratios []float64
}

const (
	// A class is judged by calls whose growth is at least this share of it, and
	// that many tokens.
	dominant    = 0.75
	minDominant = 200
)

func newClasses() []Class {
	out := make([]Class, numClasses)
	for i, name := range classes() {
		out[i].Class = name
	}
	return out
}

// grow adds what one call added, and what was billed for it, 0 if that is not
// known.
func grow(classes []Class, added *measure, billed int) {
	total, _ := added.total()
	for i := range classes {
		c, n := &classes[i], added.tokens[i]
		c.Blocks += added.blocks[i]
		c.Bytes += added.bytes[i]
		c.Tokens += n
		if billed > 0 && n >= minDominant && float64(n) >= dominant*float64(total) {
			c.Calls++
			c.ratios = append(c.ratios, float64(billed-total+n)/float64(n))
		}
	}
}

// TotalClasses adds up the classes of several sessions.
func TotalClasses(reports []*Report) []Class {
	out := newClasses()
	for _, r := range reports {
		for i := range r.Classes {
			from, to := &r.Classes[i], &out[i]
			to.Blocks, to.Bytes, to.Tokens, to.Calls = to.Blocks+from.Blocks, to.Bytes+from.Bytes, to.Tokens+from.Tokens, to.Calls+from.Calls
			to.ratios = append(to.ratios, from.ratios...)
		}
	}
	settle(out)
	return out
}

// settle fills in the medians.
func settle(classes []Class) {
	for i := range classes {
		if c := &classes[i]; len(c.ratios) > 0 {
			m, _ := quantiles(slices.Clone(c.ratios))
			c.BilledRatio = &m
		}
	}
}
