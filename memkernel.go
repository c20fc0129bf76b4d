// Package memkernel holds the data that every other package of the module speaks in: messages,
// their parts, tool calls and results, media, usage, citations. [User], [Assistant], [Result] and
// [Text] make the usual ones. [ReadUsage] and [StreamUsage] read a provider's bill. The package
// reads no file, counts no token and decides nothing.
//
// The canonical form is close to what providers accept, and lossless: in addition to its decoded
// fields, every value keeps the exact bytes that the host wrote. An untouched message can be
// handed back byte for byte.
//
// Package kernel is the front door of the module. Start reading there.
package memkernel

import "time"

// Role is the speaker of a message.
type Role string

// The roles of the canonical form. A message of role tool holds only tool results. Hosts that put
// results into user messages keep role user.
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
	// Key identifies the message within its session. It is the host's id, or "" if the host has
	// none. In that case the kernel derives a key from the content chain.
	Key string
	// Role is who speaks.
	Role Role
	// Parts are the content blocks in order. They are never changed once set.
	Parts []Part
	// Time is the time at which the host recorded the message. It is zero if the time is unknown.
	Time time.Time
	// Model is the model id of an assistant message. It is "" if the model is unknown.
	Model string
	// Usage is the provider's bill for the call that produced this assistant message. It is nil
	// if the bill is unknown, or if no call produced the message.
	Usage *Usage
	// Reported is the provider's report on the request of the same call. It is nil if there is no
	// report.
	Reported *Reported
	// Branch is "" on the main line. Otherwise it is the id of a sidechain, which is a subagent's
	// conversation that is planned as a branch of its own.
	Branch string
	// Turn is the id of the user turn, if the host has one.
	Turn string
	// Origin is "" for plain dialogue.
	Origin Origin
	// Raw is the exact JSON of the message in the host's dialect, "" if the
	// message was built from several records or by hand.
	Raw string
}

// User returns a message that a person typed. Rules, decisions and memories are made from such
// texts. For a text that a host, a tool or a file put in the user's name, use a [Part] that is not
// marked as typed.
func User(text string) Message {
	return Message{Role: RoleUser, Parts: []Part{{Kind: PartText, Text: text, Typed: true}}}
}

// Assistant returns a model's answer: its text, if it has one, and the tool calls that follow. An
// answer whose thinking must be sent back is read from the provider's JSON, by ReadBody of package
// transcript.
func Assistant(text string, calls ...ToolCall) Message {
	m := Message{Role: RoleAssistant}
	if text != "" {
		m.Parts = Text(text)
	}
	for i := range calls {
		m.Parts = append(m.Parts, Part{Kind: PartToolUse, Call: &calls[i]})
	}
	return m
}

// Result returns a message with the result of a tool call. callID is the call's [ToolCall.ID]. For
// a failed call set IsError of the result, which is in the message's only part.
func Result(callID, text string) Message {
	r := &ToolResult{CallID: callID, Text: true, Content: Text(text)}
	return Message{Role: RoleTool, Parts: []Part{{Kind: PartToolResult, Result: r}}}
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

// Part is one content block. Kind decides which one of Text, Call, Result, Media or Raw carries
// the content. Raw may accompany any of the other fields.
type Part struct {
	Kind PartKind
	// Text is the text of text and thinking blocks. It may hold invalid UTF-8
	// only if the host's file did.
	Text string
	// Typed reports whether a person typed Text. The host may have added text around the person's
	// text. Text without the mark comes from a tool, a file, the host or an agent. The dialects
	// of package transcript set the mark, and transcript.Typed decides which part of the text
	// counts as the person's.
	Typed bool
	// Signature binds a thinking block to its prefix. In a redacted or server-side reasoning
	// block it is the encrypted content.
	Signature string
	Call      *ToolCall
	Result    *ToolResult
	Media     *Media
	// Raw is the block's exact JSON as the host wrote it. It is "" if the block was built by
	// hand.
	Raw string
}

// Text returns the content of a system prompt or of a tool result: one text that no person typed.
func Text(text string) []Part { return []Part{{Kind: PartText, Text: text}} }

// ToolCall is a model's request to run a tool.
type ToolCall struct {
	// ID ties the call to its result.
	ID string
	// Name is the tool's name.
	Name string
	// Input is the raw JSON of the arguments exactly as the model wrote it. In a free-form
	// (custom) call it is plain text.
	Input string
	// Custom marks a free-form call, whose Input is not JSON.
	Custom bool
	// Server marks a tool that the provider runs itself.
	Server bool
}

// ToolResult is the outcome of a call.
type ToolResult struct {
	// CallID is the ID of the call that this result answers.
	CallID string
	// Name is the tool's name if the host repeats it.
	Name string
	// Content is the result's blocks: text and media.
	Content []Part
	// Text reports whether the host wrote Content as one plain string.
	Text bool
	// IsError reports whether the host marked the result as an error.
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

// Scope says who may see a page or a memory.
type Scope string

const (
	// ScopeSession makes a page or a memory private to one session.
	ScopeSession Scope = "session"
	// ScopeProject shares a page or a memory with all sessions of a workspace.
	ScopeProject Scope = "project"
)

// Tool is a tool definition in the host's request.
type Tool struct {
	Name string
	// Raw is the definition's exact JSON.
	Raw string
}
