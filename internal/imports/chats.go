package imports

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/memkernel/memkernel"
)

// The export of ChatGPT: conversations.json, or conversations-NNN.json, is a list of
// conversations. Each conversation is a tree of messages. The program shows the path from the
// root to current_node.

type gptConversation struct {
	ID             string             `json:"id"`
	ConversationID string             `json:"conversation_id"`
	CurrentNode    string             `json:"current_node"`
	Mapping        map[string]gptNode `json:"mapping"`
}

type gptNode struct {
	Parent   string          `json:"parent"`
	Children []string        `json:"children"`
	Message  json.RawMessage `json:"message"`
}

type gptMessage struct {
	ID     string `json:"id"`
	Author struct {
		Role string `json:"role"`
		Name string `json:"name"`
	} `json:"author"`
	CreateTime *float64 `json:"create_time"`
	Recipient  string   `json:"recipient"`
	Content    struct {
		Type     string            `json:"content_type"`
		Parts    []json.RawMessage `json:"parts"`
		Text     string            `json:"text"`
		Result   string            `json:"result"`
		Thoughts []struct {
			Summary string `json:"summary"`
			Content string `json:"content"`
		} `json:"thoughts"`
	} `json:"content"`
	Metadata struct {
		Model  string `json:"model_slug"`
		Hidden any    `json:"is_visually_hidden_from_conversation"`
		System any    `json:"is_user_system_message"`
	} `json:"metadata"`
	Weight any `json:"weight"`

	unread error // why the message could not be read
}

// hidden reports whether ChatGPT keeps the message out of the conversation that it shows:
// profiles, instructions, its own requests to the model, and messages of weight 0.
func (m *gptMessage) hidden() bool {
	role := m.Author.Role
	return m.Metadata.Hidden == true || m.Metadata.System == true || strings.HasSuffix(m.Content.Type, "_editable_context") ||
		m.Weight == 0.0 && (role == "user" || role == "system")
}

func (r *reader) chatGPT(c *candidate) error {
	return conversations(r, c, chatGPT, func(conv *gptConversation) (string, error) {
		if id := cmp.Or(conv.ConversationID, conv.ID); id != "" && conv.Mapping != nil {
			return id, nil
		}
		return "", errors.New("it is no conversation of ChatGPT: it has no id or no mapping")
	}, r.gptPath)
}

// conversations hands out the conversations of a chat service's export. id returns the id of one,
// and fill adds its messages to a session.
func conversations[T any](r *reader, c *candidate, f Format, id func(*T) (string, error), fill func(*Session, *T)) error {
	c.format = f
	return r.elements(c, func(raw json.RawMessage) error {
		var conv T
		err := json.Unmarshal(raw, &conv)
		s := &Session{Format: f, Print: hash(string(raw))}
		if err == nil {
			s.ID, err = id(&conv)
		}
		if err != nil {
			return err
		}
		s.Place = c.place + "#" + s.ID
		if fill(s, &conv); len(s.Messages) == 0 {
			return nil
		}
		return r.hand(s)
	})
}

