package static

import (
	"encoding/json"
	"unicode/utf8"
)

// wordPiece cuts a word into the longest pieces that it knows, from the left.
type wordPiece struct {
	vocab   map[string]int
	prefix  string // of pieces that don't begin a word
	longest int    // characters from which on a word is unknown
	unk     int
	highest int
}

func parseWordPiece(raw json.RawMessage) (vocabulary, error) {
	c := struct {
		Vocab   map[string]int `json:"vocab"`
		Unknown *string        `json:"unk_token"`
		Prefix  string         `json:"continuing_subword_prefix"`
		Longest int            `json:"max_input_chars_per_word"`
	}{Prefix: "##", Longest: 100}
	if err := json.Unmarshal(raw, &c); err != nil {
		return nil, err
	}
	w := &wordPiece{vocab: c.Vocab, prefix: c.Prefix, longest: min(c.Longest, 1000)}
	var err error
	if w.highest, err = checkVocabulary(c.Vocab); err != nil {
		return nil, err
	}
	w.unk, err = find(c.Vocab, c.Unknown)
	return w, err
}

func (w *wordPiece) max() int     { return w.highest }
func (w *wordPiece) unknown() int { return w.unk }

func (w *wordPiece) encode(word string, ids []int) []int {
	n := len(ids)
	if utf8.RuneCountInString(word) > w.longest {
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

// piece returns the longest known piece from a place on; an empty one if none
// is.
func (w *wordPiece) piece(word string, from int) (id, to int) {
	for to = len(word); to > from; {
		piece := word[from:to]
		if from > 0 {
			piece = w.prefix + piece
		}
		if id, ok := w.vocab[piece]; ok {
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

// wordLevel knows words only.
type wordLevel struct{ wordPiece }

func parseWordLevel(raw json.RawMessage) (vocabulary, error) {
	v, err := parseWordPiece(raw)
	if err != nil {
		return nil, err
	}
	return &wordLevel{*v.(*wordPiece)}, nil
}

func (w *wordLevel) encode(word string, ids []int) []int {
	if id, ok := w.vocab[word]; ok {
		return append(ids, id)
	}
	return w.giveUp(ids)
}
