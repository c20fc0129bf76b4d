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
	// Tokens is Text by the chunker's counter.
	Tokens int `json:"tokens"`
	// Units are the units of Text. The first and the last unit are clipped to Text. Chunks share
	// units, so callers must not change them.
	Units []Unit `json:"units,omitempty"`
}

// Ref cites the chunk.
func (c Chunk) Ref() memkernel.Ref {
	return memkernel.Ref{Path: c.Path, StartLine: c.StartLine, EndLine: c.EndLine, Hash: c.Hash}
}

// UnitText returns the text of one of the chunk's units.
func (c Chunk) UnitText(u Unit) string { return c.Text[u.Start-c.Start : u.End-c.Start] }

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
	opts.setDefaults()
	return func(yield func(Chunk) bool) {
		k := &chunker{Chunking: opts, doc: d, text: d.Raw, units: AllUnits(d), yield: yield, trail: []string{}, seen: map[string]int{}}
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
	text := k.text[p.from.off:p.to.off]
	sum := sha256.Sum256([]byte(text))
	c := Chunk{
		Path: k.doc.Path, Date: k.doc.Class.Date, Text: text,
		StartLine: p.from.line, EndLine: p.to.line, Start: p.from.off, End: p.to.off,
		Overlap: p.own.off - p.from.off, Tokens: k.Count(text), Hash: hex.EncodeToString(sum[:]),
	}
	if k.text[p.to.off-1] == '\n' {
		c.EndLine--
	}
	first := k.unitAt(p.own.off)
	last := k.unitAt(p.to.off - 1)
	c.Trail = k.trailOf(first, last)
	c.ID = k.id(c.Trail, sum)
	c.Units = k.clipped(k.unitAt(p.from.off), last, p)
	k.done = !k.yield(c)
}

// unitAt returns the index of the unit that holds an offset.
func (k *chunker) unitAt(off int) int {
	return sort.Search(len(k.units), func(i int) bool { return k.units[i].End > off })
}

// clipped returns the units first to last, cut to the piece.
func (k *chunker) clipped(first, last int, p piece) []Unit {
	units := k.units[first : last+1 : last+1]
	if units[0].Start >= p.from.off && units[len(units)-1].End <= p.to.off {
		return units
	}
	units = slices.Clone(units)
	if u := &units[0]; u.Start < p.from.off {
		u.Start, u.StartLine = p.from.off, p.from.line
	}
	if u := &units[len(units)-1]; u.End > p.to.off {
		u.End, u.EndLine = p.to.off, p.to.line
		if k.text[p.to.off-1] == '\n' {
			u.EndLine--
		}
	}
	return units
}

// heading is a heading that is in force.
type heading struct {
	level int
	label string
}

// push takes a heading into force; those of its level and below end.
func push(open []heading, u Unit) []heading {
	for len(open) > 0 && open[len(open)-1].level >= u.Level {
		open = open[:len(open)-1]
	}
	return append(open, heading{u.Level, u.Label})
}

// trailOf returns the trail common to the units first to last. The caller must ask for chunks in
// order, since trailOf applies the headings before first as it advances.
func (k *chunker) trailOf(first, last int) []string {
	for ; k.passed < first; k.passed++ {
		if u := k.units[k.passed]; u.Kind == UnitHeading {
			k.open = push(k.open, u)
		}
	}
	common := append(k.scratch[:0], k.open...)
	i := first
	for i < last && k.units[i].End <= k.doc.BodyOffset {
		i++ // front matter
	}
	for ; i <= last && k.units[i].Kind == UnitHeading; i++ {
		common = push(common, k.units[i])
	}
	for own := len(common); i <= last; i++ {
		u := k.units[i]
		for u.Kind == UnitHeading && own > 0 && common[own-1].level >= u.Level {
			own--
		}
		common = common[:own]
	}
	k.scratch = common
	return k.labels(common)
}

// labels returns the texts of headings, the slice of the last chunk if that
// has the same.
func (k *chunker) labels(open []heading) []string {
	out := make([]string, 0, len(open))
	for _, h := range open {
		if h.label != "" {
			out = append(out, h.label)
		}
	}
	if slices.Equal(out, k.trail) {
		return k.trail
	}
	k.trail = out
	return out
}

// id returns a chunk's id, made of its headings and its text.
func (k *chunker) id(trail []string, text [sha256.Size]byte) string {
	buf := k.buf[:0]
	buf = append(append(buf, k.doc.Path...), 0)
	for _, t := range trail {
		buf = append(append(buf, strings.ReplaceAll(t, "\x1f", " ")...), 0x1f)
	}
	buf = append(append(buf, 0), text[:]...)
	k.buf = buf
	sum := sha256.Sum256(buf)
	id := hex.EncodeToString(sum[:16])
	n := k.seen[id]
	if k.seen[id]++; n == 0 {
		return id
	}
	sum = sha256.Sum256(strconv.AppendInt(buf, int64(n), 10))
	return hex.EncodeToString(sum[:16])
}
