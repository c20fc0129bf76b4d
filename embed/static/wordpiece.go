package static

import (
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// wordPiece cuts a word into pieces from the left. Each is the longest piece in the vocabulary.
type wordPiece struct {
	Vocab   map[string]int `json:"vocab"`
	Unknown *string        `json:"unk_token"`
	// Prefix begins the pieces that don't begin a word.
	Prefix string `json:"continuing_subword_prefix"`
	// Longest is the largest number of characters of a word. A longer word is unknown.
	Longest int `json:"max_input_chars_per_word"`

	unk int
}

// parseWords reads a vocabulary of whole words, or of words and pieces if pieces is set.
func parseWords(raw json.RawMessage, pieces bool) (v vocabulary, err error) {
	w := &wordPiece{Prefix: "##", Longest: 100}
	if err := json.Unmarshal(raw, w); err != nil {
		return v, err
	}
	v.encode, v.max, v.unknown = w.whole, -1, -1
	if pieces {
		v.encode = w.pieces
	}
	for token, id := range w.Vocab {
		if id < 0 || id >= maxTokens {
			return v, fmt.Errorf("vocab: %.100q has number %d", token, id)
		}
		v.max = max(v.max, id)
	}
	if v.max < 0 {
		return v, errors.New("vocab is empty")
	}
	if w.Unknown != nil {
		id, ok := w.Vocab[*w.Unknown]
		if !ok {
			return v, fmt.Errorf("unk_token %.100q is not in vocab", *w.Unknown)
		}
		v.unknown = id
	}
	w.Longest, w.unk = min(w.Longest, 1000), v.unknown
	return v, nil
}

// whole encodes words of a vocabulary without pieces.
func (w *wordPiece) whole(word string, ids []int) []int {
	if id, ok := w.Vocab[word]; ok {
		return append(ids, id)
	}
	return w.giveUp(ids)
}

func (w *wordPiece) pieces(word string, ids []int) []int {
	n := len(ids)
	if utf8.RuneCountInString(word) > w.Longest {
		return w.giveUp(ids)
	}
	for from := 0; from < len(word); {
		id, to := w.piece(word, from)
		if to == from {
			return w.giveUp(ids[:n])
		}
		ids = append(ids, id)
		from = to
	}
	return ids
}

// piece returns the longest known piece that begins at from. to is from if there is none.
func (w *wordPiece) piece(word string, from int) (id, to int) {
	for to = len(word); to > from; {
		piece := word[from:to]
		if from > 0 {
			piece = w.Prefix + piece
		}
		if id, ok := w.Vocab[piece]; ok {
			return id, to
		}
		_, size := utf8.DecodeLastRuneInString(word[from:to])
		to -= size
	}
	return 0, from
}

func (w *wordPiece) giveUp(ids []int) []int {
	if w.unk < 0 {
		return ids
	}
	return append(ids, w.unk)
}
