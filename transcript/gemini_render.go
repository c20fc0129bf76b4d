package transcript

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/memkernel/memkernel"
)

// geminiServerParts are the parts that the provider makes and wants back, other than those of a
// kind of their own.
const geminiServerParts = "executableCode codeExecutionResult toolCall toolResponse"

// geminiDescribed are members that describe the content that a part holds.
var geminiDescribed = []string{"thought", "thoughtSignature", "videoMetadata", "mediaResolution", "partMetadata"}

// geminiHolds returns the name of the member that holds the part's content. It returns "" if there
// is none, if there are several, and for an invalid part.
func geminiHolds(raw string) (what string) {
	c := scanGemini(raw)
	for k := range c.Fields {
		switch {
		case slices.Contains(geminiDescribed, k):
		case what != "":
			return ""
		default:
			what = k
		}
	}
	if c.Err != nil {
		return ""
	}
	return what
}

// geminiTakes reports whether the API has blocks of a type. A text may be empty and carry a
// signature.
func geminiTakes(p *memkernel.Part) bool {
	what := geminiHolds(p.Raw)
	return slices.Contains(strings.Fields(geminiServerParts), what) || what == "text"
}

// geminiShaped reports whether a block's JSON is one that the API takes.
func geminiShaped(p *memkernel.Part) bool {
	switch what := geminiHolds(p.Raw); p.Kind {
	case memkernel.PartText:
		return what == "text" && rawType(p.Raw) == ""
	case memkernel.PartThinking:
		return what == "text"
	case memkernel.PartToolUse:
		return what == "functionCall"
	case memkernel.PartToolResult:
		return what == "functionResponse"
	case memkernel.PartImage, memkernel.PartDocument:
		return what == "inlineData" || what == "fileData"
	}
	return geminiTakes(p)
}

// geminiRefuses returns why thinking can't be sent.
func geminiRefuses(_ *renderer, _ int, p *memkernel.Part) string {
	if p.Kind != memkernel.PartThinking || p.Raw == "" || !geminiShaped(p) {
		return "thinking of another provider"
	}
	return ""
}

// appendGeminiPart appends a part.
func appendGeminiPart(dst []byte, _ memkernel.Role, p *memkernel.Part) []byte {
	if p.Raw != "" && geminiShaped(p) {
		return appendValid(dst, p.Raw)
	}
	switch p.Kind {
	case memkernel.PartText:
		return put(dst, `{"text":`, p.Text, `}`)
	case memkernel.PartToolUse:
		return appendGeminiCall(dst, p)
	case memkernel.PartToolResult:
		return appendGeminiResponse(dst, p.Result, "")
	case memkernel.PartImage, memkernel.PartDocument:
		return appendGeminiMedia(dst, p)
	}
	return dst
}

// appendGeminiID begins an object with an id, if there is one.
func appendGeminiID(dst []byte, id string) []byte {
	if id == "" || strings.HasPrefix(id, geminiUnnamed) {
		return append(dst, '{')
	}
	return put(dst, `{"id":`, id, `,`)
}

func appendGeminiCall(dst []byte, p *memkernel.Part) []byte {
	if p.Call == nil || p.Call.Server {
		return dst
	}
	dst = appendGeminiID(append(dst, `{"functionCall":`...), p.Call.ID)
	dst = put(dst, `"name":`, p.Call.Name, `,"args":`)
	dst = append(appendInput(dst, p.Call), '}')
	if p.Signature != "" {
		dst = put(dst, `,"thoughtSignature":`, p.Signature)
	}
	return append(dst, '}')
}

// appendGeminiResponse appends a result. name is the call's, for a result without a name.
func appendGeminiResponse(dst []byte, r *memkernel.ToolResult, name string) []byte {
	if r == nil || r.Opaque {
		return dst
	}
	var texts []string
	var media []memkernel.Part
	for i := range r.Content {
		switch p := &r.Content[i]; {
		case p.Media != nil && (p.Media.Data != "" || p.Media.URL != ""):
			media = append(media, *p)
		case len(texts) > 0 || asText(p).Text != "":
			texts = append(texts, asText(p).Text)
		}
	}
	said := `{"output":`
	if r.IsError {
		said = `{"error":`
	}
	dst = appendGeminiID(append(dst, `{"functionResponse":`...), r.CallID)
	dst = put(dst, `"name":`, cmp.Or(r.Name, name), `,"response":`+said, strings.Join(texts, "\n"), `}`)
	if len(media) > 0 {
		dst = appendList(append(dst, `,"parts":`...), media, appendGeminiUser)
	}
	return append(dst, '}', '}')
}

// appendGeminiUser is appendGeminiPart for a part of the user's.
func appendGeminiUser(dst []byte, p *memkernel.Part) []byte {
	return appendGeminiPart(dst, memkernel.RoleUser, p)
}

func appendGeminiMedia(dst []byte, p *memkernel.Part) []byte {
	switch m := p.Media; {
	case m == nil:
		return dst
	case m.Data != "":
		return put(dst, `{"inlineData":{"mimeType":`, m.Type, `,"data":`, m.Data, `}}`)
	case m.URL != "" && m.Type != "":
		return put(dst, `{"fileData":{"mimeType":`, m.Type, `,"fileUri":`, m.URL, `}}`)
	case m.URL != "":
		return put(dst, `{"fileData":{"fileUri":`, m.URL, `}}`)
	}
	return put(dst, `{"text":`, p.Text, `}`)
}

