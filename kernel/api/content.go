package api

import (
	"time"

	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/pagevm"
)

// Content is a page restored by its pointer.
type Content struct {
	// ID is the requested page, span or blob.
	ID string `json:"id"`
	// Reason is OK, or why Text is empty: NO_MATCH, FORGOTTEN, or BACKEND_ERROR for a page that
	// is known and can't be read.
	Reason string `json:"reason"`
	// Detail explains Reason. With OK it may say that secrets are masked in the text.
	Detail string `json:"detail,omitempty"`
	// Fault is silent_recall if content that was stored is gone or damaged.
	Fault *fault.Fault `json:"fault,omitempty"`
	// Text is the content as stored, secrets masked where they were found.
	Text string `json:"text"`
	// Page describes the page; nil for a span or a blob.
	Page *pagevm.Page `json:"page,omitempty"`
	// References are the parts of the page that are stored as blobs.
	References []Reference `json:"references,omitempty"`
	// Pages are the members of a span, in order.
	Pages []string `json:"pages,omitempty"`
}

// The reasons of [Content].
const (
	GetOK           = "OK"
	GetNoMatch      = "NO_MATCH"
	GetBackendError = "BACKEND_ERROR"
	// Forgotten is the reason for a page that was forgotten, or removed by retention. Detail says
	// which, and why.
	GetForgotten = "FORGOTTEN"
)

// The types of a [Reference]. An attachment of any other type is a document.
const (
	RefToolOutput = "tool_output_ref"
	RefText       = "text_ref"
	RefImage      = "image_ref"
	RefAudio      = "audio_ref"
	RefVideo      = "video_ref"
	RefDocument   = "document_ref"
)

// Reference names, by its hash, content that the blob store holds once.
type Reference struct {
	// Type is tool_output_ref, text_ref for a message, image_ref, audio_ref, video_ref or
	// document_ref.
	Type       string `json:"type"`
	Page       string `json:"page"`
	ToolCallID string `json:"tool_call_id,omitempty"`
	// Path is relative to the state directory.
	Path      string `json:"path"`
	Bytes     int64  `json:"bytes"`
	SHA256    string `json:"sha256"`
	MediaType string `json:"media_type,omitempty"`
	// Preview is the beginning of a text, secrets masked.
	Preview string `json:"preview,omitempty"`
}

// KeptSession is what a session keeps of its conversation.
type KeptSession struct {
	// Pages are in the order in which they were kept.
	Pages []KeptPage
	// Cuts are the cuts of the newest plan's conversation.
	Cuts []pagevm.CutPoint
}

// KeptPage is a page of a session with its content as stored. Text is "" if the content is gone.
type KeptPage struct {
	*pagevm.Page
	Text string
	// Level is the level at which the newest prompt shows the page, [pagevm.Gone] if the page left
	// the prompts. Without a plan every page is [pagevm.Full].
	Level pagevm.Level
	// Tokens is the size of the shown page.
	Tokens int
	// At is the host's time of the page. If the host told none, it is the time at which memkernel
	// took the page in.
	At time.Time
}
