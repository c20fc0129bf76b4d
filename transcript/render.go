package transcript

import (
	"fmt"
	"strings"

	"github.com/memkernel/memkernel"
)

// Format is the shape of a provider's request body.
type Format string

const (
	// FormatAnthropic is the Messages API.
	FormatAnthropic Format = "anthropic"
	// FormatOpenAI is chat completions, which many providers speak.
	FormatOpenAI Format = "openai"
	// FormatResponses is OpenAI's Responses API.
	FormatResponses Format = "responses"
)

// Where a Marker stands if not in a message, and which part it means if not a
// certain one.
const (
	MarkerSystem = -1
	MarkerTools  = -2
	LastPart     = -1
)

// Marker asks for a cache breakpoint.
type Marker struct {
	// Message is an index into Request.Messages, MarkerSystem or MarkerTools.
	Message int
	// Part is an index into that message's parts, the system parts or the
	// tools; LastPart is the last. If the provider can't mark that block, the
	// nearest one before it in the request takes the marker.
	Part int
	// TTL is "5m", "1h" or "" for the provider's default.
	TTL string
}

// Param is a further member of the request body.
type Param struct {
	Name string
	// Raw is its JSON value.
	Raw string
}

// Request is what Render makes a body of.
type Request struct {
	Model    string
	Tools    []memkernel.Tool
	System   []memkernel.Part
	Messages []memkernel.Message
	// MaxTokens bounds the answer; 0 leaves the member out.
	MaxTokens int
	// Thinking is the JSON of the provider's thinking (Anthropic) or reasoning
	// (Responses) member, "" for none.
	Thinking string
	Markers  []Marker
	// Params are written last, in order.
	Params []Param
	// Source is the dialect that the messages came from. It decides about
	// blocks of unknown type, which only their own provider understands, and
	// lets untouched messages of that provider go out whole. "" means that the
	// blocks have to tell.
	Source Dialect
}

// Render makes the request body. Untouched blocks of the same provider go out
// with the bytes that the host wrote; everything else is converted to JSON
// with a fixed order of members. Cache markers in the source are taken out;
// only req.Markers are set. The notes say what could not be sent.
func Render(f Format, req *Request) ([]byte, []Note, error) {
	r := renderer{req: req, format: f}
	switch f {
	case FormatAnthropic:
		r.anthropic()
	case FormatOpenAI:
		r.chat()
	case FormatResponses:
		r.responses()
	default:
		return nil, nil, fmt.Errorf("render request: unknown format %q, want anthropic, openai or responses", f)
	}
	for _, p := range append([]Param{{"thinking", req.Thinking}}, req.Params...) {
		if p.Name == "thinking" && p.Raw == "" {
			continue
		}
		c := scan(p.Raw)
		if c.skip(); c.end() != nil {
			return nil, nil, fmt.Errorf("render member %s: %w", p.Name, c.err)
		}
	}
	return r.dst, r.notes, nil
}

// AppendPart appends the bytes of one block without cache markers, as Render
// writes them; nothing if the format can't carry the block. A tool result is a
// block for anthropic, a message for openai, an item for responses.
func AppendPart(dst []byte, f Format, role memkernel.Role, p *memkernel.Part) []byte {
	switch f {
	case FormatAnthropic:
		return appendAnthropic(dst, p)
	case FormatOpenAI:
		return appendChat(dst, role, p)
	case FormatResponses:
		return appendResponses(dst, role, p)
	}
	return dst
}

// sentRole is the role under which OpenAI gets a message.
func sentRole(role memkernel.Role) memkernel.Role {
	switch role {
	case memkernel.RoleAssistant, memkernel.RoleSystem, memkernel.RoleDeveloper:
		return role
	}
	return memkernel.RoleUser
}

// renderer holds the body while it grows.
type renderer struct {
	req    *Request
	format Format
	dst    []byte
	notes  []Note
}

