package plan

import (
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/choice"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/mask"
	"github.com/memkernel/memkernel/retrieval"
	"github.com/memkernel/memkernel/transcript"
)

// recallPool is the number of passages that a search for a prompt returns. The prompt shows some
// of them already, and some passages repeat others.
const recallPool = 48

// recallSpans is the number of spans of the session that a search returns in addition.
const recallSpans = 12

// recallShare is the part of the room for the conversation that recalled memory may take, as a
// divisor. It bounds the memory of small windows. Our choice.
const recallShare = 8

// recallFloor is the room below which nothing is recalled.
const recallFloor = 80

// turnRecalled is the reason for memories that arrive after memory was recalled for the user turn.
// The prompt keeps the recalled block unchanged, and nothing is added to it.
const turnRecalled = "turn_recalled"

// recollection is the memory recalled for a user turn. recall is the record of the recall, nil if
// there was none. left are the hits that were left out.
type recollection struct {
	recall *pagevm.Recall
	blocks []pagevm.Block
	left   []api.Excluded
}

// recalled searches memory for a user turn, once. The hits, together with the hits of the host's
// own memory, become one block after the newest message. Hits that the prompt already shows are
// left out. The block stays in later prompts.
func recalled(ctx context.Context, c *call, l *limits, d *decision, proj *pagevm.Projection) recollection {
	tokens := c.prior.Memory.RecallTokens
	if tokens < 0 {
		return recollection{left: unread(c, string(retrieval.Disabled))}
	}
	turn, text, _ := c.userTurn()
	if turn == "" || c.Prev.Proj.Recalled(c.Align).Turn == turn {
		return recollection{left: unread(c, turnRecalled)}
	}
	if c.workspace == nil && len(c.Request.Memories) == 0 {
		return recollection{}
	}
	if c.brought(turn) {
		return recollection{left: unread(c, turnRecalled),
			recall: &pagevm.Recall{Turn: turn, Reason: string(retrieval.NoMatch), Detail: "the host brought what memory holds with the message"}}
	}
	room := min(tokens, l.room(proj), (l.Hard-l.Fixed)/recallShare) - l.Scale(c.Maker.Count.PerMessage)
	if l.Ratio != 1 {
		room-- // the block's size is rounded up once, but the items' sizes one by one
	}
	if room < recallFloor {
		return recollection{left: unread(c, string(retrieval.OverBudget)),
			recall: &pagevm.Recall{Turn: turn, Reason: string(retrieval.NoMatch), Detail: "no room is left for it"}}
	}
	own := askMemory(ctx, c, d, proj, text)
	records, denied := memoryRecords(c, l)
	out := &pagevm.Recall{Turn: turn, Reason: string(own.Reason), Mode: string(own.Mode), Detail: own.Detail}
	var shown []string
	if len(records) > 0 {
		shown = promptTexts(c, proj, d.Chosen.Texts)
	}
	hits, repeated := mergeHits(c, l, shown, dailyLogs(c, l, room), own.Hits, records)
	items, over := pack(c, l, hits, room, showing(c, proj, d.Chosen.Texts, hits))
	left := slices.Concat(denied, repeated, over)
	if len(items) == 0 {
		if own.Reason == retrieval.OK {
			out.Reason, out.Detail = string(retrieval.NoMatch), "what was found stands in the prompt already"
		}
		return recollection{recall: out, left: left}
	}
	notes, also, same := sayLater(c, l, items)
	keepMemories(c, notes, records, turn)
	block := blockPage(c, pagevm.ItemRetrieval, ingest.PageID("rt", c.prior.Name, c.Request.Branch, turn), pagevm.Preference, retrieval.Render(notes), turn, append(refsOf(notes), also...))
	out.Page = block.Page
	return recollection{out, []pagevm.Block{block}, append(left, same...)}
}

// brought reports whether a hook has already put recalled memory into the host's messages of the
// turn.
func (c *call) brought(turn string) bool {
	for i := len(c.Msgs) - 1; i >= 0; i-- {
		m := &c.Msgs[i]
		for j := range m.Parts {
			if m.Role == memkernel.RoleUser && m.Parts[j].Kind == memkernel.PartText && retrieval.Rendered(m.Parts[j].Text) {
				return true
			}
		}
		if m.Key == turn {
			break
		}
	}
	return false
}

