package transcript

import (
	"errors"
	"strconv"

	"github.com/memkernel/memkernel"
)

// piRead makes a message of the host's. It returns nil for a message that the host leaves out.
func piRead(value string) (*memkernel.Message, error) {
	if _, err := scanObject(value); err != nil {
		return nil, errNoObject
	}
	l, e := piLine{message: jsonText(value)}, Record{}
	if err := l.toMessage(&e); err != nil || e.flags.Unsent || e.flags.HostSkip {
		return nil, err
	}
	if e.Message.Origin == memkernel.OriginMeta { // of a role of its own
		return e.Message, readPiSummary(value, e.Message)
	}
	return e.Message, nil
}

// readPiSummary gives a message that holds a summary in place of content the words in which the
// host shows it.
func readPiSummary(value string, m *memkernel.Message) error {
	var role, summary string
	c := scan(value)
	c.Read("role", &role, "summary", &summary)
	switch {
	case c.Err != nil:
		return c.Err
	case role == "":
		return errors.New("message has no role")
	case summary == "":
		return nil
	case role == "compactionSummary":
		m.Origin, m.Parts = memkernel.OriginSummary, textParts(piSummaryOpen+summary+piSummaryClose)
	case role == "branchSummary":
		m.Parts = textParts(piBranchOpen + summary + piBranchClose)
	}
	return nil
}

// piWrite returns a message in the form of Pi and OpenClaw. If raw is the host's own message, its
// members other than the content stay.
func piWrite(m memkernel.Message, raw string, _ map[string]bool) []string {
	if raw != "" {
		content := m.Parts
		if len(content) == 1 && content[0].Result != nil {
			content = content[0].Result.Content
		}
		return []string{withMember(raw, "content", piBlocks(content))}
	}
	role := "user"
	if m.Role == memkernel.RoleAssistant {
		role = "assistant"
	}
	stamp := `,"timestamp":0` // the bytes of a block must not change from plan to plan
	if !m.Time.IsZero() {
		stamp = `,"timestamp":` + strconv.FormatInt(m.Time.UnixMilli(), 10)
	}
	var out []string
	var rest []memkernel.Part
	for i := range m.Parts {
		r := m.Parts[i].Result
		if r == nil {
			rest = append(rest, m.Parts[i])
			continue
		}
		out = append(out, string(put(nil, `{"role":"toolResult","toolCallId":`, r.CallID, `,"toolName":`, r.Name,
			`,"content":`+piBlocks(r.Content)+`,"isError":`+strconv.FormatBool(r.IsError)+stamp+"}")))
	}
	if len(rest) > 0 {
		out = append(out, `{"role":"`+role+`","content":`+piBlocks(rest)+stamp+"}")
	}
	return out
}

func piBlocks(parts []memkernel.Part) string {
	return string(appendList(nil, parts, appendPiPart))
}

func appendPiPart(dst []byte, p *memkernel.Part) []byte {
	if p.Raw != "" {
		return appendValid(dst, p.Raw)
	}
	switch {
	case p.Kind == memkernel.PartText:
		return put(dst, `{"type":"text","text":`, p.Text, `}`)
	case p.Kind == memkernel.PartThinking:
		return put(dst, `{"type":"thinking","thinking":`, p.Text, `,"thinkingSignature":`, p.Signature, `}`)
	case p.Call != nil:
		return put(dst, `{"type":"toolCall","id":`, p.Call.ID, `,"name":`, p.Call.Name, `,"arguments":`+string(appendInput(nil, p.Call))+`}`)
	case p.Media != nil && p.Media.Data != "":
		return put(dst, `{"type":"image","data":`, p.Media.Data, `,"mimeType":`, p.Media.Type, `}`)
	}
	return dst
}
