package transcript

import (
	"github.com/memkernel/memkernel"
)

// Asks reports whether an answer needs a reply from the client: it calls a tool, or holds an item
// of an unknown kind that another item may answer.
func Asks(m memkernel.Message) bool {
	return HasCalls(m) || anyPart(&m, mayAsk)
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
		for next < len(msgs) && isSystemRole(msgs[next].Role) {
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
