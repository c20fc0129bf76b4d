package transcript

import (
	"encoding/base64"
	"encoding/binary"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"strings"

	"github.com/memkernel/memkernel"
)

// pixels reads the size of an inline image from its header. It returns 0, 0 for an unknown format
// and for damaged data.
func pixels(mediaType, data string) (width, height int) {
	if data == "" {
		return 0, 0
	}
	var decode func(io.Reader) (image.Config, error)
	switch {
	case strings.HasPrefix(data, "iVBORw0KGgo"):
		decode = png.DecodeConfig
	case strings.HasPrefix(data, "/9j/"):
		decode = jpeg.DecodeConfig
	case strings.HasPrefix(data, "R0lGOD"):
		decode = gif.DecodeConfig
	case strings.HasPrefix(data, "UklGR"), mediaType == "image/webp":
		decode = webpConfig
	default:
		return 0, 0
	}
	cfg, err := decode(base64.NewDecoder(base64.StdEncoding, strings.NewReader(data)))
	if err != nil {
		return 0, 0
	}
	return cfg.Width, cfg.Height
}

// webpConfig reads the canvas size of a WebP file (RFC 9649). The first 30 bytes hold it, whether
// the first chunk is VP8 (lossy), VP8L (lossless) or VP8X (extended).
func webpConfig(r io.Reader) (image.Config, error) {
	var h [30]byte
	if _, err := io.ReadFull(r, h[:]); err != nil {
		return image.Config{}, err
	}
	if string(h[:4]) != "RIFF" || string(h[8:12]) != "WEBP" {
		return image.Config{}, image.ErrFormat
	}
	switch string(h[12:16]) {
	case "VP8 ":
		w := int(binary.LittleEndian.Uint16(h[26:])) & 0x3fff
		return image.Config{Width: w, Height: int(binary.LittleEndian.Uint16(h[28:])) & 0x3fff}, nil
	case "VP8L":
		b := binary.LittleEndian.Uint32(h[21:])
		return image.Config{Width: int(b&0x3fff) + 1, Height: int(b>>14&0x3fff) + 1}, nil
	case "VP8X":
		return image.Config{Width: uint24(h[24:]) + 1, Height: uint24(h[27:]) + 1}, nil
	}
	return image.Config{}, image.ErrFormat
}

func uint24(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }

// mediaOf returns the medium at a URL, which may hold the data itself: data:image/png;base64,...
func mediaOf(url string) *memkernel.Media {
	if typed, data, ok := strings.Cut(url, ";base64,"); ok && strings.HasPrefix(typed, "data:") {
		return inlineMedia(strings.TrimPrefix(typed, "data:"), data)
	}
	return &memkernel.Media{URL: url}
}

// inlineMedia returns a medium by its data.
func inlineMedia(mediaType, data string) *memkernel.Media {
	m := &memkernel.Media{Type: mediaType, Data: data}
	m.Width, m.Height = pixels(mediaType, data)
	return m
}
