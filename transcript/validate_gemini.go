package transcript

import (
	"strings"
)

// gemini judges G1 response-follows-call, G2 call-follows-user, G3 alternate,
// G4 thought-signature and G5 call-shape.
func (v *validator) gemini() {
	turns := v.turns()
	for i := range turns {
		switch turns[i].Role {
		case "assistant":
			if i == 0 {
				v.add("G2", v.first(turns, i), -1, "the contents begin with a model turn")
			}
		case "user":
		default:
			v.add("G3", v.first(turns, i), -1, "role %q breaks the alternation of user and model", turns[i].Role)
		}
	}
	if n := len(turns); n > 0 && turns[n-1].Role == "assistant" {
		v.add("G2", v.first(turns, n-1), -1, "the contents end with a model turn")
	}
	follows := "G1"
	v.pairs(turns, &pairing{unanswered: follows, orphan: follows})
	v.thoughtSignatures(turns)
	v.callShape("G5")
}

// thoughtSignatures: from Gemini 3 on the first call of each step in the
// current turn carries its thought signature.
func (v *validator) thoughtSignatures(turns []wireTurn) {
	if !strings.Contains(v.Model, "gemini-3") && !strings.Contains(v.Model, "gemini-4") {
		return
	}
	start, ok := OpenLoop(v.Messages)
	if !ok {
		return
	}
	for i := range turns {
		if turns[i].Role != "assistant" || v.first(turns, i) < start {
			continue
		}
		for _, b := range turns[i].Blocks {
			p := v.part(b)
			if !isCall(p) {
				continue
			}
			if p.Signature == "" && !strings.Contains(p.Raw, `"thoughtSignature"`) && !strings.Contains(p.Raw, `"thought_signature"`) {
				v.atPart("G4", b, "the first call of a step has no thought signature")
			}
			break
		}
	}
}
