package transcript

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/memkernel/memkernel"
)

// missingResult is the text of the synthetic result that Repair gives a call that was never
// answered.
const missingResult = "[no result was recorded for this call]"

// Repair returns messages for planning that providers accept. It
//
//   - gives each unanswered call a synthetic result,
//   - removes results that answer no call, and moves the others next to their calls,
//   - gives results that have another role to the user,
//   - gives a call whose id is empty or used again an id of its own,
//   - makes names and inputs of calls valid, and
//   - drops empty messages, and blocks that the message's role can't hold.
//
// The notes report each change, with the parts that were removed. Sound input is returned as the
// same slice. If keepPending is set, the calls of the newest message stay open. Set it while
// tools still run.
func Repair(msgs []memkernel.Message, keepPending bool) ([]memkernel.Message, []Note) {
	return newRepairer(&Past{}, msgs).emit(msgs, keepPending)
}

func newRepairer(past *Past, msgs []memkernel.Message) *repairer {
	h := &repairer{past: past, owner: map[string]*turn{}, asked: map[string]*memkernel.ToolCall{}, used: map[string]int{}, now: map[string][]string{}, done: map[string]bool{}}
	h.role = memkernel.RoleUser
	if h.past.tool || slices.ContainsFunc(msgs, func(m memkernel.Message) bool { return m.Role == memkernel.RoleTool }) {
		h.role = memkernel.RoleTool
	}
	h.turns, h.made = make([]*turn, 0, len(msgs)), make([]turn, 0, len(msgs))
	for i, m := range msgs {
		h.take(i, m)
	}
	return h
}

// turn is one message in the repaired order, with the results that follow it.
type turn struct {
	said     memkernel.Message
	results  []memkernel.Message
	want     []string // calls
	asks     bool
	home     *turn // where the results of the calls are, itself at first
	position int   // in the order of turns
}

type repairer struct {
	past    *Past // of the messages before
	reaches bool  // a result answers an open call of the past
	turns   []*turn
	made    []turn                         // the turns themselves, at most one of a message
	owner   map[string]*turn               // open or answered call to its turn, by repaired id
	asked   map[string]*memkernel.ToolCall // the call as it was handed in, by repaired id
	used    map[string]int                 // how often a call id was met
	now     map[string][]string            // host's call id to the repaired ids it means now
	ids     []string                       // all repaired ids, of which now and the turns have parts
	done    map[string]bool                // answered, by repaired id
	role    memkernel.Role                 // of synthetic results
	notes   []Note
	changed bool
}

func (h *repairer) note(rule string, i int, key string, removed []memkernel.Part, format string, args ...any) {
	h.changed = true
	h.notes = append(h.notes, Note{Rule: rule, Message: i, Key: key, Text: fmt.Sprintf(format, args...), Removed: removed})
}

// take files one message of the input.
func (h *repairer) take(i int, m memkernel.Message) {
	if m = h.drop(i, m); len(m.Parts) == 0 {
		return
	}
	switch {
	case m.Role == memkernel.RoleAssistant:
		t := h.add(m)
		if t.said = h.calls(i, m, t); len(t.said.Parts) == 0 {
			h.turns = h.turns[:t.position]
		}
	case HasResults(m):
		if m.Role != memkernel.RoleUser && m.Role != memkernel.RoleTool {
			h.note("role", i, m.Key, nil, "a message of role %q holds results and became the user's", m.Role)
			m.Role, m.Raw = memkernel.RoleUser, ""
		}
		h.answer(i, m)
	default:
		h.add(m)
	}
}

func (h *repairer) add(m memkernel.Message) *turn {
	h.made = append(h.made, turn{said: m, position: len(h.turns), asks: m.Role == memkernel.RoleAssistant})
	t := &h.made[len(h.made)-1]
	t.home = t
	h.turns = append(h.turns, t)
	return t
}

// isStray reports whether a message of that role can't hold a block: only an assistant's message
// holds calls and thinking, and only other messages hold results.
func isStray(role memkernel.Role, p *memkernel.Part) bool {
	if role == memkernel.RoleAssistant {
		return isResult(p) && !p.Result.Opaque
	}
	return p.Kind == memkernel.PartToolUse || isThinking(p)
}

// drop removes blocks that the message's role can't hold, and text blocks without text, which
// providers reject.
func (h *repairer) drop(i int, m memkernel.Message) memkernel.Message {
	role := m.Role
	if gone := without(&m, func(p *memkernel.Part) bool { return isStray(role, p) }); gone != nil {
		h.note("stray-block", i, m.Key, gone, "%d blocks that a message of role %s can't hold were left out", len(gone), m.Role)
	}
	if len(m.Parts) == 0 {
		h.note("empty-message", i, m.Key, nil, "message has no content and was left out")
		return m
	}
	if gone := without(&m, func(p *memkernel.Part) bool { return isEmptyText(*p) }); gone != nil {
		rule := "empty-text"
		if len(m.Parts) == 0 {
			rule = "empty-message"
		}
		h.note(rule, i, m.Key, gone, "%d text blocks without text were left out", len(gone))
	}
	return m
}

