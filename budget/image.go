package budget

import "strings"

// imageRule is the rule by which a family of models turns pixels into tokens.
type imageRule uint8

const (
	imageUnknown     imageRule = iota
	imageClaude                // 28-pixel patches, 1,568 pixels and tokens at most
	imageClaudeLarge           // the same, 2,576 pixels and 4,784 tokens at most
	imageOpenAI                // tiles or patches, whichever are more tokens
	imageOpenAIMini            // gpt-4o-mini's inflated tiles
	imageGemini
)

// unknownImage is the estimate for an image of unknown size or for an unknown model, in tokens.
const unknownImage = 1500

// imageRuleFor returns the rule of a tokenizer family and a lower-case model id.
func imageRuleFor(family, model string) imageRule {
	switch {
	case family == ClaudeOld:
		return imageClaude
	case family == ClaudeNew:
		return imageClaudeLarge
	case strings.Contains(model, "gpt-4o-mini"):
		return imageOpenAIMini
	case family == O200k || family == Cl100k:
		return imageOpenAI
	case family == Gemini:
		return imageGemini
	}
	return imageUnknown
}

// Image estimates the tokens of an image by its size in pixels. A width or height of 0 means
// unknown.
func (o Overheads) Image(width, height int) int {
	if width <= 0 || height <= 0 {
		return unknownImage
	}
	switch o.images {
	case imageClaude:
		return claudeImage(width, height, 1568, 1568)
	case imageClaudeLarge:
		return claudeImage(width, height, 2576, 4784)
	case imageOpenAI:
		// One token for each started 32-pixel square, 1,536 at most.
		return max(85+170*openAITiles(width, height), min(ceilDiv(width, 32)*ceilDiv(height, 32), 1536))
	case imageOpenAIMini:
		return 2833 + 5667*openAITiles(width, height)
	case imageGemini:
		// 258 tokens for a small image, and 258 for each 768-pixel tile of a larger one (Gemini
		// API, token guide).
		if width <= 384 && height <= 384 {
			return 258
		}
		return 258 * ceilDiv(width, 768) * ceilDiv(height, 768)
	}
	return unknownImage
}

// claudeImage returns one token for each started 28-pixel square after the image is scaled down to
// an edge and a number of tokens (Anthropic's vision guide).
func claudeImage(w, h, edge, most int) int {
	if longest := max(w, h); longest > edge {
		w, h = ceilDiv(w*edge, longest), ceilDiv(h*edge, longest)
	}
	return min(ceilDiv(w, 28)*ceilDiv(h, 28), most)
}

// openAITiles returns the number of 512-pixel tiles after the image is scaled down into a square of
// 2,048 and then to 768 on its shorter side (OpenAI's vision guide).
func openAITiles(w, h int) int {
	if longest := max(w, h); longest > 2048 {
		w, h = max(w*2048/longest, 1), max(h*2048/longest, 1)
	}
	if shortest := min(w, h); shortest > 768 {
		w, h = w*768/shortest, h*768/shortest
	}
	return ceilDiv(w, 512) * ceilDiv(h, 512)
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }
