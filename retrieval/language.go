package retrieval

import (
	"cmp"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/index/analysis"
)

// A piece of code or of a log is too short to detect its language, and in a wrong language a word
// would have a rare and hence weighty stem. So the texts that are analysed by need are all in one
// language, which is detected from samples of them together.
const (
	samples    = 8
	sampleSize = 1 << 10 // 1 KiB
)

// languages finds those of the texts, the commonest first.
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
	_, s.lang = a.AppendIndex(nil, all.String())
	s.lang = cmp.Or(s.lang, "en")
	count[s.lang] += len(plain)
	s.langs = nil
	for lang := range count {
		s.langs = append(s.langs, lang)
	}
	slices.SortFunc(s.langs, func(a, b string) int { return cmp.Or(count[b]-count[a], cmp.Compare(a, b)) })
}
