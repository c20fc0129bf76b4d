package budget

import "strings"

// unknownImage is the estimate for an image of unknown size or for an unknown model, in tokens.
const unknownImage = 1500

// imageRule returns the number of tokens that a model makes of an image of a size in pixels.
type imageRule func(width, height int) int

// imageRuleFor returns the rule of a tokenizer family and a lower-case model id, nil for an unknown
// family.
func imageRuleFor(family, model string) imageRule {
	switch {
	case family == claudeOld:
		return func(w, h int) int { return claudeImage(w, h, 1568, 1568) }
	case family == claudeNew:
		return func(w, h int) int { return claudeImage(w, h, 2576, 4784) }
	case strings.Contains(model, "gpt-4o-mini"):
		return func(w, h int) int { return 2833 + 5667*openAITiles(w, h) }
	case family == o200k || family == cl100k:
		// Tiles, or one token for each started 32-pixel square, 1,536 at most.
		return func(w, h int) int { return max(85+170*openAITiles(w, h), min(ceilDiv(w, 32)*ceilDiv(h, 32), 1536)) }
	case family == gemini:
		return geminiImage
	}
	return nil
}

// Image estimates the tokens of an image by its size in pixels. A width or height of 0 means
// unknown.
func (o overheads) Image(width, height int) int {
	if width <= 0 || height <= 0 || o.image == nil {
		return unknownImage
	}
	return o.image(width, height)
}

// geminiImage returns 258 tokens for a small image, and 258 for each 768-pixel tile of a larger one
// (Gemini API, token guide).
func geminiImage(w, h int) int {
	if w <= 384 && h <= 384 {
		return 258
	}
	return 258 * ceilDiv(w, 768) * ceilDiv(h, 768)
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
