package retrieval

import (
	"bytes"
	"slices"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/memkernel/memkernel/index/analysis"
	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/markdownstore"
)

// passage is the smallest piece of a chunk that a search finds by itself: a turn, an item, a
// paragraph, or sentences of a long paragraph. A heading belongs to the first passage under it.
type passage struct {
	// from is the passage's first line in the chunk, counted from 0. to is the line after its
	// last line. A passage may begin or end within a line, where a sentence does.
	from, to int
	// own is the first line of the passage that is not a heading.
	own int
	// label holds the analysed words of the speaker's name. It is nil if there is no speaker.
	label *digest
	// body holds the passage's words without the words of the label.
	body digest
	// about holds the words of the passage's headings in the chunk. trail has the headings in
	// full.
	about *digest
	// title holds the words of the headings among the passage's lines. It is nil if there are no
	// such headings.
	title *digest
	trail []string
	// property is the key of the front matter's property that is the passage, or "".
	property string
	// bound reports whether the passage is code, a quote, a row of a table, or a part of a unit.
	bound bool
	// task reports whether the passage is a task with a checkbox.
	task bool
	// points reports whether the passage is a line of a list of contents: a link to a note and nothing
	// else.
	points bool
	// asks is the share of the passage's sentences that are questions.
	asks float64
	// voice tells who speaks in the passage.
	voice voice
	// tagged reports whether the passage carries a tag of significance.
	tagged bool
	// gone reports whether all of the passage's own lines are marked as no longer valid.
	gone bool
	// changes reports whether the passage mentions a statement that it replaces.
	changes bool
	// pairs are the pairs of bytes of the passage's text in its compared spelling.
	pairs pairMask
	// others describes other statements. Passages that mention none share one value.
	*others
	// begin is the offset of the passage's text in the chunk's text. ownBegin is the offset of
	// its own lines. end is the end of both.
	begin, ownBegin, end int32
	// lead is the text without which the passage may be unclear: the sentence that announces a
	// list, the item above an item, or the head of a table.
	lead lead
	// head and tail report whether a sentence, or code, goes on before or after the passage.
	// first reports whether it may go on before the passage if the chunk is not the file's first.
	head, tail, first bool
	read
}

// others describes the other statements that a passage mentions.
type others struct {
	// comesFrom and supersedes are the places that the passage's reference comments name.
	comesFrom, supersedes []string
	// replaces describes the statement that the passage replaces. It is nil if the passage
	// mentions no such statement or is gone itself.
	replaces *markdownstore.Replacement
	// former are the pairs of bytes of the replaced statement's words.
	former pairMask
}

var noOthers others

// read caches the analysis of a shown text: its times and its claim. Both are made on first use.
type read struct {
	told atomic.Pointer[told]
	// states has the cues of a person's words, see place.told. It is 0 until they are read.
	states atomic.Int32
	// claim is the claim of a passage, or an empty one.
	claim atomic.Pointer[claim]
}

// outline is the passages of a chunk, in order.
type outline struct {
	passages []*passage
	// over holds the words of the headings above the whole chunk.
	over *digest
	// lang is the language of the chunk's text.
	lang string
	// mask marks the words of all passages.
	mask wordMask
	// read is the analysis of the whole chunk.
	read
	// whole is the digest of the chunk. It is made on first use.
	whole atomic.Pointer[digest]
	// spelt holds the pairs of bytes of the chunk's compared spelling. It is made on first use.
	spelt atomic.Pointer[pairMask]
}

// spelling returns the pairs of bytes of the chunk's text in its compared spelling.
func (o *outline) spelling(text string) *pairMask {
	m := o.spelt.Load()
	if m == nil {
		m = new(pairMask)
		m.add(spelled(text))
		o.spelt.Store(m)
	}
	return m
}

// outlineOf divides a chunk into passages.
func outlineOf(a *analysis.Analyzer, text string, trail []string) *outline {
	units := blocksOf(text)
	runs, broken := runsOf(text, units)
	terms, lang := a.AppendLines(nil, unreferenced(broken))
	c := cutter{a: a, whole: text, lang: lang, lines: splitLines(broken), terms: bytes.Split(terms, []byte{'\n'}), above: trail}
	c.about = c.words(nil)
	for i, u := range units {
		c.unit(u, runs[i])
	}
	c.flush()
	o := &outline{passages: c.out, over: c.words(trail), lang: lang}
	c.pack()
	for _, p := range c.out {
		for _, d := range [...]*digest{&p.body, p.label, p.title} {
			o.mask.add(d)
		}
	}
	return o
}

