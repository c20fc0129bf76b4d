package kernel

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel/internal/ids"
	"github.com/memkernel/memkernel/kernel/internal/tokencount"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/mask"
	"github.com/memkernel/memkernel/pagevm/represent"
	"github.com/memkernel/memkernel/pagevm/toolcall"
	"github.com/memkernel/memkernel/transcript"
)

// inlineBytes is the largest page content that the journal carries itself;
// anything larger is a blob, and so is what JSON can't hold: bytes that are not
// UTF-8.
const inlineBytes = 4 << 10

// ingester turns host messages into pages. It writes nothing.
type ingester struct {
	known    map[string]*pagevm.Page // pages that are committed already
	calls    map[string]*memkernel.ToolCall
	count    tokencount.Counter
	branch   string
	resolver string
	large    int  // tokens above which a result is not shown in full
	durable  bool // what is kept now will be on disk before it is used
	out      *capture
	kept     int // messages that absorb took over
	ctx      context.Context
	until    context.Context // ends the work early; nil if it is always done
	short    *shortener
	mask     *mask.Masker
	graves   *erasures // what was forgotten, and is not kept again
	lifted   map[string][]mask.Payload
}

// shortener asks the host's compressor. All that it makes for one plan or
// observation has one stretch of time, so that a first plan over a long session
// does not take a call's time for each of its results.
type shortener struct {
	opt   *represent.Options
	begin sync.Once
	until time.Time
}

func (s *shortener) recompress(ctx context.Context, in represent.EvidenceInput, reps []pagevm.Rep) []pagevm.Rep {
	if s.opt == nil || s.opt.Compressor == nil {
		return reps
	}
	s.begin.Do(func() { s.until = time.Now().Add(s.opt.Time()) })
	ctx, cancel := context.WithDeadline(ctx, s.until)
	defer cancel()
	return represent.Recompress(ctx, in, reps, s.opt)
}

// message makes the pages of m and the view that the projection has of it.
func (g *ingester) message(m *memkernel.Message) pagevm.HostMessage {
	h := pagevm.HostMessage{Key: m.Key, Hash: hashMessage(m), Role: m.Role}
	overhead := g.count.Overheads.PerMessage
	firstResult := true
	for i := 0; i < len(m.Parts) && !g.stopped(); {
		if m.Parts[i].Kind == memkernel.PartToolResult {
			h.Segments = append(h.Segments, g.result(m, i, overhead, firstResult))
			firstResult = false
			i++
		} else {
			end := runEnd(m.Parts, i)
			h.Segments = append(h.Segments, g.run(m, i, end, overhead, h.Hash))
			i = end
		}
		overhead = 0
	}
	return h
}

// stopped tells that what is made will not be used.
func (g *ingester) stopped() bool { return g.until != nil && g.until.Err() != nil }

// runEnd is the end of the run of parts from i on that are no tool results.
func runEnd(parts []memkernel.Part, i int) int {
	for i < len(parts) && parts[i].Kind != memkernel.PartToolResult {
		i++
	}
	return i
}

// run makes the page of a run of text, thinking, calls and media.
func (g *ingester) run(m *memkernel.Message, from, to, overhead int, hash string) pagevm.Segment {
	page := g.keepRun(m, from, to, ids.Conversation(g.branch, m.Key, from))
	hash += "/" + strconv.Itoa(from)
	s := pagevm.Segment{Kind: pagevm.ItemHost, Part: from, Parts: to - from, Page: page.ID, Type: pagevm.Conversation,
		Committed: g.committed(page.ID), First: pagevm.Full}
	s.At[pagevm.Full] = g.shown(m.Parts[from:to], overhead, hash, false)
	g.levels(&s, page, m.Parts[from:to], overhead)
	if slices.ContainsFunc(m.Parts[from:to], func(p memkernel.Part) bool { return isThinking(&p) }) {
		s.Bare = g.shown(m.Parts[from:to], overhead, hash+"/bare", true)
	}
	return s
}

// shown sums what a run of parts costs, with or without its thinking.
func (g *ingester) shown(parts []memkernel.Part, overhead int, hash string, bare bool) pagevm.Shown {
	sh := pagevm.Shown{Hash: hash, Tokens: overhead}
	calls := false
	for i := range parts {
		p := &parts[i]
		if bare && isThinking(p) {
			continue
		}
		sh.Tokens += g.count.Part(p)
		sh.Image = sh.Image || p.Kind == memkernel.PartImage
		if p.Call == nil || !calls {
			sh.Positions++
		}
		calls = p.Call != nil
		sh.Markable = markable(p)
	}
	return sh
}

