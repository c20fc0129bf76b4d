package ingest

import (
	"bufio"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/pagevm/represent"
	"github.com/memkernel/memkernel/transcript"
)

// HashMessage returns the hash of a host message's content. The hash stays the same if the host
// moves its cache markers or re-encodes a known block.
func HashMessage(m *memkernel.Message) string {
	return hashOf(func(h *bufio.Writer) {
		field(h, string(m.Role))
		for i := range m.Parts {
			hashPart(h, &m.Parts[i])
		}
	})
}

func field(h *bufio.Writer, s string) {
	h.WriteString(s)
	h.WriteByte(0)
}

func hashPart(h *bufio.Writer, p *memkernel.Part) {
	field(h, string(p.Kind))
	field(h, p.Text)
	field(h, p.Signature)
	switch {
	case p.Call != nil:
		field(h, p.Call.ID)
		field(h, p.Call.Name)
		field(h, p.Call.Input)
	case p.Result != nil:
		field(h, p.Result.CallID)
		if p.Result.IsError {
			field(h, "error")
		}
		for i := range p.Result.Content {
			hashPart(h, &p.Result.Content[i])
		}
	case p.Media != nil:
		field(h, p.Media.Type)
		field(h, p.Media.Data)
		field(h, p.Media.URL)
	case p.Kind == memkernel.PartOther:
		field(h, string(transcript.AppendClean(nil, p.Raw)))
	}
}

// sameMessage compares two messages by content. Strings that share memory, as
// they do when a host hands the same conversation in again, compare at once.
func sameMessage(a, b *memkernel.Message) bool {
	return a.Key == b.Key && a.Role == b.Role && sameParts(a.Parts, b.Parts)
}

func sameParts(a, b []memkernel.Part) bool {
	if len(a) != len(b) {
		return false
	}
	if len(a) == 0 || &a[0] == &b[0] {
		return true
	}
	for i := range a {
		if !samePart(&a[i], &b[i]) {
			return false
		}
	}
	return true
}

func samePart(a, b *memkernel.Part) bool {
	if a.Kind != b.Kind || a.Text != b.Text || a.Signature != b.Signature {
		return false
	}
	switch {
	case (a.Call == nil) != (b.Call == nil), (a.Result == nil) != (b.Result == nil), (a.Media == nil) != (b.Media == nil):
		return false
	case a.Call != nil:
		return *a.Call == *b.Call
	case a.Result != nil:
		return a.Result.CallID == b.Result.CallID && a.Result.IsError == b.Result.IsError &&
			sameParts(a.Result.Content, b.Result.Content)
	case a.Media != nil:
		return *a.Media == *b.Media
	case a.Kind == memkernel.PartOther:
		return a.Raw == b.Raw
	}
	return true
}

// ResultText joins the text blocks of a result.
func ResultText(r *memkernel.ToolResult) string {
	if len(r.Content) == 1 && r.Content[0].Kind == memkernel.PartText {
		return r.Content[0].Text
	}
	var b strings.Builder
	for i := range r.Content {
		if r.Content[i].Kind == memkernel.PartText {
			if b.Len() > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(r.Content[i].Text)
		}
	}
	return b.String()
}

// ResultContent returns the stored content of a result, apart from its media. The content is the
// text of the result, the text of its documents, and the JSON of blocks of unknown type. Blocks
// that only the provider can read are stored whole.
func ResultContent(p *memkernel.Part) string {
	r := p.Result
	if r.Opaque && p.Raw != "" {
		return string(transcript.AppendClean(nil, p.Raw))
	}
	text := ResultText(r)
	for i := range r.Content {
		switch c := &r.Content[i]; {
		case c.Kind == memkernel.PartOther:
			text += "\n" + string(transcript.AppendClean(nil, c.Raw))
		case c.Media != nil && c.Text != "":
			text += "\n" + c.Text
		}
	}
	return text
}

// textOnly reports whether parts are nothing but text.
func textOnly(parts []memkernel.Part) bool {
	return !slices.ContainsFunc(parts, func(p memkernel.Part) bool { return p.Kind != memkernel.PartText })
}

