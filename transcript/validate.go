package transcript

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/memkernel/memkernel"
)

// violation is one broken rule of a provider.
type violation struct {
	// Code is the rule's short code: A for Anthropic, C for chat completions, R for Responses, G
	// for Gemini. Rule is its name, such as "pair-adjacent".
	Code, Rule string
	// Message is an index into the request, -1 if the violation concerns no message.
	Message int
}

// Validate checks the messages of a request, unrepaired, against the rules of a format's provider.
// It returns nil for a sound request.
func Validate(f Format, req *Request) []violation {
	v := validator{Request: req}
	v.merge()
	switch f {
	case FormatAnthropic:
		v.anthropic()
	case FormatOpenAI:
		v.chat()
	case FormatResponses:
		v.responses()
	case FormatGemini:
		v.gemini()
	default:
		v.add("", -1)
	}
	return v.out
}

// ruleNames are the names of the rules by their codes.
var ruleNames = map[string]string{
	"":   "provider",
	"A1": "pair-adjacent", "A2": "results-first", "A3": "no-orphan", "A4": "server-tool", "A5": "role", "A6": "no-prefill", "A9": "cache-markers", "A10": "compaction", "A11": "non-empty", "A12": "call-shape",
	"C1": "calls-answered", "C2": "no-orphan-tool", "C3": "window-start", "C4": "call-shape",
	"R1": "call-output", "R2": "reasoning-group", "R5": "call-shape",
	"G1": "response-follows-call", "G2": "call-follows-user", "G3": "alternate", "G4": "thought-signature", "G5": "call-shape",
}

type validator struct {
	*Request
	turns []wireTurn
	out   []violation
}

func (v *validator) add(code string, msg int) {
	v.out = append(v.out, violation{code, ruleNames[code], msg})
}

// merge joins neighbouring messages of one role into turns. The system messages that open the
// conversation belong to the system prompt and are left out.
func (v *validator) merge() {
	lead := true
	for i := range v.Messages {
		m := &v.Messages[i]
		if lead = lead && isSystemRole(m.Role); lead {
			continue
		}
		role := string(m.Role)
		if m.Role == memkernel.RoleTool || m.Role == memkernel.RoleDeveloper || m.Role == memkernel.RoleSystem && v.Source != anthropic {
			role = "user" // only a conversation of Anthropic's may have system messages inside
		}
		if n := len(v.turns); n == 0 || v.turns[n-1].Role != role {
			v.turns = append(v.turns, wireTurn{Role: role})
		}
		t := &v.turns[len(v.turns)-1]
		for k := range m.Parts {
			t.Blocks = append(t.Blocks, partAt{Msg: i, Part: k})
		}
	}
}

// role returns the role of a turn, "" if there is no such turn.
func (v *validator) role(i int) string {
	if i < 0 || i >= len(v.turns) {
		return ""
	}
	return v.turns[i].Role
}

// first returns the first message of a turn, -1 for an empty turn.
func (v *validator) first(i int) int {
	if len(v.turns[i].Blocks) == 0 {
		return -1
	}
	return v.turns[i].Blocks[0].Msg
}

// pairing has the codes of a provider's rules about calls and results.
type pairing struct {
	// unanswered is broken unless every call has one result in the next turn. orphan is broken
	// unless every result answers a call of the previous turn.
	unanswered, orphan string
	// late is broken if other content precedes a result. It is "" if the provider allows any order.
	late string
	// once reports whether no two calls of the conversation may have the same id.
	once bool
}

// pairs judges whether calls and their results are pairs.
func (v *validator) pairs(p pairing) {
	seen := map[string]bool{}
	var open map[string]int // the messages of the calls of the turn before
	for i := range v.turns {
		asked, answered, other := map[string]int{}, map[string]bool{}, false
		for _, b := range v.turns[i].Blocks {
			part := v.part(b)
			id := callOf(part)
			_, waits := open[id]
			switch {
			case v.turns[i].Role != "user":
				if isCall(part) {
					if seen[id] && p.once {
						v.add(p.unanswered, b.Msg)
					}
					seen[id], asked[id] = true, b.Msg
				}
			case !isResult(part):
				other = true
			case waits:
				delete(open, id)
				if answered[id] = true; other && p.late != "" {
					v.add(p.late, b.Msg)
				}
			case answered[id]:
				v.add(p.unanswered, b.Msg)
			default:
				v.add(p.orphan, b.Msg)
			}
		}
		v.unanswered(open, p.unanswered)
		open = asked
	}
	v.unanswered(open, p.unanswered)
}

