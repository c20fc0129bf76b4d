package markdownstore

import (
	"crypto/sha256"
	"fmt"
	"iter"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"
)

// chunk is a run of lines that is searched and cited as a whole.
type chunk struct {
	// ID has 32 hex digits. It depends on the path, the trail, the text, and for equal chunks of a
	// file on their order. It does not depend on the place in the file otherwise.
	ID string
	// StartLine and EndLine are 1-based and inclusive, in the file. Text is
	// those lines, byte for byte, unless a single line had to be cut.
	StartLine, EndLine int
	// start and end are byte offsets in the file, end exclusive. overlap is the number of bytes at
	// the beginning of Text that are also in the previous chunk.
	start, end, overlap int
	// Trail is the list of headings that the whole chunk is under, outermost first. The chunk's
	// own first heading is among them unless a sibling follows it in the same chunk. Chunks share
	// it, so callers must not change it.
	Trail []string
	// Date is the date of the document, YYYY-MM-DD or "".
	Date string
	Text string
	// Tokens is the size of Text in tokens of a fixed counter.
	Tokens int
}

// chunksOf cuts a document into chunks, in order. If c is nil, the defaults are used. chunksOf is
// a pure function of its arguments.
func chunksOf(d Document, c *Chunking) []chunk { return slices.Collect(ChunkSeq(d, c)) }

// ChunkSeq yields the chunks one by one. It holds only the document, its units and one chunk in
// memory.
func ChunkSeq(d Document, c *Chunking) iter.Seq[chunk] {
	var opts Chunking
	if c != nil {
		opts = *c
	}
	opts.SetDefaults()
	return func(yield func(chunk) bool) {
		k := &chunker{Chunking: opts, doc: d, text: d.Raw, units: AllUnits(d), yield: yield, trail: []string{}, seen: map[string]int{}, lineNo: 1}
		k.run()
	}
}

// Chunks cuts a document by the store's own setting.
func (s *Store) Chunks(d Document) []chunk {
	c := s.Chunking()
	return chunksOf(d, &c)
}

// emit makes the chunk of a piece and yields it.
func (k *chunker) emit(p piece) {
	if k.done {
		return
	}
	text := k.text[p.from:p.to]
	sum := sha256.Sum256([]byte(text))
	c := chunk{
		Date: k.doc.Class.Date, Text: text, StartLine: k.line(p.from), EndLine: k.line(p.to - 1),
		start: p.from, end: p.to, overlap: p.own - p.from, Tokens: countTokens(text),
	}
	c.Trail = k.trailOf(k.unitAt(p.own), k.unitAt(p.to-1))
	c.ID = k.id(c.Trail, sum)
	k.done = !k.yield(c)
}

// unitAt returns the index of the unit that holds an offset.
func (k *chunker) unitAt(off int) int {
	return sort.Search(len(k.units), func(i int) bool { return k.units[i].End > off })
}

// push adds a heading to the open headings. It first removes those of its own level and of lower ranks.
func push(open []Unit, u Unit) []Unit {
	for len(open) > 0 && open[len(open)-1].Level >= u.Level {
		open = open[:len(open)-1]
	}
	return append(open, u)
}

// trailOf returns the headings that all units from first to last are under. Callers must call it for
// chunks in order, because it remembers the headings before first.
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

const (
	defaultChunkTokens   = 400
	defaultOverlapTokens = 80
	// minChunkTokens is the smallest value of Chunking.Tokens. Smaller chunks are not worth citing.
	minChunkTokens = 16
)

// Chunking is the setting for the size of chunks. The zero value means the defaults.
type Chunking struct {
	// Tokens is the size up to which chunks are filled. A code fence is kept in one piece up to
	// twice that size.
	Tokens int
	// Overlap is the number of tokens at the end of a chunk that the next chunk repeats if a text was
	// cut between the two. 0 means the default. A negative value means no overlap. Nothing is
	// repeated at the end of a section.
	Overlap int
}

// SetDefaults sets the fields that have no value to their defaults.
func (c *Chunking) SetDefaults() {
	if c.Tokens <= 0 {
		c.Tokens = defaultChunkTokens
	}
	c.Tokens = max(c.Tokens, minChunkTokens)
	switch {
	case c.Overlap < 0:
		c.Overlap = -1 // not 0: defaults may be set twice
	case c.Overlap == 0:
		c.Overlap = defaultOverlapTokens
	}
	c.Overlap = min(c.Overlap, c.Tokens/2)
}

// Name identifies the setting. The same bytes give the same chunks under the same name. The
// leading number is the version of the chunker's rules. The word after it names countTokens.
//
//	1: heading-aware packing, overlap by lines
//	2: with front matter
func (c Chunking) Name() string {
	c.SetDefaults()
	return fmt.Sprintf("2/bytes-v1/%d/%d", c.Tokens, max(c.Overlap, 0))
}

// countTokens counts the tokens of a text for the size of chunks. An ASCII byte is two eighths of a
// token, and any other byte three eighths. The sum is rounded up. So four English letters are a token,
// and a Chinese character is nine eighths of a token. The count does not depend on a model, because
// chunks must not change with the model.
func countTokens(s string) int {
	other := 0
	for i := range len(s) {
		other += int(s[i] >> 7)
	}
	return (2*len(s) + other + 7) / 8
}

// splitLine cuts a long line into pieces of at most limit tokens. It cuts after a sentence if possible,
// else after a space, else between runes. It calls yield with the end of each piece. The last end is
// len(s).
func splitLine(s string, limit int, yield func(end int)) {
	for at := 0; at < len(s); {
		n := fit(s[at:], limit)
		if at+n < len(s) {
			n = breakAt(s[at:], n)
		}
		at += n
		yield(at)
	}
}

// fit returns the length of a prefix of s that has at most limit tokens and ends between runes. The
// prefix has at least one rune.
func fit(s string, limit int) int {
	n := min(len(s), 4*limit)
	for n > 1 {
		t := countTokens(s[:n])
		if t <= limit {
			break
		}
		n = min(n-1, max(1, n*limit/t))
	}
	if n == len(s) {
		return n
	}
	if cut := runeStart(s, n); cut > 0 {
		return cut
	}
	_, size := utf8.DecodeRuneInString(s)
	return size
}

// runeStart returns n, or the beginning of the rune that a cut at n would divide. Among bytes that are
// not UTF-8 it returns n.
func runeStart(s string, n int) int {
	for i := n; i > 0 && i > n-utf8.UTFMax; i-- {
		if utf8.RuneStart(s[i]) {
			if _, size := utf8.DecodeRuneInString(s[i:]); i+size > n {
				return i
			}
			return n
		}
	}
	return n
}

// breakAt returns the end of a sentence or of a word in the second half of s[:n]. If there is none, it
// returns n.
func breakAt(s string, n int) int {
	space := 0
	for i := n; i > n/2; i-- {
		switch c := s[i-1]; {
		case c == ' ' || c == '\t':
			if i > 1 && (s[i-2] == '.' || s[i-2] == '!' || s[i-2] == '?') {
				return i
			}
			if space == 0 {
				space = i
			}
		case c == 0x82 && i > 2 && s[i-3:i] == "。", c == 0x81 && i > 2 && s[i-3:i] == "！", c == 0x9f && i > 2 && s[i-3:i] == "？":
			return i
		}
	}
	if space > 0 {
		return space
	}
	return n
}
