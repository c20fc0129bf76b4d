package budget

import "strings"

// imageRule names how a family of models turns pixels into tokens.
type imageRule uint8

const (
	imageUnknown imageRule = iota
	imageClaude            // 28-pixel patches, 1,568 pixels and tokens at most
	imageClaudeLarge
	imageOpenAI     // tiles or patches, whichever is more
	imageOpenAIMini // gpt-4o-mini's inflated tiles
	imageGemini
)

// unknownImage is the estimate for an image whose size or rule is not known,
// in tokens.
const unknownImage = 1500

// imageRuleFor picks the rule of a tokenizer family and a lower-case model id.
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

// Image returns the tokens of an image of the given size in pixels; 0 if
// unknown.
func (o Overheads) Image(width, height int) Count {
	if width <= 0 || height <= 0 {
		return Count{Tokens: unknownImage, Bound: max(unknownImage, o.largestImage()), Kind: Estimated}
	}
	var n int
	switch o.images {
	case imageClaude:
		n = claudeImage(width, height, 1568, 1568)
	case imageClaudeLarge:
		n = claudeImage(width, height, 2576, 4784)
	case imageOpenAI:
		n = max(85+170*openAITiles(width, height), openAIPatches(width, height))
	case imageOpenAIMini:
		n = 2833 + 5667*openAITiles(width, height)
	case imageGemini:
		n = geminiImage(width, height)
	default:
		return Count{Tokens: unknownImage, Bound: o.largestImage(), Kind: Estimated}
	}
	return Count{Tokens: n, Bound: n, Kind: Estimated}
}

// largestImage returns what the largest image costs, in tokens.
func (o Overheads) largestImage() int {
	switch o.images {
	case imageClaude:
		return 1568
	case imageOpenAI:
		return 1536
	case imageOpenAIMini:
		return 2833 + 8*5667
	}
	return 4784
}

// PDF returns the tokens of a document of so many pages: each is read as text,
// 1,500 to 3,000 tokens by the provider's word, and as an image.
func (o Overheads) PDF(pages int) Count {
	if o.images == imageGemini {
		return Count{Tokens: 258 * pages, Bound: 258 * pages, Kind: Estimated}
	}
	page := o.Image(1240, 1754) // A4 at 150 dots per inch
	return Count{Tokens: pages * (2250 + page.Tokens), Bound: pages * (3000 + page.Bound), Kind: Estimated}
}

// claudeImage is one token per started 28-pixel square, after the image was
// scaled down to an edge and a number of tokens (Anthropic's vision guide).
func claudeImage(w, h, edge, most int) int {
	if longest := max(w, h); longest > edge {
		w, h = ceilDiv(w*edge, longest), ceilDiv(h*edge, longest)
	}
	return min(ceilDiv(w, 28)*ceilDiv(h, 28), most)
}

// openAITiles returns the number of 512-pixel tiles after the image was scaled
// down into 2,048 square and then to 768 on its shorter side (OpenAI's vision
// guide).
func openAITiles(w, h int) int {
	if longest := max(w, h); longest > 2048 {
		w, h = max(w*2048/longest, 1), max(h*2048/longest, 1)
	}
	if shortest := min(w, h); shortest > 768 {
		w, h = w*768/shortest, h*768/shortest
	}
	return ceilDiv(w, 512) * ceilDiv(h, 512)
}

// openAIPatches is one token per started 32-pixel square, 1,536 at most.
func openAIPatches(w, h int) int { return min(ceilDiv(w, 32)*ceilDiv(h, 32), 1536) }

// geminiImage is 258 tokens for a small image, and per 768-pixel tile of a
// larger one (Gemini API, token guide).
func geminiImage(w, h int) int {
	if w <= 384 && h <= 384 {
		return 258
	}
	return 258 * ceilDiv(w, 768) * ceilDiv(h, 768)
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }
