// Package ingest makes a host's conversation valid and makes pages of it. Plans and observed turns
// begin with this step. A [Batch] holds the pages until the caller writes them. The package reads
// no file. It also decides the level at which a page is first appended ([Maker.Levels]): package
// represent marks the results that are better read shortened. Levels adds the results that are too
// large for the window.
package ingest

import (
	"encoding/base64"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/mask"
	"github.com/memkernel/memkernel/pagevm/represent"
	"github.com/memkernel/memkernel/pagevm/toolcall"
	"github.com/memkernel/memkernel/transcript"
)

// inlineBytes is the largest page content that the journal itself holds. Larger content is a
// blob, as are bytes that JSON can't hold because they are not UTF-8.
const inlineBytes = 4 << 10

// Maker makes pages of a conversation, and of the other texts that a prompt shows. It writes
// nothing.
type Maker struct {
	// Out receives the new pages.
	Out *Pages
	// Known are the pages that are already committed.
	Known map[string]*pagevm.Page
	// Graves names forgotten pages and content, which are not kept again.
	Graves graves
	Mask   *mask.Masker
	Count  budget.Model
	// WholeResults shows every result whole at first sight, see [represent.Door].
	WholeResults bool
	// Branch and Resolver are taken from the request.
	Branch, Resolver string
	// Large is the number of tokens above which a result is not shown in full.
	Large int
	// Durable: content that is kept now will be on disk before it is used.
	Durable bool
	// Calls finds the conversation's calls by id.
	Calls map[string]*toolcall.Call
	// Lifted is the binary content that results held as base64, by page.
	Lifted map[string][]mask.Payload
	whole  map[string]bool // the pages whose shaped results show their content again
	// Whole returns the stored content of a page whose result was shaped before its host got it.
	// It must be set where turns are observed, so that the kernel learns from whole results. It
	// is nil where prompts are planned, since prompts show a host's messages unchanged.
	Whole func(*pagevm.Page) (string, error)
	// Stopped reports that the pages will not be used. It is nil if the pages are always used.
	Stopped func() bool
}

// graves reports which pages and contents were forgotten, or removed by retention.
type graves interface {
	// Any reports whether anything was forgotten.
	Any() bool
	// Forgotten returns the hash of a page's forgotten content.
	Forgotten(page string) (hash string, ok bool)
	// ForgottenContent reports whether content was forgotten, wherever it occurred.
	ForgottenContent(hash string) bool
	// Retired reports whether retention removed a page's content.
	Retired(page string) bool
}

// message makes the pages of m and the view that the projection has of it.
func (g *Maker) message(m *memkernel.Message) pagevm.HostMessage {
	h := pagevm.HostMessage{Key: m.Key, Hash: HashMessage(m), Role: m.Role}
	overhead := g.Count.PerMessage
	firstResult := true
	for i := 0; i < len(m.Parts) && !g.stopped(); {
		if m.Parts[i].Kind == memkernel.PartToolResult {
			h.Segments = append(h.Segments, g.result(m, i, overhead, firstResult))
			firstResult = false
			i++
		} else {
			end := runEnd(m, i)
			h.Segments = append(h.Segments, g.run(m, i, end, overhead, h.Hash))
			i = end
		}
		overhead = 0
	}
	if h.Held, _ = transcript.Held(m); h.Held {
		h.Lead = m.Role == memkernel.RoleAssistant && transcript.Compacted(m)
		for i := range h.Segments {
			s := &h.Segments[i]
			s.At, s.First = [pagevm.Full + 1]pagevm.Shown{pagevm.Full: s.At[pagevm.Full]}, pagevm.Full
		}
	}
	return h
}

func (g *Maker) stopped() bool { return g.Stopped != nil && g.Stopped() }

// runEnd returns the end of the run of parts without tool results that begins at from. A part with
// an instruction is a run of its own.
func runEnd(m *memkernel.Message, from int) int {
	alone := func(i int) bool { name, _ := instructionOf(m, i); return name != "" }
	end, last := from+1, untilResult(m.Parts, from)
	for end < last && !alone(from) && !alone(end) {
		end++
	}
	return end
}

