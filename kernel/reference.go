package kernel

import (
	"github.com/memkernel/memkernel/kernel/internal/archive"
	"github.com/memkernel/memkernel/pagevm"
)

// The types of a [Reference]. What hosts call an attachment of another sort is a
// document.
const (
	RefToolOutput = archive.RefToolOutput
	RefText       = archive.RefText
	RefImage      = archive.RefImage
	RefAudio      = archive.RefAudio
	RefVideo      = archive.RefVideo
	RefDocument   = archive.RefDocument
)

// Reference is content that stands in the blob store once, by its hash, in the
// place of the bytes themselves.
type Reference struct {
	Type       string `json:"type"`
	Page       string `json:"page"`
	ToolCallID string `json:"tool_call_id,omitempty"`
	// Path is relative to the state directory.
	Path      string `json:"path"`
	Bytes     int64  `json:"bytes"`
	SHA256    string `json:"sha256"`
	MediaType string `json:"media_type,omitempty"`
	// Preview is how a text begins, secrets masked.
	Preview string `json:"preview,omitempty"`
}

// references are the blobs of a page whose content is text.
func references(p *pagevm.Page, text string) (out []Reference) {
	for _, r := range archive.References(p, text) {
		out = append(out, Reference(r))
	}
	return out
}
