package retrieval

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/memkernel/memkernel/markdownstore"
)

// A search finds lines and shows places. Answers in one section, or near each other in one
// session, are one hit. The best lines of a place rank it. Its other lines use only the place's
// own room.

// More is a further run of lines of a hit's place.
type More struct {
	// StartLine and EndLine are the first and last line of Text, counted like the hit's lines.
	StartLine int     `json:"start_line"`
	EndLine   int     `json:"end_line"`
	Score     float64 `json:"score"`
	Text      string  `json:"text"`
	// Trail is the headings above the run, or nil if they are the same as the hit's.
	Trail []string `json:"trail,omitempty"`
	// Citation names the run's lines.
	Citation string `json:"citation"`
	// SupersededBy is as in Hit.
	SupersededBy string `json:"superseded_by,omitempty"`
	// ID is the ID of the run's chunk or span.
	ID string `json:"id"`
}

// Runs returns the shown parts of the hit's place in the order of their lines: the best lines,
// which have the hit's citation, and More.
func (h *Hit) Runs() []More {
	best := More{StartLine: h.SnippetStart, EndLine: h.SnippetEnd, Score: h.Score, Text: h.Snippet, Trail: h.Trail, Citation: h.Citation, SupersededBy: h.SupersededBy, ID: h.ID}
	out := append(slices.Clone(h.More), best)
	inOrder(out)
	for i := range out {
		if out[i].Trail == nil {
			out[i].Trail = h.Trail
		}
	}
	return out
}

// inOrder sorts runs by line.
func inOrder(runs []More) {
	slices.SortStableFunc(runs, func(a, b More) int {
		return cmp.Or(cmp.Compare(spanLine(a.ID), spanLine(b.ID)), cmp.Compare(a.StartLine, b.StartLine))
	})
}

// placeLines is the largest number of lines, from the first to the last, of a place whose
// passages are in different sections of one session. It is about one screen.
const placeLines = 50

// placeDepth is the number of candidates that are considered for each wanted hit.
const placeDepth = 16

// placeShare is the share of the best lines' score that other lines of a place need in order to
// be shown. The table is for three conversations. It compares ten places with ten lines and with
// as many lines as fit, by recall within 1,000 and 2,000 tokens:
//
//	share            .8     .7     .6     .5     ten lines   all that fit
//	1,000 tokens     .876   .891   .894   .894   .849        .894
//	2,000 tokens     .878   .894   .898   .900   .849        .916
const placeShare = .6

// pick chooses the best candidates, in order. If the query wants lines, pick returns that many
// candidates. Otherwise it returns the candidates that make up the wanted places.
func (q *question) pick(cs []*candidate, lambda float64) []*candidate {
	near := cs[:min(len(cs), q.pool())]
	if q.Lines {
		return diversify(near, lambda, q.Limit, q.wordSet)
	}
	far := cs[len(near):min(len(cs), max(len(near), placeDepth*q.Limit))]
	return slices.Concat(diversify(near, lambda, len(near), q.wordSet), far)
}

// spot is a place to which hits are added.
type spot struct {
	hit *Hit
	// from and to are the first and the last line found in the place.
	from, to int
	// room is the number of further characters that the place may show.
	room int
}

// places combines hits into at most limit hits, one for each place. hits must be sorted, best
// first, and have no snippets. The first limit hits are all shown, because a search for lines
// finds these hits.
func places(hits []Hit, limit int) []Hit {
	var spots []*spot
	for i := range hits {
		h := &hits[i]
		at := slices.IndexFunc(spots, func(s *spot) bool { return s.holds(h) })
		if at >= 0 {
			spots[at].add(h, i < limit)
		} else if len(spots) < limit {
			h.show()
			h.Dates = datesOf(h)
			s := &spot{h, h.StartLine, h.EndLine, maxSnippet - utf8.RuneCountInString(h.Snippet)}
			s.explain(h)
			spots = append(spots, s)
		}
	}
	out := make([]Hit, len(spots))
	for i, s := range spots {
		inOrder(s.hit.More)
		out[i] = *s.hit
	}
	return out
}

// holds reports whether a hit is in the place.
func (s *spot) holds(h *Hit) bool {
	if s.hit.Kind != h.Kind || s.hit.text() != h.text() {
		return false
	}
	return slices.Equal(s.hit.Trail, h.Trail) ||
		slices.Equal(head(s.hit.Trail), head(h.Trail)) && max(s.to, h.EndLine)-min(s.from, h.StartLine) < placeLines
}

// text names the source of the hit's lines: a file, or the page that contains a span.
func (h *Hit) text() string {
	if h.Path != "" {
		return h.Path
	}
	page, _, _ := strings.Cut(h.ID, LinesMark)
	return page
}

