package static

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// tokenizer makes token numbers of a text.
type tokenizer struct {
	normalize normalizer // nil for none
	split     splitter   // nil for none
	model     vocabulary
	raw, done added // tokens looked for before and after normalizing
	unknown   int   // left out of the result of encode; -1 for none
	tokens    int
}

// normalizer makes a text of a text.
type normalizer func(string) (string, error)

// splitter cuts pieces of a text into smaller ones. first reports whether the
// first of them begins the text.
type splitter func(pieces []string, first bool) []string

// vocabulary makes token numbers of a piece.
type vocabulary interface {
	encode(piece string, ids []int) []int
	// max is the highest number.
	max() int
	// unknown is the number of the token for unknown pieces if the vocabulary names it, else -1.
	unknown() int
}

// tokenizerFile is tokenizer.json.
type tokenizerFile struct {
	Added        []addedToken    `json:"added_tokens"`
	Normalizer   json.RawMessage `json:"normalizer"`
	PreTokenizer json.RawMessage `json:"pre_tokenizer"`
	Model        json.RawMessage `json:"model"`
}

// maxTokens bounds token numbers, far above any vocabulary.
const maxTokens = 1 << 26

func parseTokenizer(data []byte) (*tokenizer, error) {
	var f tokenizerFile
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("it is no JSON of a tokenizer: %w", err)
	}
	t := &tokenizer{}
	var err error
	if t.normalize, err = parseNormalizer(f.Normalizer); err != nil {
		return nil, fmt.Errorf("normalizer: %w", err)
	}
	if t.split, err = parseSplitter(f.PreTokenizer); err != nil {
		return nil, fmt.Errorf("pre_tokenizer: %w", err)
	}
	if t.model, err = parseVocabulary(f.Model); err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	t.unknown = t.model.unknown()
	t.tokens = t.model.max() + 1
	for _, a := range f.Added {
		if a.Content == "" || a.ID < 0 || a.ID >= maxTokens {
			return nil, fmt.Errorf("added_tokens: %.100q has number %d", a.Content, a.ID)
		}
		t.tokens = max(t.tokens, a.ID+1)
		if a.Normalized {
			if a.Content, err = t.normal(a.Content); err != nil {
				return nil, fmt.Errorf("added_tokens: %w", err)
			}
			t.done.add(a)
		} else {
			t.raw.add(a)
		}
	}
	return t, nil
}

// size returns how many token numbers there may be.
func (t *tokenizer) size() int { return t.tokens }

func (t *tokenizer) normal(text string) (string, error) {
	if t.normalize == nil {
		return text, nil
	}
	return t.normalize(text)
}

// encode makes the token numbers of a text, without unknown ones.
func (t *tokenizer) encode(text string) ([]int, error) {
	text = strings.ToValidUTF8(text, "\uFFFD")
	var ids []int
	for i, part := range t.raw.cut(text) {
		if part.id >= 0 {
			ids = append(ids, part.id)
			continue
		}
		normal, err := t.normal(part.text)
		if err != nil {
			return nil, err
		}
		for j, p := range t.done.cut(normal) {
			if p.id >= 0 {
				ids = append(ids, p.id)
				continue
			}
			pieces := []string{p.text}
			if t.split != nil {
				pieces = t.split(pieces, i == 0 && j == 0)
			}
			for _, piece := range pieces {
				if piece != "" {
					ids = t.model.encode(piece, ids)
				}
			}
		}
	}
	return t.known(ids), nil
}

func (t *tokenizer) known(ids []int) []int {
	if t.unknown < 0 {
		return ids
	}
	out := ids[:0]
	for _, id := range ids {
		if id != t.unknown {
			out = append(out, id)
		}
	}
	return out
}

// kindOf reads the member "type".
func kindOf(raw json.RawMessage) (string, error) {
	var k struct {
		Type string `json:"type"`
	}
	err := json.Unmarshal(raw, &k)
	return k.Type, err
}

func isNull(raw json.RawMessage) bool {
	s := strings.TrimSpace(string(raw))
	return s == "" || s == "null"
}

func parseVocabulary(raw json.RawMessage) (vocabulary, error) {
	if isNull(raw) {
		return nil, errors.New("there is none")
	}
	kind, err := kindOf(raw)
	if err != nil {
		return nil, err
	}
	switch kind {
	case "WordPiece":
		return parseWordPiece(raw)
	case "WordLevel":
		return parseWordLevel(raw)
	case "Unigram":
		return parseUnigram(raw)
	}
	return nil, fmt.Errorf("type %.50q is not known: WordPiece, WordLevel and Unigram are", kind)
}

// checkVocabulary checks the numbers of a vocabulary and returns the highest.
func checkVocabulary(vocab map[string]int) (int, error) {
	highest := -1
	for token, id := range vocab {
		if id < 0 || id >= maxTokens {
			return 0, fmt.Errorf("vocab: %.100q has number %d", token, id)
		}
		highest = max(highest, id)
	}
	if highest < 0 {
		return 0, errors.New("vocab is empty")
	}
	return highest, nil
}

// find returns the number of a token that the file names, -1 for none.
func find(vocab map[string]int, token *string) (int, error) {
	if token == nil {
		return -1, nil
	}
	id, ok := vocab[*token]
	if !ok {
		return -1, fmt.Errorf("unk_token %.100q is not in vocab", *token)
	}
	return id, nil
}