// geminiRewrite writes a conversation in place of a client's.
func geminiRewrite(r *renderer, b *Body) (string, map[string]string) {
	r.dst = append(make([]byte, 0, len(b.raw)+4096), '[')
	geminiContents(r, b.Messages)
	return string(append(r.dst, ']')), nil
}

// geminiContents writes the conversation. User and model must alternate, so neighbouring messages
// of one role become one content. Neighbours that the client itself wrote as separate contents stay
// separate.
func geminiContents(r *renderer, client []memkernel.Message) {
	calls := map[string]string{} // names by id
	for _, p := range allParts(r.Messages) {
		if isCall(p) {
			calls[p.Call.ID] = p.Call.Name
		}
	}
	at, next := slices.Repeat([]int{-1}, len(r.Messages)), 0 // which of the client's a message is, -1 for none
	for i, m := range r.Messages {
		n := slices.IndexFunc(client[next:], func(own memkernel.Message) bool { return m.Raw != "" && own.Raw == m.Raw })
		if n >= 0 {
			at[i], next = next+n, next+n+1
		}
	}
	for i, end := 0, 0; i < len(at); i = end {
		joins := func(k int) bool { // a content of a function, or of an unknown role, stays by itself
			role := r.Messages[k].Role
			return role != memkernel.RoleTool && role != memkernel.RoleDeveloper || r.Messages[k].Raw == ""
		}
		for end = i + 1; end < len(at) && geminiSent(r.Messages[end].Role) == geminiSent(r.Messages[i].Role) && !(at[end] > 0 && at[end-1] == at[end]-1) && joins(end-1) && joins(end); {
			end++
		}
		geminiContent(r, i, end, calls)
	}
}

// geminiContent writes messages as one content.
func geminiContent(r *renderer, from, to int, calls map[string]string) {
	msgs := r.Messages[from:to]
	if len(msgs) == 1 && msgs[0].Raw != "" && r.own {
		r.comma()
		r.put(msgs[0].Raw)
		return
	}
	whole, base := r.dst, ""
	r.dst = []byte{'['}
	for i := range msgs {
		m := &msgs[i]
		if m.Raw != "" && r.own {
			base = cmp.Or(base, m.Raw)
			if list := memberOf(m.Raw, "parts"); len(list) > 2 {
				r.list(func(dst []byte) []byte { return append(dst, strings.TrimSpace(list[1:len(list)-1])...) })
			}
			continue
		}
		for k := range m.Parts {
			p := &m.Parts[k]
			if r.sends(from+i, p) && !r.list(func(dst []byte) []byte {
				if isResult(p) && !(p.Raw != "" && geminiShaped(p)) {
					return appendGeminiResponse(dst, p.Result, calls[p.Result.CallID])
				}
				return appendGeminiPart(dst, m.Role, p)
			}) {
				r.note("not-sent", from+i, p, "this format can't carry the block")
			}
		}
	}
	list := string(append(r.dst, ']'))
	if r.dst = whole; list == "[]" {
		return // nothing of it can be sent
	}
	r.comma()
	if base != "" {
		r.put(withMember(base, "parts", list))
	} else {
		r.put(`{"role":"` + geminiSent(msgs[0].Role) + `","parts":` + list + `}`)
	}
}

// geminiSent returns the role under which a message goes out.
func geminiSent(role memkernel.Role) string {
	if role == memkernel.RoleAssistant {
		return "model"
	}
	return "user"
}

func geminiRender(r *renderer) {
	if len(r.System) > 0 {
		r.member("systemInstruction")
		r.put(`{"parts":`)
		r.dst = appendList(r.dst, slices.DeleteFunc(slices.Clone(r.System), isEmptyText), appendGeminiUser)
		r.put("}")
	}
	r.member("contents")
	r.put("[")
	geminiContents(r, nil)
	r.put("]")
	renderGeminiTools(r)
	if r.MaxTokens > 0 {
		r.member("generationConfig")
		r.put(`{"maxOutputTokens":` + strconv.Itoa(r.MaxTokens) + `}`)
	}
}

// renderGeminiTools writes the definitions: all functions in one list, and each tool of the
// provider's by itself.
func renderGeminiTools(r *renderer) {
	if len(r.Tools) == 0 {
		return
	}
	functions, list := []byte{'['}, []byte{'['}
	for i := range r.Tools {
		t := &r.Tools[i]
		if d := scan(t.Raw); d.Text("name") != "" {
			functions = appendListed(functions, func(dst []byte) []byte { return appendFunction(dst, t) })
		} else {
			list = append(append(list, t.Raw...), ',')
		}
	}
	if len(functions) > 1 {
		list = append(append(append([]byte(`[{"functionDeclarations":`), functions...), `]},`...), list[1:]...)
	}
	r.member("tools")
	r.put(strings.TrimSuffix(string(list), ",") + "]")
}
