package transcript

import (
	"fmt"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/transcript/internal/dialect"
)

// Violation is one broken rule of a provider.
type Violation struct {
	// Code is the rule's short code: A for Anthropic, C for chat completions, R for Responses, G
	// for Gemini.
	Code string
	// Rule is its name, such as "pair-adjacent".
	Rule string
	// Message and Part are indices into the request. Each is -1 if the violation concerns no
	// message or no part.
	Message, Part int
	// Text explains the violation to a person.
	Text string
}

func (v Violation) String() string {
	return fmt.Sprintf("%s %s: message %d part %d: %s", v.Code, v.Rule, v.Message, v.Part, v.Text)
}

// Validate checks the messages of a request, unrepaired, against the rules of a format's provider.
// It returns nil for a sound request.
func Validate(f Format, req *Request) []Violation {
	v := validator{req: req}
	switch f {
	case FormatAnthropic:
		v.anthropic()
	case FormatOpenAI:
		v.chat()
	case FormatResponses:
		v.responses()
	case FormatGemini:
		v.gemini()
	default:
		v.add("", "provider", -1, -1, "unknown format %q", f)
	}
	return v.out
}

type validator struct {
	req *Request
	out []Violation
}

func (v *validator) add(code, rule string, msg, part int, format string, args ...any) {
	v.out = append(v.out, Violation{Code: code, Rule: rule, Message: msg, Part: part, Text: fmt.Sprintf(format, args...)})
}

func (v *validator) part(b dialect.At) *memkernel.Part { return &v.req.Messages[b.Msg].Parts[b.Part] }

// turns merges neighbours of one role. The system messages that open the conversation belong to
// the system prompt and are left out.
func (v *validator) turns() []dialect.Turn {
	var out []dialect.Turn
	lead := true
	for i := range v.req.Messages {
		m := &v.req.Messages[i]
		if lead = lead && dialect.IsSystemRole(m.Role); lead {
			continue
		}
		role := v.wireRole(m.Role)
		if n := len(out); n == 0 || out[n-1].Role != role {
			out = append(out, dialect.Turn{Role: role})
		}
		t := &out[len(out)-1]
		for k := range m.Parts {
			t.Blocks = append(t.Blocks, dialect.At{Msg: i, Part: k})
		}
	}
	return out
}

// wireRole returns the role under which a message goes out. Only a conversation of Anthropic's
// may have system messages inside.
func (v *validator) wireRole(r memkernel.Role) string {
	switch r {
	case memkernel.RoleUser, memkernel.RoleTool, memkernel.RoleDeveloper:
		return "user"
	case memkernel.RoleSystem:
		if v.req.Source != Anthropic {
			return "user"
		}
	}
	return string(r)
}

// callShape finds calls that no API accepts.
func (v *validator) callShape(code string) {
	for at, p := range dialect.Parts(v.req.Messages) {
		if !dialect.IsCall(p) {
			continue
		}
		if _, wrong := dialect.Mend(p); wrong != "" {
			v.add(code, "call-shape", at.Msg, at.Part, "call %s: %s", p.Call.ID, wrong)
		}
	}
}

// atPart is add for a part of a message.
func (v *validator) atPart(code, rule string, b dialect.At, format string, args ...any) {
	v.add(code, rule, b.Msg, b.Part, format, args...)
}
