package transcript

import (
	"github.com/memkernel/memkernel"
)

// chat judges the rules of chat completions: C1 calls-answered, C2
// no-orphan-tool, C3 window-start, C4 call-shape.
func (v *validator) chat() {
	turns := v.turns()
	if len(turns) > 0 && turns[0].Role == "user" && len(turns[0].Blocks) > 0 && isResult(v.part(turns[0].Blocks[0])) {
		v.atPart("C3", turns[0].Blocks[0], "the conversation begins with a tool message")
	}
	answered := "C1"
	v.pairs(turns, &pairing{unanswered: answered, late: answered, orphan: "C2"})
	v.callShape("C4")
}

// responses judges R1 call-output, R2 reasoning-group and R5 call-shape.
func (v *validator) responses() {
	v.callOutput()
	v.reasoningGroup()
	v.callShape("R5")
}

func (v *validator) callOutput() {
	open := map[string]partAt{}
	done := map[string]bool{}
	for at, p := range allParts(v.Messages) {
		switch id := callOf(p); {
		case isCall(p):
			if _, twice := open[id]; twice || done[id] {
				v.atPart("R1", at, "call id %s is used twice", id)
			}
			open[id] = at
		case isResult(p) && !p.Result.Opaque:
			if _, ok := open[id]; !ok && done[id] {
				v.atPart("R1", at, "call %s has two outputs", id)
			} else if !ok {
				v.atPart("R1", at, "output for %s has no call", id)
			}
			delete(open, id)
			done[id] = true
		}
	}
	v.unanswered(open, "R1")
}

// reasoningGroup: a reasoning item needs the item that followed it.
func (v *validator) reasoningGroup() {
	msgs := v.Messages
	for i := range msgs {
		n := len(msgs[i].Parts)
		if n == 0 || msgs[i].Role != memkernel.RoleAssistant || !isReasoningItem(&msgs[i].Parts[n-1]) {
			continue
		}
		if i+1 == len(msgs) || msgs[i+1].Role != memkernel.RoleAssistant {
			v.add("R2", i, n-1, "a reasoning item is not followed by the item that it led to")
		}
	}
}
