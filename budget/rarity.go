package budget

import (
	"math"
	"sync"
	"unicode"
	"unicode/utf8"
)

// These ranks bound the change from a common to a rare word. A byte-pair vocabulary numbers its
// tokens roughly by their frequency in its training text.
const (
	commonRank = 2_000
	rareRank   = 100_000
)

var words = sync.OnceValue(func() *vocabulary { return openVocabulary(o200kTable) })

// Rarity returns how rare a lower-case word is in general text and code, from 0 for a word like
// "run" to 1 for a word without a token in o200k.
func Rarity(word string) float64 {
	// The token of a word begins with a space, except for numbers and words of scripts without
	// spaces.
	if r, _ := utf8.DecodeRuneInString(word); !unicode.In(r, unicode.Nd, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai) {
		word = " " + word
	}
	_, id, size := words().merge(word)
	if size < len(word) {
		return 1
	}
	r := math.Log(float64(id)/commonRank) / math.Log(rareRank/commonRank)
	return min(max(r, 0), 1)
}