// gptPath adds the conversation that ChatGPT shows to s.
func (r *reader) gptPath(s *Session, conv *gptConversation) {
	var order []string // ids of the nodes with a message, by time
	msgs, parent := map[string]*gptMessage{}, map[string]string{}
	for id, node := range conv.Mapping {
		if parent[id] = node.Parent; len(node.Message) > 0 && string(node.Message) != "null" {
			m := &gptMessage{}
			m.unread = json.Unmarshal(node.Message, m)
			msgs[id], order = m, append(order, id)
		}
	}
	slices.SortFunc(order, func(a, b string) int {
		return cmp.Or(seconds(msgs[a].CreateTime).Compare(seconds(msgs[b].CreateTime)), cmp.Compare(a, b))
	})
	at := conv.CurrentNode
	if _, ok := conv.Mapping[at]; !ok {
		at = "" // the newest message without a successor, if there is one
		for _, id := range order {
			if len(conv.Mapping[id].Children) == 0 && msgs[id].unread == nil {
				at = id
			}
		}
	}
	path, seen := r.wayTo(s, at, parent, order)
	for id := range msgs {
		if !seen[id] {
			s.Aside++
		}
	}
	calls := map[string]string{} // the open call of a tool
	for _, id := range path {
		m := msgs[id]
		if m != nil && m.unread != nil {
			r.lost(s.Format, "%s: message %s: %w", s.Place, id, m.unread)
		}
		if m == nil || m.unread != nil || m.hidden() && calls[m.Author.Name] == "" {
			continue
		}
		out := memkernel.Message{Key: id, Time: seconds(m.CreateTime), Model: m.Metadata.Model}
		parts, unread := m.parts()
		if unread != "" {
			r.lost(s.Format, "%s: message %s: a content of type %q is not known", s.Place, id, unread)
		}
		switch role := m.Author.Role; {
		case role == "assistant" && m.Recipient != "" && m.Recipient != "all":
			calls[m.Recipient] = id
			out.Role = memkernel.RoleAssistant
			out.Parts = []memkernel.Part{callPart(memkernel.ToolCall{ID: id, Name: m.Recipient, Input: joined(parts), Custom: true})}
		case role == "assistant":
			out.Role, out.Parts = memkernel.RoleAssistant, parts
		case role == "tool" && calls[m.Author.Name] != "":
			out.Role = memkernel.RoleTool
			out.Parts = []memkernel.Part{resultPart(calls[m.Author.Name], m.Author.Name, parts, false)}
			delete(calls, m.Author.Name)
		case role == "user":
			out.Role, out.Parts = memkernel.RoleUser, typed(parts)
		default: // insertions of the program, and results of calls that nobody shows
			out.Role, out.Origin, out.Parts = memkernel.RoleUser, memkernel.OriginMeta, parts
		}
		if out.Role == memkernel.RoleAssistant && out.Model != "" {
			s.Model = out.Model
		}
		if len(out.Parts) > 0 {
			s.Messages = append(s.Messages, out)
		}
	}
	s.Messages = joinTurns(s.Messages)
}

// wayTo returns the path from a conversation's beginning to its last message, by the parent that
// each message names, and the set of messages on the path. If a parent is missing or leads to a
// circle, wayTo reports the parent as lost and takes the previous message in order instead.
func (r *reader) wayTo(s *Session, last string, parent map[string]string, order []string) (path []string, on map[string]bool) {
	place := make(map[string]int, len(order))
	for i, id := range order {
		place[id] = i
	}
	on = map[string]bool{}
	root := "" // the parent of the first message, which may be no message
	if len(order) > 0 {
		root = parent[order[0]]
	}
	for at, oldest := last, len(order); at != ""; {
		if i, ok := place[at]; ok {
			oldest = i
		}
		on[at], path = true, append(path, at)
		next := parent[at]
		_, known := parent[next]
		if !known && (next == "" || next == root || strings.HasPrefix(next, "00000000-")) {
			break
		}
		if known && !on[next] {
			at = next
			continue
		}
		at = ""
		for i := oldest - 1; i >= 0 && at == ""; i-- {
			if !on[order[i]] {
				at = order[i]
			}
		}
		if at != "" {
			r.lost(s.Format, "%s: message %s: its parent %s is missing or leads back to it; the message before it by time was read on from", s.Place, path[len(path)-1], next)
		}
	}
	slices.Reverse(path)
	return path, on
}

