package retrieval

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/memkernel/memkernel/index/analysis"
)

// Span is a piece of the session that is no longer in the prompt.
type Span struct {
	// ID names it, and is how it is cited.
	ID   string
	Text string
	// Time is when it was said; it ages from then on. Zero never ages.
	Time time.Time
	// Label says what it is, such as the call whose result it holds.
	Label string
}

// Spans is a set of spans that can be searched by words. It is immutable, hence
// safe for concurrent use; With and Without make new ones that share what was
// analysed. Nil holds nothing.
type Spans struct {
	spans []*span
	// langs are the languages of the spans, the commonest first.
	langs []string
	// length is that of all spans together, in terms.
	length int
}

// span is an analysed Span.
type span struct {
	Span
	digest
	label digest
	lang  string
}

// NewSpans analyses spans. Its error tells that no analyser can be made, which
// nothing in the spans can cause.
func NewSpans(spans ...Span) (*Spans, error) {
	a, err := analyzer()
	if err != nil {
		return nil, err
	}
	defer analyzers.Put(a)
	return (&Spans{}).with(a, spans), nil
}

// With returns the set with more spans in it; one whose ID is there already
// takes the other's place. Only the new ones are analysed.
func (s *Spans) With(spans ...Span) *Spans {
	a, err := analyzer()
	if err != nil { // NewSpans made one from the same tables
		return s
	}
	defer analyzers.Put(a)
	return s.with(a, spans)
}

func (s *Spans) with(a *analysis.Analyzer, spans []Span) *Spans {
	if s == nil {
		s = &Spans{}
	}
	all := slices.Clone(s.spans)
	at := make(map[string]int, len(all)+len(spans))
	for i, sp := range all {
		at[sp.ID] = i
	}
	for _, sp := range spans {
		i, ok := at[sp.ID]
		if !ok {
			i = len(all)
			at[sp.ID] = i
			all = append(all, nil)
		}
		all[i] = analyse(a, sp, all[i])
	}
	return newSpans(all)
}

// analyse makes a span; what was made of the same text before is used again.
func analyse(a *analysis.Analyzer, sp Span, before *span) *span {
	out := &span{Span: sp}
	if before != nil && before.Text == sp.Text {
		out.digest, out.lang = before.digest, before.lang
	} else {
		out.digest, out.lang = digestOf(a, sp.Text)
	}
	out.label, _ = digestOf(a, sp.Label)
	return out
}

// newSpans sums the spans up.
func newSpans(all []*span) *Spans {
	s := &Spans{spans: all}
	langs := map[string]int{}
	for _, sp := range all {
		s.length += sp.size()
		if sp.lang != "" {
			langs[sp.lang]++
		}
	}
	for l := range langs {
		s.langs = append(s.langs, l)
	}
	slices.SortFunc(s.langs, func(a, b string) int { return cmp.Or(langs[b]-langs[a], cmp.Compare(a, b)) })
	return s
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
	return newSpans(slices.DeleteFunc(slices.Clone(s.spans), func(sp *span) bool { return gone[sp.ID] }))
}

// Len is the number of spans.
func (s *Spans) Len() int {
	if s == nil {
		return 0
	}
	return len(s.spans)
}

// The constants of BM25 are those that the index has from FTS5, and so are the
// weight of a heading, which a span's label is, and the score of one half.
const (
	k1          = 1.2
	lengthShare = 0.75
	weightLabel = 3
	halfScore   = 10
	leastIDF    = 1e-6
)

// prior is how many spans without any of the question's words are thought to
// stand beside the real ones. Without them a session's first spans could not be
// found: to BM25 a word that one of two documents holds says nothing.
const prior = 100

func (sp *span) size() int { return len(sp.tokens) + len(sp.label.tokens) }

// found is a span with its score.
type found struct {
	*span
	raw float64
}

// search finds the k spans that match a question best, with its terms.
func (s *Spans) search(a *analysis.Analyzer, text string, k int, want func(id string) bool) ([]found, []uint32) {
	if s.Len() == 0 {
		return nil, nil
	}
	langs := s.langs
	terms := hashTerms(a.Query(text, langs))
	raw := s.scores(terms)
	var out []found
	for i, r := range raw {
		if r > 0 && (want == nil || want(s.spans[i].ID)) {
			out = append(out, found{s.spans[i], r})
		}
	}
	slices.SortStableFunc(out, func(a, b found) int {
		return cmp.Or(cmp.Compare(b.raw, a.raw), cmp.Compare(a.ID, b.ID))
	})
	return out[:min(k, len(out))], terms
}

// scores are the spans' −bm25. All terms of a span are looked up before the
// next one's, since it is memory that takes the time.
func (s *Spans) scores(terms []uint32) []float64 {
	freq := make([]float64, len(s.spans)*len(terms))
	with := make([]float64, len(terms))
	for i, sp := range s.spans {
		row := freq[i*len(terms):]
		for j, t := range terms {
			if row[j] = float64(sp.count(t) + weightLabel*sp.label.count(t)); row[j] > 0 {
				with[j]++
			}
		}
	}
	idf := with
	for j, n := range with {
		idf[j] = max(math.Log((float64(len(s.spans)+prior)-n+0.5)/(n+0.5)), leastIDF)
	}
	raw := make([]float64, len(s.spans))
	mean := float64(s.length) / float64(len(s.spans))
	for i, sp := range s.spans {
		norm := k1 * (1 - lengthShare + lengthShare*float64(sp.size())/mean)
		for j, f := range freq[i*len(terms) : (i+1)*len(terms)] {
			if f > 0 {
				raw[i] += idf[j] * f * (k1 + 1) / (f + norm)
			}
		}
	}
	return raw
}

// hit makes a Hit of a found span.
func (f found) hit(rank int) Hit {
	h := Hit{Kind: Session, ID: f.ID, StartLine: 1, EndLine: len(f.ends), Text: f.Text, Citation: f.ID}
	if f.Label != "" {
		h.Trail = []string{f.Label}
	}
	if !f.Time.IsZero() {
		h.Date = f.Time.Format(time.DateOnly)
	}
	h.Parts.Keyword, h.Parts.KeywordRank = f.raw/(f.raw+halfScore), rank
	return h
}
