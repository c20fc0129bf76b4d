package retrieval

// The defaults of PackOptions.
const (
	DefaultPackTokens = 2000
	DefaultPackItems  = 6
)

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
	// Shown, if not nil, reports whether the prompt shows a hit already.
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
	// ShownAlready: the prompt holds it.
	ShownAlready LeftReason = "shown_already"
	// Duplicate: another item has the same content.
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

// Packed is the result of Pack.
type Packed struct {
	// Items are in the order in which Render is to have them: the best first, and after each
	// those of the same file or page, in the order of their lines; never nil.
	Items []Item `json:"items"`
	// Left holds the items that were left out; never nil.
	Left []Left `json:"left"`
	// Tokens is the size of the rendered items by the counter.
	Tokens int `json:"tokens"`
}

// Pack chooses the parts of hits that go into a prompt. The hits must be those of a Query for
// Lines, the best first. A hit goes in as a whole if it fits. The first that does not fit is cut
// to the lines round the question's words, unless too little room is left for that. Hits that
// touch in one text become one item. The rendered items never have more tokens than the options
// allow.
func Pack(hits []Hit, opts *PackOptions) Packed {
	p := packer{seen: map[string]bool{}, left: []Left{}}
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