func isThinking(p *memkernel.Part) bool {
	return p.Kind == memkernel.PartThinking || p.Kind == memkernel.PartRedactedThinking
}

// committed tells whether a page is on disk, or will be.
func (g *ingester) committed(id string) bool { return g.durable || g.known[id] != nil }

// markable: a cache marker may not stand on thinking or on empty text.
func markable(p *memkernel.Part) bool {
	return !isThinking(p) && (p.Kind != memkernel.PartText || p.Text != "")
}

// runContent is what is kept of a run of parts, secrets masked, and the media in it.
func (g *ingester) runContent(m *memkernel.Message, from, to int) runContent {
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
			text.WriteString(p.Raw)
		} else {
			text.Write(transcript.AppendPart(nil, transcript.FormatAnthropic, m.Role, p))
		}
		text.WriteByte('\n')
	}
	lean, lifted := g.mask.LiftBase64(text.String())
	masked, found := g.mask.Find(lean)
	return runContent{masked, found, media, lifted}
}

type runContent struct {
	text   string // secrets masked, base64 taken out
	masked mask.Secrets
	media  []*memkernel.Media
	lifted []mask.Payload
}

// keepRun captures the content of a run of parts.
func (g *ingester) keepRun(m *memkernel.Message, from, to int, id string) *pagevm.Page {
	c := g.runContent(m, from, to)
	media := g.keepPayloads(c.lifted)
	for _, md := range c.media {
		media = append(media, g.keepMedia(md))
	}
	page := &pagevm.Page{ID: id, Type: pagevm.Conversation, Scope: memkernel.ScopeSession, MessageKey: m.Key,
		Role: string(m.Role), Created: m.Time, Masked: c.masked.Total(), MaskedBy: c.masked, Media: media}
	return g.keep(page, c.text, func(p *pagevm.Page) (reps []pagevm.Rep) {
		if strings.HasPrefix(m.Key, promptPrefix) && c.masked == nil && c.lifted == nil {
			reps = promptRep(m.Parts[from].Text)
		}
		if old := g.known[p.ID]; old != nil && degraded(old) {
			reps = append(reps, g.representMessage(m.Parts[from:to], p)...)
		}
		return reps
	})
}

// degraded tells whether a page has representations that show less than all.
func degraded(p *pagevm.Page) bool {
	return slices.ContainsFunc(p.Reps, func(r pagevm.Rep) bool { return r.Level < pagevm.Full })
}

// representMessage makes the representations of a long message. They are made when it
// doesn't fit for the first time: all others always stand in full.
func (g *ingester) representMessage(parts []memkernel.Part, p *pagevm.Page) []pagevm.Rep {
	return represent.Message(g.messageInput(parts, p), g.short.opt)
}

// promptRep keeps the text of a planned prompt as it was sent, so that it is known
// again when the host writes it into its conversation, also by another process. A
// prompt in which something had to be masked is not kept.
func promptRep(text string) []pagevm.Rep {
	return []pagevm.Rep{{Level: pagevm.Full, Hash: ids.Hash(text), Text: text}}
}

// result makes the page of one tool result and its representations.
func (g *ingester) result(m *memkernel.Message, i, overhead int, first bool) pagevm.Segment {
	r := m.Parts[i].Result
	call := g.calls[r.CallID]
	if call == nil {
		call = &memkernel.ToolCall{ID: r.CallID, Name: r.Name}
	}
	full := pagevm.Shown{Hash: hashResult(&m.Parts[i]), Tokens: overhead + g.count.Part(&m.Parts[i]), Markable: true}
	if first {
		full.Positions = 1
	}
	s := pagevm.Segment{Kind: pagevm.ItemResult, Part: i, Parts: 1, Page: ids.Evidence(g.branch, r.CallID), Type: pagevm.Evidence, First: pagevm.Full}
	for j := range r.Content {
		full.Image = full.Image || r.Content[j].Kind == memkernel.PartImage
	}
	s.At[pagevm.Full] = full
	if r.Synthetic {
		s.Committed = g.committed(s.Page)
		return s
	}
	page := g.keepResult(m, &m.Parts[i], call, s.Page)
	s.Page, s.Committed = page.ID, g.committed(page.ID)
	if !r.Opaque {
		g.levels(&s, page, m.Parts[i:i+1], overhead)
	}
	return s
}