// spanLine returns the line of its page with which a span begins, or 0 if the span is not a piece
// of a page.
func spanLine(id string) int {
	_, lines, _ := strings.Cut(id, LinesMark)
	first, _, _ := strings.Cut(lines, "-")
	n, _ := strconv.Atoi(first)
	return n
}

// add shows a hit in the place if it must be shown, or if it is good enough and there is room. add
// skips a hit whose lines are already shown. Outside of conversations it also skips passages that
// have no word of the question, which are only found by their surroundings.
func (s *spot) add(h *Hit, must bool) {
	if !must && h.place != nil && !h.talk() && !h.holds() {
		return
	}
	if !must && (s.room <= 0 || h.Score < placeShare*s.hit.Score) || s.shows(h) {
		return
	}
	h.show()
	if !must && utf8.RuneCountInString(h.Snippet) > s.room {
		return
	}
	h.Dates = datesOf(h)
	s.take(h)
	s.explain(h)
}

// holds reports whether a hit has a word of the question.
func (h *Hit) holds() bool {
	return slices.ContainsFunc(h.terms, func(t uint32) bool {
		return h.place != nil && h.place.body.count(t) > 0
	})
}

// take adds the lines of a hit to the place.
func (s *spot) take(h *Hit) {
	m := More{StartLine: h.SnippetStart, EndLine: h.SnippetEnd, Score: h.Score, Text: h.Snippet, Citation: h.Citation, SupersededBy: h.SupersededBy, ID: h.ID}
	if h.Path != "" {
		m.Citation = cite(h.Path, m.StartLine, m.EndLine)
	}
	if h.SupersededBy == h.Citation {
		m.SupersededBy = m.Citation
	}
	if !slices.Equal(h.Trail, s.hit.Trail) {
		m.Trail = h.Trail
	}
	s.hit.More = append(s.hit.More, m)
	for _, d := range h.Dates {
		if !slices.Contains(s.hit.Dates, d) {
			s.hit.Dates = append(s.hit.Dates, d)
		}
	}
	s.room -= utf8.RuneCountInString(h.Snippet)
	s.from, s.to = min(s.from, h.StartLine), max(s.to, h.EndLine)
}

// announces reports whether the answer comes after a passage. This is so if the passage ends with a
// colon, or if it begins with a heading and has no word of the question.
func (h *Hit) announces() bool {
	return announces(h.Snippet) || strings.HasPrefix(h.Snippet, "#") && !h.holds()
}

// maxFollow is the number of characters that may follow a passage that announces them.
const maxFollow = maxSnippet / 2

// explain adds the lead of a passage, and the next sentences or items after a passage that
// announces them. After a property of a note it adds the first sentences of the note.
func (s *spot) explain(h *Hit) {
	if l := h.lead(); l.end > 0 {
		s.aside(h, h.between(int(l.begin), int(l.end), true))
	}
	if h.place == nil {
		return
	}
	property, first := h.place.property != "", h.first()
	if !h.announces() && !property {
		return
	}
	after := h.EndLine + 1 - first
	if property { // the note begins after its front matter
		after = max(after, markdownstore.Parse("", h.whole()).BodyLine-1)
	}
	var block []line
	lines := linesFrom(h.whole(), first)
	for _, l := range lines[min(after, len(lines)):] {
		if len(block) == 0 && (l.text == "" || property && strings.HasPrefix(l.text, "#")) {
			continue
		}
		if l.text == "" || strings.HasPrefix(l.text, "#") || strings.Trim(l.text, "-*_ ") == "" {
			break
		}
		block = append(block, l)
	}
	next := sentencesOf(block)
	for len(next) > 0 && sum(next) > maxFollow {
		next = next[:len(next)-1]
	}
	s.aside(h, relined(next))
}

// aside shows lines next to a hit, if there is room and they are not shown already.
func (s *spot) aside(h *Hit, lines []line) {
	if len(lines) == 0 {
		return
	}
	next := *h
	next.piece, next.SupersededBy = nil, ""
	next.StartLine, next.EndLine, next.Text = lines[0].no, lines[len(lines)-1].no, join(lines)
	next.SnippetStart, next.SnippetEnd, next.Snippet = next.StartLine, next.EndLine, next.Text
	next.Dates = datesOf(&next)
	if utf8.RuneCountInString(next.Snippet) <= s.room && !s.shows(&next) {
		s.take(&next)
	}
}

// shows reports whether all lines of a hit are among the lines of a shown hit. This happens
// because chunks overlap.
func (s *spot) shows(h *Hit) bool {
	within := func(id string, from, to int) bool {
		return (h.Path != "" || id == h.ID) && from <= h.StartLine && h.EndLine <= to
	}
	return within(s.hit.ID, s.hit.SnippetStart, s.hit.SnippetEnd) ||
		slices.ContainsFunc(s.hit.More, func(m More) bool { return within(m.ID, m.StartLine, m.EndLine) })
}
