package pi

import (
	"errors"
	"strconv"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/transcript/internal/wire"
)

// read makes a message of one that the host holds, nil if it leaves it out.
func read(value string) (*memkernel.Message, error) {
	if _, err := wire.Object(value); err != nil {
		return nil, wire.ErrNoObject
	}
	l, e := line{message: value}, wire.Entry{}
	if err := l.toMessage(&e); err != nil || e.Flags.Unsent || e.Flags.HostSkip {
		return nil, err
	}
	if e.Message.Origin == memkernel.OriginMeta { // of a role of its own
		return e.Message, readSummary(value, e.Message)
	}
	return e.Message, nil
}

// readSummary gives the host's words to messages that hold a summary in the place of
// content.
func readSummary(value string, m *memkernel.Message) error {
	var role, summary string
	c := wire.Scan(value)
	for k := range c.Fields {
		switch k {
		case "role":
			role = c.Str()
		case "summary":
			summary = c.Str()
		}
	}
	switch {
	case c.Err != nil:
		return c.Err
	case role == "":
		return errors.New("message has no role")
	case summary == "":
		return nil
	case role == "compactionSummary":
		m.Origin, m.Parts = memkernel.OriginSummary, []memkernel.Part{{Kind: memkernel.PartText, Text: summaryOpen + summary + summaryClose}}
	case role == "branchSummary":
		m.Parts = []memkernel.Part{{Kind: memkernel.PartText, Text: branchOpen + summary + branchClose}}
	}
	return nil
}

// write spells a message as Pi and OpenClaw hold it. What the host wrote beside
// the content stays.
func write(m memkernel.Message, raw string, _ map[string]bool) []string {
	if raw != "" {
		return []string{wire.WithMember(raw, "content", string(appendBlocks(partsOf(&m))))}
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
		b := wire.AppendString([]byte(`{"role":"toolResult","toolCallId":`), p.Result.CallID)
		b = wire.AppendString(append(b, `,"toolName":`...), p.Result.Name)
		b = append(append(b, `,"content":`...), appendBlocks(p.Result.Content)...)
		b = strconv.AppendBool(append(b, `,"isError":`...), p.Result.IsError)
		out = append(out, string(b)+stamp+"}")
	}
	if len(rest) > 0 {
		out = append(out, `{"role":"`+role+`","content":`+string(appendBlocks(rest))+stamp+"}")
	}
	return out
}

// partsOf returns the blocks of a message's content: a result's own.
func partsOf(m *memkernel.Message) []memkernel.Part {
	if len(m.Parts) == 1 && m.Parts[0].Result != nil {
		return m.Parts[0].Result.Content
	}
	return m.Parts
}

func appendBlocks(parts []memkernel.Part) []byte {
	dst := []byte{'['}
	for i := range parts {
		dst = wire.AppendListed(dst, func(dst []byte) []byte { return appendPart(dst, &parts[i]) })
	}
	return append(dst, ']')
}

func appendPart(dst []byte, p *memkernel.Part) []byte {
	if p.Raw != "" {
		return wire.AppendValid(dst, p.Raw)
	}
	switch {
	case p.Kind == memkernel.PartText:
		return wire.Put(dst, `{"type":"text","text":`, p.Text, `}`)
	case p.Kind == memkernel.PartThinking:
		return wire.Put(dst, `{"type":"thinking","thinking":`, p.Text, `,"thinkingSignature":`, p.Signature, `}`)
	case p.Call != nil:
		dst = wire.AppendString(append(dst, `{"type":"toolCall","id":`...), p.Call.ID)
		dst = wire.AppendString(append(dst, `,"name":`...), p.Call.Name)
		return append(wire.AppendInput(append(dst, `,"arguments":`...), p.Call), '}')
	case p.Media != nil && p.Media.Data != "":
		return wire.Put(dst, `{"type":"image","data":`, p.Media.Data, `,"mimeType":`, p.Media.Type, `}`)
	}
	return dst
}
