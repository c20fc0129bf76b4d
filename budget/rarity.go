package budget

import (
	"math"
	"slices"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Ranks between which a word goes from common to rare. A byte-pair vocabulary numbers its
// tokens by how early the text that it was made of asked for them, which is about how often
// they stand in it.
const (
	commonRank = 2_000
	rareRank   = 100_000
)

var words = sync.OnceValue(func() *vocabulary { return openVocabulary(o200kTable) })

// Rarity returns how rare a word in small letters is in the text of the world, code included:
// from 0 for one like "run" to 1 for one that o200k, the vocabulary it is read from, has no
// token for.
func Rarity(word string) float64 {
	id := words().only(piece(word))
	if id == noID {
		return 1
	}
	r := math.Log(float64(id)/commonRank) / math.Log(rareRank/commonRank)
	return min(max(r, 0), 1)
}

// piece is a word as it stands in a text: behind a space, which no number has in a token, nor
// what is written without.
func piece(word string) string {
	if r, _ := utf8.DecodeRuneInString(word); unicode.In(r, unicode.Nd, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai) {
		return word
	}
	return " " + word
}

// only returns the token that a piece is, noID if it is several.
func (v *vocabulary) only(piece string) uint32 {
	var ids []uint32
	for i := 0; i < len(piece); {
		id, size := v.part(piece, i)
		ids, i = append(ids, id), i+size
	}
	for len(ids) > 1 {
		best, at := uint32(noID), 0
		for i := range len(ids) - 1 {
			if id := v.pair(ids[i], ids[i+1]); id < best {
				best, at = id, i
			}
		}
		if best == noID {
			return noID
		}
		ids[at] = best
		ids = slices.Delete(ids, at+1, at+2)
	}
	return ids[0]
}
