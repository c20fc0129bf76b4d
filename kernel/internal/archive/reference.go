package archive

import (
	"path"
	"strings"

	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/pagevm"
)

// previewChars is how much of a text a reference shows.
const previewChars = 500

// References returns the blobs of a page whose content is text.
func References(p *pagevm.Page, text string) []api.Reference {
	var out []api.Reference
	add := func(kind, hash, media, preview string, bytes int64) {
		out = append(out, api.Reference{Type: kind, Page: p.ID, ToolCallID: p.CallID, Path: path.Join("blobs", hash[:2], hash),
			Bytes: bytes, SHA256: hash, MediaType: media, Preview: preview})
	}
	if p.Blob != "" {
		kind := api.RefText
		if p.Type == pagevm.Evidence {
			kind = api.RefToolOutput
		}
		add(kind, p.Blob, "", head(text, previewChars), p.Bytes)
	}
	for _, m := range p.Media {
		if m.Blob != "" {
			add(mediaRef(m.Type), m.Blob, m.Type, "", m.Bytes)
		}
	}
	return out
}

// mediaRef returns the type of a reference to a medium.
func mediaRef(media string) string {
	switch kind, _, _ := strings.Cut(media, "/"); kind {
	case "image":
		return api.RefImage
	case "audio":
		return api.RefAudio
	case "video":
		return api.RefVideo
	}
	return api.RefDocument
}

// head returns the first n characters of a text, as valid UTF-8.
func head(text string, n int) string {
	text = strings.ToValidUTF8(text[:min(len(text), 4*n)], "\uFFFD")
	for i := range text {
		if n--; n < 0 {
			return text[:i]
		}
	}
	return text
}
