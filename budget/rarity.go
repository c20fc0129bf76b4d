package budget

import (
	"math"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Ranks between which a word goes from common to rare. A byte-pair vocabulary numbers its tokens in
// the order in which its training text asked for them, which is about their frequency.
const (
	commonRank = 2_000
	rareRank   = 100_000
)

var words = sync.OnceValue(func() *vocabulary { return openVocabulary(o200kTable) })

// Rarity returns how rare a lower-case word is in general text, code included: from 0 for a word
// like "run" to 1 for a word that o200k has no token for.
func Rarity(word string) float64 {
	// A word follows a space in a token. Numbers, and words of scripts without spaces, do not.
	if r, _ := utf8.DecodeRuneInString(word); !unicode.In(r, unicode.Nd, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai) {
		word = " " + word
	}
	if len(word) > maxToken {
		return 1
	}
	var f fixedWindow
	w := f.window()
	w.merge(words(), word)
	if int(w.next[0]) < len(word) {
		return 1
	}
	r := math.Log(float64(w.id[0])/commonRank) / math.Log(rareRank/commonRank)
	return min(max(r, 0), 1)
}
