package budget

import "strings"

const (
	// A signature holds a header and the block's whole thinking, encrypted. Of 1,217 recorded
	// blocks, 1,156 show all of their thinking. Their signatures are 174 bytes longer than the
	// thinking (median). For nine of ten the difference is 165 to 176 bytes.
	signatureHeader = 174
	// thinkingBytes is the size of a token of hidden thinking on the older tokenizer. Recorded
	// blocks that show only a summary were billed a token for 3.7 to 4.1 bytes. Models with the
	// newer tokenizer bill latinNew percent of that: the median error of 167 recorded calls of
	// Sonnet 5 with hidden thinking is smallest at 120 to 140 percent, in each of two sessions.
	thinkingBytes = 4
	// A block shows only a summary if its signature is for more than this multiple of the shown
	// text.
	summarised = 1.15
)

// hiddenThinking returns how many tokens a thinking block costs in addition to its shown text,
// when it is sent back to a model with the given tokenizer. The full size of a Claude block whose
// text is only a summary, or was left out, follows from its signature. For the signatures of
// other providers hiddenThinking returns 0.
func hiddenThinking(tokenizer, text, signature string) int {
	percent := 100
	switch tokenizer {
	case claudeNew:
		percent = latinNew
	case claudeOld:
	default:
		return 0
	}
	whole := float64(len(signature))*3/4 - signatureHeader // base64
	if whole <= summarised*float64(len(text)) {
		return 0
	}
	return int((whole-float64(len(text)))/thinkingBytes) * percent / 100
}

// KeepsThinking reports whether the model's provider counts the thinking of earlier user turns as
// part of the prompt. Anthropic does so from Opus 4.5, Sonnet 4.6 and Haiku 5 on (extended thinking
// guide, 2026-08). For older models and OpenAI's models this thinking does not count once the user
// speaks again.
func (m *Model) KeepsThinking() bool {
	id := strings.ReplaceAll(strings.ToLower(m.id), ".", "-")
	switch familyOf(m.id) {
	case claudeNew:
		return true
	case claudeOld:
		return strings.Contains(id, "opus-4-5") || strings.Contains(id, "opus-4-6") || strings.Contains(id, "sonnet-4-6")
	}
	return false
}
