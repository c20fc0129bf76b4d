package ui

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/toolcall"
	"github.com/memkernel/memkernel/serve/hook"
	"github.com/memkernel/memkernel/transcript"
)

// talkJSON is a part of what was said in a session, in its order.
type talkJSON struct {
	Schema  string `json:"schema"`
	Session string `json:"session"`
	// From is the number of the first item, counted from 1. Total counts all items.
	From  int `json:"from"`
	Total int `json:"total"`
	// Simulated reports whether the marks say what memkernel would have done, because it did not
	// plan the session.
	Simulated bool `json:"simulated"`
	// Hooked reports whether hooks recorded what they added.
	Hooked bool `json:"hooked"`
	// Start is what hooks added to the beginning of the session, null for nothing.
	Start *added `json:"start"`
	// Prompts lists the person's prompts, at most 1,000. It is empty in an answer that begins after
	// the first item.
	Prompts []prompt `json:"prompts"`
	Items   []said   `json:"items"`
}

// prompt is a person's prompt in the list of a session's prompts.
type prompt struct {
	// Item is its number among the items.
	Item int    `json:"item"`
	Text string `json:"text"`
}

// said is a text or a tool call of a session.
type said struct {
	Item int `json:"item"`
	// Kind is prompt (of a person), answer, thinking, call (of a tool), host (the host's own text),
	// summary (of the host's compaction), compaction or recalled (by memkernel).
	Kind string    `json:"kind"`
	Time time.Time `json:"time,omitzero"`
	// Text is the text with secrets masked, or the call in a line. Bytes is the length of the whole
	// text, or of the whole result.
	Text  string `json:"text"`
	Bytes int    `json:"bytes"`
	// Input and Result are those of a call.
	Input  string `json:"input"`
	Result string `json:"result"`
	// Failed reports whether the call failed.
	Failed bool `json:"failed"`
	// Prompt is the number of a prompt. Call is the number of the model call that made an answer.
	Prompt int `json:"prompt"`
	Call   int `json:"call"`
	// Level is the last level at which prompts show the result, full if they show all of it. Since
	// is the first call with that level, 0 if it is unknown.
	Level string `json:"level"`
	Since int    `json:"since_call"`
	// Page names the result for memkernel get.
	Page string `json:"page"`
	// Cut is the reason of a cut before the item, "" for none.
	Cut string `json:"cut"`
	// Added is what hooks added to the prompt. It is null if that is unknown.
	Added *added `json:"added"`
	// Lines are the lines of files that were recalled.
	Lines []hook.Lines `json:"lines"`
}

// added is what hooks added to a prompt.
type added struct {
	// Tokens is the approximate size, 0 if nothing was added.
	Tokens int          `json:"tokens"`
	Lines  []hook.Lines `json:"lines"`
}

const (
	// talkItems is the default number of items in an answer, and mostTalk the largest.
	talkItems, mostTalk = 60, 400
	// mostPrompts bounds the listed prompts.
	mostPrompts = 1000
	// promptText bounds a listed prompt, in bytes.
	promptText = 120
	// saidText bounds a text in a list of items, in bytes. wholeText bounds the text of an item that
	// is requested alone.
	saidText, wholeText = 6000, 4 << 20
	// bytesPerToken is the size by which hooks estimate tokens.
	bytesPerToken = 3
	// hookSlack is the longest time between a hook and the prompt that the host then records.
	hookSlack = time.Minute
)

// talk is a session's conversation, split into pieces.
type talk struct {
	id, cwd string // the host's id and the folder of the session
	msgs    []memkernel.Message
	pieces  []piece
	prompts []int              // indexes of pieces
	kept    map[string]keptTag // by the id of the call, or the key of a recalled message
	cuts    map[int]string     // reasons by the message before which the cut was made
}

// keptTag is what the state folder knows about a result or a recalled note.
type keptTag struct {
	page, level string
	refs        []hook.Lines
}

