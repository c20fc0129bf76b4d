package plan

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/retrieval"
)

// mergeHits merges the kernel's hits and the records of other systems into one order, and returns
// the hits that are left out. The hits in first come first. The scores of the other hits and of
// records can't be compared. So one of each is taken in turn, a hit first. Text that both have is
// kept once, in the kernel's words and at the better of the two places. If there are far more
// records than fit, the rest of the records are not compared. The parameter shown has the texts in
// the prompt, in the form for comparison.
func mergeHits(c *call, l *limits, shown []string, first, own []retrieval.Hit, records []memoryRecord) (hits []retrieval.Hit, left []api.Excluded) {
	if len(records) == 0 {
		return append(first, own...), nil
	}
	leave := func(h retrieval.Hit, why retrieval.LeftReason) {
		left = append(left, leftOut(c, l, h.Citation, h.Text, why))
	}
	if n := 2 * recallSpans; len(records) > n {
		for i := range records[n:] {
			leave(records[n+i].hit, retrieval.OverItems)
		}
		records = records[:n]
	}
	var taken []string // the texts of hits, in the form for comparison
	take := func(h retrieval.Hit) {
		hits, taken = append(hits, h), append(taken, bareWords(h.Text))
	}
	takeOwn := func(h retrieval.Hit) { // takes a hit, unless a record already has the same text
		for i := range hits {
			if hits[i].Kind == retrieval.Foreign && says(taken[i:i+1], h.Text) {
				leave(h, retrieval.Duplicate)
				return
			}
		}
		take(h)
	}
	for _, h := range first {
		take(h)
	}
	own = slices.Clone(own)
	for n := 0; len(own) > 0 || n < len(records); n++ {
		if len(own) > 0 {
			takeOwn(own[0])
			own = own[1:]
		}
		if n >= len(records) {
			continue
		}
		switch h := records[n].hit; {
		case says(shown, h.Text):
			leave(h, retrieval.ShownAlready)
		case says(taken, h.Text):
			leave(h, retrieval.Duplicate)
		default:
			// A later hit of the kernel with the same text takes the record's place.
			i := slices.IndexFunc(own, func(o retrieval.Hit) bool { return says([]string{bareWords(o.Text)}, h.Text) })
			if i < 0 {
				take(h)
				continue
			}
			leave(h, retrieval.Duplicate)
			takeOwn(own[i])
			own = slices.Delete(own, i, i+1)
		}
	}
	return hits, left
}

// promptTexts returns all texts in the prompt, in the form for comparison: the host's system
// prompt and messages, and the kernel's own blocks.
func promptTexts(c *call, proj *pagevm.Projection, texts map[string]string) []string {
	var out []string
	add := func(text string) {
		if text != "" {
			out = append(out, bareWords(text))
		}
	}
	for i := range c.Request.System {
		add(c.Request.System[i].Text)
	}
	eachShown(c, proj, texts, add)
	for it := range proj.Blocks() {
		add(c.text(texts, it.Hash))
	}
	return out
}

// says reports whether most lines of a text occur in one of texts. It ignores lines of one short
// word.
func says(texts []string, text string) bool {
	all, there := 0, 0
	for l := range strings.SplitSeq(text, "\n") {
		l = bareWords(l)
		if len(l) < minLine && strings.Count(l, " ") < 3 {
			continue
		}
		all += len(l)
		if slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(t, l) }) {
			there += len(l)
		}
	}
	return all > 0 && 5*there >= 4*all
}

// bareWords returns the words of a text in small letters, each between spaces, without the marks
// of lists, headings and emphasis, and without line ends.
func bareWords(text string) string {
	b := make([]byte, 1, len(text)+2)
	b[0] = ' '
	for _, r := range text {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b = append(b, byte(r))
		case unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r):
			b = utf8.AppendRune(b, unicode.ToLower(r))
		case b[len(b)-1] != ' ':
			b = append(b, ' ')
		}
	}
	if b[len(b)-1] != ' ' {
		b = append(b, ' ')
	}
	return string(b)
}
