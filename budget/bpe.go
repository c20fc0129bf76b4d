package budget

import (
	"strings"
	"unicode/utf8"
)

// bpe counts exactly, by a byte-pair vocabulary. It holds no state but views of
// the embedded tables, allocates only for text that is not UTF-8, and is safe
// for concurrent use.
type bpe struct {
	name  string
	vocab *vocabulary
}

func newBPE(name string) *bpe {
	if name == Cl100k {
		return &bpe{name, openVocabulary(cl100kTable)}
	}
	return &bpe{name, openVocabulary(o200kTable)}
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
	if b.name == Cl100k {
		for i, j := 0, 0; i < len(text); i = j {
			j = nextCl100k(text, i)
			n += b.piece(text, i, j)
		}
		return n
	}
	for i, j := 0, 0; i < len(text); i = j {
		j = nextO200k(text, i)
		n += b.piece(text, i, j)
	}
	return n
}

// piece counts the tokens of the piece text[i:j], which is not empty.
func (b *bpe) piece(text string, i, j int) int {
	if b.vocab.whole(text, i, j) {
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
