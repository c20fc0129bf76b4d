package retrieval

import (
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/memkernel/memkernel/index/analysis"
)

// line is a line of a text, or a part of one.
type line struct {
	// no is its number.
	no   int
	text string
	// mark is the question's terms that it holds.
	mark uint64
}

// splitLines takes a text apart. A line feed at its end begins no line.
func splitLines(text string) []string {
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// linesOf returns a hit's lines, unmarked.
func linesOf(h *Hit) []line {
	texts := splitLines(h.Text)
	out := make([]line, len(texts))
	for i, t := range texts {
		out[i] = line{no: h.StartLine + i, text: strings.TrimRightFunc(t, unicode.IsSpace)}
	}
	return out
}

// size returns a line's length in characters, with its end.
func (l line) size() int { return utf8.RuneCountInString(l.text) + 1 }

// sum returns the size of lines side by side.
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

// without reports whether no term is lost with a line.
func (h *holding) without(mark uint64) bool {
	for ; mark != 0; mark &= mark - 1 {
		if h.lines[bits.TrailingZeros64(mark)] == 1 {
			return false
		}
	}
	return true
}

// grow adds lines in turn after and before.
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

// excerpt returns the window of lines within a size. A line that is larger than the size is cut
// at word borders.
func excerpt(lines []line, limit int, terms []uint32) []line {
	if len(lines) == 0 || limit <= 0 {
		return nil
	}
	from, to := window(lines, limit)
	if to-from == 1 && sum(lines[from:to]) > limit {
		return []line{shorten(lines[from], limit, terms)}
	}
	return lines[from:to]
}

// pieceSize is the size of the pieces into which a line is cut if necessary, in characters.
const pieceSize = 60

// shorten leaves of a line the part that holds most of the terms, with an
// ellipsis where something is missing.
func shorten(l line, limit int, terms []uint32) line {
	pieces := cut(l.text, min(pieceSize, max(limit-2, 1)))
	mark(pieces, terms)
	for i := range pieces {
		pieces[i].no = i
	}
	from, to := window(pieces, max(limit-2, 1))
	text := ""
	l.mark = 0
	for _, p := range pieces[from:to] {
		text += p.text
		l.mark |= p.mark
	}
	text = strings.TrimSpace(text)
	if from > 0 {
		text = "…" + text
	}
	if to < len(pieces) {
		text += "…"
	}
	l.text = text
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

// mark finds the terms in the lines of one text, or in the pieces of a line. Without an analyser
// it finds no terms, and the beginning of the text is shown.
func mark(lines []line, terms []uint32) {
	a, err := analyzer()
	if err != nil || len(terms) == 0 {
		return
	}
	defer analyzers.Put(a)
	lang := a.Language(sample(lines))
	var buf []byte
	for i := range lines {
		buf = a.AppendIndexAs(buf[:0], lines[i].text, lang)
		lines[i].mark = markIn(buf, terms)
	}
}

// markIn returns the terms that are among those between spaces, as bits.
func markIn(between []byte, terms []uint32) (held uint64) {
	h := newHash
	take := func() {
		if h != newHash {
			sum := h.sum()
			for i, t := range terms {
				if t == sum {
					held |= 1 << i
				}
			}
			h = newHash
		}
	}
	for _, c := range between {
		if c != ' ' {
			h = h.add(c)
		} else {
			take()
		}
	}
	take()
	return held
}

// lineWords returns the words of each of some lines of one text.
func lineWords(a *analysis.Analyzer, lines []line) []*digest {
	out := make([]*digest, len(lines))
	lang := a.Language(sample(lines))
	var buf []byte
	var tokens []uint32
	for i := range lines {
		buf = a.AppendIndexAs(buf[:0], lines[i].text, lang)
		tokens = appendHashes(tokens[:0], buf)
		out[i] = tallied(tokens)
	}
	return out
}

// mark returns the terms that a text holds, as bits.
func (d *digest) mark(terms []uint32) (held uint64) {
	for i, t := range terms {
		if d.count(t) > 0 {
			held |= 1 << i
		}
	}
	return held
}

// mark marks the hit's own lines. It uses the kept words of these lines if there are any.
func (h *Hit) mark(lines []line) {
	if h.piece == nil {
		mark(lines, h.terms)
		return
	}
	if len(h.terms) == 0 {
		return
	}
	kept := h.piece.lines.Load()
	if kept == nil || len(*kept) != len(lines) {
		a, err := analyzer()
		if err != nil {
			return
		}
		defer analyzers.Put(a)
		words := lineWords(a, lines)
		kept = &words
		h.piece.lines.Store(kept)
	}
	for i, d := range *kept {
		lines[i].mark = d.mark(h.terms)
	}
}

// sample returns the beginning of lines.
func sample(lines []line) string {
	n, size := 0, 0
	for ; n < len(lines) && size < languageSample; n++ {
		size += len(lines[n].text)
	}
	text := join(lines[:n])
	return text[:min(len(text), languageSample)]
}

// join puts lines side by side.
func join(lines []line) string {
	var b strings.Builder
	for i, l := range lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(l.text)
	}
	return b.String()
}

// MaxSnippet is the largest snippet, in characters.
const MaxSnippet = 700

// show cuts the hit's snippet.
func (h *Hit) show() {
	lines := linesOf(h)
	if sum(lines) > MaxSnippet {
		h.mark(lines)
	}
	part := excerpt(trim(lines), MaxSnippet, h.terms)
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
