package transcript

import (
	"slices"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/textutil"
)

// codexCalls and codexAnswers are the types of items, other than those of functions, by which the
// model asks the client, and by which the client answers.
var (
	codexCalls   = textutil.Set("tool_search_call computer_call shell_call apply_patch_call")
	codexAnswers = textutil.Set("tool_search_output computer_call_output shell_call_output apply_patch_call_output")
)

// pairID returns the id that an item shares with its answer. It returns "" for an item without an
// answer, such as a call that the provider ran itself.
func (it *codexItem) pairID() string {
	switch {
	case it.execution == "server":
		return ""
	case it.typ == "mcp_approval_request":
		return it.id
	case it.typ == "mcp_approval_response":
		return it.approval
	}
	return it.callID
}

// call returns an item as a call. If none of the item's known members is the input, the whole item
// is the input.
func (it *codexItem) call(raw string) memkernel.Part {
	c := &memkernel.ToolCall{ID: it.pairID(), Name: it.name, Input: it.input}
	fillCall(c, it.typ, raw)
	return memkernel.Part{Kind: memkernel.PartToolUse, Call: c, Raw: raw}
}

// result returns an item as the answer to a call. Only an output of text and pictures is read; any
// other output keeps its JSON.
func (it *codexItem) result(raw string) memkernel.Part {
	r := &memkernel.ToolResult{CallID: it.pairID(), Name: it.name, Content: it.parts, Text: it.plain, IsError: it.isErr || it.status == "failed"}
	if len(r.Content) == 0 || slices.ContainsFunc(r.Content, func(p memkernel.Part) bool { return p.Kind == memkernel.PartOther }) {
		r.Content, r.Text = []memkernel.Part{{Kind: memkernel.PartOther, Raw: raw}}, false
	}
	return memkernel.Part{Kind: memkernel.PartToolResult, Result: r, Raw: raw}
}

// codexPairs pairs items of unknown kinds by their call id. The first item is the call. A later
// item is its result, and becomes a message of its own. An item without an answer stays unchanged.
// The zero value is ready.
type codexPairs struct {
	answered map[string]bool   // calls by id
	lone     map[string]string // items that no other one followed yet, by id
	late     map[string]string // items that were taken for results, by id
}

// take handles the message m of one item before it is appended to msgs. Where items belong
// together, it changes m and earlier messages to calls and results.
func (ps *codexPairs) take(msgs []memkernel.Message, m *memkernel.Message) {
	if len(m.Parts) != 1 {
		return
	}
	if ps.answered == nil {
		ps.answered, ps.lone, ps.late = map[string]bool{}, map[string]string{}, map[string]string{}
	}
	switch p := &m.Parts[0]; {
	case isCall(p):
		ps.answered[p.Call.ID] = false
	case isResult(p):
		ps.found(msgs, p.Result.CallID)
	case p.Kind == memkernel.PartOther && m.Role == memkernel.RoleAssistant:
		ps.unknown(msgs, m)
	}
}

// found records that a call has a result, and converts the item with this id to the call. If the
// last message was read as the result of the same call, it was only an intermediate step and
// becomes unknown again.
func (ps *codexPairs) found(msgs []memkernel.Message, id string) {
	if raw, ok := ps.lone[id]; ok {
		codexReplace(msgs, raw, (*codexItem).call)
		delete(ps.lone, id)
	}
	if raw, ok := ps.late[id]; ok && len(msgs) > 0 && msgs[len(msgs)-1].Parts[0].Raw == raw {
		codexReplace(msgs[len(msgs)-1:], raw, (*codexItem).other)
	}
	ps.answered[id] = true
}

