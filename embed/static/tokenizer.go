package static

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// tokenizer converts a text to token numbers.
type tokenizer struct {
	normalize normalizer
	split     splitter
	model     vocabulary
	raw, done added // tokens looked for before and after normalizing
	tokens    int   // how many token numbers there may be
}

// vocabulary converts a piece of a text to token numbers.
type vocabulary struct {
	encode func(piece string, ids []int) []int
	// max is the highest number.
	max int
	// unknown is the number of the token for unknown pieces if the vocabulary names it, else -1.
	// encode of the tokenizer removes these tokens.
	unknown int
}

// maxTokens bounds token numbers. It is far above the size of any vocabulary.
const maxTokens = 1 << 26

// parseTokenizer reads tokenizer.json.
func parseTokenizer(data []byte) (*tokenizer, error) {
	var f struct {
		Added        []addedToken    `json:"added_tokens"`
		Normalizer   *normalizerFile `json:"normalizer"`
		PreTokenizer *splitterFile   `json:"pre_tokenizer"`
		Model        json.RawMessage `json:"model"`
	}
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("it is no JSON of a tokenizer: %w", err)
	}
	t := &tokenizer{}
	var err error
	if t.normalize, err = f.Normalizer.normalizer(); err != nil {
		return nil, fmt.Errorf("normalizer: %w", err)
	}
	if t.split, err = f.PreTokenizer.splitter(); err != nil {
		return nil, fmt.Errorf("pre_tokenizer: %w", err)
	}
	if t.model, err = parseVocabulary(f.Model); err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	t.tokens = t.model.max + 1
	for _, a := range f.Added {
		if a.Content == "" || a.ID < 0 || a.ID >= maxTokens {
			return nil, fmt.Errorf("added_tokens: %.100q has number %d", a.Content, a.ID)
		}
		t.tokens = max(t.tokens, a.ID+1)
		if !a.Normalized {
			t.raw.add(a)
			continue
		}
		if a.Content, err = t.normalize(a.Content); err != nil {
			return nil, fmt.Errorf("added_tokens: %w", err)
		}
		t.done.add(a)
	}
	return t, nil
}

// encode returns the token numbers of a text, without the token for unknown pieces.
func (t *tokenizer) encode(text string) ([]int, error) {
	text = strings.ToValidUTF8(text, "\uFFFD")
	var ids []int
	for i, part := range t.raw.cut(text) {
		if part.id >= 0 {
			ids = append(ids, part.id)
			continue
		}
		normal, err := t.normalize(part.text)
		if err != nil {
			return nil, err
		}
		for j, p := range t.done.cut(normal) {
			if p.id >= 0 {
				ids = append(ids, p.id)
				continue
			}
			for _, piece := range t.split([]string{p.text}, i == 0 && j == 0) {
				if piece != "" {
					ids = t.model.encode(piece, ids)
				}
			}
		}
	}
	return slices.DeleteFunc(ids, func(id int) bool { return id == t.model.unknown }), nil
}

func parseVocabulary(raw json.RawMessage) (v vocabulary, err error) {
	var f struct {
		Type string `json:"type"`
	}
	if len(raw) == 0 || string(raw) == "null" {
		return v, errors.New("there is none")
	}
	if err := json.Unmarshal(raw, &f); err != nil {
		return v, err
	}
	switch f.Type {
	case "WordPiece", "WordLevel":
		return parseWords(raw, f.Type == "WordPiece")
	case "Unigram":
		return parseUnigram(raw)
	}
	return v, fmt.Errorf("type %.50q is not known: WordPiece, WordLevel and Unigram are", f.Type)
}
