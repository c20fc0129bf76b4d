package retrieval

// The defaults of PackOptions.
const (
	DefaultPackTokens = 2000
	DefaultPackItems  = 6
)

// PackOptions are settings of Pack. A nil *PackOptions and zero fields mean the defaults.
type PackOptions struct {
	// Tokens is the largest number of tokens of the rendered block, including its fence and
	// labels.
	Tokens int
	// Items is the largest number of notes in the block.
	Items int
	// Count counts the tokens of a text. The default counts a token for every three bytes. Nearly
	// all texts have fewer tokens than that.
	Count func(string) int
	// Shown, if not nil, reports whether the prompt already shows a hit.
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

// LeftReason is why a hit is not in the block.
type LeftReason string

// The reasons.
const (
	// ShownAlready: the prompt already holds the hit.
	ShownAlready LeftReason = "shown_already"
	// Duplicate: another item has the same content.
	Duplicate LeftReason = "duplicate"
	// OverItems: the block already has the largest number of items.
	OverItems LeftReason = "over_items"
	// OverBudget: the part of the hit that would fit is too small to be useful.
	OverBudget LeftReason = "over_budget"
	// empty: the hit has no text except comments and rules.
	empty LeftReason = "empty"
)

// left is a hit that is not in the block.
type left struct {
	ID       string     `json:"id"`
	Citation string     `json:"citation"`
	Reason   LeftReason `json:"reason"`
}

// Packed is the result of Pack.
type Packed struct {
	// Items are in the order in which callers should pass them to Render. The best item comes
	// first. Items of the same file or page follow each other in the order of their lines. Items
	// is never nil.
	Items []Item `json:"items"`
	// left holds the hits that were left out. It is never nil.
	Left []left `json:"left"`
	// Tokens is the size of the rendered items by the counter.
	Tokens int `json:"tokens"`
}

// Pack chooses the parts of hits that go into a prompt. The hits must be the result of a Query
// with Lines set, the best first. A hit that fits goes in as a whole. The first hit that does not
// fit is cut to the lines around the question's words, unless too little room is left. Hits that
// are next to each other in one text become one item. The rendered items never have more tokens
// than the options allow.
func Pack(hits []Hit, opts *PackOptions) Packed {
	p := packer{seen: map[string]bool{}, left: []left{}}
	if opts != nil {
		p.PackOptions = *opts
	}
	p.setDefaults()
	p.fence = p.Count(blockHead + blockFoot)
	p.tokens = p.fence
	for i := range hits {
		h := &hits[i]
		if why := p.offer(h, i); why != "" {
			p.leave(h, why)
		}
	}
	return p.settle()
}
