package kernel

import (
	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/transcript"
)

// identity is what the provider's cache depends on besides the blocks of p.
func (w *work) identity(p *pagevm.Projection) cachelayout.Identity {
	id := cachelayout.Identity{Model: w.req.Model, ToolChoice: w.req.ToolChoice, Thinking: w.req.Thinking, Effort: w.req.Effort}
	for i := range p.Items {
		id.Images = id.Images || p.Items[i].Image
	}
	return id
}

// layout puts breakpoints on the planned prompt, compares it with what was sent
// last, and estimates the bill.
func (w *work) layout() {
	w.blocks = w.blockList(w.proj)
	id := w.identity(w.proj)
	ledger := &w.next.Ledger
	w.breakpoints, w.notes = cachelayout.Layout(w.blocks, w.model, ledger.Tail(w.blocks), w.lifetimes.LayoutOptions)
	w.change = ledger.Compare(id, w.blocks)
	w.bill = ledger.Bill(w.model, id, w.blocks, w.breakpoints, w.req.Now)
	w.next.Ledger = ledger.Advance(id, w.blocks, w.breakpoints, w.req.Now)
	w.advice = w.next.Ledger.Advise(w.model, w.next.Pace, w.cut, w.bill.Total(), w.req.Now)
}

// blockList is the prompt's content in provider order. Tokens are calibrated.
func (w *work) blockList(p *pagevm.Projection) []cachelayout.Block {
	var out []cachelayout.Block
	if t := w.toolTokens; t > 0 {
		out = append(out, cachelayout.Block{ID: "tools", Region: RegionTools, Hash: w.toolHash, Tokens: t, Positions: 1, Markable: true, Message: cachelayout.MessageTools})
	}
	if t := w.systemTokens; t > 0 {
		out = append(out, cachelayout.Block{ID: "system", Region: RegionSystem, Hash: w.systemHash, Tokens: t, Positions: 1, Markable: true, Message: cachelayout.MessageSystem})
	}
	return append(out, branch.Blocks(p, w.ratio)...)
}

// compose turns a projection into the messages to send. A message whose every
// item stands in full is the host's own value, untouched.
func (w *work) compose() []memkernel.Message {
	out := make([]memkernel.Message, 0, len(w.Msgs)+1)
	if len(w.proj.Carry) > 0 {
		m := memkernel.Message{Key: branch.CarryKey, Role: memkernel.RoleUser}
		for i := range w.proj.Carry {
			m.Parts = append(m.Parts, ingest.TextPart(w.text(w.proj.Carry[i].Hash)))
		}
		out = append(out, m)
	}
	next := 0
	for i := 0; i < len(w.proj.Items); {
		it := &w.proj.Items[i]
		if it.Kind == pagevm.ItemNote || it.Kind == pagevm.ItemRetrieval {
			out = append(out, memkernel.Message{Key: branch.MessageOf(it), Role: memkernel.RoleUser, Parts: []memkernel.Part{ingest.TextPart(w.text(it.Hash))}})
			i++
			continue
		}
		for w.Msgs[next].Key != it.Key {
			next++
		}
		end := i
		for end < len(w.proj.Items) && w.proj.Items[end].Key == it.Key && branch.MessageOf(&w.proj.Items[end]) == it.Key {
			end++
		}
		if m := w.shown(&w.Msgs[next], w.proj.Items[i:end]); len(m.Parts) > 0 {
			m.Key = w.hostKey(m.Key)
			out = append(out, m)
		}
		i = end
	}
	if w.format() == transcript.FormatAnthropic {
		placeSystem(out)
	}
	return out
}

// placeSystem gives a system message whose neighbours left at a cut to the user: the
// Messages API takes one only between a user's turn and the assistant's, or at the end.
func placeSystem(msgs []memkernel.Message) {
	for i := range msgs {
		if msgs[i].Role != memkernel.RoleSystem {
			continue
		}
		front, back := i-1, i+1
		for front >= 0 && msgs[front].Role == memkernel.RoleSystem {
			front--
		}
		for back < len(msgs) && msgs[back].Role == memkernel.RoleSystem {
			back++
		}
		if front < 0 {
			continue // it is part of the system prompt
		}
		follows := msgs[front].Role != memkernel.RoleAssistant || transcript.HasResults(msgs[front])
		if !follows || back < len(msgs) && msgs[back].Role != memkernel.RoleAssistant {
			msgs[i].Role, msgs[i].Raw = memkernel.RoleUser, ""
		}
	}
}

// shown is message m as items show it: results and long messages at their levels,
// runs without thinking that a cut made invalid.
func (w *work) shown(m *memkernel.Message, items []pagevm.Item) memkernel.Message {
	full := true
	for i := range items {
		full = full && items[i].Level == pagevm.Full && !items[i].Bare
	}
	if full {
		return *m
	}
	c := *m
	c.Raw, c.Parts = "", make([]memkernel.Part, 0, len(m.Parts))
	for i := range items {
		it := &items[i]
		if it.Level != pagevm.Full {
			c.Parts = append(c.Parts, ingest.Lowered(m.Parts[it.Part:it.Part+it.Parts], w.text(it.Hash))...)
			continue
		}
		for j := it.Part; j < it.Part+it.Parts; j++ {
			if !it.Bare || !ingest.Thinking(&m.Parts[j]) {
				c.Parts = append(c.Parts, m.Parts[j])
			}
		}
	}
	return c
}

// text finds the bytes of a representation or kernel block by hash.
func (w *work) text(hash string) string {
	if t, ok := w.texts[hash]; ok {
		return t
	}
	if t, ok := w.Out.Text(hash); ok {
		return t
	}
	return w.s.texts[hash]
}

// page finds a page, new or known.
func (w *work) page(id string) *pagevm.Page {
	if p := w.Out.Page(id); p != nil {
		return p
	}
	return w.s.pages[id]
}
