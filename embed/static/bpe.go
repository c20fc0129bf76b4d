package static

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// bpe joins the characters of a word pair by pair, the pair that was learned first
// before others (Sennrich et al. 2016, arXiv:1508.07909).
type bpe struct {
	vocab          map[string]int
	merges         map[[2]int]merge
	prefix, suffix string
	unk, highest   int
	fuse, whole    bool
	bytes          bytePieces
}

// merge is the rank of a pair and the token that it becomes.
type merge struct{ rank, id int }

func parseBPE(raw json.RawMessage) (vocabulary, error) {
	var c struct {
		Vocab    map[string]int `json:"vocab"`
		Merges   []pair         `json:"merges"`
		Unknown  *string        `json:"unk_token"`
		Prefix   *string        `json:"continuing_subword_prefix"`
		Suffix   *string        `json:"end_of_word_suffix"`
		Fuse     bool           `json:"fuse_unk"`
		Fallback bool           `json:"byte_fallback"`
		Whole    bool           `json:"ignore_merges"`
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return nil, err
	}
	b := &bpe{vocab: c.Vocab, merges: make(map[[2]int]merge, len(c.Merges)), prefix: deref(c.Prefix), suffix: deref(c.Suffix), fuse: c.Fuse, whole: c.Whole}
	var err error
	if b.highest, err = checkVocabulary(c.Vocab); err != nil {
		return nil, err
	}
	if c.Fallback {
		b.bytes = newBytePieces(c.Vocab)
	}
	for i, m := range c.Merges {
		if err := b.learn(i, m); err != nil {
			return nil, err
		}
	}
	b.unk, err = find(c.Vocab, c.Unknown)
	return b, err
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// pair is an entry of merges: "a b" in older files, ["a", "b"] in newer ones.
type pair [2]string

func (p *pair) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		a, b, ok := strings.Cut(text, " ")
		if !ok {
			return fmt.Errorf("merges: %.100q is no pair", text)
		}
		*p = pair{a, b}
		return nil
	}
	var list []string
	if err := json.Unmarshal(raw, &list); err != nil {
		return err
	}
	if len(list) != 2 {
		return errors.New("merges: an entry is no pair")
	}
	*p = pair{list[0], list[1]}
	return nil
}

func (b *bpe) learn(rank int, p pair) error {
	left, ok1 := b.vocab[p[0]]
	right, ok2 := b.vocab[p[1]]
	id, ok3 := b.vocab[p[0]+strings.TrimPrefix(p[1], b.prefix)]
	if !ok1 || !ok2 || !ok3 {
		return fmt.Errorf("merges[%d]: %.100q and %.100q, or what they make, are not in vocab", rank, p[0], p[1])
	}
	if _, known := b.merges[[2]int{left, right}]; !known {
		b.merges[[2]int{left, right}] = merge{rank, id}
	}
	return nil
}

func (b *bpe) max() int     { return b.highest }
func (b *bpe) unknown() int { return b.unk }

func (b *bpe) encode(word string, ids []int) []int {
	if id, ok := b.vocab[word]; ok && b.whole {
		return append(ids, id)
	}
	return append(ids, b.join(b.characters(word))...)
}

// characters returns the tokens that a word begins with.
func (b *bpe) characters(word string) (out []int) {
	unknownBefore := false
	for i, r := range word {
		char := string(r)
		token := char
		if i > 0 {
			token = b.prefix + token
		}
		if i+len(char) == len(word) {
			token += b.suffix
		}
		id, ok := b.vocab[token]
		switch {
		case ok:
			out = append(out, id)
		case b.bytes.all(char):
			out = b.bytes.append(out, char)
			ok = true
		case b.unk >= 0 && !(b.fuse && unknownBefore):
			out = append(out, b.unk)
		}
		unknownBefore = !ok
	}
	return out
}

// join joins pairs until none is known.
func (b *bpe) join(ids []int) []int {
	for len(ids) > 1 {
		at, best := -1, merge{}
		for i := range len(ids) - 1 {
			if m, ok := b.merges[[2]int{ids[i], ids[i+1]}]; ok && (at < 0 || m.rank < best.rank) {
				at, best = i, m
			}
		}
		if at < 0 {
			break
		}
		ids[at] = best.id
		ids = append(ids[:at+1], ids[at+2:]...)
	}
	return ids
}
