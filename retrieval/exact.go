package retrieval

import (
	"context"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/internal/textutil"
)

// Passages that contain the question verbatim come first. Passages that contain its names, paths,
// numbers or dates come next. Their other text doesn't matter.

// asTyped holds the parts of a question that a text can contain verbatim.
type asTyped struct {
	// whole is the question.
	whole string
	// marks are the parts of the question whose spelling identifies one thing: identifiers,
	// paths, hashes, numbers, dates and quotations.
	marks []string
	// typed is the question before its spelling was normalized to whole.
	typed string
	// pairs are the pairs of bytes in whole.
	pairs pairMask
	// markPairs are the pairs of bytes in each mark.
	markPairs []pairMask
}

// mostWhole is the length in bytes of the longest question that is looked for verbatim. mostMarks
// is the largest number of its marks that are looked for.
const (
	mostWhole = 400
	mostMarks = 8
)

// Measures of passages. inCase and verbatim are for a passage that contains the question. sameWords
// is for the head of a note whose name has the question's words, and sameName for one whose name is
// the question.
const (
	inCase = 1 + mostMarks + iota // in other letter case
	verbatim
	sameWords
	sameName
)

// quoted matches a text in quotation marks or backticks.
var quoted = textutil.LazyRegexp("\"([^\"]+)\"|“([^”]+)”|«([^»]+)»|„([^“”]+)[“”]|「([^」]+)」|『([^』]+)』|《([^》]+)》|`([^`]+)`")

func exactOf(text string) asTyped {
	var e asTyped
	if text = strings.TrimSpace(text); len(text) > mostWhole {
		return e
	}
	e.typed = bare(text)
	e.whole = spelled(e.typed)
	e.pairs.add(e.whole)
	if strings.ContainsAny(text, "\"“«„「『《`") {
		for _, m := range quotes(text) {
			e.mark(m)
		}
	}
	for _, w := range strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
	}) {
		if w = bare(w); singular(w) {
			e.mark(w)
		}
	}
	return e
}

func quotes(text string) (out []string) {
	for _, m := range quoted.FindAllStringSubmatch(text, mostMarks) {
		out = append(out, strings.Join(m[1:], ""))
	}
	return out
}

func (e *asTyped) mark(text string) {
	if text = spelled(text); text != "" && len(e.marks) < mostMarks && !slices.Contains(e.marks, text) {
		e.marks = append(e.marks, text)
		var m pairMask
		m.add(text)
		e.markPairs = append(e.markPairs, m)
	}
}

// bare returns a text without the punctuation at both ends.
func bare(text string) string {
	return strings.TrimFunc(text, func(r rune) bool { return !ofWord(r) && !strings.ContainsRune("/~#@$%+", r) })
}

// singular reports whether a word is spelled like a name in code, a path, a hash, a number or a
// date, and not like an ordinary word.
func singular(w string) bool {
	digits, letters, inner, humps := 0, 0, 0, false
	last := rune(0)
	for _, r := range w {
		switch {
		case unicode.IsDigit(r):
			digits++
		case unicode.IsLetter(r):
			letters++
			humps = humps || unicode.IsUpper(r) && unicode.IsLower(last)
		case strings.ContainsRune("_/.:\\@#=-", r):
			inner++
		case r != '~' && r != '+' && r != '$':
			return false // an apostrophe, a sign of a formula
		}
		last = r
	}
	switch {
	case letters == 0 && inner == 0:
		return digits >= leastDigits
	case digits > 0 && (letters == 0 || inner == 0):
		return digits+letters >= leastDigits
	}
	return humps || digits > 0 || letters > 0 && (inner > 1 || inner == 1 && !strings.Contains(w, "-")) // one hyphen joins common words
}

// leastDigits is the least number of digits of a number that is not a year, time or count.
const leastDigits = 5

// ofWord reports whether a character is part of words.
func ofWord(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z'
	}
	return unicode.In(r, unicode.L, unicode.M, unicode.N)
}

// spelled returns a text in the form in which spellings are compared: in small letters, with
// single spaces, and without the marks of Markdown inside lines.
func spelled(text string) string { return string(appendSpelled(make([]byte, 0, len(text)), text)) }

