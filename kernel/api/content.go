package api

import (
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/journal"
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
	// GetForgotten is the reason for a page that was forgotten, or removed by retention. Detail
	// distinguishes the two and gives the cause.
	GetForgotten = "FORGOTTEN"
)

// Reference names, by its hash, content that the blob store holds once.
type Reference struct {
	// Type is tool_output_ref, text_ref for a message, image_ref, audio_ref, video_ref or, for an
	// attachment of any other type, document_ref.
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

// KeptSession holds a session's stored pages, and the cuts of its newest plan.
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
	// At is the page's time by the host's clock. If the host gave no time, it is the time at which
	// memkernel ingested the page.
	At time.Time
}

// RememberRequest is a request to remember a text.
type RememberRequest struct {
	SessionKey string
	// Text is Markdown. Secrets in it are masked.
	Text string
	// Path is the file that the text is appended to, relative to the workspace; "" is today's
	// log. MEMORY.md and USER.md can be written in private sessions only.
	Path string
	// Tags are the reasons to keep the text. They are written in front of the text, or in front
	// of each item of a list. Texts without tags are forgotten first. Without the tag
	// human, MEMORY.md, USER.md and the day's log attribute it to an agent.
	Tags consolidation.Tags
	// ID makes the delivery idempotent. Default: a hash of session, file and text. In a
	// day's log, an id that does not begin with "me-" is hashed: see [Remembered.ID].
	ID string
	// Evidence is the origin of the text: the id of a page or the key of a committed turn of the
	// session. Default: the session itself.
	Evidence string
	// Undo records the entry as an edit of the session, which an undo takes back. A file with a
	// secret is not backed up, and its entries have no such edit.
	Undo bool
	// Voice, if set, writes the entry by hand: as an edit, which an undo takes back, without a
	// marker, and outside of any session. Tags, ID and Evidence are not used then.
	Voice Voice
	// Private: see [PlanRequest.Private].
	Private bool
	// Now is the time of the entry; zero takes the kernel's clock.
	Now time.Time
}

// Remembered is the entry that a [RememberRequest] made, and its place.
type Remembered struct {
	// ID is the entry's id. In the file, a marker with the id follows the entry.
	ID string `json:"id"`
	// Ref is the place of the entry's text.
	Ref memkernel.Ref `json:"ref"`
	// Duplicate: the file already had the entry.
	Duplicate bool `json:"duplicate"`
	// Late is the past day's log that the entry was meant for. The entry is in today's log
	// instead.
	Late string `json:"late,omitempty"`
	// Masked counts the secrets that were masked.
	Masked int `json:"masked"`
	// Edit names the change, for undo. Text is the written entry of a change by hand.
	Edit string `json:"edit,omitempty"`
	Text string `json:"text,omitempty"`
	// Unwritten is why the file does not have the entry yet, "" if the file has it. The session's
	// journal keeps the entry. It will be written with the session's next call during which the
	// file can be written.
	Unwritten string `json:"unwritten,omitempty"`
}

// Edited returns r as an [EntryEdited].
func (r *Remembered) Edited() *EntryEdited {
	return &EntryEdited{Edit: r.Edit, Path: r.Ref.Path, Line: r.Ref.StartLine, EndLine: r.Ref.EndLine, After: r.Text, Duplicate: r.Duplicate, Masked: r.Masked, Promoted: []string{}}
}

// WriteRequest is a request for typed changes of pages, such as a binding constraint, the current
// plan or a preference.
type WriteRequest struct {
	// SessionKey is the session that writes. The updates change its private pages.
	SessionKey string
	// Key makes the delivery idempotent. Default: a hash of session and updates.
	Key string
	// Point is the boundary of the request. Default: flush.
	Point journal.CommitPoint
	// By names the party for which the updates are written; default "host".
	By string
	// Project lets the updates write pages that all sessions of the workspace share.
	Project bool
	// AllOrNothing commits nothing if any update is rejected.
	AllOrNothing bool
	// Updates all have the same scope: the session's own, or the project's. Secrets in their
	// values are masked.
	Updates []journal.Update
	Now     time.Time
}