// parts returns the texts of a message. unread is the type of an unknown content.
func (m *gptMessage) parts() (out []memkernel.Part, unread string) {
	add := func(p memkernel.Part) {
		if strings.TrimSpace(p.Text) != "" {
			out = append(out, p)
		}
	}
	c := &m.Content
	for _, raw := range c.Parts {
		var text string
		var part struct {
			Type string `json:"content_type"`
			Text string `json:"text"`
		}
		switch {
		case json.Unmarshal(raw, &text) == nil:
			add(textPart(text))
		case json.Unmarshal(raw, &part) != nil:
			unread = "part"
		case part.Text != "":
			add(textPart(part.Text))
		default:
			add(textPart("[" + cmp.Or(part.Type, "attachment") + "]"))
		}
	}
	add(textPart(c.Text))
	add(textPart(c.Result))
	for _, t := range c.Thoughts {
		add(thought(cmp.Or(t.Content, t.Summary)))
	}
	if len(out) == 0 && len(c.Parts) == 0 && !slices.Contains([]string{"text", "multimodal_text", "code", "execution_output", "thoughts", "reasoning_recap", ""}, c.Type) {
		unread = c.Type
	}
	return out, unread
}

// typed marks texts as typed by a person.
func typed(parts []memkernel.Part) []memkernel.Part {
	for i := range parts {
		parts[i].Typed = parts[i].Kind == memkernel.PartText
	}
	return parts
}

func joined(parts []memkernel.Part) string {
	var texts []string
	for i := range parts {
		texts = append(texts, parts[i].Text)
	}
	return strings.Join(texts, "\n")
}

// joinTurns joins successive messages of an assistant, because programs write each thought and
// each call as a separate message.
func joinTurns(msgs []memkernel.Message) []memkernel.Message {
	var out []memkernel.Message
	for _, m := range msgs {
		if n := len(out); n > 0 && m.Role == memkernel.RoleAssistant && out[n-1].Role == m.Role && out[n-1].Origin == m.Origin {
			p := &out[n-1]
			p.Parts = append(slices.Clone(p.Parts), m.Parts...)
			p.Model = cmp.Or(m.Model, p.Model)
			if m.Time.After(p.Time) {
				p.Time = m.Time
			}
			if m.Usage != nil {
				p.Usage = m.Usage
			}
			continue
		}
		out = append(out, m)
	}
	return out
}

// The export of Claude: conversations.json is a list of conversations. Each conversation is a
// list of messages. After the user went back, a message names its predecessor.

type claudeConversation struct {
	UUID     string          `json:"uuid"`
	Leaf     string          `json:"current_leaf_message_uuid"`
	Messages []claudeMessage `json:"chat_messages"`
}

type claudeMessage struct {
	UUID        string            `json:"uuid"`
	Parent      string            `json:"parent_message_uuid"`
	Sender      string            `json:"sender"`
	Text        string            `json:"text"`
	Content     []json.RawMessage `json:"content"`
	Created     string            `json:"created_at"`
	Attachments []struct {
		Name      string `json:"file_name"`
		Extracted string `json:"extracted_content"`
	} `json:"attachments"`
	Files []struct {
		Name string `json:"file_name"`
	} `json:"files"`
}

type claudeBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	IsError   bool            `json:"is_error"`
}

func (r *reader) claudeAI(c *candidate) error {
	return conversations(r, c, claudeAI, func(conv *claudeConversation) (string, error) {
		if conv.UUID == "" {
			return "", errors.New("it is no conversation of Claude: it has no uuid")
		}
		return conv.UUID, nil
	}, func(s *Session, conv *claudeConversation) {
		shown := r.claudePath(s, conv)
		s.Aside = len(conv.Messages) - len(shown)
		for _, m := range shown {
			s.Messages = append(s.Messages, r.claudeMessages(s, m)...)
		}
	})
}

// claudePath returns the messages on the path to the last message. If the messages don't name
// their predecessors, it returns all messages.
func (r *reader) claudePath(s *Session, conv *claudeConversation) (shown []*claudeMessage) {
	byID, parent := map[string]*claudeMessage{}, map[string]string{}
	var order []string
	linked := false
	for i := range conv.Messages {
		m := &conv.Messages[i]
		if m.UUID == "" {
			m.UUID = fmt.Sprintf("%s-%d", conv.UUID, i+1)
		}
		if was := byID[m.UUID]; was != nil {
			*was = *m // written again, further on
			continue
		}
		linked = linked || byID[m.Parent] != nil
		byID[m.UUID], parent[m.UUID] = m, m.Parent
		order = append(order, m.UUID)
	}
	path := order
	if linked {
		last := conv.Leaf
		if byID[last] == nil {
			last = order[len(order)-1]
		}
		path, _ = r.wayTo(s, last, parent, order)
	}
	for _, id := range path {
		shown = append(shown, byID[id])
	}
	return shown
}

