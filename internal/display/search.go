package display

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/index/analysis"
	"github.com/memkernel/memkernel/retrieval"
)

// mostWeak is the number of hits printed if even the best hit is weak.
const mostWeak = 2

// leastScore is the least score that is not printed as 0.00.
const leastScore = 0.005

// Hits prints a block per hit and marks the words of the query. If explain is set, it also prints
// the parts of each score. On a terminal it prints the hits that the rows hold, at least one.
func Hits(s *Sheet, query string, res *retrieval.Result, explain bool) {
	mark := newMarker(query, s.Style)
	hits := res.Hits
	if !explain {
		hits = slices.DeleteFunc(slices.Clone(hits), func(h retrieval.Hit) bool { return h.Score < leastScore })
	}
	all := len(hits)
	if res.Weak && all > 0 {
		s.Line("{}\n", inked{yellow, "The best hit is weak: this is likely beside the question."})
		if !explain {
			hits = hits[:min(all, mostWeak)]
		}
	}
	shown := 0
	for ; shown < len(hits); shown++ {
		one := s.Text(func(s *Sheet) { s.hit(&hits[shown], mark, explain) })
		if shown > 0 {
			one = "\n" + one
		}
		if shown > 0 && s.Rows > 0 && strings.Count(s.b.String()+one, "\n") > s.Rows-rowsBelow {
			break
		}
		s.b.WriteString(one)
	}
	switch more := all - shown; {
	case more > 0 && shown < len(hits):
		s.Line("\n{}", inked{Gray, fmt.Sprintf("%d more: --max-results %d shows them, too", more, all)})
	case more > 0:
		s.Line("\n{}", inked{Gray, fmt.Sprintf("%d more are as weak; --explain shows them", more)})
	}
}

// rowsBelow are the lines of a terminal that hits leave free: the line that counts the others, a
// hint and the next prompt, each with a blank line or a second line.
const rowsBelow = 5

// hit prints a hit.
func (s *Sheet) hit(h *retrieval.Hit, mark *marker, explain bool) {
	by := ""
	if strings.HasPrefix(h.Origin, retrieval.WrittenBy) {
		by = "  " + h.Origin
	}
	s.Line("{}  {%.2f}{?  }{}{}", inked{Bold, Address(h.Citation)}, h.Score, h.Date != "", h.Date, by)
	runs := h.Runs()
	if t := trailText(above(runs[0].Trail, runs[0].Text), s.Columns()-2); t != "" {
		s.Line("  {}", inked{Gray, t})
	}
	if explain {
		s.Para(2, cyan, "{}", scoreText(h))
	}
	s.runs(h, runs, mark)
}

// runs prints the lines of a hit's place unchanged. Lines of files have their numbers.
// Headings are printed where they change.
func (s *Sheet) runs(h *retrieval.Hit, runs []retrieval.More, mark *marker) {
	last, shown, trail := 0, "", runs[0].Trail
	gutter := len(strconv.Itoa(runs[len(runs)-1].EndLine))
	say := func(ink ink, text string) { s.Line("  {}", inked{ink, text}) }
	for i, r := range runs {
		if fresh := above(r.Trail[shared(r.Trail, trail):], r.Text); i > 0 && len(fresh) > 0 {
			say(Gray, trailText(fresh, s.Columns()-2))
		}
		trail = r.Trail
		if h.Path == "" && len(runs) > 1 {
			say(Gray, Address(r.Citation))
		}
		if by := r.SupersededBy; by == r.Citation && retrieval.OutOfDate(r.Text, time.Now()) == "" {
			say(yellow, "no longer holds, it says")
		} else if by != "" && by != r.Citation {
			say(yellow, "superseded by "+Address(by))
		}
		if r.ByFact != "" {
			say(Gray, "found by a fact: "+r.ByFact)
		}
		for j, line := range strings.Split(r.Text, "\n") {
			no := r.StartLine + j
			if strings.TrimSpace(line) == "" || h.Path != "" && (no < last || no == last && strings.Contains(shown, line)) {
				continue // chunks overlap
			}
			last, shown = no, line
			number := "    "
			if h.Path != "" {
				number = fmt.Sprintf("  %*d  ", gutter, no)
			}
			if why := retrieval.OutOfDate(line, time.Now()); why != "" {
				say(yellow, why)
			}
			ink := Gray
			if r.Citation == h.Citation {
				ink = Bold
			}
			s.marked(number, line, ink, mark)
		}
	}
	if d := retrieval.DatesText(h.Dates); d != "" {
		s.Para(4, Gray, "[{}]", d)
	}
}

