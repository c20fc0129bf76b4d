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
// messages follow. System and developer messages before these words belong to the next turn. If the
// last turn may continue, ended must be false. Then no turn ends with the last message.
func TurnEnds(msgs []memkernel.Message, ended bool) (out []int) {
	for i := range msgs {
		if msgs[i].Role != memkernel.RoleAssistant || HasCalls(msgs[i]) {
			continue
		}
		next := i + 1
		for next < len(msgs) && isSystemRole(msgs[next].Role) {
			next++
		}
		if ended && i+1 == len(msgs) || next < len(msgs) && PlainUser(msgs[next]) {
			out = append(out, i+1)
		}
	}
	return out
}
