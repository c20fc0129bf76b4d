package budget

import (
	"fmt"
	"slices"
)

// Kind says how reliable a number of tokens is.
type Kind string

const (
	// Exact numbers come from the model's own vocabulary.
	Exact Kind = "exact"
	// Calibrated numbers are estimates corrected by observed usage.
	Calibrated Kind = "calibrated"
	// Estimated numbers come from a formula.
	Estimated Kind = "estimated"
)

// Count is a number of tokens with its reliability.
type Count struct {
	// Tokens is the expected number. Use it for display and for prices.
	Tokens int `json:"tokens"`
	// Bound is the number that budgets use. It is at least Tokens, and the true number rarely
	// exceeds it. For exact counts it equals Tokens.
	Bound int `json:"bound"`
	// Kind is the least reliable kind among the added counts. It is "" if nothing was counted.
	Kind Kind `json:"kind"`
}

// Add returns the sum of two counts. Its kind is the weaker of the two.
func (c Count) Add(d Count) Count {
	trust := func(k Kind) int { return slices.Index([]Kind{Estimated, Calibrated, Exact, ""}, k) }
	kind := c.Kind
	if trust(d.Kind) < trust(kind) {
		kind = d.Kind
	}
	return Count{Tokens: c.Tokens + d.Tokens, Bound: c.Bound + d.Bound, Kind: kind}
}

// Names of tokenizers, as [For] takes and familyOf returns them.
const (
	o200k     = "o200k"      // OpenAI since GPT-4o
	cl100k    = "cl100k"     // GPT-4, GPT-3.5, text-embedding-3
	claudeOld = "claude-old" // Claude up to Opus 4.6, Sonnet 4.6, Haiku 4.5
	claudeNew = "claude-new" // Claude Opus 4.7, Sonnet 5, Fable, Haiku 5.5 and later
	gemini    = "gemini"
	bySize    = "bytes" // nothing is known but the size
)

// Counter counts the tokens of a text. Counters are safe for concurrent use.
type Counter interface {
	// Count returns the number of tokens of text, which may be any bytes.
	Count(text string) Count
	// Name returns the tokenizer's name.
	Name() string
}

// For returns the counter of a tokenizer by name. Making a counter is cheap. An unknown name is
// an error.
func For(tokenizer string) (Counter, error) {
	switch tokenizer {
	case o200k:
		return &bpe{tokenizer, openVocabulary(o200kTable), nextO200k}, nil
	case cl100k:
		return &bpe{tokenizer, openVocabulary(cl100kTable), nextCl100k}, nil
	case claudeOld, claudeNew, gemini, bySize:
		return newEstimator(tokenizer), nil
	}
	return nil, fmt.Errorf("find tokenizer %q: unknown name; use one of o200k, cl100k, claude-old, claude-new, gemini, bytes", tokenizer)
}
