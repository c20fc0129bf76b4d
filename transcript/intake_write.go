package transcript

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/memkernel/memkernel"
)

// written spells a message that is not the host's own, or not as the host wrote it.
func (in *Intake) written(m, host *memkernel.Message, from taken, functions map[string]bool) []Item {
	raw := ""
	if host != nil && from.to-from.from == 1 {
		raw = in.values[from.from]
	}
	var values []string
	switch in.dialect {
	case Pi:
		values = writePi(m, raw)
	case Anthropic:
		values = writeAnthropic(m, raw)
	case OpenAI:
		values = in.rendered(FormatOpenAI, *m, raw, "content", nil)
	case Codex:
		values = in.rendered(FormatResponses, *m, raw, "output", functions)
	}
	items := make([]Item, 0, len(values))
	for i, v := range values {
		it := Item{From: from.to, To: from.to, JSON: v}
		if i == 0 {
			it.From = from.from
		}
		items = append(items, it)
	}
	return items
}

// functions are the calls of items whose results are shown in other words, while the
// host's item has no member for these: they go out as a function's.
func (in *Intake) functions(planned []memkernel.Message) map[string]bool {
	if in.dialect != Codex {
		return nil
	}
	out := reworded(planned, isResult)
	calls := reworded(planned, isCall)
	maps.Copy(out, calls)
	for i := range in.session.Messages {
		for _, p := range in.session.Messages[i].Parts {
			if isResult(&p) && (isPlainCall(rawType(p.Raw)) || strings.HasPrefix(memberOf(p.Raw, "output"), `"`) && !calls[p.Result.CallID]) {
				delete(out, p.Result.CallID)
			}
		}
	}
	return out
}

func holdsCall(m *memkernel.Message, ids map[string]bool) bool {
	return slices.ContainsFunc(m.Parts, func(p memkernel.Part) bool { return ids[callOf(&p)] })
}

// rendered spells a message as a request has it. Where it is one of the host's
// results, only its member of that name changes.
func (in *Intake) rendered(f Format, m memkernel.Message, raw, member string, functions map[string]bool) []string {
	form := outputs{reworded: functions}
	function := holdsCall(&m, functions)
	if function {
		m.Parts = slices.Clone(m.Parts)
		for i := range m.Parts {
			m.Parts[i] = *form.form(&m.Parts[i])
		}
	}
	body, _, err := Render(f, &Request{Model: m.Model, Messages: []memkernel.Message{m}, Source: in.dialect})
	if err != nil {
		return nil // the formats are known and no parameters are given
	}
	c := scan(string(body))
	var values []string
	for k := range c.fields {
		if k != "messages" && k != "input" {
			c.skip()
			continue
		}
		for range c.elems {
			values = append(values, c.raw())
		}
	}
	if raw != "" && len(values) == 1 && HasResults(m) && !function {
		if v := memberOf(values[0], member); v != "" {
			values[0] = withMember(raw, member, v)
		}
	}
	return values
}

// writeAnthropic spells a message of the Messages API. Of the host's own all members
// but the content stay.
func writeAnthropic(m *memkernel.Message, raw string) []string {
	dst := []byte{'['}
	for i := range m.Parts {
		dst = appendListed(dst, func(dst []byte) []byte { return appendAnthropic(dst, &m.Parts[i]) })
	}
	if len(dst) == 1 {
		return nil // nothing of it can be sent
	}
	content := string(append(dst, ']'))
	switch {
	case raw != "":
		return []string{withMember(raw, "content", content)}
	case m.Role == memkernel.RoleAssistant:
		return []string{`{"role":"assistant","content":` + content + "}"}
	}
	return []string{`{"role":"user","content":` + content + "}"}
}

// writePi spells a message as Pi and OpenClaw hold it. What the host wrote beside
// the content stays.
func writePi(m *memkernel.Message, raw string) []string {
	if raw != "" {
		return []string{withMember(raw, "content", string(piBlocks(piParts(m))))}
	}
	role := "user"
	if m.Role == memkernel.RoleAssistant {
		role = "assistant"
	}
	stamp := `,"timestamp":`
	if !m.Time.IsZero() {
		stamp += strconv.FormatInt(m.Time.UnixMilli(), 10)
	} else {
		stamp += "0" // the bytes of a block must not change from plan to plan
	}
	var out []string
	var rest []memkernel.Part
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.Result == nil {
			rest = append(rest, *p)
			continue
		}
		b := appendString([]byte(`{"role":"toolResult","toolCallId":`), p.Result.CallID)
		b = appendString(append(b, `,"toolName":`...), p.Result.Name)
		b = append(append(b, `,"content":`...), piBlocks(p.Result.Content)...)
		b = strconv.AppendBool(append(b, `,"isError":`...), p.Result.IsError)
		out = append(out, string(b)+stamp+"}")
	}
	if len(rest) > 0 {
		out = append(out, `{"role":"`+role+`","content":`+string(piBlocks(rest))+stamp+"}")
	}
	return out
}

// piParts are the blocks of a message's content: a result's own.
func piParts(m *memkernel.Message) []memkernel.Part {
	if len(m.Parts) == 1 && m.Parts[0].Result != nil {
		return m.Parts[0].Result.Content
	}
	return m.Parts
}

func piBlocks(parts []memkernel.Part) []byte {
	dst := []byte{'['}
	for i := range parts {
		dst = appendListed(dst, func(dst []byte) []byte { return appendPi(dst, &parts[i]) })
	}
	return append(dst, ']')
}

func appendPi(dst []byte, p *memkernel.Part) []byte {
	if p.Raw != "" {
		return appendValid(dst, p.Raw)
	}
	switch {
	case p.Kind == memkernel.PartText:
		return append(appendString(append(dst, `{"type":"text","text":`...), p.Text), '}')
	case p.Kind == memkernel.PartThinking:
		dst = appendString(append(dst, `{"type":"thinking","thinking":`...), p.Text)
		return append(appendString(append(dst, `,"thinkingSignature":`...), p.Signature), '}')
	case p.Call != nil:
		dst = appendString(append(dst, `{"type":"toolCall","id":`...), p.Call.ID)
		dst = appendString(append(dst, `,"name":`...), p.Call.Name)
		return append(appendInput(append(dst, `,"arguments":`...), p.Call), '}')
	case p.Media != nil && p.Media.Data != "":
		dst = appendString(append(dst, `{"type":"image","data":`...), p.Media.Data)
		return append(appendString(append(dst, `,"mimeType":`...), p.Media.Type), '}')
	}
	return dst
}