// untilResult returns the index of the first tool result from i on.
func untilResult(parts []memkernel.Part, i int) int {
	for i < len(parts) && parts[i].Kind != memkernel.PartToolResult {
		i++
	}
	return i
}

// run makes the page of a run of text, thinking, calls and media.
func (g *Maker) run(m *memkernel.Message, from, to, overhead int, hash string) pagevm.Segment {
	page := g.keepRun(m, from, to, conversationID(g.Branch, m.Key, from))
	hash += "/" + strconv.Itoa(from)
	s := pagevm.Segment{Kind: pagevm.ItemHost, Part: from, Parts: to - from, Page: page.ID, Type: pagevm.Conversation,
		Committed: g.committed(page.ID), First: pagevm.Full}
	instruction(&s, m, m.Parts[from:to])
	full, bare := g.shown(m.Parts[from:to], overhead, hash)
	s.At[pagevm.Full] = full
	g.Levels(&s, page, m.Parts[from:to], overhead)
	if slices.ContainsFunc(m.Parts[from:to], func(p memkernel.Part) bool { return Thinking(&p) }) {
		s.Bare = bare
		s.Bare.Hash += "/bare"
	}
	return s
}

// shown sums the cost of a run of parts, with and without its thinking.
func (g *Maker) shown(parts []memkernel.Part, overhead int, hash string) (full, bare pagevm.Shown) {
	full = pagevm.Shown{Hash: hash, Tokens: overhead}
	bare = full
	var before, bareBefore *memkernel.Part
	for i := range parts {
		p, tokens := &parts[i], g.Count.Part(&parts[i])
		show(&full, before, p, tokens)
		if before = p; !Thinking(p) {
			show(&bare, bareBefore, p, tokens)
			bareBefore = p
		}
	}
	return full, bare
}

// show adds a part to sh, after the part before. Neighbouring calls share a position.
func show(sh *pagevm.Shown, before, p *memkernel.Part, tokens int) {
	sh.Tokens += tokens
	sh.Image = sh.Image || p.Kind == memkernel.PartImage
	if p.Call == nil || before == nil || before.Call == nil {
		sh.Positions++
	}
	sh.Markable = markable(p)
}

// committed reports whether a page is on disk, or will be on disk before it is used.
func (g *Maker) committed(id string) bool { return g.Durable || g.Known[id] != nil }

// markable reports whether a part may have a cache marker. Thinking and empty text may not.
func markable(p *memkernel.Part) bool {
	return !Thinking(p) && (p.Kind != memkernel.PartText || p.Text != "")
}

// RunText returns the stored text of a run of parts, secrets masked.
func (g *Maker) RunText(m *memkernel.Message, from, to int) string {
	return g.runContent(m, from, to).text
}

// runContent is the stored content of a run of parts, and the media in the run. The host's cache
// markers are no content: they move from call to call, and the page must stay the same.
func (g *Maker) runContent(m *memkernel.Message, from, to int) runContent {
	var text strings.Builder
	var media []*memkernel.Media
	for i := from; i < to; i++ {
		p := &m.Parts[i]
		if p.Media != nil {
			media = append(media, p.Media)
			if p.Text == "" {
				continue
			}
		}
		if p.Raw != "" {
			text.Write(transcript.AppendClean(nil, p.Raw))
		} else {
			text.Write(transcript.AppendPart(nil, transcript.FormatAnthropic, m.Role, p))
		}
		text.WriteByte('\n')
	}
	lean, lifted := g.Mask.LiftBase64(text.String())
	masked, found := g.Mask.Find(lean)
	return runContent{masked, found, media, lifted}
}

type runContent struct {
	text   string // with secrets masked and base64 taken out
	masked mask.Secrets
	media  []*memkernel.Media
	lifted []mask.Payload
}

