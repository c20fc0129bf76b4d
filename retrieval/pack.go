package retrieval

import (
	"slices"
	"strings"
)

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

// usefulTokens is the least number of tokens to which a hit is cut down. A shorter piece mostly
// lacks the part that answers the question.
const usefulTokens = 60

// maxDensity is the largest number of bytes for each token in a text worth showing. It bounds the
// first count.
const maxDensity = 8

// packer holds the accepted segments. The token counts of adjacent texts add up except for a few
// tokens. So the packer adds up the counts of the notes, each counted once, and settle counts the
// whole block.
type packer struct {
	PackOptions
	segments []segment
	notes    []note
	// fence is the number of tokens of the block without its notes. tokens is the approximate
	// number of tokens with the notes.
	fence, tokens int
	// cut reports whether a hit has been cut down.
	cut  bool
	left []left
	// seen are the texts that are in the block.
	seen map[string]bool
}

// note is an item as it is rendered.
type note struct {
	Item
	block  string
	tokens int
	// of is the first of the note's passages, or nil if the note has no passages.
	of *Hit
}

// leave records that a hit is left out, and why.
func (p *packer) leave(h *Hit, why LeftReason) {
	p.left = append(p.left, left{h.ID, h.Citation, why})
}

// offer adds a hit to the block, or returns the reason why it can't.
func (p *packer) offer(h *Hit, rank int) LeftReason {
	if p.Shown != nil && p.Shown(*h) {
		return ShownAlready
	}
	whole := segment{hit: h, rank: rank, from: h.StartLine, to: h.EndLine, lines: strip(linesOf(h))}
	text := join(whole.lines)
	switch {
	case len(whole.lines) == 0:
		return empty
	case p.seen[text], p.repeats(h):
		return Duplicate
	}
	d, why := p.lay(whole)
	if why == "" && !p.fits(d) {
		d, why = p.cutDown(whole)
	}
	if why == "" {
		p.accept(d)
		p.seen[text] = true
	}
	return why
}

// draft is the block with one more segment.
type draft struct {
	segment
	notes []note
	// fresh is the note that holds the segment.
	fresh *note
	// without is the number of tokens of all other notes and of the fence.
	without int
	// grown is the note that fresh replaces, or nil if fresh is new.
	grown *note
}

// lay makes a draft with the segment s. It fails if there are too many items, or if s has no
// text.
func (p *packer) lay(s segment) (*draft, LeftReason) {
	if len(s.lines) == 0 {
		return nil, empty
	}
	d := &draft{segment: s, without: p.fence}
	if s.hit.place != nil {
		p.join(d)
	} else if slices.ContainsFunc(p.segments, s.touches) {
		d.notes = p.again(assemble(append(slices.Clip(p.segments), s)))
	} else if len(p.notes) < p.Items {
		item, _ := fuse([]segment{s})
		d.notes = append(slices.Clip(p.notes), note{Item: item})
	}
	if len(d.notes) == 0 || len(d.notes) > p.Items {
		return nil, OverItems
	}
	for i := range d.notes {
		if n := &d.notes[i]; n.block == "" {
			d.fresh = n
		} else {
			d.without += n.tokens
		}
	}
	if d.fresh == nil {
		return nil, Duplicate
	}
	var b strings.Builder
	d.fresh.render(&b)
	d.fresh.block = b.String()
	return d, ""
}

// again returns the items as notes. It keeps the rendered text and the token count of accepted
// notes.
func (p *packer) again(items []Item) []note {
	notes := make([]note, len(items))
	for i := range items {
		if old := p.note(&items[i]); old != nil {
			notes[i] = *old
		}
		notes[i].Item = items[i]
	}
	return notes
}

// note returns the accepted note that shows the same lines as an item, or nil.
func (p *packer) note(it *Item) *note {
	i := slices.IndexFunc(p.notes, func(n note) bool {
		return n.Citation == it.Citation && n.Text == it.Text && n.Date == it.Date && slices.Equal(n.Trail, it.Trail)
	})
	if i < 0 {
		return nil
	}
	return &p.notes[i]
}

// fits reports whether the block stays within the budget with the draft. It does not count the
// tokens of a text that has more than maxDensity bytes per token of the room that is left.
func (p *packer) fits(d *draft) bool {
	return len(d.fresh.block) <= (p.Tokens-d.without)*maxDensity && p.measure(d) <= p.Tokens
}

// measure estimates a draft's tokens.
func (p *packer) measure(d *draft) int {
	if d.grown != nil {
		// Only the addition is counted. settle counts the whole block.
		added := d.fresh.block[min(len(d.grown.block), len(d.fresh.block)):]
		d.fresh.tokens = d.grown.tokens + p.Count(join(d.lines)) + len(added)/64 + 2
		return d.without + d.fresh.tokens
	}
	d.fresh.tokens = p.Count(d.fresh.block)
	return d.without + d.fresh.tokens
}