func (r *renderer) note(rule string, msg int, p *memkernel.Part, text string) {
	n := Note{Rule: rule, Message: msg, Text: text}
	if msg >= 0 {
		n.Key = r.req.Messages[msg].Key
	}
	if p != nil {
		n.Removed = []memkernel.Part{*p}
	}
	r.notes = append(r.notes, n)
}

// member begins a member of the body.
func (r *renderer) member(name string) {
	if len(r.dst) == 0 {
		r.dst = append(make([]byte, 0, 64<<10), '{')
	} else {
		r.dst = append(r.dst, ',')
	}
	r.dst = appendString(r.dst, name)
	r.dst = append(r.dst, ':')
}

func (r *renderer) params() {
	for _, p := range r.req.Params {
		r.member(p.Name)
		r.dst = append(r.dst, p.Raw...)
	}
	r.dst = append(r.dst, '}')
}

// refused says why a part can't be sent in this format, "" if it can.
func (r *renderer) refused(msg int, p *memkernel.Part) string {
	if p.Kind == memkernel.PartText && strings.TrimSpace(p.Text) == "" {
		return "empty text"
	}
	if p.Kind == memkernel.PartOther && r.req.Source != "" && !r.kin() {
		return "a block of another provider"
	}
	if !isThinking(p) {
		if p.Kind == memkernel.PartOther && !formatTakes(r.format, p) {
			return "a block of another provider"
		}
		return ""
	}
	switch r.format {
	case FormatAnthropic:
		switch {
		case r.otherModel(msg) || isForeignThinking(p):
			return "reasoning of another model"
		case p.Signature == "":
			return "thinking without a signature"
		}
	case FormatOpenAI:
		if !isChatReasoning(p) {
			return "thinking that this format has no place for"
		}
	case FormatResponses:
		if !isReasoningItem(p) {
			return "thinking of another provider"
		}
		if p.Signature == "" || p.Signature == "REDACTED" {
			return "reasoning without its encrypted content"
		}
	}
	return ""
}

// otherModel tells whether another family of models wrote the message.
func (r *renderer) otherModel(msg int) bool {
	m := r.req.Messages[msg].Model
	return m != "" && m != r.req.Model && !strings.Contains(m, "claude")
}

// kin tells whether the source speaks this format's blocks.
func (r *renderer) kin() bool {
	switch r.req.Source {
	case ClaudeCode, Anthropic:
		return r.format == FormatAnthropic
	case OpenAI:
		return r.format == FormatOpenAI
	case Codex:
		return r.format == FormatResponses
	}
	return false
}

// formatTakes judges an unknown block by its type: the item types of one API
// are rejected by the other.
func formatTakes(f Format, p *memkernel.Part) bool {
	t := rawType(p.Raw)
	switch f {
	case FormatAnthropic:
		return p.Raw != "" && t != "" && !isItemJSON(p.Raw) && t != "refusal" && t != "input_audio" ||
			t == "compaction" && strings.Contains(p.Raw, `"content"`)
	case FormatOpenAI:
		return t == "input_audio" || t == "refusal"
	}
	return isItemJSON(p.Raw) && !(t == "compaction" && strings.Contains(p.Raw, `"content"`))
}

// isForeignThinking tells reasoning that Anthropic did not sign: Responses
// items, also inside a signature, and fields of chat messages.
func isForeignThinking(p *memkernel.Part) bool {
	return isReasoningItem(p) || isChatReasoning(p) || strings.HasPrefix(p.Signature, "{")
}

func isReasoningItem(p *memkernel.Part) bool {
	return p.Raw != "" && rawType(p.Raw) == "reasoning"
}

// isChatReasoning tells thinking that came from a field of a chat message.
func isChatReasoning(p *memkernel.Part) bool {
	switch p.Signature {
	case "reasoning_content", "reasoning", "reasoning_text":
		return p.Kind == memkernel.PartThinking
	}
	return false
}