// unitsOfChunk returns the units of a chunk. Only the first chunk of a file has front matter.
func unitsOfChunk(text string) []markdownstore.Unit {
	if strings.HasPrefix(text, "---") || strings.HasPrefix(text, "+++") {
		return markdownstore.AllUnits(markdownstore.Parse("", text))
	}
	return markdownstore.Units(markdownstore.Document{Raw: text, Body: text, BodyLine: 1})
}

// wordMask is a set of words, by their hashes, as a Bloom filter. A word that isn't marked isn't in
// the set. A marked word may be.
type wordMask [16]uint64

func (m *wordMask) add(d *digest) {
	if d != nil {
		for _, t := range d.set {
			m[t>>6%16] |= 1 << (t % 64)
		}
	}
}

func (m *wordMask) has(t uint32) bool { return m[t>>6%16]&(1<<(t%64)) != 0 }

// pairMask marks the pairs of adjacent bytes of texts. If a pair of a string is not marked, the
// texts do not contain the string.
type pairMask [4]uint64

func (m *pairMask) add(text string) { addPairs(m, text) }

func addPairs[T string | []byte](m *pairMask, text T) {
	for i := 1; i < len(text); i++ {
		h := (uint32(text[i-1])<<8 | uint32(text[i])) * 0x9E3779B1 >> 24
		m[h>>6] |= 1 << (h % 64)
	}
}

func (m *pairMask) hasAll(of *pairMask) bool {
	return of[0]&^m[0]|of[1]&^m[1]|of[2]&^m[2]|of[3]&^m[3] == 0
}

// cutter makes passages of units.
type cutter struct {
	a     *analysis.Analyzer
	whole string
	lang  string
	// lines are the chunk's lines, with a break where a passage begins within a line. terms holds
	// the analysed words of each of these lines. breaks is the number of breaks before the current
	// passage.
	lines  []string
	terms  [][]byte
	breaks int
	above  []string
	// open are the current headings that are in the chunk.
	open []markdownstore.Unit
	// about holds the words of these headings.
	about *digest
	// head is the extent of the headings that have no text yet, or nil.
	head *extent
	leads
	out []*passage
	// digests are all digests that were made.
	digests []*digest
	// sets holds the sets of these digests.
	sets []uint32
	// room, buf and spelt are buffers.
	room       []uint32
	buf, spelt []byte
}

func (c *cutter) unit(u markdownstore.Unit, runs []extent) {
	if len(runs) == 0 {
		return
	}
	whole := runs[0]
	whole.end = runs[len(runs)-1].end
	c.leads.see(c.whole, u.Kind, whole)
	switch u.Kind {
	case markdownstore.UnitHeading:
		c.heading(u, runs[0])
	case markdownstore.UnitRule, markdownstore.UnitMarker:
	default:
		c.text(u, runs)
	}
}

// heading opens the heading u. If u is not below the headings that have no text yet, these headings
// become a passage.
func (c *cutter) heading(u markdownstore.Unit, r extent) {
	if c.head != nil && c.open[len(c.open)-1].Level >= u.Level {
		c.flush()
	}
	for len(c.open) > 0 && c.open[len(c.open)-1].Level >= u.Level {
		c.open = c.open[:len(c.open)-1]
	}
	c.open = append(c.open, u)
	if c.head == nil {
		c.head = &r
	}
	c.head.to, c.head.end = r.to, r.end
	labels := make([]string, len(c.open))
	for i, h := range c.open {
		labels[i] = h.Label
	}
	c.about = c.words(labels)
}

// flush makes a passage of the headings that have no text yet.
func (c *cutter) flush() {
	if h := c.head; h != nil {
		c.head = nil
		c.add(&passage{}, *h, *h)
	}
}

