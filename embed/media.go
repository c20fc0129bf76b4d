package embed

import "context"

// Media is a file that is not text.
type Media struct {
	// Type is its media type, such as image/png.
	Type string
	// Data are its bytes.
	Data []byte
	// Caption describes it, "" if nothing does: its name, its folder.
	Caption string
}

// MediaProvider is a Provider whose model places images and sounds among texts, so
// that questions in words find them.
type MediaProvider interface {
	Provider
	// TakesMedia returns why a file of a type and size in bytes can't be
	// embedded, nil if it can.
	TakesMedia(mediaType string, size int64) error
	// EmbedMedia gives the vector of a file.
	EmbedMedia(ctx context.Context, m Media) ([]float32, Usage, error)
}
