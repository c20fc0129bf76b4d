package transcript

import (
	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/transcript/internal/dialect"
)

// PlainUser reports whether m is a user message that answers no tool call, whoever wrote it. Such
// a message opens a user turn.
func PlainUser(m memkernel.Message) bool { return dialect.PlainUser(m) }

// HasResults reports whether m answers a tool call of the client's. Results of
// tools that the provider runs are inside the assistant's own message.
func HasResults(m memkernel.Message) bool { return dialect.HasResults(m) }

// HasCalls reports whether m asks the client to run a tool.
func HasCalls(m memkernel.Message) bool { return dialect.HasCalls(m) }

// Text joins the text of m: its text blocks and the text in its tool results,
// one block per line. Thinking and tool inputs are not part of it.
func Text(m memkernel.Message) string { return dialect.Text(m) }

// Asks reports whether an answer needs a reply from the client: it calls a tool, or holds an item
// of an unknown kind that another item may answer.
func Asks(m memkernel.Message) bool {
	return dialect.HasCalls(m) || dialect.Any(&m, dialect.MayAsk)
}

// TurnEnds returns the ends of a conversation's turns, each as the number of messages up to the
// end. A turn ends with an assistant message that calls no tool, if the user's own words or no
// messages follow. System and developer messages before these words belong to the next turn.
func TurnEnds(msgs []memkernel.Message) []int {
	var out []int
	for i := range msgs {
		if msgs[i].Role != memkernel.RoleAssistant || HasCalls(msgs[i]) {
			continue
		}
		next := i + 1
		for next < len(msgs) && dialect.IsSystemRole(msgs[next].Role) {
			next++
		}
		if i+1 == len(msgs) || next < len(msgs) && PlainUser(msgs[next]) {
			out = append(out, i+1)
		}
	}
	return out
}

// EndedTurns is [TurnEnds] for a conversation that may still go on: a final message of the model
// ends a turn only if ended is true.
func EndedTurns(msgs []memkernel.Message, ended bool) []int {
	out := TurnEnds(msgs)
	if n := len(out); !ended && n > 0 && out[n-1] == len(msgs) {
		out = out[:n-1]
	}
	return out
}
