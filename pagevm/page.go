package pagevm

import (
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/pagevm/mask"
)

// Type is the kind of a page. Everything in a prompt belongs to a page. The type of a page never
// changes.
type Type string

// The six page types (ClawVM, Table 1).
const (
	Bootstrap    Type = "bootstrap"
	Constraint   Type = "constraint"
	Plan         Type = "plan"
	Preference   Type = "preference"
	Evidence     Type = "evidence"
	Conversation Type = "conversation"
)

// Level is the fidelity at which a page is shown. Higher shows more.
type Level uint8

// The four levels, plus Gone for a page that is not in the prompt at all.
const (
	Gone Level = iota
	Pointer
	Structured
	Compressed
	Full
)

var levelNames = [...]string{"gone", "pointer", "structured", "compressed", "full"}

func (l Level) String() string {
	if int(l) < len(levelNames) {
		return levelNames[l]
	}
	return fmt.Sprintf("level(%d)", uint8(l))
}

// MarshalText writes the level's name.
func (l Level) MarshalText() ([]byte, error) {
	if int(l) < len(levelTexts) {
		return levelTexts[l], nil
	}
	return []byte(l.String()), nil
}

// levelTexts are the names as bytes. Encoders copy them, so that MarshalText may share them.
var levelTexts = func() (texts [len(levelNames)][]byte) {
	for l, name := range levelNames {
		texts[l] = []byte(name)
	}
	return texts
}()

// UnmarshalText reads a level's name; an unknown name is an error.
func (l *Level) UnmarshalText(b []byte) error {
	i := slices.Index(levelNames[:], string(b))
	if i < 0 {
		return fmt.Errorf("unknown fidelity level %q", b)
	}
	*l = Level(i)
	return nil
}

// Rep is one representation of a page: the text that the model would see at a level.
type Rep struct {
	Level Level `json:"level"`
	// Hash is the sha256 of Text in hex.
	Hash string `json:"hash"`
	// Text is the shown content. It is "" at level Full of a stored page, whose content is in the
	// host's message or in the blob.
	Text string `json:"text,omitempty"`

	// Door is the kind of content that the model first sees as this text. It is "" if the model
	// first sees the whole content.
	Door string `json:"door,omitempty"`
}

// Media is an image or document that belongs to a page, kept as a blob.
type Media struct {
	Type  string `json:"type"`
	Blob  string `json:"blob,omitempty"`
	URL   string `json:"url,omitempty"`
	Bytes int64  `json:"bytes"`
}

// Page is a typed unit of state that can be shown at several fidelities.
type Page struct {
	// ID is derived from the page's provenance and never changes.
	ID    string          `json:"id"`
	Type  Type            `json:"type"`
	Scope memkernel.Scope `json:"scope"`
	// MessageKey is the key of the host message that holds the content.
	MessageKey string `json:"message_key,omitempty"`
	// CallID is the id of the tool call, for evidence.
	CallID string `json:"call_id,omitempty"`
	// Tool is the tool's name, for evidence.
	Tool string `json:"tool,omitempty"`
	// Path is the canonical path that the tool call names, "" if it names no path.
	Path string `json:"path,omitempty"`
	// Hash is the sha256 of the page's masked full content.
	Hash string `json:"hash"`
	// Blob equals Hash once the content is durable in the blob store. Before that it is "".
	Blob  string `json:"blob,omitempty"`
	Bytes int64  `json:"bytes"`
	// Masked counts the secrets that were masked before hashing.
	Masked int `json:"masked,omitempty"`
	// MaskedBy counts the masked secrets by rule. It is empty in pages of older versions.
	MaskedBy mask.Secrets `json:"masked_by,omitempty"`
	// Role is the speaker's role.
	Role string `json:"role,omitempty"`
	// Media are the images and documents next to the text.
	Media []Media `json:"media,omitempty"`
	// Untyped: no person typed the content, although a user's message holds it.
	Untyped bool `json:"untyped,omitempty"`
	// Summary: the host's own compaction wrote the content.
	Summary bool `json:"summary,omitempty"`
	// Refs cite the places that the content was taken from, if it was recalled or read from the
	// workspace.
	Refs []memkernel.Ref `json:"refs,omitempty"`
	// Resolver is the tool that the pointer representation names.
	Resolver string `json:"resolver,omitempty"`
	// Created is the host's time of the content.
	Created time.Time `json:"created,omitzero"`
	// Reps are the degraded representations, made at ingestion.
	Reps []Rep `json:"reps,omitempty"`
}

// handle matches the ids by which the model reads pages and spans.
var handle = regexp.MustCompile(`\b(?:ev|cv|sp|rm|ws|nt|rt|pn)-[0-9a-f]{16}\b`)

// Handles returns the ids of pages and spans in a text, such as the input of a call that reads them.
func Handles(text string) []string { return handle.FindAllString(text, -1) }

// Speaker is the author of a page's words: its role, or "host" if a user's message holds text
// that no person typed.
func (p *Page) Speaker() string {
	if p.Untyped {
		return "host"
	}
	return p.Role
}

// Source returns the place that the content was taken from, "" for other pages and for nil.
func (p *Page) Source() string {
	if p == nil || len(p.Refs) == 0 {
		return ""
	}
	return p.Refs[0].Path
}

// Door returns the kind of content because of which the model first sees the page shortened. It
// returns "" if the model first sees the whole page.
func (p *Page) Door() string {
	if len(p.Reps) == 0 {
		return ""
	}
	return p.Reps[0].Door
}

// Floor returns the lowest level at which a page of type t may ever be shown, where resolver
// reports whether the request names a tool by which the model can follow a pointer. Without such
// a tool no page may go below Structured.
func Floor(t Type, resolver bool) Level {
	if t == Bootstrap || t == Constraint || !resolver {
		return Structured
	}
	return Pointer
}
