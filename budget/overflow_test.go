package budget

import (
	"testing"

	"pgregory.net/rapid"
)

func TestParseOverflow(t *testing.T) {
	for _, tc := range []struct {
		text string
		want Overflow
	}{
		{"prompt is too long: 214007 tokens > 200000 maximum", Overflow{214007, 200000, 0}},
		{`{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 214007 tokens > 200000 maximum"}}`, Overflow{214007, 200000, 0}},
		{"input length and `max_tokens` exceed context limit: 195000 + 8192 > 200000, decrease input length or `max_tokens` and try again", Overflow{195000, 200000, 8192}},
		{"This model's maximum context length is 8192 tokens. However, your messages resulted in 8545 tokens. Please reduce the length of the messages.", Overflow{8545, 8192, 0}},
		{"This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4000 in the messages, 1000 in the completion). Please reduce the length of the messages or completion.", Overflow{4000, 4096, 1000}},
		{"This model's maximum context length is 8191 tokens, however you requested 10346 tokens (10346 in your prompt; 5 for the completion). Please reduce your prompt; or completion length.", Overflow{10346, 8191, 5}},
		{"This endpoint's maximum context length is 200000 tokens. However, you requested about 205000 tokens (197000 of text input, 8000 in the output). Please reduce the length.", Overflow{197000, 200000, 8000}},
		{"This model's maximum context length is 128,000 tokens. However, you requested 130,001 tokens.", Overflow{130001, 128000, 0}},
		{"The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).", Overflow{1196265, 1048575, 0}},
		{"This model's maximum prompt length is 131072 but the request contains 537812 tokens.", Overflow{537812, 131072, 0}},
		{"prompt token count of 87654 exceeds the limit of 64000", Overflow{87654, 64000, 0}},
		{"Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length", Overflow{40000, 32768, 0}},
		{"too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 4292.", Overflow{4292, 4081, 0}},
		{"Invalid request: Your request exceeded model token limit: 262144 (requested: 300000)", Overflow{300000, 262144, 0}},
		{"`inputs` tokens + `max_new_tokens` must be <= 4097. Given: 4000 `inputs` tokens and 500 `max_new_tokens`", Overflow{4000, 4097, 500}},
		{"request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it", Overflow{5000, 4096, 0}},
		{"the request exceeds the available context size (4096 tokens). try increasing the context size", Overflow{0, 4096, 0}},
		{"Input is too long for requested model.", Overflow{}},
		{"Your input exceeds the context window of this model. Please adjust your input and try again.", Overflow{}},
		{`{"error":{"code":"context_length_exceeded"}}`, Overflow{}},
		{"413 request_too_large: Request exceeds the maximum size", Overflow{}},
		{"invalid params, context window exceeds limit", Overflow{}},
	} {
		got, ok := ParseOverflow(tc.text)
		if !ok || got != tc.want {
			t.Errorf("%s\n got %+v %v\nwant %+v", tc.text, got, ok, tc.want)
		}
	}
}

// What is no overflow teaches nothing: a limit on the rate, above all, names figures
// that look like one.
func TestParseOverflowRefusesOthers(t *testing.T) {
	for _, text := range []string{
		"", "overloaded_error", "Invalid API key", "500 internal server error",
		"Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Requested 45000.",
		"This request would exceed the rate limit for your organization of 40,000 input tokens per minute",
		"messages.3: tool_use ids were found without tool_result blocks",
	} {
		if o, ok := ParseOverflow(text); ok {
			t.Errorf("%q was taken for an overflow: %+v", text, o)
		}
	}
}

func TestParseOverflowIsSane(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom([]string{"prompt is too long: ", "maximum context length is ", "context limit: ", ""}).Draw(t, "head") +
			rapid.StringMatching(`[0-9]{0,20} tokens > [0-9]{0,20} [a-z (]{0,20}[0-9]{0,20}`).Draw(t, "tail")
		if o, _ := ParseOverflow(text); o.Input < 0 || o.Limit < 0 || o.Answer < 0 || o.Input > 0 && o.Input+o.Answer <= o.Limit {
			t.Fatalf("%q: %+v", text, o)
		}
	})
}