// keepRun makes the page of a run of parts.
func (g *Maker) keepRun(m *memkernel.Message, from, to int, id string) *pagevm.Page {
	c := g.runContent(m, from, to)
	media := g.keepPayloads(c.lifted)
	for _, md := range c.media {
		media = append(media, g.keepMedia(md))
	}
	page := &pagevm.Page{ID: id, Type: pagevm.Conversation, Scope: memkernel.ScopeSession, MessageKey: m.Key,
		Role: string(m.Role), Created: m.Time, Masked: c.masked.Total(), MaskedBy: c.masked, Media: media}
	page.Summary = m.Origin == memkernel.OriginSummary
	page.Untyped = m.Role == memkernel.RoleUser && !slices.ContainsFunc(m.Parts[from:to], func(p memkernel.Part) bool { return p.Typed })
	if known := g.known(page, c.text); known != nil {
		return known
	}
	if strings.HasPrefix(m.Key, promptPrefix) && c.masked == nil && c.lifted == nil {
		// By this text, any process recognises the prompt when the host has written it into its
		// conversation. A prompt with a masked secret is not kept.
		text := m.Parts[from].Text
		page.Reps = []pagevm.Rep{{Level: pagevm.Full, Hash: Hash(text), Text: text}}
	}
	// Other messages get shorter forms when they first do not fit.
	if name, ends := instructionOf(m, from); name != "" {
		page.Reps = append(page.Reps, represent.HostText(g.MessageInput(m.Parts[from:to], page), !ends)...)
	} else if old := g.Known[page.ID]; old != nil && degraded(old) {
		page.Reps = append(page.Reps, represent.Message(g.MessageInput(m.Parts[from:to], page))...)
	}
	if old := g.Known[page.ID]; old != nil && len(page.Reps)+len(old.Reps) == 0 && !g.Graves.Retired(page.ID) {
		return old // no representation names a resolver
	}
	g.Out.add(page, c.text)
	return page
}

// degraded reports whether a page has representations that do not show the whole content.
func degraded(p *pagevm.Page) bool {
	return slices.ContainsFunc(p.Reps, func(r pagevm.Rep) bool { return r.Level < pagevm.Full })
}

// result makes the page of one tool result and its representations.
func (g *Maker) result(m *memkernel.Message, i, overhead int, first bool) pagevm.Segment {
	r := m.Parts[i].Result
	call := g.Calls[r.CallID]
	if call == nil {
		call = &toolcall.Call{Name: r.Name}
	}
	full := pagevm.Shown{Hash: hashResult(&m.Parts[i]), Tokens: overhead + g.Count.Part(&m.Parts[i]), Markable: true}
	if first {
		full.Positions = 1
	}
	s := pagevm.Segment{Kind: pagevm.ItemResult, Part: i, Parts: 1, Page: evidenceID(g.Branch, r.CallID), Type: pagevm.Evidence, First: pagevm.Full}
	for j := range r.Content {
		full.Image = full.Image || r.Content[j].Kind == memkernel.PartImage
	}
	s.At[pagevm.Full] = full
	if r.Synthetic {
		s.Committed = g.committed(s.Page)
		return s
	}
	page := g.keepResult(m, &m.Parts[i], call, s.Page)
	s.Instruction, s.Ends = resultInstruction(call, r)
	s.Page, s.Committed = page.ID, g.committed(page.ID)
	if !r.Opaque {
		g.Levels(&s, page, m.Parts[i:i+1], overhead)
	}
	return s
}

// Levels fills in the costs of a page's degraded representations. It leaves out a representation
// that saves less than a quarter of the level above, because that is not worth hiding text.
func (g *Maker) Levels(s *pagevm.Segment, page *pagevm.Page, parts []memkernel.Part, overhead int) {
	if !degraded(page) {
		return
	}
	full := s.At[pagevm.Full]
	media := g.MediaTokens(parts)
	above := full.Tokens - media
	for _, rep := range page.Reps {
		if rep.Level == pagevm.Full {
			continue
		}
		sh := g.Lowered(s, parts, rep.Text, rep.Hash, overhead)
		if text := sh.Tokens - media; 4*text <= 3*above {
			above = text
			s.At[rep.Level] = sh
			if rep.Door != "" && media == 0 && s.Committed {
				s.First = rep.Level
			}
		}
	}
	// A result of the resolver is never first shown as a pointer, because the model could not read
	// it then.
	if s.Kind == pagevm.ItemResult && full.Tokens-media > g.Large && s.Committed && g.Resolver != "" && page.Tool != g.Resolver && s.At[pagevm.Pointer].Hash != "" {
		s.First = pagevm.Pointer
	}
}

