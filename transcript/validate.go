package transcript

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/memkernel/memkernel"
)

// violation is one broken rule of a provider.
type violation struct {
	// Code is the rule's short code: A for Anthropic, C for chat completions, R for Responses, G
	// for Gemini.
	Code string
	// Rule is its name, such as "pair-adjacent".
	Rule string
	// Message and Part are indices into the request. Each is -1 if the violation concerns no
	// message or no part.
	Message, Part int
	// Text explains the violation to a person.
	Text string
}

func (v violation) String() string {
	return fmt.Sprintf("%s %s: message %d part %d: %s", v.Code, v.Rule, v.Message, v.Part, v.Text)
}

// Validate checks the messages of a request, unrepaired, against the rules of a format's provider.
// It returns nil for a sound request.
func Validate(f Format, req *Request) []violation {
	v := validator{Request: req}
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
		v.add("", -1, -1, "unknown format %q", f)
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
	out []violation
}

func (v *validator) add(code string, msg, part int, format string, args ...any) {
	v.out = append(v.out, violation{Code: code, Rule: ruleNames[code], Message: msg, Part: part, Text: fmt.Sprintf(format, args...)})
}

// turns merges neighbours of one role. The system messages that open the conversation belong to
// the system prompt and are left out.
func (v *validator) turns() []wireTurn {
	var out []wireTurn
	lead := true
	for i := range v.Messages {
		m := &v.Messages[i]
		if lead = lead && isSystemRole(m.Role); lead {
			continue
		}
		role := string(m.Role)
		if m.Role == memkernel.RoleTool || m.Role == memkernel.RoleDeveloper || m.Role == memkernel.RoleSystem && v.Source != Anthropic {
			role = "user" // only a conversation of Anthropic's may have system messages inside
		}
		if n := len(out); n == 0 || out[n-1].Role != role {
			out = append(out, wireTurn{Role: role})
		}
		t := &out[len(out)-1]
		for k := range m.Parts {
			t.Blocks = append(t.Blocks, partAt{Msg: i, Part: k})
		}
	}
	return out
}

// pairing says how calls and results must follow each other, by the codes of the rules that break
// otherwise.
type pairing struct {
	// unanswered: every call has one result in the next turn. orphan: every result answers a call
	// of the turn before it.
	unanswered, orphan string
	// late: results precede other content. "" allows any order.
	late string
	// once: no id is used for two calls of the conversation.
	once bool
}

// pairs judges whether calls and their results are pairs.
func (v *validator) pairs(turns []wireTurn, p *pairing) {
	seen := map[string]bool{}
	var open map[string]partAt // calls of the turn before
	for i := range turns {
		t := &turns[i]
		if t.Role == "user" {
			v.answers(t, open, p)
		}
		v.unanswered(open, p.unanswered)
		if open = nil; t.Role != "user" {
			open = v.opened(t, seen, p)
		}
	}
	v.unanswered(open, p.unanswered)
}

// unanswered reports open calls, in the order of the request.
func (v *validator) unanswered(open map[string]partAt, code string) {
	for _, b := range slices.SortedFunc(maps.Values(open), func(a, b partAt) int { return cmp.Or(a.Msg-b.Msg, a.Part-b.Part) }) {
		v.atPart(code, b, "call %s has no result in its place", v.part(b).Call.ID)
	}
}

// opened returns the calls of a turn by their ids, and adds these to seen.
func (v *validator) opened(t *wireTurn, seen map[string]bool, p *pairing) map[string]partAt {
	open := map[string]partAt{}
	for _, b := range t.Blocks {
		c := v.part(b)
		if !isCall(c) {
			continue
		}
		if seen[c.Call.ID] && p.once {
			v.atPart(p.unanswered, b, "call id %s is used twice", c.Call.ID)
		}
		seen[c.Call.ID] = true
		open[c.Call.ID] = b
	}
	return open
}

// answers removes the calls that a user turn answers from the open calls.
func (v *validator) answers(t *wireTurn, open map[string]partAt, p *pairing) {
	answered := map[string]bool{}
	other := false
	for _, b := range t.Blocks {
		r := v.part(b)
		if !isResult(r) {
			other = true
			continue
		}
		id := r.Result.CallID
		switch _, ok := open[id]; {
		case ok:
			delete(open, id)
			if answered[id] = true; other && p.late != "" {
				v.atPart(p.late, b, "a tool result comes after other content")
			}
		case answered[id]:
			v.atPart(p.unanswered, b, "call %s is answered twice", id)
		default:
			v.atPart(p.orphan, b, "result for %s answers no call of the message before", id)
		}
	}
}

// callShape finds calls that no API accepts.
func (v *validator) callShape(code string) {
	for at, p := range allParts(v.Messages) {
		if !isCall(p) {
			continue
		}
		if _, wrong := mend(p); wrong != "" {
			v.atPart(code, at, "call %s: %s", p.Call.ID, wrong)
		}
	}
}

// atPart is add for a part of a message.
func (v *validator) atPart(code string, b partAt, format string, args ...any) {
	v.add(code, b.Msg, b.Part, format, args...)
}
