package predict

import "github.com/memkernel/memkernel"

// Framing of a message and its blocks, in tokens, and what an image costs whose
// size is unknown. The line that is learned from the bills corrects them.
const (
	perMessage = 4
	perBlock   = 3
	perCall    = 12
	perImage   = 1500
)

// count is a message's size by the counter alone.
func (p *predictor) count(m *memkernel.Message) int {
	return perMessage + p.countParts(m.Parts)
}

func (p *predictor) countParts(parts []memkernel.Part) int {
	n := 0
	for i := range parts {
		q := &parts[i]
		n += perBlock
		switch {
		case q.Call != nil:
			n += perCall + p.text(q.Call.Name) + p.text(q.Call.Input)
		case q.Result != nil:
			n += perCall + p.countParts(q.Result.Content)
		case q.Media != nil:
			n += imageTokens(q.Media)
		case q.Kind == memkernel.PartOther:
			n += p.text(q.Raw)
		default:
			n += p.text(q.Text)
		}
	}
	return n
}

func (p *predictor) text(s string) int {
	if s == "" {
		return 0
	}
	return p.counter.Count(s).Tokens
}

// imageTokens is Anthropic's formula, in patches of 28 pixels, up to the cost of
// its standard size.
func imageTokens(m *memkernel.Media) int {
	if m.Width <= 0 || m.Height <= 0 {
		return perImage
	}
	return min(1568, ((m.Width+27)/28)*((m.Height+27)/28))
}

// positions is how many places of the provider's look-back a message takes: runs
// of calls count as one, and so do runs of results.
func positions(m *memkernel.Message) int {
	n := 0
	last := memkernel.PartKind("")
	for i := range m.Parts {
		k := m.Parts[i].Kind
		if k == last && (k == memkernel.PartToolUse || k == memkernel.PartToolResult) {
			continue
		}
		last = k
		n++
	}
	return max(n, 1)
}

// markable tells whether a marker can stand at the message's end.
func markable(m *memkernel.Message) bool {
	if len(m.Parts) == 0 {
		return false
	}
	switch last := &m.Parts[len(m.Parts)-1]; last.Kind {
	case memkernel.PartThinking, memkernel.PartRedactedThinking:
		return false
	case memkernel.PartText:
		return last.Text != ""
	}
	return true
}

func hasImage(parts []memkernel.Part) bool {
	for i := range parts {
		if parts[i].Kind == memkernel.PartImage || parts[i].Result != nil && hasImage(parts[i].Result.Content) {
			return true
		}
	}
	return false
}