func (v *validator) unanswered(open map[string]int, code string) {
	for _, msg := range slices.Sorted(maps.Values(open)) {
		v.add(code, msg)
	}
}

// callShape finds calls that no API accepts.
func (v *validator) callShape(code string) {
	for at, p := range allParts(v.Messages) {
		if isCall(p) {
			if _, wrong := mend(p); wrong != "" {
				v.add(code, at.Msg)
			}
		}
	}
}

const maxAnthropicMessages = 100_000

func (v *validator) anthropic() {
	v.pairs(pairing{unanswered: "A1", late: "A2", orphan: "A3", once: true})
	compactions := 0
	for i := range v.turns {
		blocks := v.turns[i].Blocks
		if v.pending(i) {
			for _, b := range v.turns[i+1].Blocks {
				if !isResult(v.part(b)) {
					v.add("A4", b.Msg)
				}
			}
		}
		if v.misplaced(i) {
			v.add("A5", v.first(i))
		}
		for k, b := range blocks {
			if v.compacts(b) {
				if compactions++; compactions > 1 || i > 0 || k > 0 {
					v.add("A10", b.Msg)
				}
			}
		}
	}
	if n := len(v.turns); v.role(n-1) == "assistant" {
		v.add("A6", v.first(n-1))
	}
	v.markers()
	v.nonEmpty()
	v.callShape("A12")
}

// pending reports whether an assistant's turn leaves a tool of the provider's running.
func (v *validator) pending(i int) bool {
	open := map[string]bool{}
	if i+1 < len(v.turns) && v.role(i) == "assistant" {
		for _, b := range v.turns[i].Blocks {
			switch p := v.part(b); {
			case p.Call != nil && p.Call.Server:
				open[p.Call.ID] = true
			case p.Result != nil:
				delete(open, p.Result.CallID)
			}
		}
	}
	return len(open) > 0
}

// misplaced reports whether a turn's role is unknown, or not allowed in its place. A system message
// follows a user turn or the result of a tool of the provider's, and an assistant's turn follows it.
func (v *validator) misplaced(i int) bool {
	blocks := v.turns[i].Blocks
	switch v.role(i) {
	case "user":
		return false
	case "assistant":
		return i == 0 && !(len(blocks) > 0 && v.compacts(blocks[0]))
	case "system":
		if i == 0 {
			return true
		}
		before := v.turns[i-1].Blocks
		follows := v.role(i-1) == "user" || len(before) > 0 && isResult(v.part(before[len(before)-1]))
		return !follows || i+1 < len(v.turns) && v.role(i+1) != "assistant"
	}
	return true
}

func (v *validator) compacts(b partAt) bool {
	p := v.part(b)
	return p.Kind == memkernel.PartOther && isAnthropicCompaction(p.Raw)
}

// markers judges the cache markers. A longer lifetime may not follow a shorter one in the order of the
// request: tools, system prompt, messages.
func (v *validator) markers() {
	if len(v.Markers) > maxAnthropicMarkers {
		v.add("A9", -1)
	}
	short := false
	for _, mk := range slices.SortedStableFunc(slices.Values(v.Markers), func(a, b Marker) int {
		return cmp.Or(a.Message-b.Message, cmp.Compare(uint(a.Part), uint(b.Part))) // LastPart is the largest
	}) {
		short = short || mk.TTL == "" || mk.TTL == "5m"
		if mk.TTL == "1h" && short || !slices.Contains([]string{"", "5m", "1h"}, mk.TTL) {
			v.add("A9", mk.Message)
		}
		if v.unmarkable(mk) {
			v.add("A9", mk.Message)
		}
	}
}

