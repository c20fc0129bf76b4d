package static

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"
)

// unigram cuts a text into the pieces whose probabilities have the highest product
// (Kudo 2018, arXiv:1804.10959), by the Viterbi algorithm.
type unigram struct {
	vocab   map[string]int
	scores  []float64 // logarithms
	unk     int       // -1 for none
	lowest  float64
	longest int // bytes of the longest piece
}

const (
	// unkPenalty is how much worse than the worst piece an unknown character is,
	// as in SentencePiece.
	unkPenalty = 10
	// longestPiece bounds the length of the pieces that are looked up.
	longestPiece = 256
)

func parseUnigram(raw json.RawMessage) (v vocabulary, err error) {
	var c struct {
		Vocab    []scored `json:"vocab"`
		Unknown  *int     `json:"unk_id"`
		Fallback bool     `json:"byte_fallback"`
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return v, err
	}
	switch {
	case len(c.Vocab) == 0:
		return v, errors.New("vocab is empty")
	case c.Fallback:
		return v, errors.New("byte_fallback is not known")
	}
	u := &unigram{vocab: make(map[string]int, len(c.Vocab)), scores: make([]float64, len(c.Vocab)), unk: -1}
	for i, s := range c.Vocab {
		if _, twice := u.vocab[s.piece]; !twice && s.piece != "" {
			u.vocab[s.piece] = i
		}
		u.scores[i] = s.score
		u.lowest = min(u.lowest, s.score)
		u.longest = min(longestPiece, max(u.longest, len(s.piece)))
	}
	if c.Unknown != nil {
		if u.unk = *c.Unknown; u.unk < 0 || u.unk >= len(c.Vocab) {
			return v, fmt.Errorf("unk_id %d is not in vocab", u.unk)
		}
	}
	// As in model2vec, unknown pieces are left out only with vocabularies that have an unk_token.
	return vocabulary{encode: u.encode, max: len(u.scores) - 1, unknown: -1}, nil
}

// scored is a piece and its score, in JSON ["piece", -3.2]. It has its own UnmarshalJSON, because
// reflection would take seconds for half a million pieces.
type scored struct {
	piece string
	score float64
}

// UnmarshalJSON implements json.Unmarshaler; b is valid JSON.
func (s *scored) UnmarshalJSON(b []byte) error {
	comma := bytes.LastIndexByte(b, ',')
	if b[0] != '[' || comma < 0 {
		return errScored
	}
	piece := bytes.TrimSpace(b[1:comma])
	score, err := strconv.ParseFloat(string(bytes.TrimSpace(b[comma+1:len(b)-1])), 64)
	s.score = score
	if n := len(piece) - 1; n > 0 && piece[0] == '"' && piece[n] == '"' && bytes.IndexAny(piece[1:n], `"\\`) < 0 {
		s.piece = string(piece[1:n])
	} else if err == nil {
		err = json.Unmarshal(piece, &s.piece)
	}
	if err != nil {
		return errScored
	}
	return nil
}

var errScored = errors.New("vocab: an entry is no piece with its score")

// step describes the best pieces up to an offset of a text: their score, and the beginning and the
// number of the last piece. The number is -1 for an unknown character.
type step struct {
	score float64
	from  int
	id    int
}

func (u *unigram) encode(text string, ids []int) []int {
	best := make([]step, len(text)+1)
	for i := range best[1:] {
		best[1+i].score = math.Inf(-1)
	}
	for from := 0; from < len(text); {
		_, size := utf8.DecodeRuneInString(text[from:])
		u.extend(text, from, size, best)
		from += size
	}
	// Several unknown characters in a row become one unknown token.
	var path []int
	for at := len(text); at > 0; at = best[at].from {
		path = append(path, best[at].id)
	}
	for i, id := range slices.Backward(path) {
		switch unknownBefore := i+1 < len(path) && path[i+1] < 0; {
		case id >= 0:
			ids = append(ids, id)
		case u.unk >= 0 && !unknownBefore:
			ids = append(ids, u.unk)
		}
	}
	return ids
}

// extend updates best with the pieces that begin at offset from.
func (u *unigram) extend(text string, from, size int, best []step) {
	whole := false // a piece is the character itself
	for to := from + size; to <= len(text) && to-from <= u.longest; {
		if id, ok := u.vocab[text[from:to]]; ok {
			whole = whole || to == from+size
			if s := best[from].score + u.scores[id]; s > best[to].score {
				best[to] = step{s, from, id}
			}
		}
		_, n := utf8.DecodeRuneInString(text[to:])
		if n == 0 {
			break
		}
		to += n
	}
	if s := best[from].score + u.lowest - unkPenalty; !whole && s > best[from+size].score {
		best[from+size] = step{s, from, -1}
	}
}
