package ingest

import (
	"slices"
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/toolcall"
)

// Shape makes the page of a result that its host's model has not seen yet, and returns the text
// to show the model instead. It returns "" if the host should show the result as it is. Callers
// must then discard the pages in g.Out. Otherwise callers must commit g.Out before they pass on
// the text, which names the page. If shown is not 0, the host itself shows at most shown bytes of
// the result, and the text is not longer.
func (g *Maker) Shape(call *memkernel.ToolCall, r *memkernel.ToolResult, shown int) string {
	id := evidenceID(g.Branch, call.ID)
	if g.Known[id] != nil {
		return "" // its call's id was used before
	}
	m := memkernel.Message{Role: memkernel.RoleUser, Parts: []memkernel.Part{{Kind: memkernel.PartToolResult, Result: r}}}
	page := g.keepResult(&m, &m.Parts[0], toolcall.Read(call.Name, call.Input), id)
	if page.ID != id || page.Door() == "" {
		return ""
	}
	limit, lowest := int(3*page.Bytes/4), pagevm.Compressed
	if shown > 0 {
		limit, lowest = min(limit, shown), pagevm.Structured
	}
	for _, rep := range page.Reps {
		if rep.Level >= lowest && len(rep.Text) <= limit && strings.Contains(rep.Text, id) {
			return rep.Text
		}
	}
	return ""
}

// Shaped returns the page from which [Maker.Shape] made a result, nil if a result was not made so.
func (g *Maker) Shaped(r *memkernel.ToolResult) *pagevm.Page {
	id := evidenceID(g.Branch, r.CallID)
	if !shapes(r, id) {
		return nil
	}
	return g.Known[id]
}

// shapes reports whether a result was shortened by memkernel. A shortened result names the page of
// its own call, and no tool knows that id.
func shapes(r *memkernel.ToolResult, id string) bool {
	return slices.ContainsFunc(r.Content, func(p memkernel.Part) bool { return strings.Contains(p.Text, id) })
}

// showWholeResult replaces a shaped result by its stored content. A result whose content can't be
// read stays shaped.
func (b *Batch) showWholeResult(i, j int, r *memkernel.ToolResult) {
	page := b.Shaped(r)
	if page == nil {
		return
	}
	text, err := b.Whole(page)
	if err != nil {
		return
	}
	whole := *r
	whole.Content = []memkernel.Part{textPart(text)}
	b.setResult(i, j, &whole)
	if b.whole == nil {
		b.whole = map[string]bool{}
	}
	b.whole[page.ID] = true
}

// setResult replaces a result of the conversation.
func (b *Batch) setResult(i, j int, r *memkernel.ToolResult) {
	b.ownMsgs()
	m := &b.Msgs[i]
	m.Parts, m.Raw = slices.Clone(m.Parts), ""
	m.Parts[j] = memkernel.Part{Kind: m.Parts[j].Kind, Result: r}
}