// askMemory searches for the user's text. Further words would distort the estimate of how likely a
// hit answers the text. Only a brief question is searched for together with the user's previous
// message.
func askMemory(ctx context.Context, c *call, d *decision, proj *pagevm.Projection, text string) retrieval.Result {
	if c.workspace == nil {
		return retrieval.Result{Reason: retrieval.Disabled, Mode: retrieval.NoSearch, Detail: memoryOff}
	}
	o := &c.prior.Memory
	if choice.Agrees(text) {
		return retrieval.Result{Reason: retrieval.NoMatch, Mode: retrieval.NoSearch, Detail: "the message asks nothing"}
	}
	if brief(text) && strings.ContainsAny(text, "?？؟") {
		text = strings.TrimSpace(c.asked() + "\n" + text)
	}
	q := retrieval.Query{Text: text, Limit: recallPool, MinBest: retrieval.DefaultMinBest, MinShare: retrieval.DefaultMinShare, Passages: true, Lines: true, Prompt: true, MostSpans: recallSpans, NoSnippets: true, Now: c.Request.Now}
	if !o.NoSpans {
		q.Spans, q.WantSpan = searchable(c, d.Chosen.Spans, proj)
	}
	return c.workspace.Recall(ctx, q)
}

// memoryOff is the reason for an empty result if no workspace is used.
const memoryOff = "memory is switched off"

// briefWords and briefBytes are the most words and bytes of a message that is brief.
const briefWords, briefBytes = 4, 24

// brief reports whether a message is a few words without a name, a figure, a path or code, so
// that a search for it alone finds nothing. Capital letters after the first are signs of names.
func brief(text string) bool {
	text = strings.Trim(text, " \n¿¡.,:;!?")
	_, first := utf8.DecodeRuneInString(text)
	return len(text) <= briefBytes && len(strings.Fields(text)) <= briefWords && !strings.ContainsAny(text, "`./_:#@0123456789") && !strings.ContainsFunc(text[first:], unicode.IsUpper)
}

// asked returns the user's last message that is not brief, "" if there is none.
func (c *call) asked() string {
	i := newest(c.Msgs, func(m *memkernel.Message) bool {
		return m.Origin == memkernel.OriginHost && transcript.PlainUser(*m) && !brief(transcript.Words(*m))
	})
	if i < 0 {
		return ""
	}
	return transcript.Words(c.Msgs[i])
}

// searchable returns the messages that left the prompts of this conversation, and a filter for the
// messages to search. The filter is needed because the session's other conversations share the set,
// and because a call without its result is of no use. Pages of messages that are still in the
// host's conversation are not read from disk.
func searchable(c *call, left []branch.Span, proj *pagevm.Projection) (*retrieval.Spans, func(*retrieval.Span) bool) {
	wanted := map[string]bool{}
	var pages []string
	for i := range left {
		for _, id := range left[i].Pages {
			wanted[id] = true
			pages = append(pages, id)
		}
	}
	for i := range proj.Items {
		delete(wanted, proj.Items[i].Page)
	}
	var at map[string]int
	spans, faults := c.session.Searchable(pages, func(id string) (*pagevm.Page, string, bool) {
		p := c.Page(id)
		if at == nil {
			at = placesOfPages(c.Hosts)
		}
		i, here := at[id]
		if p == nil || !here {
			return p, "", false
		}
		return p, shownText(c, i, p), true
	})
	for _, f := range faults {
		c.log.fault(f)
	}
	return spans, func(s *retrieval.Span) bool {
		page, _, _ := strings.Cut(s.ID, retrieval.LinesMark)
		return wanted[page] && !s.Call
	}
}

// placesOfPages returns the index of the message of each page.
func placesOfPages(hosts []pagevm.HostMessage) map[string]int {
	at := make(map[string]int, len(hosts))
	for i, s := range segmentsOf(hosts, 0) {
		at[s.Page] = i
	}
	return at
}

// shownText returns the text of a page of message i, without thinking and with secrets masked.
func shownText(c *call, i int, page *pagevm.Page) string {
	var b strings.Builder
	for _, s := range c.Hosts[i].Segments {
		if s.Page != page.ID {
			continue
		}
		if s.Kind == pagevm.ItemResult {
			return MaskedResult(c.Maker.Mask, page, ingest.ResultContent(&c.Msgs[i].Parts[s.Part]))
		}
		b.Grow(int(page.Bytes))
		for j := s.Part; j < s.Part+s.Parts; j++ {
			p := &c.Msgs[i].Parts[j]
			switch {
			case p.Kind == memkernel.PartText:
				b.WriteString(p.Text)
			case p.Call != nil:
				b.WriteString(p.Call.Name)
				b.WriteByte(' ')
				b.WriteString(p.Call.Input)
			case p.Result != nil:
				b.WriteString(ingest.ResultText(p.Result))
			}
			b.WriteByte('\n')
		}
	}
	return c.Maker.Mask.Text(b.String())
}

