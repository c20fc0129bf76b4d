package transcript

import (
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/textutil"
)

// markTyped marks the texts of a message as typed. A dialect must call it only for messages in
// which its host writes down a person's words. alongside reports whether texts in a message with
// tool results are the person's, too. In a request such texts are the person's only after a call
// that the person refused, or after the notice that the person stopped the work.
func markTyped(m *memkernel.Message, alongside bool) {
	if !ofPerson(m) {
		return
	}
	open := alongside || !HasResults(*m)
	for i := range m.Parts {
		switch p := &m.Parts[i]; {
		case isResult(p):
			_, refused := refusedText(p.Result)
			open = open || refused
		case p.Kind == memkernel.PartText && strings.HasPrefix(p.Text, interrupted):
			open = true
		case p.Kind == memkernel.PartText:
			p.Typed = open && !isHostContext(p.Text) && !synthetic(p)
		}
	}
}

// ofPerson reports whether a message may hold what a person typed.
func ofPerson(m *memkernel.Message) bool {
	return m.Role == memkernel.RoleUser && m.Origin == memkernel.OriginHost && m.Branch == ""
}

// synthetic reports whether the host marks a block as its own, as OpenCode does.
func synthetic(p *memkernel.Part) bool {
	return strings.Contains(p.Raw, `"synthetic"`) && strings.HasPrefix(p.Raw, "{") && memberOf(p.Raw, "synthetic") == "true"
}

// interrupted begins Claude Code's notice that the user stopped the work.
const interrupted = "[Request interrupted by user"

// The words with which Claude Code tells its model that the user refused a call.
const (
	// refused begins the text. The user's own words follow saidWith.
	refused  = "The user doesn't want to "
	saidWith = "the user said:\n"
)

// refusedText returns the first text of a failed result, and whether it reports that the user
// refused the call.
func refusedText(r *memkernel.ToolResult) (text string, ok bool) {
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

// isHostContext reports whether a text in a user message is the host's own.
func isHostContext(text string) bool {
	return textutil.Begins(text, []string{"<environment_context>", "<user_instructions>", "# AGENTS.md instructions",
		"<turn_aborted>", "<permissions instructions>", "<skill>", "<user_shell_command>", "<INSTRUCTIONS>",
		"<subagent_notification>"})
}
