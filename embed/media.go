package embed

import "context"

// Media is a file that is not text.
type Media struct {
	// Type is the media type of the file, such as image/png.
	Type string
	// Data is the content of the file.
	Data []byte
	// Caption describes the file, for example by its name and folder, or is "".
	Caption string
}

// MediaProvider is a Provider whose model also makes vectors of images and sounds, so that questions in
// words find them.
type MediaProvider interface {
	Provider
	// TakesMedia returns an error if a file of the given type and size in bytes can't be
	// embedded.
	TakesMedia(mediaType string, size int64) error
	// EmbedMedia returns the vector of a file.
	EmbedMedia(ctx context.Context, m Media) ([]float32, Usage, error)
}
