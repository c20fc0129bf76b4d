package budget

import "strings"

const (
	// A signature holds the block's whole thinking, encrypted, behind a header: of
	// 1,217 recorded blocks 1,156 show all of their thinking, and their signatures
	// are 174 bytes longer than it (median; 165 to 176 for nine of ten).
	signatureHeader = 174
	// thinkingBytes is the size of a token of thinking that is not shown.
	// Recorded blocks of which only a summary is shown were billed a token for
	// 3.7 to 4.1 bytes.
	thinkingBytes = 4
	// A block that is signed for this share more than it shows, shows a summary.
	summarised = 1.15
)

// HiddenThinking returns what a thinking block costs, when it is sent back to a
// Claude model, on top of the text that it shows: its signature shows how much
// there is where the text is only a summary or was left out.
func HiddenThinking(text, signature string) Count {
	whole := float64(len(signature))*3/4 - signatureHeader // base64
	if whole <= summarised*float64(len(text)) {
		return Count{Kind: Estimated}
	}
	n := int((whole - float64(len(text))) / thinkingBytes)
	return Count{Tokens: n, Bound: n + n/2, Kind: Estimated}
}

// KeepsThinking reports whether the provider counts the thinking of earlier user
// turns as part of the prompt. Anthropic does from Opus 4.5, Sonnet 4.6 and
// Haiku 5 on (extended thinking guide, 2026-08); older models and OpenAI's drop
// it when the user speaks again.
func KeepsThinking(modelID string) bool {
	id := strings.ReplaceAll(strings.ToLower(modelID), ".", "-")
	switch Family(modelID) {
	case ClaudeNew:
		return true
	case ClaudeOld:
		return strings.Contains(id, "opus-4-5") || strings.Contains(id, "opus-4-6") || strings.Contains(id, "sonnet-4-6")
	}
	return false
}