// without takes out the parts for which is returns true, and returns them.
func without(m *memkernel.Message, is func(*memkernel.Part) bool) (gone []memkernel.Part) {
	if !anyPart(m, is) {
		return nil
	}
	var kept []memkernel.Part
	for _, p := range m.Parts {
		if is(&p) {
			gone = append(gone, p)
		} else {
			kept = append(kept, p)
		}
	}
	m.Parts, m.Raw = kept, ""
	return gone
}

// place returns the turn that the results for t must follow. Neighbouring assistant messages are
// one turn for providers, so that their results may follow the last of these messages. Separating
// the messages would change the prompt that the model saw.
func (h *repairer) place(t *turn) *turn {
	last := h.turns[len(h.turns)-1]
	for _, u := range h.turns[t.position:] {
		if !u.asks || len(u.results) > 0 && u != last {
			return t.home
		}
	}
	for _, u := range h.turns[t.position:] {
		u.home = last
	}
	return last
}

// calls registers the calls of a message and makes them valid. If an id occurs again while its
// call waits for its result, an equal call is a copy and is left out. A different call is one of
// several simultaneous calls. If the id occurs again after the result, or after the conversation
// continued without a result, the call is a later one. Simultaneous and later calls get ids of
// their own.
func (h *repairer) calls(i int, m memkernel.Message, t *turn) memkernel.Message {
	parts, owned, first := m.Parts, false, len(h.ids)
	for k := 0; k < len(parts); k++ {
		if !isCall(&parts[k]) {
			continue
		}
		p := parts[k]
		id := p.Call.ID
		if _, ok := h.used[id]; !ok {
			h.used[id] = h.past.used[id]
		}
		h.used[id]++
		call, wrong := mend(&p)
		again := h.used[id] > 1 || id == "" || h.owner[id] != nil || h.past.made[id]
		if (again || wrong != "") && !owned {
			parts, m.Raw, owned = slices.Clone(parts), "", true
		}
		if waits := again && h.waits(id, t); waits && h.isCopy(&p) {
			h.note("duplicate-call", i, m.Key, []memkernel.Part{p}, "call %s is open already, the copy was left out", id)
			parts = slices.Delete(parts, k, k+1)
			k--
			continue
		} else if again {
			call.ID = h.freshID(id)
			h.note("duplicate-call-id", i, m.Key, nil, "call id %q is empty or used again, the call became %s", id, call.ID)
			if !waits {
				h.now[id] = nil
			}
		}
		if wrong != "" {
			h.note("malformed-call", i, m.Key, nil, "call %s can't be sent as it is: %s; it goes out as %s with the input %.200s", call.ID, wrong, call.Name, call.Input)
		}
		h.ids = append(h.ids, call.ID)
		if n := len(h.ids); h.now[id] == nil {
			h.now[id] = h.ids[n-1 : n : n]
		} else {
			h.now[id] = append(h.now[id], call.ID)
		}
		h.owner[call.ID], h.asked[call.ID] = t, p.Call
		if again || wrong != "" {
			mended := call
			parts[k].Call, parts[k].Raw = &mended, ""
		}
	}
	if n := len(h.ids); t.want == nil {
		t.want = h.ids[first:n:n]
	} else {
		t.want = append(t.want, h.ids[first:]...)
	}
	m.Parts = parts
	return m
}

// isCopy reports whether one of the open calls of an id is the same call.
func (h *repairer) isCopy(p *memkernel.Part) bool {
	return slices.ContainsFunc(h.now[p.Call.ID], func(id string) bool {
		return !h.done[id] && h.asked[id].Name == p.Call.Name && h.asked[id].Input == p.Call.Input
	})
}

// waits reports whether a call of this id still waits for its result when turn t begins. If the
// call is one of the past, it sets reaches, because the answer then depends on the earlier turns.
func (h *repairer) waits(id string, t *turn) bool {
	if _, ok := h.now[id]; !ok {
		_, open := h.past.means(id)
		h.reaches = h.reaches || open
		return false
	}
	return slices.ContainsFunc(h.now[id], func(id string) bool {
		return !h.done[id] && !slices.ContainsFunc(h.turns[h.owner[id].position:t.position], func(u *turn) bool {
			return !u.asks || len(u.results) > 0
		})
	})
}

func (h *repairer) freshID(id string) string {
	for n := h.used[id]; ; n++ {
		fresh := fmt.Sprintf("%s_%d", cmp.Or(id, "call"), n)
		if h.owner[fresh] == nil && !h.past.made[fresh] {
			return fresh
		}
	}
}

