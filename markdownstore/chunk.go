package markdownstore

import (
	"crypto/sha256"
	"encoding/hex"
	"iter"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/memkernel/memkernel"
)

// Chunk is a run of lines that is searched and cited as a whole.
type Chunk struct {
	// ID depends on the path, the trail and the text. Equal chunks of a file are numbered in
	// their order. ID does not depend on the place in the file otherwise. It has 32 hex digits.
	ID   string `json:"id"`
	Path string `json:"path"`
	// StartLine and EndLine are 1-based and inclusive, in the file. Text is
	// those lines, byte for byte, unless a single line had to be cut.
	StartLine int `json:"start_line"`
	EndLine   int `json:"end_line"`
	// Start and End are byte offsets in the file, End exclusive.
	Start int `json:"start"`
	End   int `json:"end"`
	// Overlap is the number of bytes at the beginning of Text that are also in the chunk before.
	Overlap int `json:"overlap,omitempty"`
	// Trail is the list of headings that the whole chunk is under, outermost first. The chunk's
	// own first heading is among them unless a sibling follows it in the same chunk. Chunks share
	// it, so callers must not change it.
	Trail []string `json:"trail"`
	// Date is the document's, YYYY-MM-DD or "".
	Date string `json:"date,omitempty"`
	Text string `json:"text"`
	// Hash is the sha256 of Text in hex.
	Hash string `json:"hash"`
	// Tokens is the size of Text in tokens of a fixed counter.
	Tokens int `json:"tokens"`
	// Units are the units of Text. The first and the last unit are clipped to Text. Chunks share
	// units, so callers must not change them.
	Units []Unit `json:"units,omitempty"`
}

// Ref cites the chunk.
func (c Chunk) Ref() memkernel.Ref {
	return memkernel.Ref{Path: c.Path, StartLine: c.StartLine, EndLine: c.EndLine, Hash: c.Hash}
}

// chunksOf cuts a document into chunks, in order. If c is nil, the defaults are used. chunksOf is
// a pure function of its arguments.
func chunksOf(d Document, c *Chunking) []Chunk { return slices.Collect(ChunkSeq(d, c)) }

// ChunkSeq yields the chunks one by one. It holds only the document, its units and one chunk in
// memory.
func ChunkSeq(d Document, c *Chunking) iter.Seq[Chunk] {
	var opts Chunking
	if c != nil {
		opts = *c
	}
	opts.SetDefaults()
	return func(yield func(Chunk) bool) {
		k := &chunker{Chunking: opts, doc: d, text: d.Raw, units: AllUnits(d), yield: yield, trail: []string{}, seen: map[string]int{}, lineNo: 1}
		k.run()
	}
}

// chunksOf cuts a document by the store's own setting.
func (s *Store) Chunks(d Document) []Chunk {
	c := s.Chunking()
	return chunksOf(d, &c)
}

// emit makes the chunk of a piece and hands it out.
func (k *chunker) emit(p piece) {
	if k.done {
		return
	}
	text := k.text[p.from:p.to]
	sum := sha256.Sum256([]byte(text))
	c := Chunk{
		Path: k.doc.Path, Date: k.doc.Class.Date, Text: text,
		StartLine: k.line(p.from), EndLine: k.line(p.to - 1), Start: p.from, End: p.to,
		Overlap: p.own - p.from, Tokens: countTokens(text), Hash: hex.EncodeToString(sum[:]),
	}
	first, last := k.unitAt(p.own), k.unitAt(p.to-1)
	c.Trail = k.trailOf(first, last)
	c.ID = k.id(c.Trail, sum)
	c.Units = k.clipped(k.unitAt(p.from), last, &c)
	k.done = !k.yield(c)
}

// unitAt returns the index of the unit that holds an offset.
func (k *chunker) unitAt(off int) int {
	return sort.Search(len(k.units), func(i int) bool { return k.units[i].End > off })
}

// clipped returns the units first to last, cut to a chunk.
func (k *chunker) clipped(first, last int, c *Chunk) []Unit {
	units := k.units[first : last+1 : last+1]
	if units[0].Start >= c.Start && units[len(units)-1].End <= c.End {
		return units
	}
	units = slices.Clone(units)
	if u := &units[0]; u.Start < c.Start {
		u.Start, u.StartLine = c.Start, c.StartLine
	}
	if u := &units[len(units)-1]; u.End > c.End {
		u.End, u.EndLine = c.End, c.EndLine
	}
	return units
}

// push takes a heading into force; those of its level and below end.
func push(open []Unit, u Unit) []Unit {
	for len(open) > 0 && open[len(open)-1].Level >= u.Level {
		open = open[:len(open)-1]
	}
	return append(open, u)
}

// trailOf returns the trail common to the units first to last. The caller must ask for chunks in
// order, since trailOf applies the headings before first as it advances.
func (k *chunker) trailOf(first, last int) []string {
	for ; k.passed < first; k.passed++ {
		if u := k.units[k.passed]; u.Kind == UnitHeading {
			k.open = push(k.open, u)
		}
	}
	common := slices.Clone(k.open)
	i := first
	for i < last && k.units[i].End <= k.doc.BodyOffset {
		i++ // front matter
	}
	for ; i <= last && k.units[i].Kind == UnitHeading; i++ {
		common = push(common, k.units[i])
	}
	for own := len(common); i <= last; i++ {
		u := k.units[i]
		for u.Kind == UnitHeading && own > 0 && common[own-1].Level >= u.Level {
			own--
		}
		common = common[:own]
	}
	out := make([]string, 0, len(common))
	for _, h := range common {
		if h.Label != "" {
			out = append(out, h.Label)
		}
	}
	if !slices.Equal(out, k.trail) {
		k.trail = out // chunks with the same trail share it
	}
	return k.trail
}

// id returns a chunk's id, made of its headings and its text.
func (k *chunker) id(trail []string, text [sha256.Size]byte) string {
	var b strings.Builder
	b.WriteString(k.doc.Path + "\x00")
	for _, t := range trail {
		b.WriteString(strings.ReplaceAll(t, "\x1f", " ") + "\x1f")
	}
	b.WriteString("\x00" + string(text[:]))
	id := hashOf(b.String())[:32]
	n := k.seen[id]
	if k.seen[id]++; n == 0 {
		return id
	}
	return hashOf(b.String() + strconv.Itoa(n))[:32]
}
