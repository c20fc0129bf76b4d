package embed

import (
	"context"
	"fmt"
	"slices"
)

// geminiMedia is a remote with a model of Gemini's second generation. Its vectors of images and sounds
// can be compared with those of texts.
type geminiMedia struct{ *remote }

var _ MediaProvider = (*geminiMedia)(nil)

const (
	// maxMediaBytes is the size of the largest file. In base64 it stays below the 20 MB that the API
	// allows in a request.
	maxMediaBytes = 14 << 20 // 14 MiB
	// MediaTokens is the number of tokens of a file in estimates. It is the model's whole window,
	// because the real number is known only after the request.
	MediaTokens = 8192
)

// mediaTypes are the types that the model accepts (ai.google.dev/gemini-api/docs/embeddings).
var mediaTypes = []string{"image/png", "image/jpeg", "image/webp", "image/gif", "image/heic", "image/heif",
	"audio/mpeg", "audio/mp3", "audio/wav", "audio/ogg", "audio/opus", "audio/mp4", "audio/aac", "audio/flac"}

// TakesMedia implements MediaProvider.
func (g *geminiMedia) TakesMedia(mediaType string, size int64) error {
	switch {
	case !slices.Contains(mediaTypes, mediaType):
		return fmt.Errorf("%s takes no %s", g.cfg.Model, mediaType)
	case size > maxMediaBytes:
		return fmt.Errorf("it has %d bytes, %s takes %d", size, g.cfg.Model, maxMediaBytes)
	case size == 0:
		return fmt.Errorf("it is empty")
	}
	return nil
}

// EmbedMedia implements MediaProvider.
func (g *geminiMedia) EmbedMedia(ctx context.Context, m Media) ([]float32, Usage, error) {
	var use Usage
	if err := g.TakesMedia(m.Type, int64(len(m.Data))); err != nil {
		return nil, use, fmt.Errorf("embed media: %w", err)
	}
	caption := fit("", m.Caption, g.textBytes)
	vectors, err := g.request(ctx, forDocument, []input{{text: caption, media: &m}}, &use)
	if err != nil {
		return nil, use, err
	}
	return vectors[0], use, nil
}