func appendSpelled(out []byte, text string) []byte {
	if !norm.NFKC.IsNormalString(text) {
		text = norm.NFKC.String(text) // composed or not, of any width, micro and mu
	}
	space, begin := false, len(out)
	for i := 0; i < len(text); {
		if c := asIs[text[i]]; c != 0 {
			if space {
				out = append(out, ' ')
				space = false
			}
			out = append(out, c)
			i++
			continue
		}
		r, size := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(text[i:])
		}
		i += size
		switch {
		case r <= ' ' || r >= utf8.RuneSelf && unicode.IsSpace(r):
			space = len(out) > begin
			continue
		case r == '*' || r == '`':
			continue
		case space:
			out = append(out, ' ')
			space = false
		}
		out = utf8.AppendRune(out, unicode.ToLower(r))
	}
	return out
}

// asIs maps each ASCII character to the form in which spellings are compared. It is 0 for spaces,
// control characters and marks of Markdown, which have no form.
var asIs = func() (to [256]byte) {
	for c := byte(' ' + 1); c < utf8.RuneSelf; c++ {
		switch {
		case c == '*' || c == '`':
		case c >= 'A' && c <= 'Z':
			to[c] = c + 'a' - 'A'
		default:
			to[c] = c
		}
	}
	return to
}()

// stands reports whether a text contains a spelling as a whole word.
func stands(text, what string) bool {
	if what == "" {
		return false
	}
	for from := 0; ; {
		i := strings.Index(text[from:], what)
		if i < 0 {
			return false
		}
		i += from
		end := i + len(what)
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		first, size := utf8.DecodeRuneInString(what)
		last, _ := utf8.DecodeLastRuneInString(what)
		behind, _ := utf8.DecodeRuneInString(text[end:])
		if !(i > 0 && joined(before, first)) && !(end < len(text) && joined(last, behind)) {
			return true
		}
		from = i + size
	}
}

// joined reports whether two adjacent characters belong to one word.
func joined(a, b rune) bool {
	return ofWord(a) && ofWord(b) && !unspaced(a) && !unspaced(b)
}

// unspaced reports whether a character belongs to a script that has no spaces between words.
func unspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// may reports whether a text can contain the question or a mark of it verbatim. pairs are the
// text's pairs of bytes, and date is its day. Most texts can't, and need not be read.
func (e *asTyped) may(pairs *pairMask, date string) bool {
	return pairs.hasAll(&e.pairs) || date != "" && slices.Contains(e.marks, date) ||
		slices.ContainsFunc(e.markPairs, func(m pairMask) bool { return pairs.hasAll(&m) })
}

// in returns how much of the question a text contains verbatim: verbatim or inCase for the whole
// question, otherwise the number of its marks. date is the text's day, which counts as a mark.
func (e *asTyped) in(raw, date string) int {
	if e.whole == "" && len(e.marks) == 0 {
		return 0
	}
	text := spelled(raw)
	if stands(text, e.whole) {
		if strings.Contains(raw, e.typed) {
			return verbatim
		}
		return inCase
	}
	n := 0
	for _, m := range e.marks {
		if stands(text, m) || m == date && date != "" {
			n++
		}
	}
	return n
}

// groupsOf returns the terms of each word of the question, as bits.
func (r *refiner) groupsOf() []uint64 {
	groups := make([]uint64, 1+slices.Max(r.wordOf))
	for j, w := range r.wordOf {
		groups[w] |= 1 << j
	}
	return slices.DeleteFunc(groups, func(g uint64) bool { return g == 0 })
}

// holders finds the passages that hold words of the question, and the passages that hold the
// question verbatim.
func (r *refiner) holders() {
	groups := r.groupsOf()
	r.asked = len(groups)
	var any uint64
	for _, p := range r.places {
		any |= p.held
	}
	groups = slices.DeleteFunc(groups, func(g uint64) bool { return g&any == 0 })
	r.groups = len(groups)
	r.leaveUsual()
	e := &r.exact
	for _, p := range r.places {
		for _, g := range groups {
			if p.held&g != 0 {
				p.words++
			}
		}
		p.every = p.words > 0 && p.words == r.asked
		p.complete = p.words == r.groups && r.groups > 1 && 2*r.groups >= r.asked && !p.gone && !p.points && !p.repeats && !p.session.talk && !p.onlyAsks()
		if p.words > 0 && !p.gone && !p.points && !p.repeats && !p.onlyAsks() && (2*p.words >= r.groups || len(e.marks) > 0) && e.may(&p.pairs, p.chunk.hit.Date) {
			p.exact = max(p.exact, e.in(p.text(), p.chunk.hit.Date))
		}
	}
}

// usualMark and markShare decide when a mark is a usual word, such as GitHub in notes about GitHub.
// A usual word is held by more than usualMark passages, and by more than one in markShare of all
// passages. Our choice.
const usualMark, markShare = 16, 8

