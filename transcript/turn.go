package transcript

import (
	"github.com/memkernel/memkernel"
)

// TurnEnds finds where the turns of a conversation end: behind an assistant message
// that calls no tool and is followed by the user's own words, or by nothing. Each is
// the number of messages up to there.
func TurnEnds(msgs []memkernel.Message) []int {
	var out []int
	for i := range msgs {
		if msgs[i].Role != memkernel.RoleAssistant || HasCalls(msgs[i]) {
			continue
		}
		if i+1 == len(msgs) || PlainUser(msgs[i+1]) {
			out = append(out, i+1)
		}
	}
	return out
}

// EndedTurns is [TurnEnds] for a conversation that may still go on: what the model said
// last counts only if ended says that its turn has.
func EndedTurns(msgs []memkernel.Message, ended bool) []int {
	out := TurnEnds(msgs)
	if n := len(out); !ended && n > 0 && out[n-1] == len(msgs) {
		out = out[:n-1]
	}
	return out
}
