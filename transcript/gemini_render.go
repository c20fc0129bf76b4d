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
var geminiServerParts = []string{"executableCode", "codeExecutionResult", "toolCall", "toolResponse"}

// geminiDescribed are members that describe the content that a part holds.
var geminiDescribed = []string{"thought", "thoughtSignature", "videoMetadata", "mediaResolution", "partMetadata"}

// geminiHolds returns the name of the member that a part holds. It returns "" for none, for several,
// and for an invalid part.
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
	return slices.Contains(geminiServerParts, what) || what == "text"
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

// geminiWriter writes the conversation.
type geminiWriter struct {
	r     *renderer
	calls map[string]string // names by id
	own   []memkernel.Message
	next  int // the first of own that was not met
}

func newGeminiWriter(r *renderer, own []memkernel.Message) *geminiWriter {
	w := &geminiWriter{r: r, calls: map[string]string{}, own: own}
	for i := range r.Messages {
		for k := range r.Messages[i].Parts {
			if p := &r.Messages[i].Parts[k]; isCall(p) {
				w.calls[p.Call.ID] = p.Call.Name
			}
		}
	}
	return w
}

// geminiRewrite writes a conversation in place of a client's. User and model take turns in it, so
// that neighbours of one role become one content. The client's own neighbours stay apart.
func geminiRewrite(r *renderer, e *Body) (string, map[string]string) {
	r.dst = append(make([]byte, 0, len(e.raw)+4096), '[')
	newGeminiWriter(r, e.Messages).contents()
	return string(append(r.dst, ']')), nil
}

func (w *geminiWriter) contents() {
	msgs := w.r.Messages
	at := make([]int, len(msgs))
	for i := range msgs {
		at[i] = w.find(&msgs[i])
	}
	for i := 0; i < len(msgs); {
		end := i + 1
		for end < len(msgs) && geminiSent(msgs[end].Role) == geminiSent(msgs[i].Role) && !(at[end] > 0 && at[end-1] == at[end]-1) && geminiJoins(&msgs[end-1]) && geminiJoins(&msgs[end]) {
			end++
		}
		w.content(i, end)
		i = end
	}
}

// geminiJoins reports whether a content may become one with its neighbour. A content of a function,
// or of an unknown role, may not.
func geminiJoins(m *memkernel.Message) bool {
	return m.Role != memkernel.RoleTool && m.Role != memkernel.RoleDeveloper || m.Raw == ""
}

// find returns the index of a message among the client's, -1 for a new message.
func (w *geminiWriter) find(m *memkernel.Message) int {
	if m.Raw == "" {
		return -1
	}
	n := slices.IndexFunc(w.own[w.next:], func(own memkernel.Message) bool { return own.Raw == m.Raw })
	if n < 0 {
		return -1
	}
	w.next += n + 1
	return w.next - 1
}

// content writes messages as one content.
func (w *geminiWriter) content(from, to int) {
	msgs := w.r.Messages[from:to]
	if len(msgs) == 1 && msgs[0].Raw != "" && w.r.own {
		w.r.comma()
		w.r.put(msgs[0].Raw)
		return
	}
	whole, base := w.r.dst, ""
	w.r.dst = []byte{'['}
	for i := range msgs {
		if m := &msgs[i]; m.Raw != "" && w.r.own {
			base = cmp.Or(base, m.Raw)
			if list := memberOf(m.Raw, "parts"); len(list) > 2 {
				w.r.list(func(dst []byte) []byte { return append(dst, strings.TrimSpace(list[1:len(list)-1])...) })
			}
			continue
		}
		w.parts(from + i)
	}
	list := string(append(w.r.dst, ']'))
	if w.r.dst = whole; list == "[]" {
		return // nothing of it can be sent
	}
	w.r.comma()
	if base != "" {
		w.r.put(withMember(base, "parts", list))
	} else {
		w.r.put(`{"role":"` + geminiSent(msgs[0].Role) + `","parts":` + list + `}`)
	}
}

// parts writes the parts of a message that does not go out with the client's bytes.
func (w *geminiWriter) parts(i int) {
	for k := range w.r.Messages[i].Parts {
		p := &w.r.Messages[i].Parts[k]
		if w.r.sends(i, p) && !w.r.list(func(dst []byte) []byte {
			if isResult(p) && !(p.Raw != "" && geminiShaped(p)) {
				return appendGeminiResponse(dst, p.Result, w.calls[p.Result.CallID])
			}
			return appendGeminiPart(dst, w.r.Messages[i].Role, p)
		}) {
			w.r.note("not-sent", i, p, "this format can't carry the block")
		}
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
	newGeminiWriter(r, nil).contents()
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
