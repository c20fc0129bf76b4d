package transcript

import (
	"github.com/memkernel/memkernel"
)

// Atom is the smallest run of messages that can leave a prompt. A cut inside it would separate a
// call from its result, or thinking from its consequence.
type Atom struct {
	// Start and End are message indices. End is exclusive.
	Start, End int
	// Assistant reports whether the atom is an assistant turn with its thinking, its calls and all
	// results.
	Assistant bool
	// Pending is the number of calls without a result.
	Pending int
	// Closed reports whether all calls have results and the model has seen them, which a later
	// assistant message shows. Only closed atoms may degrade or leave inside an open tool loop.
	Closed bool
}

// Atoms cuts messages into atoms, which tile the input. Neighbouring assistant messages are one
// atom, because providers merge them into one turn. An atom extends to its last result and
// includes user messages before it. System messages after a user's words or results belong to the
// same atom.
func Atoms(msgs []memkernel.Message) []Atom {
	var atoms []Atom
	for i := 0; i < len(msgs); {
		a := atomAt(msgs, i)
		for a.End < len(msgs) && isSystemRole(msgs[a.End].Role) && !isSystemRole(msgs[i].Role) && msgs[a.End-1].Role != memkernel.RoleAssistant {
			a.End++
		}
		atoms = append(atoms, a)
		i = a.End
	}
	later := false
	for i := len(atoms) - 1; i >= 0; i-- {
		atoms[i].Closed = later && atoms[i].Pending == 0
		later = later || atoms[i].Assistant
	}
	return atoms
}

func atomAt(msgs []memkernel.Message, i int) Atom {
	a := Atom{Start: i, End: i + 1, Assistant: msgs[i].Role == memkernel.RoleAssistant}
	if !a.Assistant {
		return a
	}
	open := map[string]bool{}
	for ; ; a.End++ {
		for k := range msgs[a.End-1].Parts {
			if p := &msgs[a.End-1].Parts[k]; isCall(p) {
				open[p.Call.ID] = true
			}
		}
		if a.End == len(msgs) || msgs[a.End].Role != memkernel.RoleAssistant {
			break
		}
	}
	for j := a.End; len(open) > 0 && j < len(msgs) && msgs[j].Role != memkernel.RoleAssistant; j++ {
		for k := range msgs[j].Parts {
			if p := &msgs[j].Parts[k]; isResult(p) && open[p.Result.CallID] {
				delete(open, p.Result.CallID)
				a.End = j + 1
			}
		}
	}
	for ; a.End < len(msgs) && msgs[a.End].Role == memkernel.RoleTool && !HasResults(msgs[a.End]); a.End++ {
		// a tool message about a call that already has its result
	}
	a.Pending = len(open)
	return a
}

// OpenLoop finds the tool loop that still runs at the end. ok reports whether there is one, and
// start is the index of the first message of the user turn that opened it. A user turn is a run
// of user and tool messages, as providers see it: text next to results does not open a new one.
func OpenLoop(msgs []memkernel.Message) (start int, ok bool) {
	end := len(msgs) - 1
	for end >= 0 && !isTurnRole(msgs[end].Role) {
		end--
	}
	if end < 0 || msgs[end].Role == memkernel.RoleAssistant && !HasCalls(msgs[end]) {
		return 0, false
	}
	loop := false
	for i := end; i >= 0; {
		if msgs[i].Role == memkernel.RoleAssistant || !isTurnRole(msgs[i].Role) {
			loop = loop || HasCalls(msgs[i])
			i--
			continue
		}
		first, results := i, false
		for ; i >= 0 && msgs[i].Role != memkernel.RoleAssistant; i-- {
			if isTurnRole(msgs[i].Role) {
				first, results = i, results || HasResults(msgs[i])
			}
		}
		if !results {
			if !loop {
				return 0, false
			}
			return first, true
		}
		loop = true
	}
	return 0, loop
}

func isTurnRole(r memkernel.Role) bool {
	return r == memkernel.RoleUser || r == memkernel.RoleAssistant || r == memkernel.RoleTool
}