// unmarkable reports whether a marker is outside the request, or at a block that can't carry one.
func (v *validator) unmarkable(mk Marker) bool {
	if mk.Message < 0 || mk.Message >= len(v.Messages) {
		return mk.Message != MarkerSystem && mk.Message != MarkerTools
	}
	if mk.Part < 0 || mk.Part >= len(v.Messages[mk.Message].Parts) {
		return false
	}
	p := v.part(partAt{mk.Message, mk.Part})
	return isThinking(p) || isEmptyText(*p)
}

// nonEmpty finds empty content, and calls of tools that are not defined. In a request without tool
// definitions the calls are not checked, since session logs hold no definitions.
func (v *validator) nonEmpty() {
	if len(v.turns) == 0 || len(v.turns) > maxAnthropicMessages {
		v.add("A11", -1)
	}
	names := map[string]bool{}
	for _, t := range v.Tools {
		names[t.Name] = true
	}
	for i := range v.Messages {
		parts := v.Messages[i].Parts
		if len(parts) == 0 {
			v.add("A11", i)
		}
		for k := range parts {
			p := &parts[k]
			undefined := len(v.Tools) > 0 && isCall(p) && !names[p.Call.Name]
			if isEmptyText(*p) || undefined {
				v.add("A11", i)
			}
			if undefined {
				names[p.Call.Name] = true // once is enough
			}
		}
	}
}

// chat judges the rules of chat completions.
func (v *validator) chat() {
	if v.role(0) == "user" && len(v.turns[0].Blocks) > 0 && isResult(v.part(v.turns[0].Blocks[0])) {
		v.add("C3", v.first(0))
	}
	v.pairs(pairing{unanswered: "C1", late: "C1", orphan: "C2"})
	v.callShape("C4")
}

// responses checks the rules of the Responses API. Outputs may be anywhere. A reasoning item must
// be followed by its item.
func (v *validator) responses() {
	open, done := map[string]int{}, map[string]bool{}
	for at, p := range allParts(v.Messages) {
		id := callOf(p)
		_, waits := open[id]
		switch {
		case isCall(p):
			if waits || done[id] {
				v.add("R1", at.Msg)
			}
			open[id] = at.Msg
		case isResult(p) && !p.Result.Opaque:
			if !waits {
				v.add("R1", at.Msg)
			}
			delete(open, id)
			done[id] = true
		}
		last := at.Part == len(v.Messages[at.Msg].Parts)-1
		if last && v.Messages[at.Msg].Role == memkernel.RoleAssistant && isReasoningItem(p) && (at.Msg+1 == len(v.Messages) || v.Messages[at.Msg+1].Role != memkernel.RoleAssistant) {
			v.add("R2", at.Msg)
		}
	}
	v.unanswered(open, "R1")
	v.callShape("R5")
}

// gemini judges the rules of Gemini: user and model take turns, and from Gemini 3 on the first call of
// each step in the current turn has its thought signature.
func (v *validator) gemini() {
	start, ok := OpenLoop(v.Messages)
	signs := ok && (strings.Contains(v.Model, "gemini-3") || strings.Contains(v.Model, "gemini-4"))
	for i := range v.turns {
		switch at := v.first(i); v.role(i) {
		case "user":
		case "assistant":
			for _, end := range []int{0, len(v.turns) - 1} {
				if i == end {
					v.add("G2", at)
				}
			}
			blocks := v.turns[i].Blocks
			if n := slices.IndexFunc(blocks, v.unsigned); signs && at >= start && n >= 0 && !slices.ContainsFunc(blocks[:n], func(b partAt) bool { return isCall(v.part(b)) }) {
				v.add("G4", blocks[n].Msg)
			}
		default:
			v.add("G3", at)
		}
	}
	v.pairs(pairing{unanswered: "G1", orphan: "G1"})
	v.callShape("G5")
}

// unsigned reports whether a block is a call without a thought signature.
func (v *validator) unsigned(b partAt) bool {
	p := v.part(b)
	return isCall(p) && p.Signature == "" && !strings.Contains(p.Raw, `"thoughtSignature"`) && !strings.Contains(p.Raw, `"thought_signature"`)
}