// MaskedResult returns a result's text without secrets. If the text's hash is the hash of a page
// without secrets, MaskedResult does not search the text again, which would take longer.
func MaskedResult(m *mask.Masker, p *pagevm.Page, text string) string {
	if p.Masked == 0 && ingest.Hash(text) == p.Hash {
		return strings.ToValidUTF8(text, "\uFFFD")
	}
	return m.Text(text)
}

// pack fits hits into the room. It leaves out the hits that the prompt already shows.
func pack(c *call, l *limits, hits []retrieval.Hit, room int, shown func(retrieval.Hit) bool) (items []retrieval.Item, left []api.Excluded) {
	size := func(s string) int { return l.Scale(c.Maker.Count.Text(s)) }
	packed := retrieval.Pack(hits, &retrieval.PackOptions{Tokens: room, Count: size, Shown: shown})
	byID := make(map[string]*retrieval.Hit, len(hits))
	for i := range hits {
		byID[hits[i].ID] = &hits[i]
	}
	for _, out := range packed.Left {
		text := ""
		if h := byID[out.ID]; h != nil {
			text = h.Text
		}
		left = append(left, leftOut(c, l, out.Citation, text, out.Reason))
	}
	return packed.Items, left
}

// leftOut returns a hit that is not shown, and why.
func leftOut(c *call, l *limits, citation, text string, why retrieval.LeftReason) api.Excluded {
	return api.Excluded{Kind: cachelayout.RegionRetrieval, ID: citation, Tokens: l.Scale(c.Maker.Count.Text(text)), Reason: string(why)}
}

// refsOf returns citations for the items of a block. A span of the session and a record of
// another system have no path. For a span the citation's path is the span's citation with its
// lines, and for a record it is the record's page. Get accepts both.
func refsOf(items []retrieval.Item) []memkernel.Ref {
	refs := make([]memkernel.Ref, len(items))
	for i, it := range items {
		refs[i] = memkernel.Ref{Path: it.Path, StartLine: it.StartLine, EndLine: it.EndLine, Hash: ingest.Hash(it.Text)}
		if it.Kind != retrieval.Memory {
			refs[i] = memkernel.Ref{Path: it.ID, Hash: refs[i].Hash}
		}
	}
	return refs
}

// dailyLogs returns the newest lines of today's and yesterday's log, with which a session begins.
// The lines count toward the room for recalled memory.
func dailyLogs(c *call, l *limits, room int) []retrieval.Hit {
	if c.workspace == nil || c.prior.Memory.NoDailyLogs || c.Request.Branch != "" || len(c.Prev.Proj.Seen) > 0 {
		return nil
	}
	today, yesterday := c.workspace.DailyLogs(c.Request.Now)
	var out []retrieval.Hit
	for _, f := range []struct {
		path, date string
	}{{today.Path, today.Date}, {yesterday.Path, yesterday.Date}} {
		src, ok, err := c.workspace.File(f.path)
		if err != nil {
			c.log.fault(fault.Fault{Code: fault.WorkspaceFile, Detail: err.Error()})
		}
		if err != nil || !ok {
			continue
		}
		from, text := tail(c, l, markdownstore.ProjectLog(src.Text, c.prior.Key), room*3/10)
		out = append(out, retrieval.Hit{Kind: retrieval.Memory, ID: f.path, Path: f.path, StartLine: from, EndLine: src.Lines, Date: f.date,
			Score: 1, Citation: f.path, Text: text})
	}
	return out
}

// tail returns the end of a text, of about the given number of tokens, and the line on which that
// end begins.
func tail(c *call, l *limits, text string, tokens int) (from int, end string) {
	lines := strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
	i, sum := len(lines), 0
	for i > 0 {
		if sum += l.Scale(c.Maker.Count.Text(lines[i-1])); sum > tokens && i < len(lines) {
			break
		}
		i--
	}
	return i + 1, strings.Join(lines[i:], "")
}
