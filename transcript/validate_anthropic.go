package transcript

import (
	"cmp"
	"math"
	"slices"

	"github.com/memkernel/memkernel"
)

const maxAnthropicMessages = 100_000

func (v *validator) anthropic() {
	turns := v.turns()
	v.pairs(turns, &pairing{unanswered: "A1", late: "A2", orphan: "A3", once: true})
	v.roles(turns)
	v.serverTools(turns)
	v.markers()
	v.compaction(turns)
	v.nonEmpty(turns)
	v.callShape("A12")
}

// roles judges A5 role and A6 no-prefill.
func (v *validator) roles(turns []wireTurn) {
	for i := range turns {
		t := &turns[i]
		at := v.first(turns, i)
		switch {
		case t.Role != "user" && t.Role != "assistant" && t.Role != "system":
			v.add("A5", at, -1, "role %q is not known", t.Role)
		case t.Role == "system":
			v.systemTurn(turns, i, at)
		case i == 0 && t.Role == "assistant" && !(len(t.Blocks) > 0 && v.isCompactionPart(v.part(t.Blocks[0]))):
			v.add("A5", at, -1, "the first message is the assistant's")
		}
	}
	if n := len(turns); n > 0 && turns[n-1].Role == "assistant" {
		v.add("A6", v.first(turns, n-1), -1, "the last message is the assistant's")
	}
}

func (v *validator) first(turns []wireTurn, i int) int {
	if i < len(turns) && len(turns[i].Blocks) > 0 {
		return turns[i].Blocks[0].Msg
	}
	return -1
}

func (v *validator) isCompactionPart(p *memkernel.Part) bool {
	return p.Kind == memkernel.PartOther && isAnthropicCompaction(p.Raw)
}

// systemTurn judges a system message inside the conversation.
func (v *validator) systemTurn(turns []wireTurn, i, at int) {
	switch {
	case i == 0:
		v.add("A5", at, -1, "a system message stands first")
	case turns[i-1].Role != "user" && !v.endsInServerResult(&turns[i-1]):
		v.add("A5", at, -1, "a system message does not follow a user turn")
	case i+1 < len(turns) && turns[i+1].Role != "assistant":
		v.add("A5", at, -1, "a system message is followed by a user turn")
	}
}

func (v *validator) endsInServerResult(t *wireTurn) bool {
	n := len(t.Blocks)
	return n > 0 && isResult(v.part(t.Blocks[n-1]))
}

// serverTools judges A4 server-tool.
func (v *validator) serverTools(turns []wireTurn) {
	for i := range turns {
		if turns[i].Role != "assistant" || i+1 == len(turns) || !v.serverPending(&turns[i]) {
			continue
		}
		for _, b := range turns[i+1].Blocks {
			if !isResult(v.part(b)) {
				v.atPart("A4", b, "content beside results while a server tool is still running")
			}
		}
	}
}

func (v *validator) serverPending(t *wireTurn) bool {
	open := map[string]bool{}
	for _, b := range t.Blocks {
		switch p := v.part(b); {
		case p.Call != nil && p.Call.Server:
			open[p.Call.ID] = true
		case p.Result != nil:
			delete(open, p.Result.CallID)
		}
	}
	return len(open) > 0
}

// markers judges A9 cache-markers.
func (v *validator) markers() {
	if n := len(v.Markers); n > maxAnthropicMarkers {
		v.add("A9", -1, -1, "%d markers, at most %d are allowed", n, maxAnthropicMarkers)
	}
	short := false
	for _, mk := range slices.SortedStableFunc(slices.Values(v.Markers), byPlace) {
		switch mk.TTL {
		case "", "5m":
			short = true
		case "1h":
			if short {
				v.add("A9", mk.Message, mk.Part, "a marker of one hour stands behind one of five minutes")
			}
		default:
			v.add("A9", mk.Message, mk.Part, "unknown lifetime %q", mk.TTL)
		}
		v.markedPart(mk)
	}
}

// byPlace orders markers as the request does: tools, system prompt, messages.
func byPlace(a, b Marker) int {
	part := func(mk Marker) int {
		if mk.Part == LastPart {
			return math.MaxInt
		}
		return mk.Part
	}
	return cmp.Or(a.Message-b.Message, cmp.Compare(part(a), part(b)))
}

func (v *validator) markedPart(mk Marker) {
	if mk.Message < 0 || mk.Message >= len(v.Messages) {
		if mk.Message < MarkerTools || mk.Message >= len(v.Messages) {
			v.add("A9", mk.Message, mk.Part, "the marker stands outside the request")
		}
		return
	}
	parts := v.Messages[mk.Message].Parts
	if mk.Part < 0 || mk.Part >= len(parts) {
		return
	}
	if p := &parts[mk.Part]; isThinking(p) || isEmptyText(*p) {
		v.add("A9", mk.Message, mk.Part, "thinking and empty text can't carry a marker")
	}
}

// compaction judges A10.
func (v *validator) compaction(turns []wireTurn) {
	n := 0
	for i := range turns {
		for k, b := range turns[i].Blocks {
			if !v.isCompactionPart(v.part(b)) {
				continue
			}
			if n++; n > 1 {
				v.atPart("A10", b, "more than one compaction block")
			} else if i > 0 || k > 0 {
				v.atPart("A10", b, "the compaction block is not the first of the conversation")
			}
		}
	}
}

// nonEmpty judges A11.
func (v *validator) nonEmpty(turns []wireTurn) {
	if len(turns) == 0 {
		v.add("A11", -1, -1, "the request has no message")
	}
	if len(turns) > maxAnthropicMessages {
		v.add("A11", -1, -1, "%d messages, at most %d are allowed", len(turns), maxAnthropicMessages)
	}
	for i := range v.Messages {
		m := &v.Messages[i]
		if len(m.Parts) == 0 {
			v.add("A11", i, -1, "the message is empty")
		}
		for k := range m.Parts {
			if isEmptyText(m.Parts[k]) {
				v.add("A11", i, k, "the text block is empty")
			}
		}
	}
	v.declared("A11")
}

// declared checks that the tools which are called are defined. A request without any tools is not
// judged, since session logs do not hold them.
func (v *validator) declared(code string) {
	if len(v.Tools) == 0 {
		return
	}
	names := map[string]bool{}
	for _, t := range v.Tools {
		names[t.Name] = true
	}
	for at, p := range allParts(v.Messages) {
		if isCall(p) && !names[p.Call.Name] {
			v.atPart(code, at, "tool %s is called but not declared", p.Call.Name)
			names[p.Call.Name] = true
		}
	}
}