// text makes passages of the runs of a unit. Headings directly above the unit belong to its first
// passage.
func (c *cutter) text(u markdownstore.Unit, runs []extent) {
	for i, own := range runs {
		r := own
		if c.head != nil {
			r.from, r.begin, c.head = c.head.from, c.head.begin, nil
		}
		p := &passage{head: own.head, tail: own.tail, bound: !states(u.Kind) || own.within || own.head || own.tail}
		p.first = r.from == 0 && own.from == 0 && (u.Kind == markdownstore.UnitParagraph || u.Kind == markdownstore.UnitQuote) && (own.to > 1 || !begins(c.whole))
		if own.within {
			c.breaks++
		}
		if u.Kind == markdownstore.UnitTurn && u.Label != "" && i == 0 {
			p.label, p.voice = c.words([]string{u.Label}), voiceOf(u.Label)
		}
		if u.Kind == markdownstore.UnitProperty {
			p.property = u.Label
		}
		p.lead = c.leads.of(u.Kind, i)
		c.add(p, r, own)
	}
}

// states reports whether units of a kind may be statements.
func states(k markdownstore.UnitKind) bool {
	return k == markdownstore.UnitParagraph || k == markdownstore.UnitItem || k == markdownstore.UnitTurn
}

// box matches the checkbox of a task.
var box = textutil.LazyRegexp(`^\s*(?:[-*+]|\d+[.)])\s+\[[ xX]\]`)

// stamp matches a time or a day at the beginning of a log line.
var stamp = textutil.LazyRegexp(`^[\s>*\-\[(]{0,6}(?:\d{4}[-/]\d\d[-/]\d\d|\d\d:\d\d|[A-Z][a-z]{2} +\d{1,2} \d\d:\d\d)`)

// stamped reports whether lines are lines of a log, which are independent of each other. Most
// lines of a log begin with a time.
func stamped(lines []string) bool {
	n := 0
	for _, l := range lines {
		if len(l) > 4 && strings.ContainsAny(l[:min(len(l), 16)], "0123456789") && stamp.MatchString(l) {
			n++
		}
	}
	return n > 1 && 2*n > len(lines)
}

// add completes the passage p with the extent r and appends it. own is r without its headings,
// whose words count as title words.
func (c *cutter) add(p *passage, r, own extent) {
	p.from, p.own, p.to = r.from, own.from, r.to
	p.begin, p.ownBegin, p.end = int32(r.begin), int32(own.begin), int32(own.end)
	first := min(own.from+c.breaks, len(c.lines))
	text, lines := c.whole[own.begin:own.end], c.lines[first:min(own.to+c.breaks, len(c.lines))]
	tokens := c.hashes(own.from, own.to)
	if p.label != nil {
		tokens = tokens[min(p.label.size, len(tokens)):]
	}
	c.tally(&p.body, tokens)
	if r.from < own.from {
		p.title = c.tally(&digest{}, c.hashes(r.from, own.from))
	}
	if quotesPerson(lines[0]) {
		p.voice = persons
	}
	p.asks, p.tagged = questionShare(text), anyTagged(lines)
	if p.voice != unsaid && p.asks > 0 {
		p.asks = askedLength(p.spoken(text))
	}
	p.task = strings.Contains(lines[0], "[") && box.MatchString(lines[0])
	p.points = strings.Contains(lines[0], "[") && !slices.ContainsFunc(lines, func(l string) bool { return !pointer.MatchString(l) })
	p.gone = strings.TrimSpace(text) != "" && !slices.ContainsFunc(lines, func(l string) bool {
		return strings.TrimSpace(l) != "" && !markdownstore.SaysSuperseded(l)
	})
	speaksOf := others{}
	speaksOf.comesFrom, speaksOf.supersedes = refersTo(lines)
	var by markdownstore.Replacement
	if by, p.changes = markdownstore.ReplacementOf(text); p.changes && !p.gone {
		speaksOf.replaces = &by
		for _, w := range by.Former() {
			speaksOf.former.add(w)
		}
	}
	p.others = &noOthers
	if len(speaksOf.comesFrom)+len(speaksOf.supersedes) > 0 || speaksOf.replaces != nil {
		p.others = &speaksOf
	}
	c.spelt = appendSpelled(c.spelt[:0], c.whole[r.begin:r.end])
	addPairs(&p.pairs, c.spelt)
	p.about = c.about
	p.trail = c.trail()
	c.out = append(c.out, p)
}