// claudeMessages returns the messages that one message of Claude's export contains. The content
// of an assistant's message after the results of its calls becomes another message.
func (r *reader) claudeMessages(s *Session, m *claudeMessage) []memkernel.Message {
	role, origin := memkernel.RoleUser, memkernel.OriginMeta
	switch m.Sender {
	case "human", "user":
		origin = memkernel.OriginHost
	case "assistant":
		role, origin = memkernel.RoleAssistant, memkernel.OriginHost
	}
	out := []memkernel.Message{}
	add := func(role memkernel.Role, p memkernel.Part) {
		if n := len(out); n > 0 && out[n-1].Role == role {
			out[n-1].Parts = append(out[n-1].Parts, p)
			return
		}
		key := m.UUID
		if len(out) > 0 {
			key = fmt.Sprintf("%s/%d", m.UUID, len(out)+1)
		}
		out = append(out, memkernel.Message{Key: key, Role: role, Origin: origin, Time: parseTime(m.Created), Parts: []memkernel.Part{p}})
	}
	words := func(text string) {
		if p := textPart(text); strings.TrimSpace(text) != "" {
			p.Typed = role == memkernel.RoleUser && origin == memkernel.OriginHost
			add(role, p)
		}
	}
	var open []memkernel.ToolCall
	for i, raw := range m.Content {
		var b claudeBlock
		if err := json.Unmarshal(raw, &b); err != nil {
			r.lost(s.Format, "%s: message %s: block %d: %w", s.Place, m.UUID, i+1, err)
			continue
		}
		switch b.Type {
		case "text", "voice_note":
			words(b.Text)
		case "thinking":
			if b.Thinking != "" {
				add(role, thought(b.Thinking))
			}
		case "tool_use":
			call := memkernel.ToolCall{ID: cmp.Or(b.ID, fmt.Sprintf("%s_call_%d", m.UUID, i)), Name: b.Name, Input: inputOf(b.Input)}
			open = append(open, call)
			add(memkernel.RoleAssistant, callPart(call))
		case "tool_result":
			at := slices.IndexFunc(open, func(c memkernel.ToolCall) bool {
				return c.ID == b.ToolUseID || b.ToolUseID == "" && c.Name == b.Name
			})
			if at < 0 {
				words(textOf(b.Content))
				continue
			}
			add(memkernel.RoleTool, resultPart(open[at].ID, open[at].Name, memkernel.Text(textOf(b.Content)), b.IsError))
			open = slices.Delete(open, at, at+1)
		case "token_budget", "flag": // nobody said them
		default:
			if b.Text == "" {
				r.lost(s.Format, "%s: message %s: a block of type %q is not known", s.Place, m.UUID, b.Type)
				continue
			}
			words(b.Text)
		}
	}
	if len(m.Content) == 0 {
		words(m.Text)
	}
	for _, a := range m.Attachments {
		if a.Extracted != "" {
			add(role, textPart("["+cmp.Or(a.Name, "attachment")+"]\n"+a.Extracted))
		}
	}
	for _, f := range m.Files {
		add(role, textPart("["+cmp.Or(f.Name, "file")+"]"))
	}
	return out
}

// inputOf returns the input of a call, or {} if the call has no input.
func inputOf(raw json.RawMessage) string {
	if len(raw) == 0 || string(raw) == "null" {
		return "{}"
	}
	return string(raw)
}

// textOf returns the text of a content that is a string or blocks with text. For other contents
// it returns the JSON.
func textOf(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var blocks []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &blocks) == nil {
		var texts []string
		for _, b := range blocks {
			if b.Text != "" {
				texts = append(texts, b.Text)
			}
		}
		if len(texts) > 0 {
			return strings.Join(texts, "\n")
		}
	}
	return string(raw)
}