func (ps *codexPairs) unknown(msgs []memkernel.Message, m *memkernel.Message) {
	raw := m.Parts[0].Raw
	it, err := readCodexItem(raw)
	id := it.pairID()
	if err != nil || id == "" {
		if open := len(msgs) > 0 && msgs[len(msgs)-1].Role == memkernel.RoleAssistant; !open && !isItemType(it.typ) {
			m.Role = memkernel.RoleDeveloper // no answer begins with it: it may be the request's last
		}
		return
	}
	_, known := ps.answered[id]
	if _, lone := ps.lone[id]; !known && !lone {
		ps.lone[id] = raw
		return
	}
	m.Role = memkernel.RoleTool
	if last := len(msgs) - 1; ps.answered[id] && (last < 0 || msgs[last].Parts[0].Raw != ps.late[id]) {
		return // the model has seen the result
	}
	ps.found(msgs, id)
	m.Parts = []memkernel.Part{it.result(raw)}
	ps.late[id] = raw
}

func (it *codexItem) other(raw string) memkernel.Part {
	return memkernel.Part{Kind: memkernel.PartOther, Raw: raw}
}

// codexReplace replaces the last part that has this JSON.
func codexReplace(msgs []memkernel.Message, raw string, with func(*codexItem, string) memkernel.Part) {
	for i := len(msgs) - 1; i >= 0; i-- {
		for k := range msgs[i].Parts {
			if msgs[i].Parts[k].Raw != raw {
				continue
			}
			if it, err := readCodexItem(raw); err == nil {
				msgs[i].Parts = slices.Clone(msgs[i].Parts) // others may hold them
				msgs[i].Parts[k] = with(&it, raw)
			}
			return
		}
	}
}

// codexItemType returns the type of a part's JSON, and whether that is an item of the Responses
// API: an item of a known type, or of an unknown one that has a call id.
func codexItemType(raw string) (typ string, item bool) {
	var callID string
	c := scan(raw)
	c.Read("type", &typ, "call_id", &callID)
	return typ, isItemType(typ) || typ != "" && callID != ""
}

// isResponsesItem reports whether a part's JSON is an item of the Responses API.
func isResponsesItem(raw string) bool {
	_, item := codexItemType(raw)
	return item
}

// codexPlain are the items of functions, whose outputs the renderer can write.
var codexPlain = textutil.Set("function_call custom_tool_call local_shell_call function_call_output custom_tool_call_output local_shell_call_output")

// codexOutputs describes the form in which calls and their results go out together.
type codexOutputs struct {
	// custom are the free-form calls. Their outputs have a type of their own.
	custom map[string]bool
	// reworded are the calls of which the call or the result is not sent as it was recorded.
	reworded map[string]bool
}

// codexReworded returns the ids of the calls, or of the results, that are not sent as they were
// recorded.
func codexReworded(msgs []memkernel.Message, half func(*memkernel.Part) bool) map[string]bool {
	out := map[string]bool{}
	for _, p := range allParts(msgs) {
		if p.Raw == "" && half(p) {
			out[callOf(p)] = true
		}
	}
	return out
}

// newCodexOutputs collects the facts that are needed to write messages as items.
func newCodexOutputs(msgs []memkernel.Message) *codexOutputs {
	o := &codexOutputs{custom: map[string]bool{}, reworded: codexReworded(msgs, func(p *memkernel.Part) bool { return isCall(p) || isResult(p) })}
	for _, p := range allParts(msgs) {
		if p.Call != nil && p.Call.Custom {
			o.custom[p.Call.ID] = true
		}
	}
	return o
}

// form returns a part as it is sent. Only their providers know the form of items other than
// function calls. So if the call or the result of such a pair is reworded, both are sent as a
// function call.
func (o *codexOutputs) form(p *memkernel.Part) *memkernel.Part {
	if p.Raw == "" || !o.reworded[callOf(p)] || codexPlain[rawType(p.Raw)] {
		return p
	}
	q := *p
	q.Raw = ""
	return &q
}

// unchanged reports whether a message can go out with the bytes that it was written with.
func (o *codexOutputs) unchanged(m *memkernel.Message) bool {
	return !anyPart(m, func(p *memkernel.Part) bool { return o.form(p) != p })
}

// mayAsk reports whether p is an item of an unknown kind that another item may answer.
func mayAsk(p *memkernel.Part) bool {
	if p.Kind != memkernel.PartOther {
		return false
	}
	it, err := readCodexItem(p.Raw)
	return err == nil && it.pairID() != ""
}