// leaveUsual removes usual words from the marks of the question.
func (r *refiner) leaveUsual() {
	e := &r.exact
	e.marks, e.markPairs = slices.Clone(e.marks), slices.Clone(e.markPairs)
	for i := len(e.marks) - 1; i >= 0; i-- {
		n := 0
		for _, p := range r.places {
			if p.pairs.hasAll(&e.markPairs[i]) {
				n++
			}
		}
		if n > max(usualMark, len(r.places)/markShare) {
			e.marks, e.markPairs = slices.Delete(e.marks, i, i+1), slices.Delete(e.markPairs, i, i+1)
		}
	}
}

// standing looks for verbatim parts of the question in candidates that are not passages: spans, and
// chunks that only vectors found. If several spans hold marks, the marks don't count: most outputs
// of a session contain the path on which it works.
func standing(cs []*candidate, e *asTyped) {
	var marked []*candidate
	for _, c := range cs {
		if c.hit.place != nil || c.outline != nil && !e.may(c.outline.spelling(c.hit.Text), c.hit.Date) {
			continue
		}
		c.exact = e.in(c.hit.Text, c.hit.Date)
		if c.hit.Kind == Session && c.exact > 0 && c.exact <= mostMarks {
			marked = append(marked, c)
		}
	}
	if len(marked) > 1 {
		for _, c := range marked {
			c.exact = 0
		}
	}
}

// order moves passages that hold no word of the question after those that hold all. If the
// question is one word, it leaves them out, since only that word can connect a passage with the
// question.
func (r *refiner) order() {
	least := math.Inf(1)
	for _, p := range r.places {
		if p.words == r.groups && p.score > 0 {
			least = min(least, p.score)
		}
	}
	if r.groups == 0 || math.IsInf(least, 1) {
		return
	}
	for _, p := range r.places {
		switch {
		case p.words > 0 || p.dated:
		case r.asked == 1:
			p.score = 0
		default:
			p.score = min(p.score, least*behindAll)
		}
	}
}

// behindHolders moves passages without any word of the question after the last passage that holds
// all words. The choice for variety may have put them before it.
func behindHolders(picked []*candidate) []*candidate {
	last := -1
	for i, c := range picked {
		if c.holds == all {
			last = i
		}
	}
	slices.SortStableFunc(picked[:last+1], func(a, b *candidate) int { return compareBool(a.holds == none, b.holds == none) })
	return picked
}

// holds classifies candidates by the number of words of the question that they hold.
type holds byte

const (
	some holds = iota
	none
	all
)

// behindAll is the factor that puts a score just below another score.
const behindAll = .999

// short is the largest number of words of a question that is looked for verbatim in further chunks.
// deep is the number of chunks that are then searched.
const (
	short = 4
	deep  = 160
)

// deep reports whether a verbatim match is worth a search among deep chunks.
func (e *asTyped) deep() bool {
	return len(e.marks) > 0 || e.whole != "" && len(strings.Fields(e.whole)) <= short
}

// deepenSpans does for the spans of the session what deepen does for chunks.
func (q *question) deepenSpans(hits []found, most int) []found {
	holds := func(f found) bool { return q.exact.in(f.Text, "") > 0 }
	if len(hits) < most || !q.exact.deep() || slices.ContainsFunc(hits, holds) {
		return hits
	}
	more, _ := q.Spans.search(q.a, q.Text, deep, q.WantSpan)
	for _, f := range more[min(len(hits), len(more)):] {
		if holds(f) {
			hits = append(hits, f)
		}
	}
	return hits
}

// deepen adds the chunks that contain the question or a mark of it verbatim, if no found chunk
// does so. It is needed because common words find other chunks first.
func (q *question) deepen(ctx context.Context, ask index.Query, hits *index.Hits) {
	if len(hits.Keyword) < min(ask.K, ask.KMany) || hits.Chunks <= int64(len(hits.Keyword)) || hits.Ranked || !q.exact.deep() {
		return
	}
	holds := func(h index.Hit) bool { return q.exact.in(h.Text, h.Date) > 0 }
	if slices.ContainsFunc(hits.Keyword, holds) {
		return
	}
	ask.K, ask.KMany, ask.Vector, ask.Holders = deep, 0, nil, false
	more, err := q.ix.Search(ctx, ask)
	if err != nil || len(more.Keyword) <= len(hits.Keyword) {
		return
	}
	for _, h := range more.Keyword[len(hits.Keyword):] {
		if holds(h) {
			hits.Keyword = append(hits.Keyword, h)
		}
	}
}