// piece is an item: a part of a message, with the part of another message that has its result.
type piece struct {
	kind        string
	msg, part   int
	resM, resP  int
	first       bool // of a message of the model
	promptCount int
}

// newTalk splits messages into pieces. The host compacted its history before each message whose
// index is in bounds.
func newTalk(msgs []memkernel.Message, bounds []int) *talk {
	t := &talk{msgs: msgs, kept: map[string]keptTag{}}
	calls := map[string]int{}
	for i := range msgs {
		m := &msgs[i]
		if slices.Contains(bounds, i) {
			t.add(piece{kind: "compaction", msg: i, part: -1})
		}
		own, quoted := transcript.Typed(*m)
		if own+quoted != "" {
			t.prompts = append(t.prompts, len(t.pieces))
			t.add(piece{kind: "prompt", msg: i, part: -1, promptCount: len(t.prompts)})
		}
		first := true
		for j := range m.Parts {
			p, kind := &m.Parts[j], "host"
			switch {
			case p.Result != nil:
				if at, ok := calls[p.Result.CallID]; ok {
					t.pieces[at].resM, t.pieces[at].resP = i, j
					continue
				}
			case m.Origin == memkernel.OriginSummary:
				kind = "summary"
			case strings.HasPrefix(m.Key, ownKey):
				kind = "recalled"
			case p.Call != nil:
				calls[p.Call.ID], kind = len(t.pieces), "call"
			case p.Kind == memkernel.PartThinking:
				kind = "thinking"
			case p.Kind == memkernel.PartRedactedThinking, own+quoted != "":
				continue
			case m.Role == memkernel.RoleAssistant:
				kind = "answer"
			}
			if kind != "call" && strings.TrimSpace(partText(p)) == "" {
				continue
			}
			t.add(piece{kind: kind, msg: i, part: j, resM: -1, first: first && m.Role == memkernel.RoleAssistant})
			first = false
		}
	}
	return t
}

func (t *talk) add(p piece) { t.pieces = append(t.pieces, p) }

// talkOf answers with a part of a session's conversation.
func (s *Server) talkOf(r *http.Request) (any, error) {
	from, err := number(r, "from", 1)
	if err != nil {
		return nil, err
	}
	limit, err := number(r, "limit", talkItems)
	if err != nil {
		return nil, err
	}
	f, tr, err := s.asked(r)
	if err != nil {
		return nil, err
	}
	t, err := cached(&s.slow, "talk "+f.id, f.state(), aged, func() (*talk, error) {
		t, _, err := s.shelf.talk(r.Context(), &f)
		return t, err
	})
	if err != nil {
		return nil, err
	}
	out := &talkJSON{Schema: "memkernel/ui_talk/v1", Session: f.id, Total: len(t.pieces), Prompts: []prompt{}, Items: []said{}, Simulated: tr != nil}
	given := map[int]*added{}
	if f.key != "" {
		given, out.Start, out.Hooked = t.given(hook.GivenTo(s.o.Kernel.StateDir(), f.key))
	}
	from = min(max(from, 1), max(len(t.pieces), 1))
	if out.From = from; from == 1 {
		for _, at := range t.prompts[:min(len(t.prompts), mostPrompts)] {
			out.Prompts = append(out.Prompts, prompt{at + 1, s.o.head(oneLine(t.words(at)), promptText)})
		}
	}
	most := saidText
	if limit == 1 {
		most = wholeText
	}
	for n := from - 1; n < min(from-1+min(max(limit, 1), mostTalk), len(t.pieces)); n++ {
		it := t.said(&s.o, n, most)
		it.Added = given[it.Prompt]
		if tr != nil {
			tr.mark(&it, t, n)
		}
		out.Items = append(out.Items, it)
	}
	return out, nil
}

// words returns the text of a prompt.
func (t *talk) words(at int) string { return transcript.Words(t.msgs[t.pieces[at].msg]) }

