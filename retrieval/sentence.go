package retrieval

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/markdownstore"
)

// A sentence is shown whole or not at all. It is cut, and the cut marked, only if it alone is
// larger than the room. Where the end of a sentence is doubtful, the sentence continues: otherwise
// half of a sentence could be shown.

// closers may follow the mark that ends a sentence. openers may precede the first word.
const (
	closers = `"')]*_` + "`" + `”’»」』）】`
	openers = `"'([*_“‘„«「『（【¿¡`
)

// sentenceStarts returns the offsets at which the sentences of a paragraph begin, except the first.
// The offset of a sentence that begins on a new line is that of the line.
func sentenceStarts(text string) (out []int) {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		at := i
		i += size
		wide := strings.ContainsRune("。！？।", r)
		if !wide && r != '.' && r != '!' && r != '?' && r != '؟' {
			continue
		}
		rest := strings.TrimLeft(text[i:], closers+".!?。！？")
		i = len(text) - len(rest)
		next := strings.TrimLeft(rest, " \t\r\n")
		switch {
		case next == "":
			return out
		case !wide && len(next) == len(rest):
			continue
		case r == '.' && textutil.Abbreviated(text[1+strings.LastIndexByte(text[:at], '\n'):at]), !wide && !begins(next) && !strings.HasSuffix(text[:at], " "):
			continue
		}
		i = len(text) - len(next)
		if br := strings.LastIndexByte(rest[:len(rest)-len(next)], '\n'); br >= 0 {
			out = append(out, len(text)-len(rest)+br+1)
		} else {
			out = append(out, i)
		}
	}
	return out
}

// begins reports whether a text may be the beginning of a sentence.
func begins(text string) bool {
	return !lower(strings.TrimLeft(text, openers+"> \t"))
}

// ended reports whether a text ends like a sentence or with a colon.
func ended(text string) bool {
	r, _ := utf8.DecodeLastRuneInString(strings.TrimRight(text, closers+" \t\r\n"))
	return strings.ContainsRune(".!?:;…。！？；：।؟|", r)
}

// announces reports whether a text ends with a colon.
func announces(text string) bool {
	said := strings.TrimRight(text, " \t\r\n*_")
	return strings.HasSuffix(said, ":") || strings.HasSuffix(said, "：")
}

// prose reports whether the text of a unit consists of sentences.
func prose(k markdownstore.UnitKind) bool {
	return k == markdownstore.UnitParagraph || k == markdownstore.UnitItem || k == markdownstore.UnitTurn || k == markdownstore.UnitQuote
}

// blocksOf returns the units of a text. A label in a wrapped line, within a sentence, begins no turn:
// it is in lower case, or follows several lines that end no sentence.
func blocksOf(text string) []markdownstore.Unit {
	units := unitsOfChunk(text)
	out := units[:0]
	for _, u := range units {
		if n := len(out); n > 0 && u.Kind == markdownstore.UnitTurn && out[n-1].Kind == u.Kind {
			before := text[out[n-1].Start:u.Start]
			wraps := lower(u.Label) && !lower(out[n-1].Label) || strings.Count(before, "\n") > 1
			if wraps && !ended(before) && !strings.HasSuffix(before, "\n\n") && !listed(strings.TrimLeft(text[u.Start:], " \t")) {
				out[n-1].End, out[n-1].EndLine = u.End, u.EndLine
				continue
			}
		}
		out = append(out, u)
	}
	return out
}

func lower(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return unicode.IsLower(r)
}

// sentencesOf divides lines into the parts that are shown whole or not at all: sentences, which
// may have several lines, and the lines of anything else.
func sentencesOf(lines []line) (out []line) {
	for len(lines) > 0 {
		n := 1
		for n < len(lines) && lines[n].no == lines[n-1].no+1 {
			n++
		}
		text := plainText(lines[:n])
		for _, u := range blocksOf(text) {
			out = appendUnit(out, u.Kind, lines[u.StartLine-1:min(u.EndLine, n)])
		}
		if strings.TrimSpace(text) == "" {
			out = append(out, lines[:n]...)
		}
		lines = lines[n:]
	}
	return out
}

// appendUnit appends the parts of a unit.
func appendUnit(out []line, kind markdownstore.UnitKind, lines []line) []line {
	if !prose(kind) {
		if kind == markdownstore.UnitCode {
			lines = goingOn(slices.Clone(lines))
		}
		return append(out, lines...)
	}
	for len(lines) > 0 {
		n := 0
		for n < len(lines) && lines[n].text != "" {
			n++
		}
		if n == 0 {
			out, lines = append(out, lines[0]), lines[1:]
			continue
		}
		out, lines = appendParagraph(out, lines[:n]), lines[n:]
	}
	return out
}

// appendParagraph appends the sentences of a paragraph. A sentence that is longer than a snippet,
// and a paragraph in which no sentence ends, is divided into its lines.
func appendParagraph(out []line, lines []line) []line {
	text, last := plainText(lines), lines[len(lines)-1]
	if len(lines) > 1 && stamped(strings.Split(text, "\n")) {
		return append(out, lines...)
	}
	starts := sentenceStarts(text)
	most := maxSnippet
	if len(starts) == 0 && !ended(text) && !lines[0].head && !last.tail {
		most = 0
	}
	from, no := 0, lines[0].no
	for i := range len(starts) + 1 {
		to := len(text)
		if i < len(starts) {
			to = starts[i]
		}
		parts := []line{{no: no, text: strings.TrimRight(text[from:to], " \t\n"), head: i == 0 && lines[0].head, tail: i == len(starts) && last.tail}}
		if parts[0].size() > most {
			parts = goingOn(relined(parts))
		}
		out = append(out, parts...)
		no += strings.Count(text[from:to], "\n")
		from = to
	}
	return out
}

// goingOn marks lines as parts of one sentence.
func goingOn(lines []line) []line {
	for i := range lines {
		lines[i].head, lines[i].tail = lines[i].head || i > 0, lines[i].tail || i < len(lines)-1
	}
	return lines
}

// relined returns sentences as lines. Parts of the same line are one line.
func relined(sentences []line) (out []line) {
	for _, s := range sentences {
		texts := strings.Split(s.text, "\n")
		for i, t := range texts {
			l := line{no: s.no + i, text: t, mark: s.mark, head: s.head && i == 0, tail: s.tail && i == len(texts)-1}
			if last := len(out) - 1; last >= 0 && out[last].no == l.no {
				out[last].text, out[last].tail = beside(out[last].text, l.text), l.tail
				out[last].mark |= l.mark
			} else {
				out = append(out, l)
			}
		}
	}
	return out
}

// beside joins two sentences, or a sentence and a gap, on one line. It inserts a space unless the
// first ends with a Chinese or Japanese mark.
func beside(a, b string) string {
	if r, _ := utf8.DecodeLastRuneInString(a); strings.ContainsRune("。！？」』）", r) && !strings.HasPrefix(b, gap) {
		return a + b
	}
	return a + " " + b
}
