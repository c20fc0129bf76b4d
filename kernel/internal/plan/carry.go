package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/represent"
	"github.com/memkernel/memkernel/summary"
)

// maxSpanLines is the number of spans for which the carry block has a line each. One line sums up
// the older spans. A line takes at most spanTokens.
const maxSpanLines, spanTokens = 5, 35

// carryIntro explains the carry block to the model, so that the model does not take its text for
// the user's words.
const carryIntro = "[Context kept by memkernel: earlier messages of this session left the prompt. What follows is reference, not a request.]"

// material is the content from which carry blocks are made.
type material struct {
	// files are the pins and workspace files as they were last shown. squeezed is the size, in
	// calibrated tokens, by which they have to shrink.
	files    files
	squeezed int
	yields
	// spans are the messages that left. summary covers them.
	spans   []branch.Span
	summary summary.State
	// behind reports that an earlier conversation left state that no checkpoint holds.
	behind bool
}

// carryBlock is a carry block with its content, and with the version of the model's notes that the
// block shows.
type carryBlock struct {
	material
	blocks []textBlock
	notes  int
}

// textBlock is a block of the carry block. text is a text of the kernel, which is kept by its hash.
// It is "" if the block's page has the text.
type textBlock struct {
	pagevm.Block
	text string
}

// ownBlock returns a block that shows a text of the kernel.
func (c *call) ownBlock(kind pagevm.ItemKind, page string, level pagevm.Level, text string) textBlock {
	return textBlock{pagevm.Block{Kind: kind, Page: page, Level: level, Hash: ingest.Hash(text), Tokens: c.Maker.Count.Text(text)}, text}
}

// plain returns blocks without their texts.
func plain(blocks []textBlock) (out []pagevm.Block) {
	for i := range blocks {
		out = append(out, blocks[i].Block)
	}
	return out
}

// textsOf returns the kernel's own texts of blocks, by hash.
func textsOf(blocks []textBlock) map[string]string {
	out := map[string]string{}
	for i := range blocks {
		if blocks[i].text != "" {
			out[blocks[i].Hash] = blocks[i].text
		}
	}
	return out
}

// carryBlocks makes the blocks of the carry block: the provider's compaction, the workspace's
// files as they are now, then the text about the messages that left.
func carryBlocks(c *call, l *limits, m material, left absent, notes int) carryBlock {
	m = m.withFiles(c, l, left.lead())
	blocks := slices.Concat(compactionBlocks(c), m.files.shown())
	noted, version := modelNotes(c, notes)
	room := noWindow
	if m.carry < l.Scale(c.carryRoom(l)) {
		room = l.unscale(m.carry)
	}
	text := leftText(c, l, m.summary, noted, m.spans, left, room)
	if text != "" {
		blocks = append(blocks, c.ownBlock(pagevm.ItemCarry, c.summaryPage(), pagevm.Structured, text))
	}
	return carryBlock{m, blocks, version}
}

func (c *call) summaryPage() string { return ingest.PageID("su", c.prior.Name, c.Request.Branch) }

// leftText returns the text about the messages that left, in at most room tokens. It returns "" if
// there is no room for it.
func leftText(c *call, l *limits, st summary.State, noted summary.Notes, spans []branch.Span, left absent, room int) string {
	count := c.Maker.Count.Text
	list := spanLines(c, spans, maxSpanLines)
	for n := maxSpanLines - 1; n >= 0 && count(list) > room/4; n-- {
		list = spanLines(c, spans, n)
	}
	rest := c.nextToSummary(left, min(l.unscale(wordsRoom(l.Window)), room/2))
	more := func(kind string, _ int) string { return c.summaryPage() + "." + kind }
	for most := summary.Cap(l.Window); most > 0; {
		text := carryIntro + "\n" + summary.RenderNoted(st, noted, rest, most, count, more) + list
		over := count(text) - room
		if over <= 0 {
			return text
		}
		most -= over
	}
	return ""
}

// Told returns the text about all messages before message kept. A host shows it in place of these
// messages.
func (r *Result) Told(kept int) string {
	left := leftBy(&r.call, r.Proj.Seen, nil)
	for i := range kept {
		left[i] = true
	}
	noted, _ := modelNotes(&r.call, 0)
	return leftText(&r.call, &r.limits, r.Chosen.summary, noted, r.Chosen.Spans, left, noWindow)
}

// compactionBlocks returns the blocks of a provider's compaction. It is the compaction that comes
// with the cut, or else the compaction in the prompt, unless the host has rewritten its past since.
func compactionBlocks(c *call) (blocks []textBlock) {
	if w := c.Request.Demand; w != nil && w.Provider != nil {
		for i, raw := range w.Provider.Blocks {
			page := ingest.PageID("pc", c.prior.Name, c.Request.Branch, fmt.Sprint(c.Prev.Proj.Generation, i))
			blocks = append(blocks, c.ownBlock(pagevm.ItemCompaction, page, pagevm.Full, raw))
		}
		return blocks
	}
	if c.Renewed() {
		return nil
	}
	for _, it := range c.Prev.Proj.Carry {
		if it.Kind == pagevm.ItemCompaction {
			blocks = append(blocks, c.ownBlock(it.Kind, it.Page, it.Level, c.text(nil, it.Hash)))
		}
	}
	return blocks
}

