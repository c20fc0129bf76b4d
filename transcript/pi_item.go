package transcript

import (
	"errors"
	"strconv"

	"github.com/memkernel/memkernel"
)

// readPi makes a message of one that the host holds, nil if it leaves it out.
func readPi(value string) (*memkernel.Message, error) {
	if _, err := object(value); err != nil {
		return nil, errNoObject
	}
	l, e := piLine{message: value}, Entry{}
	if err := l.toMessage(&e); err != nil || e.Flags.Unsent || e.Flags.HostSkip {
		return nil, err
	}
	if e.Message.Origin == memkernel.OriginMeta { // of a role of its own
		return e.Message, piSummary(value, e.Message)
	}
	return e.Message, nil
}

// piSummary gives the host's words to messages that hold a summary in the place of
// content.
func piSummary(value string, m *memkernel.Message) error {
	var role, summary string
	c := scan(value)
	for k := range c.fields {
		switch k {
		case "role":
			role = c.str()
		case "summary":
			summary = c.str()
		default:
			c.skip()
		}
	}
	switch {
	case c.err != nil:
		return c.err
	case role == "":
		return errors.New("message has no role")
	case summary == "":
		return nil
	case role == "compactionSummary":
		m.Origin, m.Parts = memkernel.OriginSummary, []memkernel.Part{{Kind: memkernel.PartText, Text: piSummaryOpen + summary + piSummaryClose}}
	case role == "branchSummary":
		m.Parts = []memkernel.Part{{Kind: memkernel.PartText, Text: piBranchOpen + summary + piBranchClose}}
	}
	return nil
}

// writePi spells a message as Pi and OpenClaw hold it. What the host wrote beside
// the content stays.
func writePi(m memkernel.Message, raw string, _ map[string]bool) []string {
	if raw != "" {
		return []string{withMember(raw, "content", string(piBlocks(piParts(&m))))}
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
