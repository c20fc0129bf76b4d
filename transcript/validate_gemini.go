package transcript

import (
	"strings"

	"github.com/memkernel/memkernel/transcript/internal/dialect"
)

// gemini judges G1 response-follows-call, G2 call-follows-user, G3 alternate,
// G4 thought-signature and G5 call-shape.
func (v *validator) gemini() {
	turns := v.turns()
	for i := range turns {
		t := &turns[i]
		switch t.Role {
		case "assistant":
			if i == 0 {
				v.add("G2", "call-follows-user", v.first(turns, i), -1, "the contents begin with a model turn")
			}
			v.geminiPair(turns, i)
		case "user":
			if i == 0 || turns[i-1].Role != "assistant" {
				v.strayResponses(t)
			}
		default:
			v.add("G3", "alternate", v.first(turns, i), -1, "role %q breaks the alternation of user and model", t.Role)
		}
	}
	if n := len(turns); n > 0 && turns[n-1].Role == "assistant" {
		v.add("G2", "call-follows-user", v.first(turns, n-1), -1, "the contents end with a model turn")
	}
	v.thoughtSignatures(turns)
	v.callShape("G5")
}

// geminiPair: the turn after n calls holds exactly their n responses.
func (v *validator) geminiPair(turns []dialect.Turn, i int) {
	open := v.opened(&turns[i], map[string]bool{})
	if i+1 < len(turns) && turns[i+1].Role == "user" {
		for _, b := range turns[i+1].Blocks {
			p := v.part(b)
			if !dialect.IsResult(p) {
				continue
			}
			if _, ok := open[p.Result.CallID]; !ok {
				v.atPart("G1", "response-follows-call", b, "response %s matches no call of the turn before", p.Result.CallID)
			}
			delete(open, p.Result.CallID)
		}
	}
	for _, b := range v.sorted(open) {
		v.atPart("G1", "response-follows-call", b, "call %s has no response in the next turn", v.part(b).Call.ID)
	}
}

func (v *validator) strayResponses(t *dialect.Turn) {
	for _, b := range t.Blocks {
		if p := v.part(b); dialect.IsResult(p) {
			v.atPart("G1", "response-follows-call", b, "response %s follows no model turn", p.Result.CallID)
		}
	}
}

// thoughtSignatures: from Gemini 3 on the first call of each step in the
// current turn carries its thought signature.
func (v *validator) thoughtSignatures(turns []dialect.Turn) {
	if !strings.Contains(v.req.Model, "gemini-3") && !strings.Contains(v.req.Model, "gemini-4") {
		return
	}
	start, ok := OpenLoop(v.req.Messages)
	if !ok {
		return
	}
	for i := range turns {
		if turns[i].Role != "assistant" || v.first(turns, i) < start {
			continue
		}
		for _, b := range turns[i].Blocks {
			p := v.part(b)
			if !dialect.IsCall(p) {
				continue
			}
			if p.Signature == "" && !strings.Contains(p.Raw, `"thoughtSignature"`) && !strings.Contains(p.Raw, `"thought_signature"`) {
				v.atPart("G4", "thought-signature", b, "the first call of a step has no thought signature")
			}
			break
		}
	}
}