// levels fills in what the degraded representations of a page would cost. One that
// saves less than a quarter of what the level above says is not worth what it hides.
func (g *ingester) levels(s *pagevm.Segment, page *pagevm.Page, parts []memkernel.Part, overhead int) {
	if !degraded(page) {
		return
	}
	full := s.At[pagevm.Full]
	media := g.mediaTokens(parts)
	above := full.Tokens - media
	for _, rep := range page.Reps {
		if rep.Level == pagevm.Full {
			continue
		}
		sh := g.lowered(s, parts, rep.Text, rep.Hash, overhead)
		if text := sh.Tokens - media; 4*text <= 3*above {
			above = text
			s.At[rep.Level] = sh
		}
	}
	if s.Kind == pagevm.ItemResult && full.Tokens-media > g.large && s.Committed && g.resolver != "" && s.At[pagevm.Pointer].Hash != "" {
		s.First = pagevm.Pointer
	}
}

// lowered is what a segment costs that shows text in the place of its own.
func (g *ingester) lowered(s *pagevm.Segment, parts []memkernel.Part, text, hash string, overhead int) pagevm.Shown {
	sh := g.shown(lowered(parts, text), overhead, hash, false)
	sh.Image = s.At[pagevm.Full].Image
	if s.Kind == pagevm.ItemResult {
		sh.Positions = s.At[pagevm.Full].Positions
	}
	return sh
}

// mediaTokens is what of some parts costs the same at every level.
func (g *ingester) mediaTokens(parts []memkernel.Part) (n int) {
	if len(parts) == 1 && parts[0].Result != nil {
		parts = parts[0].Result.Content
	}
	for i := range parts {
		if parts[i].Kind != memkernel.PartText {
			n += g.count.Part(&parts[i])
		}
	}
	return n
}

// keepResult captures a tool result and makes its representations.
func (g *ingester) keepResult(m *memkernel.Message, part *memkernel.Part, call *memkernel.ToolCall, id string) *pagevm.Page {
	r := part.Result
	input, _ := g.mask.Mask(call.Input)
	page := &pagevm.Page{ID: id, Type: pagevm.Evidence, Scope: memkernel.ScopeSession, MessageKey: m.Key, CallID: r.CallID,
		Tool: call.Name, Path: toolcall.Path(call.Name, input), Role: string(m.Role), Created: m.Time}
	page.Media = g.keepPayloads(g.lifted[id])
	for i := range r.Content {
		if md := r.Content[i].Media; md != nil {
			page.Media = append(page.Media, g.keepMedia(md))
		}
	}
	lean, lifted := g.mask.LiftBase64(resultContent(part))
	page.Media = append(page.Media, g.keepPayloads(lifted)...)
	text, found := g.mask.Find(lean)
	page.Masked, page.MaskedBy = found.Total(), found
	return g.keep(page, text, func(p *pagevm.Page) []pagevm.Rep {
		in := g.evidence(r, call.Name, input, p)
		if in.Text = text; !textOnly(r.Content) {
			in.Text, in.Breaks, _ = g.joined(r.Content)
		}
		return g.represent(in)
	})
}

// evidence is a result as representations are made of it, but for what it says.
func (g *ingester) evidence(r *memkernel.ToolResult, tool, input string, p *pagevm.Page) represent.EvidenceInput {
	return represent.EvidenceInput{Tool: tool, Input: input, IsError: r.IsError,
		Bytes: p.Bytes, PageID: p.ID, Blob: p.Hash, Masked: p.Masked, Resolver: g.resolver}
}

// ownWords is how much of either end of a typed text is taken for the person's own
// words round what was pasted, in bytes.
const ownWords = 2 << 10

// messageInput is a message as representations are made of it.
func (g *ingester) messageInput(parts []memkernel.Part, p *pagevm.Page) represent.EvidenceInput {
	in := represent.EvidenceInput{PageID: p.ID, Blob: p.Hash, Masked: p.Masked, Resolver: g.resolver, Message: true}
	in.Text, in.Breaks, in.Own = g.joined(parts)
	for _, run := range textRuns(parts) {
		for i := range run {
			in.Bytes += int64(len(run[i].Text))
		}
	}
	return in
}

