package wire

import (
	"strings"

	"github.com/memkernel/memkernel"
)

// Person marks the texts of a message as typed. A dialect calls it for messages in
// which its host writes down what a person typed, and for no others. beside reports
// whether texts beside tool results are the person's, too. Where they need not be,
// as in a request, they are the person's if that broke in: behind a call that they
// refused, or the notice that they stopped the work.
func Person(m *memkernel.Message, beside bool) {
	if m.Role != memkernel.RoleUser || m.Origin != memkernel.OriginHost || m.Branch != "" {
		return
	}
	open := beside || !HasResults(*m)
	for i := range m.Parts {
		switch p := &m.Parts[i]; {
		case IsResult(p):
			_, refused := Refusal(p.Result)
			open = open || refused
		case p.Kind == memkernel.PartText && strings.HasPrefix(p.Text, interrupted):
			open = true
		case p.Kind == memkernel.PartText:
			p.Typed = open && !IsHostContext(p.Text) && !synthetic(p)
		}
	}
}

// synthetic reports whether a block is one that its host marks as its own, as OpenCode does.
func synthetic(p *memkernel.Part) bool {
	return strings.Contains(p.Raw, `"synthetic"`) && strings.HasPrefix(p.Raw, "{") && MemberOf(p.Raw, "synthetic") == "true"
}

// interrupted begins the notice of Claude Code that the user stopped the work.
const interrupted = "[Request interrupted by user"

// refused are the words by which Claude Code reports to its model a call that the user
// refused; after saidWith comes what the user typed.
const (
	refused  = "The user doesn't want to "
	SaidWith = "the user said:\n"
)

func Refusal(r *memkernel.ToolResult) (text string, ok bool) {
	if !r.IsError || r.Opaque {
		return "", false
	}
	for i := range r.Content {
		if p := &r.Content[i]; p.Kind == memkernel.PartText {
			return p.Text, strings.HasPrefix(p.Text, refused)
		}
	}
	return "", false
}

// IsHostContext reports whether a text is what a host put in the user's mouth.
func IsHostContext(text string) bool {
	for _, prefix := range [...]string{"<environment_context>", "<user_instructions>", "# AGENTS.md instructions",
		"<turn_aborted>", "<permissions instructions>", "<skill>", "<user_shell_command>", "<INSTRUCTIONS>",
		"<subagent_notification>"} {
		if strings.HasPrefix(text, prefix) {
			return true
		}
	}
	return false
}