// marked prints a line after its number and keeps its indentation.
func (s *Sheet) marked(number, line string, ink ink, mark *marker) {
	text := strings.TrimLeft(line, " \t")
	in := min(Width(strings.ReplaceAll(line[:len(line)-len(text)], "\t", "    ")), s.Columns()/4)
	for i, l := range Wrap(text, s.Columns()-len(number)-in-2) {
		if i == 1 {
			number, in = strings.Repeat(" ", len(number)), in+2
		}
		s.raw(s.Paint(ink, number) + strings.Repeat(" ", in) + mark.text(l))
	}
}

// above returns the headings of trail that text does not begin with.
func above(trail []string, text string) []string {
	for line := range strings.Lines(text) {
		t := strings.TrimSpace(line)
		if t != "" && !strings.HasPrefix(t, "#") {
			break
		}
		if i := slices.Index(trail, strings.TrimSpace(strings.Trim(t, "#"))); i >= 0 && t != "" {
			return trail[:i]
		}
	}
	return trail
}

// shared returns the number of headings that two trails have in common at their beginning.
func shared(a, b []string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// leastHeading is the shortest part of a heading that is worth showing, in columns.
const leastHeading = 12

// trailText joins headings. It takes as many headings as fit, from the innermost outwards.
func trailText(trail []string, n int) string {
	text := ""
	for i, heading := range slices.Backward(trail) {
		room := n - Width(text)
		if text != "" {
			if room -= Width(" › "); i > 0 {
				room -= Width("… › ")
			}
			text = " › " + text
			if room < min(leastHeading, Width(Printable(heading))) {
				return "…" + text
			}
		}
		text = Clip(heading, room) + text
	}
	return text
}

// scoreText lists the parts of a score.
func scoreText(h *retrieval.Hit) string {
	s := &h.Parts
	parts := []string{fmt.Sprintf("%.3f", s.Merged)}
	if s.Decay != 1 {
		parts[0] += fmt.Sprintf(" × %.3f for %s = %.3f", s.Decay, days(s.AgeDays), s.Merged*s.Decay)
	}
	side := func(name string, score float64, rank int) {
		if rank > 0 {
			parts = append(parts, fmt.Sprintf("%s %.3f (no. %d)", name, score, rank))
		}
	}
	side("words", s.Keyword, s.KeywordRank)
	side("meaning", s.Vector, s.VectorRank)
	if s.Similarity > 0 {
		parts = append(parts, fmt.Sprintf("%.0f %% like one above", 100*s.Similarity))
	}
	return strings.Join(parts, ", ")
}

func days(n float64) string {
	if d := time.Duration(n * 24 * float64(time.Hour)); d < 48*time.Hour {
		return fmt.Sprintf("%.0f hours", d.Hours())
	}
	return fmt.Sprintf("%.0f days", n)
}

// BehindBy returns the number of files by which an index lags, or "" if the number is not known.
func BehindBy(l *index.Lag) string {
	if l == nil || l.Zero() {
		return ""
	}
	return fmt.Sprintf(" (%d changed, %d gone)", l.Files, l.Removed)
}

// marker paints the words of a query in a text. It compares words as the index does, so other
// forms of a word match too. Without colour it changes nothing.
type marker struct {
	Style
	a     *analysis.Analyzer
	terms []string
}

func newMarker(query string, p Style) *marker {
	m := &marker{Style: p}
	if p.Color {
		a, err := analysis.New()
		if err != nil {
			m.Color = false
			return m
		}
		m.a, m.terms = a, a.Query(query, nil)
	}
	return m
}

// text paints a line.
func (m *marker) text(line string) string {
	if !m.Color {
		return line
	}
	var b strings.Builder
	for len(line) > 0 {
		n := wordEnd(line)
		b.WriteString(m.word(line[:n]))
		line = line[n:]
	}
	return b.String()
}

// wordEnd returns the length of the first word of a text, or of its first character if that
// belongs to no word. In scripts without blanks between words, it takes the text between two
// punctuation marks for one word.
func wordEnd(s string) int {
	_, size := utf8.DecodeRuneInString(s)
	for i, r := range s {
		inWord := unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '_'
		switch {
		case i == 0 && !inWord:
			return size
		case !inWord:
			return i
		}
	}
	return len(s)
}

func (m *marker) word(w string) string {
	if w != "" && slices.ContainsFunc(m.a.Query(w, nil), func(t string) bool { return slices.Contains(m.terms, t) }) {
		return m.Paint(yellow, w)
	}
	return w
}
