package retrieval

import (
	"slices"
	"sync"
	"time"
)

// LinesMark separates, in the id of a span, the id of its page from the lines of that page.
const LinesMark = "@L"

// Span is a piece of the session that is no longer in the prompt.
type Span struct {
	// ID names the span. Citations use it.
	ID   string
	Text string
	// Time is the time of the text, from which the span ages. A span with a zero Time never ages.
	Time time.Time
	// Label names the span's source, such as the call whose result it holds.
	Label string
	// Call reports whether the span consists of calls of tools, without a text.
	Call bool
}

// Spans is a set of spans that can be searched by words. It is immutable and hence safe for
// concurrent use. With and Without return new sets that share the analysis of the texts. A nil
// *Spans is an empty set.
type Spans struct {
	spans []*span
	// once guards lang and langs.
	once sync.Once
	// lang is the language of the texts that are analysed only when needed.
	lang string
	// langs are the languages of the texts.
	langs []string
}

// span is a Span with the known keys of its words.
type span struct {
	Span
	text, label *body
}

// NewSpans makes a set. It returns an error only if no analyser can be made. The content of the
// spans never causes an error.
func NewSpans(spans ...Span) (*Spans, error) {
	a, err := analyzer()
	if err != nil {
		return nil, err
	}
	analyzers.Put(a)
	return (&Spans{}).With(spans...), nil
}

// With returns the set with more spans in it. A new span replaces a span with the same ID.
func (s *Spans) With(spans ...Span) *Spans {
	if s == nil {
		s = &Spans{}
	}
	all := slices.Clone(s.spans)
	at := make(map[string]int, len(all)+len(spans))
	for i, sp := range all {
		at[sp.ID] = i
	}
	labels := map[string]*body{} // pieces of one text have one label
	for _, sp := range spans {
		label, ok := labels[sp.Label]
		if !ok {
			label = newBody(sp.Label)
			labels[sp.Label] = label
		}
		i, ok := at[sp.ID]
		if !ok {
			i = len(all)
			at[sp.ID] = i
			all = append(all, nil)
		}
		if was := all[i]; was != nil && was.Text == sp.Text {
			all[i] = &span{sp, was.text, label}
		} else {
			all[i] = &span{sp, newBody(sp.Text), label}
		}
	}
	return &Spans{spans: all}
}

// Without returns the set without the spans of these IDs.
func (s *Spans) Without(ids ...string) *Spans {
	if s == nil {
		return nil
	}
	gone := make(map[string]bool, len(ids))
	for _, id := range ids {
		gone[id] = true
	}
	return &Spans{spans: slices.DeleteFunc(slices.Clone(s.spans), func(sp *span) bool { return gone[sp.ID] })}
}

// Len returns the number of spans.
func (s *Spans) Len() int {
	if s == nil {
		return 0
	}
	return len(s.spans)
}

// found is a span with its terms and its score.
type found struct {
	*span
	digest *digest
	raw    float64
}

// hit makes a Hit of a found span.
func (f found) hit(rank int) Hit {
	h := Hit{Kind: Session, ID: f.ID, StartLine: 1, EndLine: len(splitLines(f.Text)), Text: f.Text, Citation: f.ID}
	if f.Label != "" {
		h.Trail = []string{f.Label}
	}
	if !f.Time.IsZero() {
		h.Date = f.Time.Format(time.DateOnly)
	}
	h.Parts.Keyword, h.Parts.KeywordRank = f.raw/(f.raw+halfScore), rank
	return h
}
