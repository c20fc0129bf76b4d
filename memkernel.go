// Package memkernel holds the data that every other package of the module speaks in: messages,
// their parts, tool calls and results, media, usage, citations. It is only data, except that
// [Usage] reads the JSON of providers. It reads no file, counts no token, decides nothing;
// behaviour lives in the package that needs it.
//
// The canonical form is close to what providers accept, and lossless: every value keeps the exact
// bytes that the host wrote next to the fields that we understood, so that an untouched message
// can be handed back byte for byte.
//
// Package kernel is the front door of the module; start reading there.
package memkernel

import "time"

// Role is who speaks in a message.
type Role string

// The roles of the canonical form. A message of role tool holds only tool
// results; hosts that carry results in user messages keep role user.
const (
	RoleSystem    Role = "system"
	RoleDeveloper Role = "developer"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Origin is how a message came to be when it is not plain dialogue.
type Origin string

const (
	// OriginHost is ordinary dialogue: a person, the model or a tool.
	OriginHost Origin = ""
	// OriginSummary is a summary that the host's own compaction wrote.
	OriginSummary Origin = "summary"
	// OriginSynthetic is the host's own text in the model's name, such as an
	// API error shown to the user. It was never a model call.
	OriginSynthetic Origin = "synthetic"
	// OriginMeta is text that the host injected in the user's name.
	OriginMeta Origin = "meta"
)

// Message is one entry of a conversation.
type Message struct {
	// Key identifies the message within its session: the host's id, or "" if
	// the host has none (the kernel then derives one from the content chain).
	Key string
	// Role is who speaks.
	Role Role
	// Parts are the content blocks in order. Never mutated once set.
	Parts []Part
	// Time is when the host recorded the message; zero if unknown.
	Time time.Time
	// Model is the model id of an assistant message; "" if unknown.
	Model string
	// Usage is the provider's bill for the call that produced this assistant message; nil if
	// unknown or if the message was no call.
	Usage *Usage
	// Reported is the provider's report on that call's request; nil for none.
	Reported *Reported
	// Branch is "" on the main line, otherwise the id of a sidechain
	// (a subagent's conversation, planned as a branch of its own).
	Branch string
	// Turn is the id of the user turn, if the host has one.
	Turn string
	// Origin is "" for plain dialogue.
	Origin Origin
	// Raw is the exact JSON of the message in the host's dialect, "" if the
	// message was built from several records or by hand.
	Raw string
}

// PartKind names the kind of a content block.
type PartKind string

const (
	PartText             PartKind = "text"
	PartThinking         PartKind = "thinking"
	PartRedactedThinking PartKind = "redacted_thinking"
	PartToolUse          PartKind = "tool_use"
	PartToolResult       PartKind = "tool_result"
	PartImage            PartKind = "image"
	PartDocument         PartKind = "document"
	// PartOther is a block whose type we do not know. Raw holds it verbatim.
	PartOther PartKind = "other"
)

// Part is one content block. Exactly one of Text, Call, Result, Media or Raw
// carries the content, by Kind; Raw may come with any of them.
type Part struct {
	Kind PartKind
	// Text is the text of text and thinking blocks. It may hold invalid UTF-8
	// only if the host's file did.
	Text string
	// Typed reports whether a person typed Text, with or without text that their host put round
	// it. Text without the mark comes from a tool, a file, the host or an agent. The dialects of
	// package transcript set the mark, and transcript.Typed decides which part of the text counts
	// as the person's.
	Typed bool
	// Signature binds a thinking block to its prefix, or is the encrypted
	// content of a redacted or server-side reasoning block.
	Signature string
	Call      *ToolCall
	Result    *ToolResult
	Media     *Media
	// Raw is the block's exact JSON as the host wrote it, "" if it was built.
	Raw string
}

// ToolCall is a model's request to run a tool.
type ToolCall struct {
	// ID ties the call to its result.
	ID string
	// Name is the tool's name.
	Name string
	// Input is the raw JSON of the arguments exactly as the model emitted it;
	// for free-form (custom) calls it is the plain text.
	Input string
	// Custom marks a free-form call, whose Input is not JSON.
	Custom bool
	// Server marks a tool that the provider runs itself.
	Server bool
}

// ToolResult is the outcome of a call.
type ToolResult struct {
	// CallID is the ID of the call that this answers.
	CallID string
	// Name is the tool's name if the host repeats it.
	Name string
	// Content is the result's blocks: text and media.
	Content []Part
	// Text reports whether the host wrote Content as one plain string.
	Text bool
	// IsError is the host's own verdict.
	IsError bool
	// Opaque marks encrypted or server-side content that must keep its shape.
	Opaque bool
	// Synthetic marks a result made up for a call that was never answered.
	Synthetic bool
}

// Media is an image or document, inline or by reference.
type Media struct {
	// Type is the MIME type.
	Type string
	// Data is the base64 payload, "" for a reference.
	Data string
	// URL or file id of a referenced medium.
	URL string
	// Width and Height are pixels, 0 if unknown.
	Width, Height int
}

// Ref cites a place in a document.
type Ref struct {
	// Path is relative to the workspace, with forward slashes.
	Path string `json:"path"`
	// StartLine and EndLine are 1-based and inclusive.
	StartLine int `json:"start_line"`
	EndLine   int `json:"end_line"`
	// Hash is the sha256 of the cited bytes, in hex.
	Hash string `json:"hash"`
}

// Scope is who may see a page or a memory.
type Scope string

const (
	// ScopeSession is private to one session.
	ScopeSession Scope = "session"
	// ScopeProject is shared by all sessions of a workspace.
	ScopeProject Scope = "project"
)

// Tool is a tool definition in the host's request.
type Tool struct {
	Name string
	// Raw is the definition's exact JSON.
	Raw string
}
