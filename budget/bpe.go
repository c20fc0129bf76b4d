package budget

import "unicode/utf8"

// bpe counts exactly, by a byte-pair vocabulary. It holds only views of the embedded tables, and
// is safe for concurrent use.
type bpe struct {
	name  string
	vocab *vocabulary
	next  func(text string, i int) int // the end of the piece that begins at i
}

// Name returns the tokenizer's name.
func (b *bpe) Name() string { return b.name }

// Count returns the exact number of tokens of text. Special tokens count as the ordinary text
// that spells them.
func (b *bpe) Count(text string) Count {
	n := 0
	for i, j := 0, 0; i < len(text); i = j {
		j = b.next(text, i)
		n += b.piece(text, i, j)
	}
	return Count{Tokens: n, Bound: n, Kind: Exact}
}

// piece counts the tokens of the piece text[i:j], which is not empty.
func (b *bpe) piece(text string, i, j int) int {
	if b.vocab.whole(text, i, j) {
		return 1
	}
	piece := text[i:j]
	if !utf8.ValidString(piece) {
		piece = string([]rune(piece)) // U+FFFD for each invalid byte, as in the reference
	}
	n, _, _ := b.vocab.merge(piece)
	return n
}