// hashes are the words of some lines, until the next call.
func (c *cutter) hashes(from, to int) []uint32 {
	c.room = c.room[:0]
	for i := from + c.breaks; i < to+c.breaks && i < len(c.terms); i++ {
		c.room = appendHashes(c.room, c.terms[i])
	}
	return c.room
}

// trail returns the headings above the current position, from outermost to innermost, without
// repeating a heading that is in the chunk's own trail.
func (c *cutter) trail() []string {
	if len(c.open) == 0 {
		return c.above
	}
	keep := len(c.above)
	for i, t := range c.above {
		if t == c.open[0].Label {
			keep = i
			break
		}
	}
	out := append([]string(nil), c.above[:keep]...)
	for _, h := range c.open {
		if h.Label != "" {
			out = append(out, h.Label)
		}
	}
	return out
}

func (c *cutter) words(texts []string) *digest {
	c.buf = c.a.AppendIndexAs(c.buf[:0], strings.Join(texts, "\n"), c.lang)
	c.room = appendHashes(c.room[:0], c.buf)
	return c.tally(&digest{}, c.room)
}

// tally makes a digest of words.
func (c *cutter) tally(d *digest, tokens []uint32) *digest {
	at := len(c.sets)
	c.sets = appendTally(c.sets, tokens)
	n := (len(c.sets) - at) / 2
	*d = digest{set: c.sets[at : at+n : at+2*n], size: len(tokens)}
	c.digests = append(c.digests, d)
	return d
}

// pack copies the sets of all digests into one slice of exactly the needed size, because the
// slice is kept for long.
func (c *cutter) pack() {
	all := make([]uint32, 0, len(c.sets))
	for _, d := range c.digests {
		n, at := len(d.set), len(all)
		all = append(all, d.set[:2*n]...)
		d.set = all[at : at+n : at+2*n]
	}
}

// questionShare returns the share of the sentences in some lines that end with a
// question mark.
func questionShare(text string) float64 {
	if strings.IndexByte(text, '?') < 0 && !strings.Contains(text, "？") && !strings.Contains(text, "؟") {
		return 0
	}
	asked, told := 0.0, 0.0
	for i, r := range text {
		end := i+1 >= len(text) || text[i+1] == ' ' || text[i+1] == '\n' || text[i+1] >= utf8.RuneSelf
		switch r {
		case '?', '？', '؟':
			asked++
		case '.', '!':
			if end {
				told++
			}
		case '。', '！', '।':
			told++
		}
	}
	return asked / (asked + told)
}

// pointer matches a blank line, or a list item that is only a link to a note, perhaps with a date.
var pointer = textutil.LazyRegexp(`^\s*(?:[-*+]|\d{1,9}[.)])\s+(?:\[[^\]]*\]\([^)\s]+\.(?:md|mdx|markdown)(?:#[^)\s]*)?\)|\[\[[^\]]+\]\])[^\pL]*$|^\s*$`)

// tagged matches an entry that carries a tag of significance at its beginning (after bullet, box
// and time) or at its end. The tags are the tags of package consolidation. A bracket followed by
// ( is a link, not a tag.
var tagged = textutil.LazyRegexp(`(?i)^\W{0,4}(?:\d{1,9}[.)]\s+)?(?:\[[ x]\]\s+)?(?:\d{1,2}:\d{2}\W{1,4})?\W{0,3}` + tagBracket + `(?:[^(]|$)|` + tagBracket + `\W{0,3}$`)

const tagBracket = `\[(?:decision|surprise|human|lesson|identity)\b[^\]()]{0,60}\]`

// isTagged reports whether a line of memory carries a tag of significance.
func isTagged(line string) bool { return strings.Contains(line, "[") && tagged.MatchString(line) }

// anyTagged reports whether the first or the last line of a passage is tagged.
func anyTagged(lines []string) bool {
	return len(lines) > 0 && (isTagged(lines[0]) || len(lines) > 1 && isTagged(lines[len(lines)-1]))
}
