package transcript

import (
	"cmp"
	"fmt"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/transcript/internal/wire"
)

// Provider names the provider whose rules a request has to keep.
type Provider string

const (
	ProviderAnthropic Provider = "anthropic"
	ProviderOpenAI    Provider = "openai"
	ProviderResponses Provider = "responses"
	ProviderGemini    Provider = "gemini"
	ProviderDeepSeek  Provider = "deepseek"
)

// Violation is one broken rule of a provider's.
type Violation struct {
	// Code is the rule's short code: A1 to A12 for Anthropic, C for chat
	// completions, R for Responses, G for Gemini, D for DeepSeek.
	Code string
	// Rule is its name, such as "pair-adjacent".
	Rule string
	// Message and Part are indices into the request, -1 if none.
	Message, Part int
	// Text explains it to a person.
	Text string
}

func (v Violation) String() string {
	return fmt.Sprintf("%s %s: message %d part %d: %s", v.Code, v.Rule, v.Message, v.Part, v.Text)
}

// ValidateOptions are facts that a request alone does not show. Rules that need an absent one are not
// judged.
type ValidateOptions struct {
	// Reference is the conversation as the host recorded it. The rules about thinking and order
	// need it (A7, R2, R3). Messages are matched by key, else by call id.
	Reference []memkernel.Message
	// Changed reports whether something before message ChangedFrom differs from the prompt for
	// which the model wrote that message and the later ones (A8, R4).
	Changed     bool
	ChangedFrom int
	// PreservedThinking reports whether the model's thinking is bound to its prefix, DropBlocks
	// whether the request lets the provider drop thinking that no longer fits.
	PreservedThinking, DropBlocks bool
	// Prefill allows the last message to be a partial answer (A6).
	Prefill bool
	// AutomaticMarker reports whether the provider places one marker itself, which
	// takes one of the four slots (A9).
	AutomaticMarker bool
	// PreviousTail is the marker at the end of the previous request, if any: some marker must be
	// less than 20 positions after it (A9).
	PreviousTail *Marker
}

// Validate judges messages as they are against the rules of a provider, as
// far as a request shows them. Sound requests give nil.
func Validate(p Provider, req *Request, opt *ValidateOptions) []Violation {
	v := validator{req: req, opt: cmp.Or(opt, &ValidateOptions{})}
	switch p {
	case ProviderAnthropic:
		v.anthropic()
	case ProviderOpenAI:
		v.chat()
	case ProviderDeepSeek:
		v.chat()
		v.deepSeek()
	case ProviderResponses:
		v.responses()
	case ProviderGemini:
		v.gemini()
	default:
		v.add("", "provider", -1, -1, "unknown provider %q", p)
	}
	return v.out
}

type validator struct {
	req *Request
	opt *ValidateOptions
	out []Violation
}

func (v *validator) add(code, rule string, msg, part int, format string, args ...any) {
	v.out = append(v.out, Violation{Code: code, Rule: rule, Message: msg, Part: part, Text: fmt.Sprintf(format, args...)})
}

func (v *validator) part(b wire.At) *memkernel.Part { return &v.req.Messages[b.Msg].Parts[b.Part] }

// turns merges neighbours of one role. The system messages that open the conversation belong to
// the system prompt and are left out.
func (v *validator) turns() []wire.Turn {
	var out []wire.Turn
	lead := true
	for i := range v.req.Messages {
		m := &v.req.Messages[i]
		if lead = lead && wire.IsSystemRole(m.Role); lead {
			continue
		}
		role := v.wireRole(m.Role)
		if n := len(out); n == 0 || out[n-1].Role != role {
			out = append(out, wire.Turn{Role: role})
		}
		t := &out[len(out)-1]
		for k := range m.Parts {
			t.Blocks = append(t.Blocks, wire.At{Msg: i, Part: k})
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

// reference returns a function that finds the recorded message of a message in the request.
func (v *validator) reference() func(*memkernel.Message) *memkernel.Message {
	recorded := map[string]*memkernel.Message{}
	for at, p := range wire.Parts(v.opt.Reference) {
		if wire.IsCall(p) {
			recorded["c"+p.Call.ID] = &v.opt.Reference[at.Msg]
		}
	}
	for i := range v.opt.Reference {
		if m := &v.opt.Reference[i]; m.Key != "" {
			recorded["k"+m.Key] = m
		}
	}
	return func(m *memkernel.Message) *memkernel.Message {
		if ref := recorded["k"+m.Key]; ref != nil {
			return ref
		}
		for k := range m.Parts {
			if p := &m.Parts[k]; wire.IsCall(p) {
				return recorded["c"+p.Call.ID]
			}
		}
		return nil
	}
}

// callShape finds calls that no API takes.
func (v *validator) callShape(code string) {
	for at, p := range wire.Parts(v.req.Messages) {
		if !wire.IsCall(p) {
			continue
		}
		if _, wrong := wire.Mend(p); wrong != "" {
			v.add(code, "call-shape", at.Msg, at.Part, "call %s: %s", p.Call.ID, wrong)
		}
	}
}

// afterCut finds thinking that no longer fits its prefix.
func (v *validator) afterCut(code, rule string) {
	if !v.opt.Changed || !v.opt.PreservedThinking || v.opt.DropBlocks {
		return
	}
	for at, p := range wire.Parts(v.req.Messages) {
		if at.Msg >= v.opt.ChangedFrom && wire.IsThinking(p) {
			v.add(code, rule, at.Msg, at.Part, "thinking is sent though something before it was changed")
		}
	}
}

// atPart is add for a part of a message.
func (v *validator) atPart(code, rule string, b wire.At, format string, args ...any) {
	v.add(code, rule, b.Msg, b.Part, format, args...)
}
