package retrieval

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/memkernel/memkernel/index/analysis"
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
// concurrent use. With and Without return new sets that share the analysis of the texts. A text is
// analysed when its set is first searched. A nil *Spans is an empty set.
type Spans struct {
	spans []*span
	// once guards lang and langs.
	once sync.Once
	// lang is the language of the texts in ASCII.
	lang string
	// langs are the languages of the texts, the commonest first.
	langs []string
}

// span is a Span with the analysis of its text and label.
type span struct {
	Span
	text, label *body
	own         body // text, unless an earlier span has it
}

// body is a text that is analysed once.
type body struct {
	text string
	// ascii reports whether the text has no letter or digit beyond ASCII.
	ascii bool
	made  atomic.Pointer[digest]
}

// read sets the text of a new body.
func (b *body) read(text string) {
	b.text, b.ascii = text, !strings.ContainsFunc(text, func(r rune) bool {
		return r >= utf8.RuneSelf && r != utf8.RuneError && unicode.In(r, unicode.L, unicode.N, unicode.M)
	})
}

// digest returns the digest of the body, analysed in the language lang if it is in ASCII, else in
// its own language. Two goroutines may call digest at the same time, since both make the same
// digest.
func (b *body) digest(a *analysis.Analyzer, lang string) *digest {
	if !b.ascii {
		lang = ""
	}
	if d := b.made.Load(); d != nil && (lang == "" || lang == d.lang) {
		return d
	}
	d := digestOf(a, b.text, lang)
	b.made.Store(d)
	return d
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
			label = &body{}
			label.read(sp.Label)
			labels[sp.Label] = label
		}
		i, ok := at[sp.ID]
		if !ok {
			i = len(all)
			at[sp.ID] = i
			all = append(all, nil)
		}
		if was := all[i]; was != nil && was.Text == sp.Text {
			all[i] = &span{Span: sp, text: was.text, label: label}
		} else {
			made := &span{Span: sp, label: label}
			made.own.read(sp.Text)
			made.text, all[i] = &made.own, made
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

// A piece of code or of a log is too short to detect its language, and in a wrong language a word
// would have a rare and hence weighty stem. So all texts in ASCII are analysed in one language,
// which is detected from samples of them together.
const (
	samples    = 8
	sampleSize = 1 << 10 // 1 KiB
)

// languages finds the languages of the texts.
func (s *Spans) languages(a *analysis.Analyzer) {
	count := map[string]int{}
	var plain []string
	for _, sp := range s.spans {
		if sp.text.ascii {
			plain = append(plain, sp.text.text)
		} else if lang := sp.text.digest(a, "").lang; lang != "" {
			count[lang]++
		}
	}
	var all strings.Builder
	for i := range min(samples, len(plain)) {
		text := plain[i*len(plain)/min(samples, len(plain))]
		all.WriteString(text[:min(len(text), sampleSize)] + "\n")
	}
	s.lang = cmp.Or(a.Language(all.String()), "en")
	count[s.lang] += len(plain)
	for lang := range count {
		s.langs = append(s.langs, lang)
	}
	slices.SortFunc(s.langs, func(a, b string) int { return cmp.Or(count[b]-count[a], cmp.Compare(a, b)) })
}

// The constants of BM25, the weight of a heading, and the score that is scaled to one half are
// the same as in the index. A span's label counts as a heading.
const (
	k1          = 1.2
	lengthShare = 0.75
	weightLabel = 3
	halfScore   = 10
	leastIDF    = 1e-6
)

// prior is the number of spans without any of the question's words that are assumed in addition
// to the real spans. Without them a session's first spans could not be found, because BM25 gives
// no weight to a word that one of two documents holds.
const prior = 100

// found is a span with its terms and its score.
type found struct {
	*span
	digest *digest
	raw    float64
}

// search finds the k spans that match a question best by BM25, with the question's terms.
func (s *Spans) search(a *analysis.Analyzer, text string, k int, want func(*Span) bool) ([]found, []uint32) {
	if s.Len() == 0 {
		return nil, nil
	}
	s.once.Do(func() { s.languages(a) })
	terms := hashTerms(a.Query(text, s.langs))
	counts, size, mean := make([]float64, len(s.spans)*len(terms)), make([]float64, len(s.spans)), 0.0
	holders := make([]float64, len(terms))
	for i, sp := range s.spans {
		text, label := sp.text.digest(a, s.lang), sp.label.digest(a, s.lang)
		size[i] = float64(text.size + label.size)
		mean += size[i] / float64(len(s.spans))
		for j, t := range terms {
			if n := text.count(t) + weightLabel*label.count(t); n > 0 {
				counts[i*len(terms)+j] = float64(n)
				holders[j]++
			}
		}
	}
	var out []found
	for i, sp := range s.spans {
		raw, norm := 0.0, k1*(1-lengthShare+lengthShare*size[i]/max(mean, 1))
		for j, n := range counts[i*len(terms) : (i+1)*len(terms)] {
			idf := max(math.Log((float64(len(s.spans)+prior)-holders[j]+0.5)/(holders[j]+0.5)), leastIDF)
			raw += idf * n * (k1 + 1) / (n + norm)
		}
		if raw > 0 && (want == nil || want(&sp.Span)) {
			out = append(out, found{sp, sp.text.digest(a, s.lang), raw})
		}
	}
	slices.SortFunc(out, func(a, b found) int { return cmp.Or(cmp.Compare(b.raw, a.raw), cmp.Compare(a.ID, b.ID)) })
	return out[:min(k, len(out))], terms
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
