package retrieval

import "slices"

// The defaults of PackOptions.
const (
	DefaultPackTokens = 2000
	DefaultPackItems  = 6
)

// usefulTokens is the least that a hit is cut down to: a shorter piece of a
// text mostly lacks what makes it an answer.
const usefulTokens = 60

// maxDensity is how many characters a token holds at most in a text worth
// showing. It bounds what a cut has to look through.
const maxDensity = 8

// PackOptions are settings of Pack; nil and zero fields mean the defaults.
type PackOptions struct {
	// Tokens is the most that the rendered block may have, its fence and labels
	// included.
	Tokens int
	// Items is the most notes in it.
	Items int
	// Count counts the tokens of a text. The default takes three bytes for a
	// token, which is more than nearly any text has.
	Count func(string) int
	// Shown, if not nil, tells whether the prompt shows a hit already.
	Shown func(Hit) bool
}

func (o *PackOptions) setDefaults() {
	if o.Tokens == 0 {
		o.Tokens = DefaultPackTokens
	}
	if o.Items == 0 {
		o.Items = DefaultPackItems
	}
	if o.Count == nil {
		o.Count = func(s string) int { return (len(s) + 2) / 3 }
	}
}

// LeftReason says why a hit is not in the block.
type LeftReason string

// The reasons.
const (
	// ShownAlready: the prompt holds it.
	ShownAlready LeftReason = "shown_already"
	// Duplicate: another item says the same.
	Duplicate LeftReason = "duplicate"
	// OverItems: there are as many items as may be.
	OverItems LeftReason = "over_items"
	// OverBudget: not enough of it would fit to be of use.
	OverBudget LeftReason = "over_budget"
	// Empty: nothing is left of it without comments and rules.
	Empty LeftReason = "empty"
)

// Left is a hit that is not in the block.
type Left struct {
	ID       string     `json:"id"`
	Citation string     `json:"citation"`
	Reason   LeftReason `json:"reason"`
}

// Packed is what fits.
type Packed struct {
	// Items are in the order in which Render is to have them; never nil.
	Items []Item `json:"items"`
	// Left is what was left out; never nil.
	Left []Left `json:"left"`
	// Tokens is the size of the rendered items by the counter.
	Tokens int `json:"tokens"`
}

// Pack chooses what of hits, the best first, goes into a prompt: each as a
// whole if it fits, else the lines round the question's words. Hits that touch
// in one text become one item. The rendered items never have more tokens than
// the options allow.
func Pack(hits []Hit, opts *PackOptions) Packed {
	p := packer{seen: map[string]bool{}, packed: Packed{Items: []Item{}, Left: []Left{}}}
	if opts != nil {
		p.PackOptions = *opts
	}
	p.setDefaults()
	for i := range hits {
		h := &hits[i]
		if why := p.offer(h, i); why != "" {
			p.packed.Left = append(p.packed.Left, Left{h.ID, h.Citation, why})
		}
	}
	return p.packed
}

// packer holds what has been accepted.
type packer struct {
	PackOptions
	segments []segment
	packed   Packed
	block    string
	// seen are the texts that stand in the block.
	seen map[string]bool
}

// offer takes a hit in, or says why not.
func (p *packer) offer(h *Hit, rank int) LeftReason {
	if p.Shown != nil && p.Shown(*h) {
		return ShownAlready
	}
	whole := segment{hit: h, rank: rank, from: h.StartLine, to: h.EndLine, lines: strip(linesOf(h))}
	text := join(whole.lines)
	switch {
	case len(whole.lines) == 0:
		return Empty
	case p.seen[text]:
		return Duplicate
	}
	why := p.try(whole)
	if why == OverBudget {
		why = p.tryPart(whole)
	}
	if why == "" {
		p.seen[text] = true
	}
	return why
}

// try accepts a segment if the block with it is within all bounds.
func (p *packer) try(s segment) LeftReason {
	if len(s.lines) == 0 {
		return Empty
	}
	segments := append(slices.Clip(p.segments), s)
	items := assemble(segments)
	block := Render(items)
	switch {
	case block == p.block:
		return Duplicate
	case len(items) > p.Items:
		return OverItems
	}
	tokens := p.Count(block)
	if tokens > p.Tokens {
		return OverBudget
	}
	p.segments, p.block = segments, block
	p.packed.Items, p.packed.Tokens = items, tokens
	return ""
}

// tryPart accepts the largest part of a segment that fits.
func (p *packer) tryPart(whole segment) LeftReason {
	room := p.Tokens - p.packed.Tokens
	if room < usefulTokens {
		return OverBudget
	}
	if limit := room * maxDensity; sum(whole.lines) > limit {
		whole = whole.part(limit)
	}
	low, high := 0, sum(whole.lines)+1 // characters that fit, and that don't
	var best segment
	last := OverBudget
	for before := *p; high-low > max(low/16, 1); {
		try, size := before, low+(high-low)/2
		part := whole.part(size)
		switch why := try.try(part); why {
		case OverBudget:
			high = size
		case "":
			low, best = size, part
		default: // a larger part may hold something new, or touch an item
			low, last = size, why
		}
	}
	switch {
	case best.hit == nil:
		return last
	case p.Count(join(best.lines)) < usefulTokens:
		return OverBudget
	}
	return p.try(best)
}

// part is the lines of a segment that an excerpt of a size has.
func (s segment) part(size int) segment {
	s.lines = trim(excerpt(s.lines, size, s.hit.terms))
	s.cut = true
	if len(s.lines) > 0 {
		s.from, s.to = s.lines[0].no, s.lines[len(s.lines)-1].no
	}
	return s
}