// joined is what the texts among parts say, secrets masked, and whether there are
// breaks in it, where a part of another kind stands between two; and the beginnings and
// ends of those that a person typed, or of all if none is marked so.
func (g *ingester) joined(parts []memkernel.Part) (joined string, breaks bool, own []represent.Range) {
	var b strings.Builder
	typed := slices.ContainsFunc(parts, func(p memkernel.Part) bool { return p.Typed })
	runs := textRuns(parts)
	for i, run := range runs {
		if i > 0 {
			b.WriteString("\n" + represent.PartBreak + "\n")
		}
		for j := range run {
			if j > 0 {
				b.WriteByte('\n')
			}
			lean, _ := g.mask.LiftBase64(strings.ToValidUTF8(run[j].Text, "\uFFFD"))
			text, _ := g.mask.Mask(lean)
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

// keepTaken files what healing took out of the conversation. None of it is shown.
func (g *ingester) keepTaken(parts []taken) {
	for _, t := range parts {
		if t.part.Result != nil {
			m := memkernel.Message{Key: t.key, Role: memkernel.RoleUser}
			g.keepResult(&m, t.part, &memkernel.ToolCall{ID: t.part.Result.CallID, Name: t.part.Result.Name}, t.page)
			continue
		}
		m := memkernel.Message{Key: t.key, Role: memkernel.RoleUser, Parts: []memkernel.Part{*t.part}}
		g.keepRun(&m, 0, 1, t.page)
	}
}

// previewBytes is the size from which a pointer carries a preview: it may then be
// all that the model ever sees of the result.
const previewBytes = 16 << 10

// previewed tells whether a pointer to a result of n bytes carries a preview. In a small
// window that is so for all results that could count as large in it, of which a token has
// two bytes at least.
func (g *ingester) previewed(n int) bool { return n >= min(previewBytes, 2*g.large) }

// represent makes the representations of a result. What is not going to be stored
// is not worth a compressor's work.
func (g *ingester) represent(in represent.EvidenceInput) []pagevm.Rep {
	reps := represent.Evidence(in, g.short.opt)
	if g.durable {
		reps = g.short.recompress(g.ctx, in, reps)
	}
	n := len(reps) - 1
	if n >= 0 && reps[n].Level == pagevm.Pointer && g.previewed(len(in.Text)) && in.Resolver != "" {
		text := represent.Preview(in)
		reps[n] = pagevm.Rep{Level: pagevm.Pointer, Hash: ids.Hash(text), Text: text}
	}
	return reps
}

// keep files a page's content, unless the same page is committed already. Content
// that the host changed gets a page of its own: what a pointer or a span names must
// stay what it was.
func (g *ingester) keep(p *pagevm.Page, content string, represent func(*pagevm.Page) []pagevm.Rep) *pagevm.Page {
	p.Hash, p.Bytes = ids.Hash(content), int64(len(content))
	old := g.known[p.ID]
	if other := g.graves.forgotten[p.ID]; old != nil && old.Hash != p.Hash || other.ID != "" && other.Hash != p.Hash {
		p.ID = ids.Page(p.ID[:2], p.ID, p.Hash)
		old = g.known[p.ID]
	}
	if _, retired := g.graves.retired[p.ID]; old != nil && !retired && (g.resolver == "" || old.Resolver == g.resolver) {
		return old
	}
	p.Resolver = g.resolver
	if represent != nil {
		p.Reps = represent(p)
	}
	g.out.add(p, content)
	return p
}

// keepPayloads files what was taken out of a text as base64.
func (g *ingester) keepPayloads(ps []mask.Payload) (out []pagevm.Media) {
	for i := range ps {
		g.out.blobs = append(g.out.blobs, ps[i].Data)
		out = append(out, pagevm.Media{Type: ps[i].Type, Blob: ps[i].Hash, Bytes: int64(len(ps[i].Data))})
	}
	return out
}

// keepMedia files a medium as the bytes it decodes to, or as it stands if it
// does not decode. A medium that is text is masked like any other.
func (g *ingester) keepMedia(md *memkernel.Media) pagevm.Media {
	if md.Data == "" {
		return pagevm.Media{Type: md.Type, URL: g.mask.Text(md.URL)}
	}
	data := decodeBase64(md.Data)
	if utf8.ValidString(data) {
		data, _ = g.mask.Mask(data)
	}
	g.out.blobs = append(g.out.blobs, data)
	return pagevm.Media{Type: md.Type, Blob: ids.Hash(data), Bytes: int64(len(data))}
}
