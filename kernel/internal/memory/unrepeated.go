package memory

import (
	"slices"
	"strings"

	"github.com/memkernel/memkernel/retrieval"
)

// repeats is the share of the words of a host's own note that a hit in the workspace's files must
// hold for the note to repeat the hit. Our choice: the hosts copy notes with a word or two changed.
const repeats = 0.8

// unrepeated leaves out hits that a host wrote by itself and that nearly repeat another hit.
func unrepeated(hits []retrieval.Hit) []retrieval.Hit {
	agents := func(h retrieval.Hit) bool { return strings.HasPrefix(h.Origin, retrieval.WrittenBy) }
	if !slices.ContainsFunc(hits, agents) {
		return hits
	}
	return slices.DeleteFunc(slices.Clone(hits), func(h retrieval.Hit) bool {
		words := wordsOf(h.Text)
		return agents(h) && slices.ContainsFunc(hits, func(own retrieval.Hit) bool {
			n, has := 0, wordsOf(own.Text)
			for w := range words {
				if has[w] {
					n++
				}
			}
			return !agents(own) && float64(n) >= repeats*float64(len(words))
		})
	})
}

// wordsOf returns the words of a text in lower case, without punctuation around them.
func wordsOf(text string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(strings.ToLower(text)) {
		if w = strings.Trim(w, ".,;:!?()[]*_`\"'#->"); w != "" {
			out[w] = true
		}
	}
	return out
}