// answer files the results of a message with their calls. If it answers several turns, it is split
// among them. The rest of the message stays with the results of the newest turn.
func (h *repairer) answer(i int, m memkernel.Message) {
	var rest []memkernel.Part
	var owners []*turn
	mine := map[*turn][]memkernel.Part{}
	for k, p := range m.Parts {
		if !isResult(&p) {
			rest = append(rest, p)
			continue
		}
		t, q, ok := h.claim(i, m.Key, p)
		switch {
		case !ok:
		case mine[t] == nil:
			owners = append(owners, t)
			if mine[t] = m.Parts[k : k+1 : k+1]; q.Result != p.Result {
				mine[t] = []memkernel.Part{q}
			}
		default:
			mine[t] = append(mine[t], q)
		}
	}
	last, moved := len(h.turns)-1, false
	for _, t := range owners {
		moved = moved || t.position != last
	}
	if moved {
		h.note("moved-result", i, m.Key, nil, "results were moved next to their calls")
	}
	whole, key := m, m.Key
	m.Raw = ""
	for n, t := range owners {
		m.Parts = mine[t]
		if t.position == last {
			m.Parts, rest = append(m.Parts, rest...), nil
			if slices.EqualFunc(m.Parts, whole.Parts, func(p, q memkernel.Part) bool { return p.Kind == q.Kind && p.Raw == q.Raw && p.Result == q.Result }) {
				t.results = append(t.results, whole)
				return
			}
		}
		h.changed = true
		if n > 0 && key != "" {
			m.Key = fmt.Sprintf("%s/%d", key, n+1)
		}
		t.results = append(t.results, m)
	}
	if len(rest) > 0 {
		h.changed = true
		h.add(restOf(whole, rest, len(owners) > 0))
	}
}

// restOf returns a message with the parts that are no results. apart reports whether the results stay
// in a message of their own.
func restOf(m memkernel.Message, parts []memkernel.Part, apart bool) memkernel.Message {
	if m.Parts, m.Raw = parts, ""; m.Role == memkernel.RoleTool {
		m.Role = memkernel.RoleUser
	}
	if apart && m.Key != "" {
		m.Key += "/rest"
	}
	return m
}

// claim finds the turn that a result answers, and gives the result the present id of its call. If
// several open calls have the host's id, it chooses the first call of the tool that the result
// names, or else the first call.
func (h *repairer) claim(i int, key string, p memkernel.Part) (*turn, memkernel.Part, bool) {
	id, repaired := p.Result.CallID, ""
	for _, of := range h.now[id] {
		if named := p.Result.Name != "" && h.asked[of].Name == p.Result.Name; !h.done[of] && (repaired == "" || named) {
			if repaired = of; named {
				break
			}
		}
	}
	if repaired == "" {
		rule, why := "duplicate-result", "call %s was answered already, the later result was left out"
		if len(h.now[id]) == 0 {
			known, open := h.past.means(id)
			h.reaches = h.reaches || open
			if !known {
				rule, why = "orphan-result", "result for %s answers no earlier call and was left out"
			}
		}
		h.note(rule, i, key, []memkernel.Part{p}, why, id)
		return nil, p, false
	}
	h.done[repaired] = true
	if repaired != id {
		r := *p.Result
		r.CallID = repaired
		p.Result, p.Raw = &r, ""
	}
	return h.place(h.owner[repaired]), p, true
}

// emit lays the turns of msgs out in order. It returns msgs if nothing was changed.
func (h *repairer) emit(msgs []memkernel.Message, keepPending bool) ([]memkernel.Message, []Note) {
	lost := map[*turn][]memkernel.Message{}
	for _, t := range h.turns {
		for _, id := range t.want {
			if !h.done[id] && !(keepPending && t.home.position == len(h.turns)-1) {
				lost[t.home] = append(lost[t.home], h.missing(t.said, id))
			}
		}
	}
	out := make([]memkernel.Message, 0, len(msgs))
	for _, t := range h.turns {
		out = append(out, t.said)
		out = append(out, h.settled(t.results, lost[t])...)
	}
	if !h.changed {
		return msgs, nil
	}
	return out, h.notes
}

// settled keeps results together by moving other text behind the last result.
func (h *repairer) settled(results, lost []memkernel.Message) []memkernel.Message {
	var tail []memkernel.Message
	for n := range results {
		cut := slices.IndexFunc(results[n].Parts, func(p memkernel.Part) bool { return !isResult(&p) })
		if cut < 0 || n == len(results)-1 && len(lost) == 0 {
			continue
		}
		h.changed = true
		tail = append(tail, restOf(results[n], results[n].Parts[cut:], true))
		results[n].Parts, results[n].Raw = results[n].Parts[:cut:cut], ""
	}
	return append(append(results, lost...), tail...)
}

func (h *repairer) missing(asked memkernel.Message, id string) memkernel.Message {
	h.note("missing-result", -1, asked.Key, nil, "call %s has no result, a synthetic one stands in", id)
	m := memkernel.Message{Role: h.role, Time: asked.Time, Branch: asked.Branch, Turn: asked.Turn, Origin: memkernel.OriginSynthetic}
	if asked.Key != "" {
		m.Key = asked.Key + "/" + id
	}
	m.Parts = []memkernel.Part{{Kind: memkernel.PartToolResult, Result: &memkernel.ToolResult{
		CallID: id, Text: true, Synthetic: true,
		Content: memkernel.Text(missingResult)}}}
	return m
}
