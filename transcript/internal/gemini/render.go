package gemini

import (
	"slices"
	"strconv"
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/transcript/internal/wire"
)

// serverParts are parts that the provider makes and wants back beside those that have a
// kind of their own.
var serverParts = []string{"executableCode", "codeExecutionResult", "toolCall", "toolResponse"}

// beside are members that a part has beside what it holds.
var beside = []string{"thought", "thoughtSignature", "videoMetadata", "mediaResolution", "partMetadata"}

// Holds returns what a part holds, "" for none or several, and for a member that is not known.
func Holds(raw string) (what string) {
	c := wire.Scan(raw)
	for k := range c.Fields {
		switch k = nameOf(k); {
		case slices.Contains(beside, k):
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

// takes reports whether a block is of another type that the API has. A text may be empty,
// and carry a signature.
func takes(p *memkernel.Part) bool {
	what := Holds(p.Raw)
	return slices.Contains(serverParts, what) || what == "text"
}

// shaped reports whether a block's JSON is what the API takes.
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

// appendID begins an object with the id that the client gave, if it gave one.
func appendID(dst []byte, id string) []byte {
	if id == "" || strings.HasPrefix(id, unnamed) {
		return append(dst, '{')
	}
	return append(wire.Put(dst, `{"id":`, id), ',')
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

// appendResponse appends a result; name is that of the call where the result has none.
func appendResponse(dst []byte, r *memkernel.ToolResult, name string) []byte {
	if r == nil || r.Opaque {
		return dst
	}
	if r.Name != "" {
		name = r.Name
	}
	dst = appendID(append(dst, `{"functionResponse":`...), r.CallID)
	dst = wire.Put(dst, `"name":`, name, `,"response":`)
	var text strings.Builder
	var media []memkernel.Part
	for i := range r.Content {
		switch p := &r.Content[i]; {
		case p.Media != nil && (p.Media.Data != "" || p.Media.URL != ""):
			media = append(media, *p)
		default:
			if text.Len() > 0 {
				text.WriteByte('\n')
			}
			text.WriteString(wire.AsText(p).Text)
		}
	}
	member := `{"output":`
	if r.IsError {
		member = `{"error":`
	}
	dst = wire.Put(dst, member, text.String(), `}`)
	if len(media) > 0 {
		dst = append(dst, `,"parts":[`...)
		for i := range media {
			dst = wire.AppendListed(dst, func(dst []byte) []byte { return appendPart(dst, memkernel.RoleUser, &media[i]) })
		}
		dst = append(dst, ']')
	}
	return append(dst, '}', '}')
}

func appendMedia(dst []byte, p *memkernel.Part) []byte {
	switch m := p.Media; {
	case m == nil:
		return dst
	case m.Data != "":
		return wire.Put(dst, `{"inlineData":{"mimeType":`, m.Type, `,"data":`, m.Data, `}}`)
	case m.URL != "":
		dst = append(dst, `{"fileData":{`...)
		if m.Type != "" {
			dst = wire.Put(dst, `"mimeType":`, m.Type, `,`)
		}
		return wire.Put(dst, `"fileUri":`, m.URL, `}}`)
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

// rewrite writes a conversation in the place of a client's. User and model take turns in
// what is written: what stands beside a content of the same role is a part of it. But the
// client's own that follow each other stay apart as they were.
func rewrite(r *wire.Renderer, e *wire.Envelope) (string, map[string]string) {
	w := newWriter(r, e.Messages)
	r.Dst = append(make([]byte, 0, len(e.Raw)+4096), '[')
	w.contents()
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

// joins reports whether a content may be one with its neighbour: neither that of a function
// nor that of an unknown role may.
func joins(m *memkernel.Message) bool {
	return m.Role != memkernel.RoleTool && m.Role != memkernel.RoleDeveloper || m.Raw == ""
}

// find returns which message of the client's one is, -1 if it is none.
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

// content writes some messages as one content.
func (w *writer) content(from, to int) {
	msgs := w.r.Messages[from:to]
	if len(msgs) == 1 && msgs[0].Raw != "" && w.r.Own {
		w.r.Comma()
		w.r.Dst = append(w.r.Dst, msgs[0].Raw...)
		return
	}
	list, base := []byte{'['}, ""
	for i := range msgs {
		if m := &msgs[i]; m.Raw != "" && w.r.Own {
			base = first(base, m.Raw)
			if inner := strings.TrimSpace(inside(wire.MemberOf(m.Raw, "parts"))); inner != "" {
				list = wire.AppendListed(list, func(dst []byte) []byte { return append(dst, inner...) })
			}
			continue
		}
		list = w.parts(list, from+i)
	}
	if len(list) == 1 {
		return // nothing of it can be sent
	}
	list = append(list, ']')
	w.r.Comma()
	if base != "" {
		w.r.Dst = append(w.r.Dst, wire.WithMember(base, "parts", string(list))...)
		return
	}
	w.r.Dst = append(append(append(w.r.Dst, `{"role":"`...), sent(msgs[0].Role)...), `","parts":`...)
	w.r.Dst = append(append(w.r.Dst, list...), '}')
}

// parts appends the parts of a message that are not the client's bytes as a whole.
func (w *writer) parts(list []byte, i int) []byte {
	for k := range w.r.Messages[i].Parts {
		p := &w.r.Messages[i].Parts[k]
		if why := w.r.Refused(i, p); why != "" {
			w.r.Note("not-sent", i, p, why)
			continue
		}
		n := len(list)
		list = wire.AppendListed(list, func(dst []byte) []byte {
			if wire.IsResult(p) && !(p.Raw != "" && shaped(p)) {
				return appendResponse(dst, p.Result, w.calls[p.Result.CallID])
			}
			return appendPart(dst, w.r.Messages[i].Role, p)
		})
		if len(list) == n {
			w.r.Note("not-sent", i, p, "this format can't carry the block")
		}
	}
	return list
}

// sent returns the role under which a message goes out.
func sent(role memkernel.Role) string {
	if role == memkernel.RoleAssistant {
		return "model"
	}
	return "user"
}

// inside returns a list without its brackets.
func inside(list string) string {
	if len(list) < 2 {
		return ""
	}
	return list[1 : len(list)-1]
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func render(r *wire.Renderer) {
	if len(r.System) > 0 {
		r.Member("systemInstruction")
		r.Dst = append(r.Dst, `{"parts":[`...)
		for i := range r.System {
			if wire.IsEmptyText(r.System[i]) {
				continue
			}
			r.Dst = wire.AppendListed(r.Dst, func(dst []byte) []byte { return appendPart(dst, memkernel.RoleUser, &r.System[i]) })
		}
		r.Dst = append(r.Dst, ']', '}')
	}
	r.Member("contents")
	r.Dst = append(r.Dst, '[')
	newWriter(r, nil).contents()
	r.Dst = append(r.Dst, ']')
	renderTools(r)
	if r.MaxTokens > 0 {
		r.Member("generationConfig")
		r.Dst = append(r.Dst, '{')
		r.Dst = append(r.Dst, `"maxOutputTokens":`...)
		r.Dst = strconv.AppendInt(r.Dst, int64(r.MaxTokens), 10)
		r.Dst = append(r.Dst, '}')
	}
}

// renderTools writes the definitions: functions in one list, and each of the provider's own
// by itself.
func renderTools(r *wire.Renderer) {
	if len(r.Tools) == 0 {
		return
	}
	functions, own := []byte{'['}, []byte{}
	for i := range r.Tools {
		t := &r.Tools[i]
		d := wire.Scan(t.Raw)
		if d.Text("name") != "" {
			functions = wire.AppendListed(functions, func(dst []byte) []byte { return wire.AppendFunction(dst, t) })
			continue
		}
		own = append(append(own, ','), t.Raw...)
	}
	r.Member("tools")
	r.Dst = append(r.Dst, '[')
	if len(functions) > 1 {
		r.Dst = append(append(append(r.Dst, `{"functionDeclarations":`...), functions...), ']', '}')
	} else if len(own) > 0 {
		own = own[1:]
	}
	r.Dst = append(append(r.Dst, own...), ']')
}
