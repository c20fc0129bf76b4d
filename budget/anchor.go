package budget

// Anchor is a prompt whose size the provider measured. While the next prompt
// extends it, only what was added has to be counted.
type Anchor struct {
	// Model is the id of the model that measured.
	Model string `json:"model"`
	// Fixed identifies tools, system prompt and whatever else stands before the
	// messages, such as a hash.
	Fixed string `json:"fixed"`
	// Prompt identifies the messages that were measured, such as the head of
	// their hash chain.
	Prompt string `json:"prompt"`
	// InputTokens is the total input that was billed: uncached, read from and
	// written to the cache. Recorded output is no part of it and no anchor
	// either, since hosts often record a stub of it.
	InputTokens int `json:"input_tokens"`
}

// Holds reports whether a prompt of model and fixed part extends the measured
// one. Prefix identifies the prompt's first messages, as many as were measured.
func (a Anchor) Holds(model, fixed, prefix string) bool {
	return a.InputTokens > 0 && a.Model == model && a.Fixed == fixed && a.Prompt == prefix
}

// Plus is the size of the measured prompt with delta behind it. The uncertainty
// is that of delta alone.
func (a Anchor) Plus(delta Count) Count {
	return Count{Tokens: a.InputTokens + delta.Tokens, Bound: a.InputTokens + delta.Bound, Kind: Calibrated}
}