// modelNotes returns a model's notes about messages that are still in the conversation, and the
// notes' version. If the notes can't be read, the mechanical summary is shown without them.
func modelNotes(c *call, before int) (summary.Notes, int) {
	n, err := c.session.Notes()
	if err != nil {
		c.log.fault(fault.Fault{Code: "notes_unread", Detail: err.Error()})
		return summary.Notes{}, before
	}
	return n.Rooted(ingest.RootedIn(c.Msgs)), n.Version
}

// carryIfGone returns the carry block if any message is still out of the prompt. Otherwise it
// returns one with the workspace's files only.
func carryIfGone(c *call, l *limits, m material, notes int) carryBlock {
	if c.summaryFirst() || anyGone(c.Align.Seen) {
		return carryBlocks(c, l, m, leftBy(c, c.Align.Seen, nil), notes)
	}
	m = m.withFiles(c, l, c.leadGone())
	m.spans = nil
	return carryBlock{m, m.files.shown(), notes}
}

func anyGone(seen []pagevm.Seen) bool {
	return slices.ContainsFunc(seen, func(s pagevm.Seen) bool { return s.Gone })
}

// spanLines lists the spans that left the prompt, newest last. The last ones have a line each.
func spanLines(c *call, spans []branch.Span, lines int) string {
	if len(spans) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("left the prompt:")
	if older := len(spans) - lines; older > 0 {
		fmt.Fprintf(&b, "\n+%d older: get %s", older, spans[older-1].ID)
		spans = spans[older:]
	}
	for i := range spans {
		b.WriteString("\n" + spans[i].Text)
	}
	if c.Request.Resolver != "" {
		fmt.Fprintf(&b, "\nTo read any of it in full: %s ID", c.Request.Resolver)
	}
	return b.String()
}

// leavingSpan makes the page of the messages that leave at a cut.
func leavingSpan(c *call, seen []pagevm.Seen, leave map[int]bool) (branch.Span, bool) {
	var s branch.Span
	var left []*memkernel.Message
	for i := range c.Hosts {
		if seen[i].Gone || !leave[c.Places[i].Atom] {
			continue
		}
		m := &c.Msgs[i]
		s.Keys = append(s.Keys, m.Key)
		for j := range c.Hosts[i].Segments {
			s.Pages = append(s.Pages, c.Hosts[i].Segments[j].Page)
		}
		s.Tokens += c.Hosts[i].Tokens()
		if s.From.IsZero() {
			s.From = m.Time
		}
		if !m.Time.IsZero() {
			s.To = m.Time
		}
		left = append(left, m)
	}
	if len(s.Keys) == 0 {
		return s, false
	}
	s.ID = ingest.PageID("sp", c.prior.Name, c.Request.Branch, s.Keys[0], s.Keys[len(s.Keys)-1])
	s.Level, s.Text = c.spanLine(s, left)
	return s, true
}

// spanLine returns a span's line, and its level. The line is a pointer if the model can follow
// pointers, otherwise it shows the span's structure.
func (c *call) spanLine(s branch.Span, left []*memkernel.Message) (pagevm.Level, string) {
	want := pagevm.Floor(pagevm.Conversation, c.Request.Resolver != "")
	short := fmt.Sprintf("[%s: %d messages]", s.ID, len(s.Keys))
	if want == pagevm.Pointer {
		if !s.From.IsZero() {
			short = fmt.Sprintf("[%s: %d messages, %s to %s]", s.ID, len(s.Keys), s.From.UTC().Format("01-02 15:04"), s.To.UTC().Format("01-02 15:04"))
		}
		return want, short
	}
	turns := make([]represent.Utterance, len(left))
	for i, m := range left {
		turns[i] = Utterance(m)
	}
	if text := represent.Span(s.ID, turns); text != "" {
		return want, c.Maker.Mask.Text(text)
	}
	return want, short
}

// Utterance returns a message's text for a span.
func Utterance(m *memkernel.Message) represent.Utterance {
	t := represent.Utterance{Role: m.Role, Time: m.Time}
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

// carryRoom returns the room for the text about the messages that left, in counted tokens. Typed
// words that stay in the prompt may make the room larger than the text.
func (c *call) carryRoom(l *limits) int {
	typed := 0
	for i := range c.Msgs {
		for j := range c.Msgs[i].Parts {
			if p := &c.Msgs[i].Parts[j]; p.Typed && !c.mustStand(i) {
				typed += len(p.Text)/3 + turnTokens
			}
		}
	}
	return summary.Cap(l.Window) + (maxSpanLines+2)*spanTokens + min(typed, l.unscale(wordsRoom(l.Window)))
}
