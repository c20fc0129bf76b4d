package plan

import (
	"fmt"
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/kernel/internal/ids"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/represent"
	"github.com/memkernel/memkernel/summary"
)

// maxSpanLines is how many spans the carry block names one by one. One line sums up the older
// ones.
const maxSpanLines = 8

// carryIntro explains the carry block to the model, so that the model does not take its text for
// the user's words.
const carryIntro = "[Context kept by memkernel: earlier messages of this session left the prompt. What follows is reference, not a request.]"

// carryBlocks makes the blocks of the carry block: the provider's compaction, the workspace's
// files as they are now, the messages that left, then the summary.
func carryBlocks(d *deciding) []pagevm.Block {
	blocks := append(compactionBlocks(d), workspaceBlocks(d)...)
	blocks = append(blocks, restoreBlock(d, checkpoint.AfterCompaction, d.Cut.Do)...)
	if len(d.Spans) > 0 {
		blocks = append(blocks, d.carryBlock(pagevm.ItemCarry, ids.Page("cy", d.prior.Name, d.req.Branch), pagevm.Pointer, spanText(d)))
	}
	text := summary.RenderNoted(d.Summary, modelNotes(d), summary.Cap(d.Window), d.Count.Text, func(kind string, n int) string { return more(d, kind) })
	return append(blocks, d.carryBlock(pagevm.ItemCarry, ids.Page("su", d.prior.Name, d.req.Branch), pagevm.Structured, text))
}

// compactionBlocks shows a provider's compaction. It is the compaction that comes with the cut,
// or else the compaction in the prompt, unless the host has rewritten its past since.
func compactionBlocks(d *deciding) (blocks []pagevm.Block) {
	if w := d.req.Demand; w != nil && w.Provider != nil {
		for i, raw := range w.Provider.Blocks {
			page := ids.Page("pc", d.prior.Name, d.req.Branch, fmt.Sprint(d.Prev.Proj.Generation, i))
			blocks = append(blocks, d.carryBlock(pagevm.ItemCompaction, page, pagevm.Full, raw))
		}
		return blocks
	}
	if d.Renewed() {
		return nil
	}
	for _, it := range d.Prev.Proj.Carry {
		if it.Kind == pagevm.ItemCompaction {
			blocks = append(blocks, d.carryBlock(it.Kind, it.Page, it.Level, d.Text(it.Hash)))
		}
	}
	return blocks
}

// modelNotes returns a model's notes that rest on messages still in the conversation. If the
// notes can't be read, the mechanical summary is shown without them.
func modelNotes(d *deciding) summary.Notes {
	n, err := d.session.Notes()
	if err != nil {
		d.log.faults = append(d.log.faults, fault.Fault{Code: fault.NotesUnread, Detail: err.Error()})
		return summary.Notes{}
	}
	d.notesShown = n.Version
	return n.Rooted(ingest.RootedIn(d.Msgs))
}

// carryIfGone returns the carry block if any message is still out of the prompt.
func carryIfGone(d *deciding) []pagevm.Block {
	for i := range d.Align.Seen {
		if d.Align.Seen[i].Gone {
			return carryBlocks(d)
		}
	}
	if first := d.Align.First; first < len(d.Msgs) && d.Msgs[first].Origin == memkernel.OriginSummary {
		return carryBlocks(d)
	}
	d.Spans = nil
	return workspaceBlocks(d)
}

// carryBlock makes a kernel block and keeps its text.
func (d *decision) carryBlock(kind pagevm.ItemKind, page string, level pagevm.Level, text string) pagevm.Block {
	h := ids.Hash(text)
	d.Texts[h] = text
	return pagevm.Block{Kind: kind, Page: page, Level: level, Hash: h, Tokens: d.Count.Text(text)}
}

// more returns a text that names the page with the rest of a summary list.
func more(d *deciding, kind string) string {
	return ids.Page("su", d.prior.Name, d.req.Branch) + "." + kind
}

// spanText lists the spans that left the prompt, newest last.
func spanText(d *deciding) string {
	var b strings.Builder
	b.WriteString(carryIntro)
	spans := d.Spans
	b.WriteString(spans[len(spans)-1].Worked)
	if older := len(spans) - maxSpanLines; older > 0 {
		fmt.Fprintf(&b, "\n+%d older: get %s", older, spans[older-1].ID)
		spans = spans[older:]
	}
	for i := range spans {
		b.WriteByte('\n')
		b.WriteString(spans[i].Text)
	}
	if d.req.Resolver != "" {
		fmt.Fprintf(&b, "\nTo read any of it in full: %s ID", d.req.Resolver)
	}
	return b.String()
}

// leavingSpan makes the page of the messages that leave at a cut.
func leavingSpan(d *deciding, seen []pagevm.Seen, leave map[int]bool) (branch.Span, bool) {
	var s branch.Span
	var turns []represent.Utterance
	for i := range d.Hosts {
		if seen[i].Gone || !leave[d.Places[i].Atom] {
			continue
		}
		m := &d.Msgs[i]
		s.Keys = append(s.Keys, m.Key)
		for j := range d.Hosts[i].Segments {
			s.Pages = append(s.Pages, d.Hosts[i].Segments[j].Page)
		}
		s.Tokens += d.Hosts[i].Tokens()
		if s.From.IsZero() {
			s.From = m.Time
		}
		if !m.Time.IsZero() {
			s.To = m.Time
		}
		turns = append(turns, Utterance(m))
	}
	if len(s.Keys) == 0 {
		return s, false
	}
	s.ID = ids.Page("sp", d.prior.Name, d.req.Branch, s.Keys[0], s.Keys[len(s.Keys)-1])
	s.Level, s.Text = d.spanLine(s, turns)
	s.Worked = d.workedText(func(i int) bool { return seen[i].Gone || leave[d.Places[i].Atom] })
	return s, true
}

// spanLine shows a span. It shows a pointer if the model can follow pointers, otherwise the
// span's structure.
func (m *measured) spanLine(s branch.Span, turns []represent.Utterance) (pagevm.Level, string) {
	want := pagevm.Floor(pagevm.Conversation, m.req.Resolver != "")
	for _, r := range represent.Conversation(represent.SpanInput{PageID: s.ID, Utterances: turns, Resolver: m.req.Resolver}, nil) {
		if r.Level == want {
			return want, m.Mask.Text(r.Text)
		}
	}
	return want, fmt.Sprintf("[%s: %d messages]", s.ID, len(s.Keys))
}

// Utterance returns a message's text for a span.
func Utterance(m *memkernel.Message) represent.Utterance {
	t := represent.Utterance{Role: m.Role, Time: m.Time, Key: m.Key}
	var b strings.Builder
	for i := range m.Parts {
		switch p := &m.Parts[i]; {
		case p.Kind == memkernel.PartText:
			b.WriteString(p.Text)
			b.WriteByte('\n')
		case p.Call != nil:
			t.Tools = append(t.Tools, p.Call.Name)
		}
	}
	t.Text = b.String()
	return t
}
