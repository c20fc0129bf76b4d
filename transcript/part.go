package transcript

import (
	"iter"
	"strings"

	"github.com/memkernel/memkernel"
)

// PlainUser reports whether m is a user message that answers no tool call,
// whoever wrote it: the form that opens a user turn.
func PlainUser(m memkernel.Message) bool {
	return m.Role == memkernel.RoleUser && len(m.Parts) > 0 && !HasResults(m)
}

// HasResults reports whether m answers a call of a tool that the client runs. Results of tools that
// the provider runs are inside the assistant's message and do not count.
func HasResults(m memkernel.Message) bool {
	return m.Role != memkernel.RoleAssistant && anyPart(&m, func(p *memkernel.Part) bool { return p.Kind == memkernel.PartToolResult })
}

// HasCalls reports whether m asks the client to run a tool.
func HasCalls(m memkernel.Message) bool { return anyPart(&m, isCall) }

// anyPart reports whether some part of a message is of a kind.
func anyPart(m *memkernel.Message, is func(*memkernel.Part) bool) bool {
	for i := range m.Parts {
		if is(&m.Parts[i]) {
			return true
		}
	}
	return false
}

// allParts goes over all parts of messages with their places.
func allParts(msgs []memkernel.Message) iter.Seq2[partAt, *memkernel.Part] {
	return func(yield func(partAt, *memkernel.Part) bool) {
		for i := range msgs {
			for k := range msgs[i].Parts {
				if !yield(partAt{i, k}, &msgs[i].Parts[k]) {
					return
				}
			}
		}
	}
}

// textPart returns a part that is a text.
func textPart(s string) memkernel.Part {
	return memkernel.Part{Kind: memkernel.PartText, Text: s}
}

// textParts returns a text as the parts of a message, nil for "".
func textParts(s string) []memkernel.Part {
	if s == "" {
		return nil
	}
	return []memkernel.Part{textPart(s)}
}

// callPart returns a call as a part. raw is its own JSON, "" if it has none.
func callPart(c memkernel.ToolCall, raw string) memkernel.Part {
	return memkernel.Part{Kind: memkernel.PartToolUse, Call: &c, Raw: raw}
}

// resultPart returns a result as a part. raw is its own JSON, "" if it has none.
func resultPart(r memkernel.ToolResult, raw string) memkernel.Part {
	return memkernel.Part{Kind: memkernel.PartToolResult, Result: &r, Raw: raw}
}

// isCall reports whether p is a call that the client runs, and not the provider.
func isCall(p *memkernel.Part) bool {
	return p.Kind == memkernel.PartToolUse && p.Call != nil && !p.Call.Server
}

// isResult reports whether p is the result of a call.
func isResult(p *memkernel.Part) bool {
	return p.Kind == memkernel.PartToolResult && p.Result != nil
}

// isThinking reports whether p is thinking of the model's.
func isThinking(p *memkernel.Part) bool {
	return p.Kind == memkernel.PartThinking || p.Kind == memkernel.PartRedactedThinking
}

// Text joins the text of m: its text blocks and the text in its tool results,
// one block per line. Thinking and tool inputs are not part of it.
func Text(m memkernel.Message) string {
	if len(m.Parts) == 1 && m.Parts[0].Kind == memkernel.PartText {
		return m.Parts[0].Text
	}
	var b strings.Builder
	for i := range m.Parts {
		partText(&b, &m.Parts[i])
	}
	return b.String()
}

func partText(b *strings.Builder, p *memkernel.Part) {
	switch {
	case p.Kind == memkernel.PartText:
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(p.Text)
	case isResult(p):
		for i := range p.Result.Content {
			partText(b, &p.Result.Content[i])
		}
	}
}

// isEmptyText reports whether p is a text of white space alone, which providers reject.
func isEmptyText(p memkernel.Part) bool {
	return p.Kind == memkernel.PartText && strings.TrimSpace(p.Text) == ""
}

// callOf returns the id of the call that p is or answers, "" if it is neither.
func callOf(p *memkernel.Part) string {
	switch {
	case isCall(p):
		return p.Call.ID
	case isResult(p):
		return p.Result.CallID
	}
	return ""
}

// holdsCall reports whether a message holds a call with one of the ids, or its result.
func holdsCall(m *memkernel.Message, ids map[string]bool) bool {
	return anyPart(m, func(p *memkernel.Part) bool { return ids[callOf(p)] })
}