// Lowered returns the cost of a segment that shows text instead of its own content.
func (g *Maker) Lowered(s *pagevm.Segment, parts []memkernel.Part, text, hash string, overhead int) pagevm.Shown {
	sh, _ := g.shown(Lowered(parts, text), overhead, hash)
	sh.Image = s.At[pagevm.Full].Image
	if s.Kind == pagevm.ItemResult {
		sh.Positions = s.At[pagevm.Full].Positions
	}
	return sh
}

// MediaTokens returns the size of the parts that cost the same at every level. Thinking and calls
// do not, since a clipped message has no thinking and clipped inputs.
func (g *Maker) MediaTokens(parts []memkernel.Part) (n int) {
	if len(parts) == 1 && parts[0].Result != nil {
		parts = parts[0].Result.Content
	}
	for i := range parts {
		if parts[i].Kind != memkernel.PartText && !Clippable(parts[i]) && !Thinking(&parts[i]) {
			n += g.Count.Part(&parts[i])
		}
	}
	return n
}

// keepResult makes the page of a tool result, with its representations.
func (g *Maker) keepResult(m *memkernel.Message, part *memkernel.Part, call *toolcall.Call, id string) *pagevm.Page {
	r := part.Result
	if old := g.Known[id]; old != nil && (g.whole[id] || shapes(r, id)) {
		return old
	}
	input, _ := g.Mask.Mask(call.Input)
	if input != call.Input {
		call = toolcall.Read(call.Name, input)
	}
	page := &pagevm.Page{ID: id, Type: pagevm.Evidence, Scope: memkernel.ScopeSession, MessageKey: m.Key, CallID: r.CallID,
		Tool: call.Name, Path: call.Path(), Role: string(m.Role), Created: m.Time}
	page.Media = g.keepPayloads(g.Lifted[id])
	for i := range r.Content {
		if md := r.Content[i].Media; md != nil {
			page.Media = append(page.Media, g.keepMedia(md))
		}
	}
	lean, lifted := g.Mask.LiftBase64(ResultContent(part))
	page.Media = append(page.Media, g.keepPayloads(lifted)...)
	text, found := g.Mask.Find(lean)
	page.Masked, page.MaskedBy = found.Total(), found
	if known := g.known(page, text); known != nil {
		return known
	}
	in := g.Evidence(r, call.Name, input, page)
	if in.Text = text; !textOnly(r.Content) {
		in.Text, in.Breaks, _ = g.Joined(r.Content)
	}
	name, ends := resultInstruction(call, r)
	in.Rules = name != "" && !ends
	in.Whole, in.Preview = g.WholeResults, g.previewed(len(in.Text))
	page.Reps = approval(call, text, represent.Evidence(in))
	g.Out.add(page, text)
	return page
}

// Evidence returns the source of a result's representations, without the result's text.
func (g *Maker) Evidence(r *memkernel.ToolResult, tool, input string, p *pagevm.Page) represent.EvidenceInput {
	return represent.EvidenceInput{Tool: tool, Input: input, IsError: r.IsError,
		Bytes: p.Bytes, PageID: p.ID, Blob: p.Hash, Masked: p.Masked, Resolver: g.Resolver}
}

// ownWords is the number of bytes at either end of a typed text that count as the person's own
// words around a pasted text.
const ownWords = 2 << 10

// MessageInput returns the source of a message's representations.
func (g *Maker) MessageInput(parts []memkernel.Part, p *pagevm.Page) represent.EvidenceInput {
	in := represent.EvidenceInput{PageID: p.ID, Blob: p.Hash, Masked: p.Masked, Resolver: g.Resolver, Message: true}
	in.Text, in.Breaks, in.Own = g.Joined(parts)
	if in.Rules = hostText(memkernel.Role(p.Role), parts); in.Rules {
		in.Own = nil
	}
	for _, run := range TextRuns(parts) {
		for i := range run {
			in.Bytes += int64(len(run[i].Text))
		}
	}
	return in
}

