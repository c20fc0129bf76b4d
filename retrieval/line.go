package retrieval

import (
	"math/bits"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/markdownstore"
)

// line is a line of a text, a part of a line, or a sentence of several lines.
type line struct {
	// no is the number of the first line.
	no   int
	text string
	// head and tail report whether a sentence, or code, goes on before or after the line.
	head, tail bool
	// mark holds the question's terms in the line, as bits.
	mark uint64
}

// splitLines returns the lines of a text. A line feed at the end of the text begins no further
// line.
func splitLines(text string) []string {
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// linesOf returns a hit's lines. Their marks are not set.
func linesOf(h *Hit) []line {
	out := linesFrom(h.Text, h.StartLine)
	if p := h.place; p != nil {
		out[0].head = p.head || p.first && h.Seq > 0
		out[len(out)-1].tail = p.tail
	}
	return out
}

// linesFrom returns the lines of a text, the first of which has the number no.
func linesFrom(text string, no int) []line {
	texts := splitLines(text)
	out := make([]line, len(texts))
	for i, t := range texts {
		out[i] = line{no: no + i, text: strings.TrimRightFunc(t, unicode.IsSpace)}
	}
	return out
}

// size returns a line's length in characters, including the line feed and the marks of a cut
// sentence.
func (l line) size() int {
	n := utf8.RuneCountInString(l.text) + 1
	if l.head {
		n++
	}
	if l.tail {
		n++
	}
	return n
}

// sum returns the size of adjacent lines, without the last line feed.
func sum(lines []line) int {
	n := 0
	for _, l := range lines {
		n += l.size()
	}
	return n - min(1, len(lines))
}

// window finds the run of whole lines within a size that holds the most of the question's terms,
// and takes the first of several such runs. It then extends the run on both sides up to the size.
// A single line that is larger than the size may also be returned.
func window(lines []line, limit int) (from, to int) {
	var has holding
	best, size, i := -1, -1, 0
	for j, l := range lines {
		has.add(l.mark, 1)
		for size += l.size(); size > limit && i < j; i++ {
			size -= lines[i].size()
			has.add(lines[i].mark, -1)
		}
		for ; i < j && has.without(lines[i].mark); i++ {
			size -= lines[i].size()
			has.add(lines[i].mark, -1)
		}
		if has.distinct > best {
			best, from, to = has.distinct, i, j+1
		}
	}
	return grow(lines, from, to, limit)
}

// holding counts the lines that hold each term.
type holding struct {
	lines    [maxTerms]int
	distinct int
}

func (h *holding) add(mark uint64, n int) {
	for ; mark != 0; mark &= mark - 1 {
		c := &h.lines[bits.TrailingZeros64(mark)]
		was := *c
		*c += n
		h.distinct += min(*c, 1) - min(was, 1)
	}
}

// without reports whether removing a line with the given terms loses no term.
func (h *holding) without(mark uint64) bool {
	for ; mark != 0; mark &= mark - 1 {
		if h.lines[bits.TrailingZeros64(mark)] == 1 {
			return false
		}
	}
	return true
}

// grow extends a range of lines alternately at its end and its beginning, up to the limit.
func grow(lines []line, from, to, limit int) (int, int) {
	room := limit - sum(lines[from:to])
	for back, front := true, true; back || front; {
		if back = to < len(lines) && lines[to].size() <= room; back {
			room -= lines[to].size()
			to++
		}
		if front = from > 0 && lines[from-1].size() <= room; front {
			from--
			room -= lines[from].size()
		}
	}
	return from, to
}

// excerpt returns the window of marked sentences within a size. It cuts a sentence that is larger
// than the size between words.
func excerpt(sentences []line, limit int, terms []uint32) []line {
	if len(sentences) == 0 || limit <= 0 {
		return nil
	}
	from, to := window(sentences, limit)
	if to-from == 1 && sum(sentences[from:to]) > limit {
		return []line{shorten(sentences[from], limit, terms)}
	}
	return sentences[from:to]
}

// pieceSize is the size of the pieces into which a line is cut if necessary, in characters.
const pieceSize = 60

// shorten returns the part of a sentence that holds most of the terms. An ellipsis marks each cut.
func shorten(l line, limit int, terms []uint32) line {
	pieces := cut(l.text, min(pieceSize, max(limit-2, 1)))
	mark(pieces, terms)
	from, to := window(pieces, max(limit-2, 1))
	text, begin := "", 0
	l.mark = 0
	for i, p := range pieces[:to] {
		if i < from {
			begin += len(p.text)
			continue
		}
		text += p.text
		l.mark |= p.mark
	}
	begin += len(text) - len(strings.TrimLeftFunc(text, unicode.IsSpace))
	l.no += strings.Count(l.text[:begin], "\n")
	l.text = strings.TrimSpace(text)
	l.head, l.tail = l.head || from > 0, l.tail || to < len(pieces)
	return l
}

// cut divides a line into pieces of at most n characters. A piece ends after a space if it holds
// a space. The sizes that window adds for line ends are then unused, which only makes the excerpt
// a little shorter.
func cut(text string, n int) []line {
	var out []line
	for text != "" {
		end, space, seen := len(text), 0, 0
		for i, r := range text {
			if seen == n {
				end = i
				break
			}
			seen++
			if unicode.IsSpace(r) {
				space = i + utf8.RuneLen(r)
			}
		}
		if end < len(text) && space > end/2 {
			end = space
		}
		out = append(out, line{text: text[:end]})
		text = text[end:]
	}
	return out
}

// languageSample is the number of bytes of a text from which its language is detected.
const languageSample = 1 << 10 // 1 KiB

// mark sets the marks of lines of one text, or of pieces of a line.
func mark(lines []line, terms []uint32) {
	if len(terms) == 0 {
		return
	}
	a := analyzers.Lend()
	defer analyzers.Give(a)
	lang := a.Language(sample(lines))
	for i := range lines {
		for _, word := range appendHashes(nil, a.AppendIndexAs(nil, lines[i].text, lang)) {
			if j := slices.Index(terms, word); j >= 0 {
				lines[i].mark |= 1 << j
			}
		}
	}
}

// sample returns the beginning of lines.
func sample(lines []line) string {
	n, size := 0, 0
	for ; n < len(lines) && size < languageSample; n++ {
		size += len(lines[n].text)
	}
	text := plainText(lines[:n])
	return text[:min(len(text), languageSample)]
}

// join returns lines as a text. The mark … shows where a sentence continues that is not shown.
func join(lines []line) string {
	var b strings.Builder
	on := false // the sentence of the previous line continues in this line
	for i, l := range lines {
		last := i == len(lines)-1
		if l.text == gap && (i > 0 && lines[i-1].tail || !last && lines[i+1].head) {
			continue // one mark is enough
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		text := strings.TrimLeft(l.text, " \t")
		b.WriteString(l.text[:len(l.text)-len(text)])
		if l.head && !on {
			b.WriteString(gap)
		}
		b.WriteString(text)
		on = l.tail && !last && lines[i+1].head && lines[i+1].no <= l.no+1
		if l.tail && !on {
			b.WriteString(gap)
		}
	}
	return b.String()
}

// plainText returns lines as a text without marks.
func plainText(lines []line) string {
	texts := make([]string, len(lines))
	for i, l := range lines {
		texts[i] = l.text
	}
	return strings.Join(texts, "\n")
}

// maxSnippet is the largest snippet, in characters. A unit of up to this size is a passage.
const maxSnippet = 700

// show cuts the hit's snippet.
func (h *Hit) show() {
	part := trim(linesOf(h))
	if sum(part) > maxSnippet {
		part = trim(sentencesOf(part))
		mark(part, h.terms)
		part = trim(relined(excerpt(part, maxSnippet, h.terms)))
	}
	h.Snippet, h.SnippetStart, h.SnippetEnd = join(part), h.StartLine, h.EndLine
	if len(part) > 0 {
		h.SnippetStart, h.SnippetEnd = part[0].no, part[len(part)-1].no
	}
}

// trim drops the blank lines at both ends.
func trim(lines []line) []line {
	for len(lines) > 0 && lines[0].text == "" {
		lines = lines[1:]
	}
	for len(lines) > 0 && lines[len(lines)-1].text == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// inlineNotes matches comments within a line, except in a code span.
var inlineNotes = textutil.LazyRegexp("(^|[^`])(?:<!--.*?-->)+")

// strip leaves out text that costs tokens and has no content: HTML comments, including the
// markers of entries, horizontal rules, and repeated blank lines. The remaining lines keep their
// numbers. strip changes nothing in code. A comment that is never closed counts as text.
func strip(lines []line) (out []line) {
	text := plainText(lines)
	for _, u := range markdownstore.Units(markdownstore.Document{Raw: text, Body: text, BodyLine: 1}) {
		own := lines[u.StartLine-1 : min(u.EndLine, len(lines))]
		code := 0 // the number of lines that are code
		empty := u.Kind == markdownstore.UnitRule || u.Kind == markdownstore.UnitMarker
		if u.Kind == markdownstore.UnitCode {
			code = 1 + strings.Count(strings.TrimRight(text[u.Start:u.End], "\n"), "\n")
		} else {
			own = uncommented(own)
		}
		for i, l := range own {
			was := l.text
			if i >= code {
				if strings.Contains(was, "<!--") {
					l.text = strings.TrimRight(inlineNotes.ReplaceAllString(was, "$1"), " \t")
				}
				underline := u.Kind == markdownstore.UnitHeading && was != "" && strings.Trim(was, "=- \t") == ""
				gone := was != "" && (empty || underline || strings.TrimSpace(l.text) == "")
				if gone || l.text == "" && (len(out) == 0 || out[len(out)-1].text == "") {
					continue
				}
			}
			out = append(out, l)
		}
	}
	return trim(out)
}

// uncommented returns the lines of a unit without its first comment of several lines. The comment
// must begin a line.
func uncommented(lines []line) []line {
	for first := range lines {
		if !strings.HasPrefix(strings.TrimSpace(lines[first].text), "<!--") {
			continue
		}
		for i := first; i < len(lines); i++ {
			if _, rest, ends := strings.Cut(lines[i].text, "-->"); ends && i > first {
				lines[i].text = rest
				if strings.TrimSpace(rest) == "" {
					i++
				}
				return append(lines[:first:first], lines[i:]...)
			} else if ends {
				break
			}
		}
	}
	return lines
}
