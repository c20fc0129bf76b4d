package kernel

import (
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel/internal/ids"
	"github.com/memkernel/memkernel/pagevm"
)

// forgottenPart is what a prompt shows in the place of what was forgotten.
const forgottenPart = "[" + forgottenText + "]"

// dropForgotten takes out of the host's messages what was forgotten, so that it is
// neither shown nor kept again. Calls and their results stay in their places.
func (w *work) dropForgotten() {
	if len(w.s.forgotten) == 0 {
		return
	}
	g := w.ingester()
	for i := w.kept; i < len(w.msgs); i++ {
		if parts, changed := g.withoutForgotten(&w.msgs[i]); changed {
			w.ownMsgs()
			w.msgs[i].Parts, w.msgs[i].Raw = parts, ""
		}
	}
}

// withoutForgotten are the parts of a message with a note in the place of those
// whose page was forgotten.
func (g *ingester) withoutForgotten(m *memkernel.Message) (out []memkernel.Part, changed bool) {
	for i := 0; i < len(m.Parts); {
		end := i + 1
		part := &m.Parts[i]
		if part.Kind == memkernel.PartToolResult {
			if text, _ := g.mask.Mask(resultContent(part)); g.buried(ids.Evidence(g.branch, part.Result.CallID), text) {
				changed = true
				stub := *part.Result
				stub.Content, stub.Text, stub.Opaque = []memkernel.Part{textPart(forgottenPart)}, true, false
				out = append(out, memkernel.Part{Kind: memkernel.PartToolResult, Result: &stub})
			} else {
				out = append(out, *part)
			}
			i = end
			continue
		}
		end = runEnd(m.Parts, i)
		if c := g.runContent(m, i, end); g.buried(ids.Conversation(g.branch, m.Key, i), c.text) {
			changed = true
			out = append(out, stubs(m.Parts[i:end])...)
		} else {
			out = append(out, m.Parts[i:end]...)
		}
		i = end
	}
	return out, changed
}

// buried tells whether content was forgotten: that of the page itself, or the same
// under another name.
func (g *ingester) buried(id, content string) bool {
	hash := ids.Hash(content)
	return g.graves.forgottenHash[hash] || g.graves.forgotten[id].Hash == hash || g.graves.forgotten[ids.Page(id[:2], id, hash)].Hash == hash
}

// stubs are the parts that must stand in the place of others: calls, which have
// results, without their input.
func stubs(parts []memkernel.Part) []memkernel.Part {
	out := []memkernel.Part{textPart(forgottenPart)}
	for i := range parts {
		if c := parts[i].Call; c != nil {
			stub := *c
			stub.Input = "{}"
			out = append(out, memkernel.Part{Kind: parts[i].Kind, Call: &stub})
		}
	}
	return out
}

// standsForgotten tells whether a message has a note in the place of what it said.
func standsForgotten(msgs []memkernel.Message) bool {
	for i := range msgs {
		for j := range msgs[i].Parts {
			p := &msgs[i].Parts[j]
			if p.Text == forgottenPart || p.Result != nil && resultText(p.Result) == forgottenPart {
				return true
			}
		}
	}
	return false
}

// goneContent is the answer for what was forgotten or went by retention.
func goneContent(id string, g grave, what string) *Content {
	detail := what
	if !g.time.IsZero() {
		detail += " on " + g.time.UTC().Format("2006-01-02")
	}
	if r := strings.TrimSpace(g.reason); r != "" {
		detail += ": " + r
	}
	return &Content{ID: id, Reason: ReasonForgotten, Detail: detail}
}

// buriedPage is the answer for a page that was forgotten.
func (s *session) buriedPage(id string) (*Content, bool) {
	g, ok := s.forgotten[id]
	if !ok || s.pages[id] != nil {
		return nil, false
	}
	return goneContent(id, g, "it was forgotten"), true
}

// gone tells whether the content of a page went by retention.
func (r *reader) gone(p *pagevm.Page) bool {
	_, retired := r.s.retired[p.ID]
	return retired && p.Blob != "" && !r.s.blobs.Has(p.Blob)
}