// said makes item n, with texts of at most the given length.
func (t *talk) said(o *Options, n, most int) said {
	p := &t.pieces[n]
	m := &t.msgs[p.msg]
	it := said{Item: n + 1, Kind: p.kind, Time: m.Time.UTC(), Prompt: p.promptCount, Lines: []hook.Lines{}}
	text := func(s string) string { return o.begin(s, most) }
	switch {
	case p.kind == "prompt":
		words := t.words(n)
		it.Text, it.Bytes = text(words), len(words)
	case p.kind == "call":
		part := &m.Parts[p.part]
		it.Text, it.Input = clip(oneLine(o.mask(callLine(part.Call, t.cwd))), 240), text(part.Call.Input)
		tag := t.kept[part.Call.ID]
		it.Page, it.Level = tag.page, tag.level
		if p.resM < 0 {
			break
		}
		res := &t.msgs[p.resM].Parts[p.resP]
		all := partText(res)
		it.Result, it.Bytes, it.Failed = text(all), len(all), res.Result.IsError
	case p.part >= 0:
		all := partText(&m.Parts[p.part])
		it.Text, it.Bytes = text(all), len(all)
		if tag, ok := t.kept[m.Key]; ok {
			it.Page, it.Lines = tag.page, tag.refs
		}
	}
	if p.first {
		it.Cut = t.cuts[p.msg]
	}
	return it
}

// oneLine joins the lines of a text.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// callLine describes a tool call in one line. It shows paths below the session's folder cwd relative
// to it.
func callLine(c *memkernel.ToolCall, cwd string) string {
	calls, _ := toolcall.Unwrap(c.Name, c.Input)
	if len(calls) == 0 {
		return "Used " + c.Name
	}
	in := toolcall.Read(calls[0].Name, calls[0].Input)
	args := toolcall.ArgsOf(in.Input)
	arg := func(names ...string) string {
		for _, n := range names {
			var s string
			if json.Unmarshal([]byte(args.Get(n)), &s) == nil && s != "" {
				return s
			}
		}
		return ""
	}
	path := func() string {
		if len(in.Paths) == 0 {
			return ""
		}
		if rel, ok := strings.CutPrefix(in.Paths[0], strings.TrimSuffix(cwd, "/")+"/"); ok && cwd != "" {
			return rel
		}
		return in.Paths[0]
	}()
	command, _ := args.Command()
	if args == nil && toolcall.IsShell(in.Name) {
		command = in.Input
	}
	wanted := arg("pattern", "query", "q", "regex")
	switch {
	case command != "" && (toolcall.IsShell(in.Name) || in.Command != ""):
		return "Ran " + command
	case in.Kind == toolcall.CallRead && path != "":
		return "Read " + path
	case in.Kind == toolcall.CallEdit && path != "":
		return "Edited " + path
	case wanted != "" && path != "":
		return "Searched " + path + " for " + wanted
	case wanted != "":
		return "Searched for " + wanted + " with " + in.Name
	}
	if what := arg("description", "url", "skill", "command", "prompt", "question", "title", "name", "text", "input"); what != "" {
		return "Used " + in.Name + ": " + what
	}
	return strings.TrimSpace("Used " + in.Name + " " + path)
}

// given returns the texts that hooks added, by the number of the prompt, and the text that they
// added to the beginning of the session. hooked reports whether hooks recorded anything.
func (t *talk) given(all []hook.Given) (by map[int]*added, start *added, hooked bool) {
	by = map[int]*added{}
	next := 0
	for i := range all {
		g := &all[i]
		a := &added{(g.Bytes + bytesPerToken - 1) / bytesPerToken, append([]hook.Lines{}, g.Lines...)}
		if !g.Prompt {
			if start == nil {
				start = a
			}
			continue
		}
		for ; next < len(t.prompts); next++ {
			at := t.msgs[t.pieces[t.prompts[next]].msg].Time
			if d := at.Sub(g.At); d >= -hookSlack && d <= hookSlack {
				next++
				by[next] = a
				break
			} else if d > hookSlack {
				break
			}
		}
	}
	return by, start, len(all) > 0
}