func (p *packer) accept(d *draft) {
	p.segments, p.notes = append(p.segments, d.segment), d.notes
	p.tokens = d.without + d.fresh.tokens
}

// maxTries bounds the number of tries of a cut. Most cuts fit at the second try.
const maxTries = 6

// cutDown returns a draft with the part of a segment that fits into the remaining room. It is
// called at most once for a block, since little room remains after it.
func (p *packer) cutDown(whole segment) (*draft, LeftReason) {
	room := p.Tokens - p.tokens
	if p.cut || room < usefulTokens {
		return nil, OverBudget
	}
	p.cut = true
	return p.partOf(whole, room)
}

// partOf tries parts of a segment and returns the largest part that fits. The result of each try
// determines the size of the next part.
func (p *packer) partOf(whole segment, room int) (*draft, LeftReason) {
	whole.lines = sentencesOf(whole.lines)
	mark(whole.lines, whole.hit.terms)
	whole.lines = excerpt(whole.lines, room*maxDensity, whole.hit.terms)
	low, high := 0, sum(whole.lines)+1 // sizes in characters that fit, and that don't
	size := min(room*4, high-1)        // a guess
	var best *draft
	last := OverBudget
	for range maxTries {
		part := whole.part(size)
		d, why := p.lay(part)
		used := 0
		switch {
		case why != "": // a larger part may hold something new, or touch an item
			low, last = size, why
		default:
			tokens := p.measure(d)
			if used = tokens - p.tokens; tokens <= p.Tokens {
				low, best = size, d
			} else {
				high = size
			}
		}
		if best != nil && low == size && 8*used > 7*room || high-low <= max(low/16, 1) {
			break
		}
		size = next(low, high, size, room, used)
	}
	switch {
	case best == nil:
		return nil, last
	case best.fresh.tokens*len(join(best.lines)) < usefulTokens*len(best.fresh.block):
		return nil, OverBudget
	}
	return best, ""
}

// next returns the size to try after a size that used the given tokens of the room. The new size
// is a little less than proportional, and between the bounds low and high. If the last size used
// nothing, next returns the middle of the bounds.
func next(low, high, size, room, used int) int {
	if used > 0 {
		if n := size * room / used * 31 / 32; low < n && n < high {
			return n
		}
	}
	return low + (high-low)/2
}

// part returns an excerpt of a segment of marked sentences, with a given size.
func (s segment) part(size int) segment {
	s.lines = trim(relined(excerpt(s.lines, size, s.hit.terms)))
	s.cut = true
	if len(s.lines) > 0 {
		s.from, s.to = s.lines[0].no, s.lines[len(s.lines)-1].no
	}
	return s
}

// settle counts the block. If the block is too large, settle makes the last segment smaller once,
// or removes it.
func (p *packer) settle() Packed {
	for shrunk := false; len(p.segments) > 0; {
		p.notes = pageOrder(p.notes)
		items := make([]Item, len(p.notes))
		for i := range p.notes {
			items[i] = p.notes[i].Item
		}
		tokens := p.Count(p.block())
		if tokens <= p.Tokens {
			return Packed{items, p.left, tokens}
		}
		shrunk = p.takeBack(tokens-p.tokens, shrunk)
	}
	return Packed{[]Item{}, p.left, 0}
}

func (p *packer) block() string {
	var b strings.Builder
	b.WriteString(blockHead)
	for _, n := range p.notes {
		b.WriteString(n.block)
	}
	b.WriteString(blockFoot)
	return b.String()
}

// takeBack removes the last segment of a block. more is the number of tokens by which the block
// exceeds the sum of its notes. takeBack reports whether a part of the segment replaced it.
func (p *packer) takeBack(more int, shrunk bool) bool {
	last := p.segments[len(p.segments)-1]
	p.segments = p.segments[:len(p.segments)-1]
	p.fence += more
	p.relay()
	if room := p.Tokens - p.tokens; !shrunk && room >= usefulTokens {
		if d, why := p.partOf(last, room); why == "" {
			p.accept(d)
			return true
		}
	}
	p.leave(last.hit, OverBudget)
	return false
}

// relay rebuilds the notes of the segments, and counts each note.
func (p *packer) relay() {
	segments := p.segments
	p.segments, p.notes, p.tokens = nil, nil, p.fence
	for _, s := range segments {
		if d, why := p.lay(s); why == "" {
			p.measure(d)
			p.accept(d)
		}
	}
}