// TextRuns returns the runs of text among parts. Any other part separates two runs.
func TextRuns(parts []memkernel.Part) (runs [][]memkernel.Part) {
	for i := 0; i < len(parts); i++ {
		from := i
		for i < len(parts) && parts[i].Kind == memkernel.PartText {
			i++
		}
		if i > from {
			runs = append(runs, parts[from:i])
		}
	}
	return runs
}

// withText returns a copy of parts that shows text instead of the parts' own text. Parts other
// than text keep their shape and place. Each run of texts shows the text between two breaks. If
// there are fewer breaks, the first runs show it.
func withText(parts []memkernel.Part, text string) []memkernel.Part {
	runs := len(TextRuns(parts))
	out := make([]memkernel.Part, 0, len(parts))
	if runs == 0 {
		return append(out, parts...)
	}
	chunks := strings.SplitN(text, represent.PartBreak, runs)
	for i := range parts {
		switch {
		case parts[i].Kind != memkernel.PartText:
			out = append(out, parts[i])
		case i > 0 && parts[i-1].Kind == memkernel.PartText || len(chunks) == 0: // its run has been shown
		default:
			if c := chunks[0]; runs == 1 || strings.Trim(c, "\n") != "" {
				if runs > 1 {
					c = strings.Trim(c, "\n")
				}
				out = append(out, textPart(c))
			}
			chunks = chunks[1:]
		}
	}
	return out
}

// Lowered returns the parts of an item that is shown by text instead of its own content.
func Lowered(parts []memkernel.Part, text string) []memkernel.Part {
	if slices.ContainsFunc(parts, func(p memkernel.Part) bool { return p.Call != nil || Thinking(&p) }) {
		return unclipped(parts, text)
	}
	if len(parts) != 1 || parts[0].Result == nil {
		return withText(parts, text)
	}
	r := *parts[0].Result
	r.Content = withText(r.Content, text)
	r.Text = len(r.Content) == 1 && r.Content[0].Kind == memkernel.PartText
	return []memkernel.Part{{Kind: memkernel.PartToolResult, Result: &r}}
}

// hashResult returns the content hash of one tool result part.
func hashResult(p *memkernel.Part) string {
	return hashOf(func(h *bufio.Writer) { hashPart(h, p) })
}

// The first and the last second that are written as a time. The last is a day short of the limit
// of JSON, so that no time zone matters.
var (
	firstTime = time.Date(1, 1, 2, 0, 0, 0, 0, time.UTC).Unix()
	lastTime  = time.Date(9999, 12, 30, 0, 0, 0, 0, time.UTC).Unix()
)

// oddTime reports whether a time can't be written as JSON. A host's clock may show any time.
func oddTime(t time.Time) bool {
	s := t.Unix()
	return (s < firstTime || s > lastTime) && !t.IsZero()
}

// textPart returns a part with a text.
func textPart(s string) memkernel.Part { return memkernel.Part{Kind: memkernel.PartText, Text: s} }

// Thinking reports whether a part is a model's thinking.
func Thinking(p *memkernel.Part) bool {
	return p.Kind == memkernel.PartThinking || p.Kind == memkernel.PartRedactedThinking
}

// Unseen returns the index of the first message after the message with key. If the host no longer
// sends that message, all its messages are new.
func Unseen(key string, msgs []memkernel.Message) int {
	if key == "" {
		return 0
	}
	for i := len(msgs) - 1; i >= 0; i-- {
		if msgs[i].Key == key {
			return i + 1
		}
	}
	return 0
}

// RootedIn returns a function that reports whether a message belongs to a conversation. If the
// host replaced messages by its own summary, all known messages belong to it.
func RootedIn(msgs []memkernel.Message) func(string) bool {
	keys := make(map[string]bool, len(msgs))
	for i := range msgs {
		if msgs[i].Origin == memkernel.OriginSummary {
			return func(string) bool { return true }
		}
		keys[msgs[i].Key] = true
	}
	return func(key string) bool { return keys[key] }
}