// talkOfKept makes the conversation from the kept pages.
func talkOfKept(k *api.KeptSession) *talk {
	var msgs []memkernel.Message
	tags := map[string]keptTag{}
	for i := range k.Pages {
		p := &k.Pages[i]
		m := memkernel.Message{Key: p.MessageKey, Role: memkernel.Role(p.Role), Time: p.At}
		tag := keptTag{page: p.ID, level: p.Level.String()}
		for _, r := range p.Refs {
			tag.refs = append(tag.refs, hook.Lines{Path: r.Path, From: r.StartLine, To: r.EndLine})
		}
		switch {
		case p.Type != pagevm.Evidence && p.Type != pagevm.Conversation && len(p.Refs) > 0: // of memory's files
			m.Key = ownKey + p.ID
			m.Parts = memkernel.Text(p.Text)
			tags[m.Key] = tag
		case p.Type == pagevm.Evidence && p.CallID != "":
			m.Parts = []memkernel.Part{{Kind: memkernel.PartToolResult, Result: &memkernel.ToolResult{CallID: p.CallID, Content: memkernel.Text(p.Text)}}}
			tags[p.CallID] = tag
		case p.Type == pagevm.Conversation:
			if m.Parts = keptParts(p.Text, !p.Untyped && p.Role == string(memkernel.RoleUser)); p.Summary {
				m.Origin = memkernel.OriginSummary
			}
		default:
			continue
		}
		if n := len(msgs) - 1; n >= 0 && m.Role == memkernel.RoleAssistant && msgs[n].Role == m.Role && messageText(&msgs[n], partText) == messageText(&m, partText) {
			continue // an answer is kept twice: as it came, and as the next request repeated it
		}
		msgs = append(msgs, m)
	}
	t := newTalk(msgs, nil)
	t.kept, t.cuts = tags, map[int]string{}
	for _, c := range k.Cuts {
		seen, key := 0, ""
		for i := range msgs {
			if seen >= c.Covers && msgs[i].Role == memkernel.RoleAssistant {
				t.cuts[i] = c.Reason
				break
			}
			if !strings.HasPrefix(msgs[i].Key, ownKey) && msgs[i].Key != key {
				seen, key = seen+1, msgs[i].Key
			}
		}
	}
	return t
}

// keptParts reads the parts of a stored message.
func keptParts(stored string, typed bool) (out []memkernel.Part) {
	dec := json.NewDecoder(strings.NewReader(stored))
	for dec.More() {
		var p struct {
			Type, Text, Thinking, Name, ID string
			CallID                         string          `json:"call_id"`
			Input, Arguments               json.RawMessage // of Anthropic, of OpenAI
		}
		if dec.Decode(&p) != nil {
			return []memkernel.Part{{Kind: memkernel.PartText, Text: stored, Typed: typed}}
		}
		switch {
		case p.Name != "" && p.Type != "text":
			id, input := p.ID, string(p.Input)
			if p.CallID != "" {
				id = p.CallID
			}
			if json.Unmarshal(p.Arguments, &input) != nil && len(p.Arguments) > 0 {
				input = string(p.Arguments)
			}
			out = append(out, memkernel.Part{Kind: memkernel.PartToolUse, Call: &memkernel.ToolCall{ID: id, Name: p.Name, Input: input}})
		case p.Thinking != "":
			out = append(out, memkernel.Part{Kind: memkernel.PartThinking, Text: p.Thinking})
		case p.Text != "":
			out = append(out, memkernel.Part{Kind: memkernel.PartText, Text: p.Text, Typed: typed})
		}
	}
	return out
}