// Joined returns the texts among parts, with secrets masked. It reports whether the text has
// breaks: a break is a place where a part of another kind comes between two texts. The result own
// has the beginnings and ends of the texts that a person typed. If no text is marked as typed,
// own has those of all texts.
func (g *Maker) Joined(parts []memkernel.Part) (joined string, breaks bool, own []represent.Range) {
	var b strings.Builder
	typed := slices.ContainsFunc(parts, func(p memkernel.Part) bool { return p.Typed })
	runs := TextRuns(parts)
	for i, run := range runs {
		if i > 0 {
			b.WriteString("\n" + represent.PartBreak + "\n")
		}
		for j := range run {
			if j > 0 {
				b.WriteByte('\n')
			}
			lean, _ := g.Mask.LiftBase64(strings.ToValidUTF8(run[j].Text, "\uFFFD"))
			text, _ := g.Mask.Mask(lean)
			if len(runs) > 1 {
				text = strings.ReplaceAll(text, represent.PartBreak, "\u241E")
			}
			if at := b.Len(); run[j].Typed == typed {
				own = append(own, represent.Range{Start: at, End: at + min(ownWords, len(text))},
					represent.Range{Start: at + max(0, len(text)-ownWords), End: at + len(text), Tail: true})
			}
			b.WriteString(text)
		}
	}
	return b.String(), len(runs) > 1, own
}

// previewBytes is the size from which a pointer has a preview.
const previewBytes = 16 << 10

// previewed reports whether a pointer to a result of n bytes has a preview. In a small window
// every result that could count as large has a preview. A token of such a result has at least two
// bytes.
func (g *Maker) previewed(n int) bool { return n >= min(previewBytes, 2*g.Large) }

// Keep files a page's content, unless the same page is committed already. It calls represent only
// for a page that it files.
func (g *Maker) Keep(p *pagevm.Page, content string, represent func(*pagevm.Page) []pagevm.Rep) *pagevm.Page {
	if known := g.known(p, content); known != nil {
		return known
	}
	p.Reps = represent(p)
	g.Out.add(p, content)
	return p
}

// known returns the committed page with p's content, nil if p is a new page. Content that the host
// changed gets a new page, because the page that a pointer or a span names must not change. known
// fills in the fields of p that depend on its content.
func (g *Maker) known(p *pagevm.Page, content string) *pagevm.Page {
	p.Hash, p.Bytes = Hash(content), int64(len(content))
	old := g.Known[p.ID]
	if hash, gone := g.Graves.Forgotten(p.ID); old != nil && old.Hash != p.Hash || gone && hash != p.Hash {
		p.ID = PageID(p.ID[:2], p.ID, p.Hash)
		old = g.Known[p.ID]
	}
	if old != nil && !g.Graves.Retired(p.ID) && (g.Resolver == "" || old.Resolver == g.Resolver) {
		return old
	}
	p.Resolver = g.Resolver
	return nil
}

// keepPayloads files the payloads that were taken out of a text as base64.
func (g *Maker) keepPayloads(ps []mask.Payload) (out []pagevm.Media) {
	for i := range ps {
		g.Out.Blobs = append(g.Out.Blobs, ps[i].Data)
		out = append(out, pagevm.Media{Type: ps[i].Type, Blob: ps[i].Hash, Bytes: int64(len(ps[i].Data))})
	}
	return out
}

// keepMedia files a medium as its decoded bytes, or unchanged if it can't be decoded. A medium
// that is text is masked like any other text.
func (g *Maker) keepMedia(md *memkernel.Media) pagevm.Media {
	if md.Data == "" {
		return pagevm.Media{Type: md.Type, URL: g.Mask.Text(md.URL)}
	}
	data := md.Data
	if raw, err := base64.StdEncoding.DecodeString(data); err == nil {
		data = string(raw)
	}
	if utf8.ValidString(data) {
		data, _ = g.Mask.Mask(data)
	}
	g.Out.Blobs = append(g.Out.Blobs, data)
	return pagevm.Media{Type: md.Type, Blob: Hash(data), Bytes: int64(len(data))}
}
