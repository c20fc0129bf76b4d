package gemini

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/transcript/internal/wire"
)

// serverParts are the parts that the provider makes and wants back, other than those of a kind of
// their own.
var serverParts = []string{"executableCode", "codeExecutionResult", "toolCall", "toolResponse"}

// described are members that describe the content that a part holds.
var described = []string{"thought", "thoughtSignature", "videoMetadata", "mediaResolution", "partMetadata"}

// Holds returns the name of the member that a part holds. It returns "" for none, for several,
// and for an invalid part.
func Holds(raw string) (what string) {
	c := wire.Scan(raw)
	for k := range c.Fields {
		switch k = nameOf(k); {
		case slices.Contains(described, k):
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

// takes reports whether the API has blocks of a type. A text may be empty and carry a signature.
func takes(p *memkernel.Part) bool {
	what := Holds(p.Raw)
	return slices.Contains(serverParts, what) || what == "text"
}

// shaped reports whether a block's JSON is one that the API takes.
func shaped(p *memkernel.Part) bool {
	switch what := Holds(p.Raw); p.Kind {
	case memkernel.PartText:
		return what == "text" && wire.RawType(p.Raw) == ""
	case memkernel.PartThinking:
		return what == "text"
	case memkernel.PartToolUse:
		return what == "functionCall"
	case memkernel.PartToolResult:
		return what == "functionResponse"
	case memkernel.PartImage, memkernel.PartDocument:
		return what == "inlineData" || what == "fileData"
	}
	return takes(p)
}

// refuses returns why thinking can't be sent.
func refuses(_ *wire.Renderer, _ int, p *memkernel.Part) string {
	if p.Kind != memkernel.PartThinking || p.Raw == "" || !shaped(p) {
		return "thinking of another provider"
	}
	return ""
}

// appendPart appends a part.
func appendPart(dst []byte, _ memkernel.Role, p *memkernel.Part) []byte {
	if p.Raw != "" && shaped(p) {
		return wire.AppendValid(dst, p.Raw)
	}
	switch p.Kind {
	case memkernel.PartText:
		return wire.Put(dst, `{"text":`, p.Text, `}`)
	case memkernel.PartToolUse:
		return appendCall(dst, p)
	case memkernel.PartToolResult:
		return appendResponse(dst, p.Result, "")
	case memkernel.PartImage, memkernel.PartDocument:
		return appendMedia(dst, p)
	}
	return dst
}

// appendID begins an object with an id, if there is one.
func appendID(dst []byte, id string) []byte {
	if id == "" || strings.HasPrefix(id, unnamed) {
		return append(dst, '{')
	}
	return wire.Put(dst, `{"id":`, id, `,`)
}

func appendCall(dst []byte, p *memkernel.Part) []byte {
	if p.Call == nil || p.Call.Server {
		return dst
	}
	dst = appendID(append(dst, `{"functionCall":`...), p.Call.ID)
	dst = wire.Put(dst, `"name":`, p.Call.Name, `,"args":`)
	dst = append(wire.AppendInput(dst, p.Call), '}')
	if p.Signature != "" {
		dst = wire.Put(dst, `,"thoughtSignature":`, p.Signature)
	}
	return append(dst, '}')
}

// appendResponse appends a result. name is the call's, for a result without a name.
func appendResponse(dst []byte, r *memkernel.ToolResult, name string) []byte {
	if r == nil || r.Opaque {
		return dst
	}
	var texts []string
	var media []memkernel.Part
	for i := range r.Content {
		switch p := &r.Content[i]; {
		case p.Media != nil && (p.Media.Data != "" || p.Media.URL != ""):
			media = append(media, *p)
		case len(texts) > 0 || wire.AsText(p).Text != "":
			texts = append(texts, wire.AsText(p).Text)
		}
	}
	said := `{"output":`
	if r.IsError {
		said = `{"error":`
	}
	dst = appendID(append(dst, `{"functionResponse":`...), r.CallID)
	dst = wire.Put(dst, `"name":`, cmp.Or(r.Name, name), `,"response":`+said, strings.Join(texts, "\n"), `}`)
	if len(media) > 0 {
		dst = wire.AppendList(append(dst, `,"parts":`...), media, appendUser)
	}
	return append(dst, '}', '}')
}

// appendUser is appendPart for a part of the user's.
func appendUser(dst []byte, p *memkernel.Part) []byte { return appendPart(dst, memkernel.RoleUser, p) }

func appendMedia(dst []byte, p *memkernel.Part) []byte {
	switch m := p.Media; {
	case m == nil:
		return dst
	case m.Data != "":
		return wire.Put(dst, `{"inlineData":{"mimeType":`, m.Type, `,"data":`, m.Data, `}}`)
	case m.URL != "" && m.Type != "":
		return wire.Put(dst, `{"fileData":{"mimeType":`, m.Type, `,"fileUri":`, m.URL, `}}`)
	case m.URL != "":
		return wire.Put(dst, `{"fileData":{"fileUri":`, m.URL, `}}`)
	}
	return wire.Put(dst, `{"text":`, p.Text, `}`)
}

// writer writes the conversation.
type writer struct {
	r     *wire.Renderer
	calls map[string]string // names by id
	own   []memkernel.Message
	next  int // the first of own that was not met
}

func newWriter(r *wire.Renderer, own []memkernel.Message) *writer {
	w := &writer{r: r, calls: map[string]string{}, own: own}
	for i := range r.Messages {
		for k := range r.Messages[i].Parts {
			if p := &r.Messages[i].Parts[k]; wire.IsCall(p) {
				w.calls[p.Call.ID] = p.Call.Name
			}
		}
	}
	return w
}

// rewrite writes a conversation in place of a client's. User and model take turns in it, so that
// neighbours of one role become one content. The client's own neighbours stay apart.
func rewrite(r *wire.Renderer, e *wire.Envelope) (string, map[string]string) {
	r.Dst = append(make([]byte, 0, len(e.Raw)+4096), '[')
	newWriter(r, e.Messages).contents()
	return string(append(r.Dst, ']')), nil
}

func (w *writer) contents() {
	msgs := w.r.Messages
	at := make([]int, len(msgs))
	for i := range msgs {
		at[i] = w.find(&msgs[i])
	}
	for i := 0; i < len(msgs); {
		end := i + 1
		for end < len(msgs) && sent(msgs[end].Role) == sent(msgs[i].Role) && !(at[end] > 0 && at[end-1] == at[end]-1) && joins(&msgs[end-1]) && joins(&msgs[end]) {
			end++
		}
		w.content(i, end)
		i = end
	}
}

// joins reports whether a content may become one with its neighbour. A content of a function, or
// of an unknown role, may not.
func joins(m *memkernel.Message) bool {
	return m.Role != memkernel.RoleTool && m.Role != memkernel.RoleDeveloper || m.Raw == ""
}

// find returns the index of a message among the client's, -1 for a new message.
func (w *writer) find(m *memkernel.Message) int {
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
func (w *writer) content(from, to int) {
	msgs := w.r.Messages[from:to]
	if len(msgs) == 1 && msgs[0].Raw != "" && w.r.Own {
		w.r.Comma()
		w.r.Put(msgs[0].Raw)
		return
	}
	whole, base := w.r.Dst, ""
	w.r.Dst = []byte{'['}
	for i := range msgs {
		if m := &msgs[i]; m.Raw != "" && w.r.Own {
			base = cmp.Or(base, m.Raw)
			if list := wire.MemberOf(m.Raw, "parts"); len(list) > 2 {
				w.r.List(func(dst []byte) []byte { return append(dst, strings.TrimSpace(list[1:len(list)-1])...) })
			}
			continue
		}
		w.parts(from + i)
	}
	list := string(append(w.r.Dst, ']'))
	if w.r.Dst = whole; list == "[]" {
		return // nothing of it can be sent
	}
	w.r.Comma()
	if base != "" {
		w.r.Put(wire.WithMember(base, "parts", list))
	} else {
		w.r.Put(`{"role":"` + sent(msgs[0].Role) + `","parts":` + list + `}`)
	}
}

// parts writes the parts of a message that does not go out with the client's bytes.
func (w *writer) parts(i int) {
	for k := range w.r.Messages[i].Parts {
		p := &w.r.Messages[i].Parts[k]
		if w.r.Sends(i, p) && !w.r.List(func(dst []byte) []byte {
			if wire.IsResult(p) && !(p.Raw != "" && shaped(p)) {
				return appendResponse(dst, p.Result, w.calls[p.Result.CallID])
			}
			return appendPart(dst, w.r.Messages[i].Role, p)
		}) {
			w.r.Note("not-sent", i, p, "this format can't carry the block")
		}
	}
}

// sent returns the role under which a message goes out.
func sent(role memkernel.Role) string {
	if role == memkernel.RoleAssistant {
		return "model"
	}
	return "user"
}

func render(r *wire.Renderer) {
	if len(r.System) > 0 {
		r.Member("systemInstruction")
		r.Put(`{"parts":`)
		r.Dst = wire.AppendList(r.Dst, slices.DeleteFunc(slices.Clone(r.System), wire.IsEmptyText), appendUser)
		r.Put("}")
	}
	r.Member("contents")
	r.Put("[")
	newWriter(r, nil).contents()
	r.Put("]")
	renderTools(r)
	if r.MaxTokens > 0 {
		r.Member("generationConfig")
		r.Put(`{"maxOutputTokens":` + strconv.Itoa(r.MaxTokens) + `}`)
	}
}

// renderTools writes the definitions: all functions in one list, and each tool of the provider's by
// itself.
func renderTools(r *wire.Renderer) {
	if len(r.Tools) == 0 {
		return
	}
	functions, list := []byte{'['}, []byte{'['}
	for i := range r.Tools {
		t := &r.Tools[i]
		if d := wire.Scan(t.Raw); d.Text("name") != "" {
			functions = wire.AppendListed(functions, func(dst []byte) []byte { return wire.AppendFunction(dst, t) })
		} else {
			list = append(append(list, t.Raw...), ',')
		}
	}
	if len(functions) > 1 {
		list = append(append(append([]byte(`[{"functionDeclarations":`), functions...), `]},`...), list[1:]...)
	}
	r.Member("tools")
	r.Put(strings.TrimSuffix(string(list), ",") + "]")
}
