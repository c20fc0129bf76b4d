package budget

import (
	"strings"
	"unicode/utf8"
)

// pattern names the rule by which a vocabulary splits text into pieces.
type pattern uint8

const (
	patternO200k pattern = iota
	patternCl100k
	patternP50k
)

// bpe counts exactly, by a byte-pair vocabulary. It holds no state but views of
// the embedded tables, allocates only for text that is not UTF-8, and is safe
// for concurrent use.
type bpe struct {
	name    string
	pattern pattern
	vocab   *vocabulary
	// mergeSpaces has runs of spaces merged even where the table holds them as
	// one token, since limit hides that token.
	mergeSpaces bool
}

// r50kTokens is the size of the r50k vocabulary; the tokens that p50k has on
// top are runs of spaces.
const r50kTokens = 50256

func newBPE(name string) *bpe {
	switch name {
	case O200k:
		return &bpe{name: name, pattern: patternO200k, vocab: openVocabulary(o200kTable, noID)}
	case Cl100k:
		return &bpe{name: name, pattern: patternCl100k, vocab: openVocabulary(cl100kTable, noID)}
	case P50k:
		return &bpe{name: name, pattern: patternP50k, vocab: openVocabulary(p50kTable, noID)}
	default:
		return &bpe{name: R50k, pattern: patternP50k, vocab: openVocabulary(p50kTable, r50kTokens), mergeSpaces: true}
	}
}

// Name returns the tokenizer's name.
func (b *bpe) Name() string { return b.name }

// Count returns the exact number of tokens of text. Special tokens count as the
// ordinary text that they are written with.
func (b *bpe) Count(text string) Count {
	n := b.tokens(text)
	return Count{Tokens: n, Bound: n, Kind: Exact}
}

func (b *bpe) tokens(text string) (n int) {
	switch b.pattern {
	case patternO200k:
		for i, j := 0, 0; i < len(text); i = j {
			j = nextO200k(text, i)
			n += b.piece(text, i, j)
		}
	case patternCl100k:
		for i, j := 0, 0; i < len(text); i = j {
			j = nextCl100k(text, i)
			n += b.piece(text, i, j)
		}
	case patternP50k:
		for i, j := 0, 0; i < len(text); i = j {
			j = nextP50k(text, i)
			n += b.piece(text, i, j)
		}
	}
	return n
}

// piece counts the tokens of the piece text[i:j], which is not empty.
func (b *bpe) piece(text string, i, j int) int {
	if b.vocab.whole(text, i, j) && !(b.mergeSpaces && strings.HasPrefix(text[i:j], "  ")) {
		return 1
	}
	piece := text[i:j]
	if !utf8.ValidString(piece) {
		piece = replaceInvalid(piece)
	}
	return b.vocab.merge(piece)
}

// replaceInvalid puts U+FFFD in place of each invalid byte, as the reference
// does when it turns text into runes.
func replaceInvalid(s string) string {
	var out strings.Builder
	out.Grow(len(s) + len(s)/2)
	for _, r := range s {
		out.WriteRune(r)
	}
	return out.String()
}
