package plan

import (
	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/kernel/internal/ids"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/paging"
	"github.com/memkernel/memkernel/pagevm/toolcall"
	"github.com/memkernel/memkernel/transcript"
)

// Table lists the pages of a plan. It begins with the pages in the prompt, in the prompt's order.
// Then come the pins without room in the prompt, the pages that left the prompt, and the spans
// that hold these pages. A recalled block has one row, and the pages that the block shows have no
// rows. A plan that was not recorded has made nothing durable.
func Table(r *Result) []paging.PageRow {
	t := tabling{Result: r, used: accesses(r), pins: map[string]paging.Pin{}, spans: map[string]string{}, recorded: r.Next.Plan != ""}
	for i := range r.prior.Pinned {
		t.pins[pinRef(&r.prior.Pinned[i])] = pinClass(r.prior.Pinned[i])
	}
	for i := range r.Chosen.Spans {
		for _, key := range r.Chosen.Spans[i].Keys {
			t.spans[key] = r.Chosen.Spans[i].ID
		}
	}
	out := make([]paging.PageRow, 0, len(r.Proj.Carry)+len(r.Proj.Items)+len(r.Chosen.Spans))
	for i := range r.Proj.Carry {
		out = append(out, t.block(&r.Proj.Carry[i], paging.InCarry))
	}
	out = append(append(out, t.standing()...), t.untoldPins()...)
	out = append(out, t.gone()...)
	return append(out, t.spanRows()...)
}

// tabling is a table in the making.
type tabling struct {
	*Result
	used     map[string]paging.Access
	pins     map[string]paging.Pin // by the place that a page cites
	spans    map[string]string     // by the messages' keys
	recorded bool
}

// standing returns the rows of the messages and of the blocks after them.
func (t *tabling) standing() []paging.PageRow {
	var out []paging.PageRow
	at := 0
	for i := range t.Proj.Items {
		it := &t.Proj.Items[i]
		switch it.Kind {
		case pagevm.ItemNote:
			out = append(out, t.block(it, paging.InNote))
			continue
		case pagevm.ItemRetrieval:
			out = append(out, t.block(it, paging.InRetrieval))
			continue
		}
		for at < len(t.Hosts)-1 && t.Hosts[at].Key != it.Key { // both are in the host's order
			at++
		}
		for j := range t.Hosts[at].Segments {
			if s := &t.Hosts[at].Segments[j]; s.Page == it.Page {
				row := t.segment(at, s)
				row.Place, row.Level, row.ShownTokens, row.Bare = paging.InConversation, it.Level, t.Scale(it.Tokens), it.Bare
				if branch.Blank(it) {
					row.Place, row.Level = paging.Nowhere, pagevm.Gone
				}
				out = append(out, row)
			}
		}
	}
	return out
}

// segment returns the row of a run of a host's message, without its place.
func (t *tabling) segment(i int, s *pagevm.Segment) paging.PageRow {
	row := paging.PageRow{ID: s.Page, Type: s.Type, Scope: memkernel.ScopeSession, Floor: s.Lowest(t.Request.Resolver != ""), Pin: paging.PinNone,
		Dirty: !s.Committed || t.unwritten(s.Page), Last: t.used[s.Page],
		Tokens: paging.Tokens{Full: t.Scale(s.At[pagevm.Full].Tokens), Compressed: t.Scale(s.At[pagevm.Compressed].Tokens),
			Structured: t.Scale(s.At[pagevm.Structured].Tokens), Pointer: t.Scale(s.At[pagevm.Pointer].Tokens)}}
	t.origin(&row)
	row.Key = t.HostKey(t.Hosts[i].Key)
	if s.Kind == pagevm.ItemResult {
		row.CallID = t.Msgs[i].Parts[s.Part].Result.CallID
		if call := t.Maker.Calls[row.CallID]; call != nil {
			if look, _ := toolcall.Looks(call.Name, call.Input); look == toolcall.LookContent || look == toolcall.LookState {
				row.RecomputeCost = cost(1)
			}
		}
	}
	return row
}

func acts(call *memkernel.ToolCall) bool {
	look, _ := toolcall.Looks(call.Name, call.Input)
	return look == toolcall.LookAct
}

func cost(calls float64) *float64 { return &calls }

// unwritten reports whether a page is new with a plan that was not recorded.
func (t *tabling) unwritten(id string) bool { return !t.recorded && t.Maker.Known[id] == nil }

// origin fills in the columns that a page itself holds.
func (t *tabling) origin(row *paging.PageRow) *pagevm.Page {
	p := t.Page(row.ID)
	if p == nil {
		return nil
	}
	row.Type, row.Scope = p.Type, p.Scope
	row.Origin = paging.Origin{Tool: p.Tool, Path: p.Path, CallID: p.CallID, Refs: p.Refs}
	if p.MessageKey != "" {
		row.Key = t.HostKey(p.MessageKey)
	}
	if len(p.Refs) > 0 && t.pins[p.Refs[0].Path] != "" {
		row.Pin = t.pins[p.Refs[0].Path]
	}
	return p
}

// block returns the row of a block of the kernel.
func (t *tabling) block(it *pagevm.Item, place paging.Place) paging.PageRow {
	row := paging.PageRow{ID: it.Page, Type: pagevm.Conversation, Scope: memkernel.ScopeSession, Pin: paging.PinNone, Place: place, Level: it.Level,
		ShownTokens: t.Scale(it.Tokens), Last: t.used[it.Page], RecomputeCost: cost(0)}
	p := t.origin(&row)
	if p == nil { // the list of spans, the summary, the text to go on from: made with the block
		setTokens(&row, it.Level, row.ShownTokens)
		if it.Page == ids.Page("rs", t.prior.Name) {
			row.Type = pagevm.Plan
		}
		row.Floor, row.Dirty = it.Level, !t.recorded && t.prior.Texts[it.Hash] == ""
		return row
	}
	t.levels(&row, p)
	setTokens(&row, it.Level, row.ShownTokens)
	row.Dirty = t.unwritten(it.Page)
	return row
}

// levels fills in the size of each level of a kernel block's page, and its floor.
func (t *tabling) levels(row *paging.PageRow, p *pagevm.Page) {
	floor := pagevm.Floor(p.Type, t.Request.Resolver != "")
	row.Floor = pagevm.Full
	for i := range p.Reps {
		r := &p.Reps[i]
		if r.Text != "" {
			setTokens(row, r.Level, t.Scale(t.Maker.Count.Text(r.Text)))
			if r.Level >= floor {
				row.Floor = min(row.Floor, r.Level)
			}
		}
	}
}

func setTokens(row *paging.PageRow, l pagevm.Level, n int) {
	switch l {
	case pagevm.Full:
		row.Tokens.Full = n
	case pagevm.Compressed:
		row.Tokens.Compressed = n
	case pagevm.Structured:
		row.Tokens.Structured = n
	case pagevm.Pointer:
		row.Tokens.Pointer = n
	}
}

// untoldPins returns the pins that the prompt does not show at all.
func (t *tabling) untoldPins() []paging.PageRow {
	var out []paging.PageRow
	for i := range t.prior.Pinned {
		p := &t.prior.Pinned[i]
		if t.told(t.Proj, pinRef(p)) != nil {
			continue
		}
		full, short := pinText(p, false), pinText(p, true)
		row := paging.PageRow{ID: ids.Page("pn", p.String(), string(p.Type)), Type: p.Type, Scope: p.Scope, Pin: pinClass(*p), Place: paging.Nowhere,
			Floor: pagevm.Full, Tokens: paging.Tokens{Full: t.Scale(t.Maker.Count.Text(full))}, RecomputeCost: cost(0)}
		if len(short) < len(full) {
			row.Floor, row.Tokens.Structured = pagevm.Structured, t.Scale(t.Maker.Count.Text(short))
		}
		row.Refs = []memkernel.Ref{{Path: pinRef(p), Hash: ids.Hash(full)}}
		row.Last = t.used[row.ID]
		out = append(out, row)
	}
	return out
}

// gone returns the rows of the messages that left.
func (t *tabling) gone() []paging.PageRow {
	var out []paging.PageRow
	for i := range t.Hosts {
		if !t.Proj.Seen[i].Gone {
			continue
		}
		for j := range t.Hosts[i].Segments {
			row := t.segment(i, &t.Hosts[i].Segments[j])
			row.Place, row.Span = paging.Nowhere, t.spans[t.Hosts[i].Key]
			if row.Span != "" {
				row.Place = paging.InSpan
			}
			out = append(out, row)
		}
	}
	return out
}

// spanRows returns the rows of the spans. The carry block names the newest spans, each by a line
// of its list.
func (t *tabling) spanRows() []paging.PageRow {
	var out []paging.PageRow
	for i := range t.Chosen.Spans {
		s := &t.Chosen.Spans[i]
		row := paging.PageRow{ID: s.ID, Type: pagevm.Conversation, Scope: memkernel.ScopeSession, Pin: paging.PinNone, Place: paging.Nowhere,
			Floor: s.Level, Tokens: paging.Tokens{Full: t.Scale(s.Tokens)}, Last: t.used[s.ID], Dirty: !t.recorded && i >= len(t.Prev.Spans)}
		if len(s.Keys) > 0 {
			row.Key = t.HostKey(s.Keys[0])
		}
		setTokens(&row, s.Level, t.Scale(t.Maker.Count.Text(s.Text)))
		if i >= len(t.Chosen.Spans)-maxSpanLines && len(t.Proj.Carry) > 0 {
			row.Place, row.Level, row.ShownTokens = paging.InCarry, s.Level, row.Tokens.At(s.Level)
		}
		out = append(out, row)
	}
	return out
}

// accesses returns the newest uses of pages, as the conversation shows them. A page that is made
// again, such as a carry block at a cut, counts as new.
func accesses(r *Result) map[string]paging.Access {
	u := usage{Result: r, last: map[string]paging.Access{}, ran: map[string]string{}, about: map[string]string{}, blocks: map[string][]string{},
		calls: map[string]*memkernel.ToolCall{}}
	for i := range r.Proj.Items {
		if it := &r.Proj.Items[i]; it.Kind == pagevm.ItemNote || it.Kind == pagevm.ItemRetrieval {
			u.blocks[it.Key] = append(u.blocks[it.Key], it.Page)
		}
	}
	covers := 0 // the carry block's, which the newest cut made
	if n := len(r.Proj.Cuts); n > 0 {
		covers = min(r.Proj.Cuts[n-1].Covers, len(r.Msgs))
	}
	now := paging.Access{Call: 1, How: paging.UseShown}
	for i := 0; i <= len(r.Msgs); i++ {
		if i == covers {
			u.carried(now)
		}
		if i == len(r.Msgs) {
			break
		}
		m := &r.Msgs[i]
		if transcript.PlainUser(*m) {
			now.Turn++
		}
		if m.Role == memkernel.RoleAssistant {
			u.says(m, now)
			if m.Origin == memkernel.OriginHost {
				now.Call++
			}
		}
		u.shows(i, now)
	}
	return u.last
}

// usage walks a conversation.
type usage struct {
	*Result
	last map[string]paging.Access
	// ran is the newest result of each call that only looks, by the call's canonical form. about
	// is the newest result about each path.
	ran, about map[string]string
	// blocks are the kernel's blocks after each message.
	blocks map[string][]string
	// calls are the calls by id.
	calls map[string]*memkernel.ToolCall
}

// carried records the time at which the carry block was made.
func (u *usage) carried(now paging.Access) {
	for i := range u.Proj.Carry {
		u.last[u.Proj.Carry[i].Page] = now
	}
	for i := range u.Chosen.Spans {
		u.last[u.Chosen.Spans[i].ID] = now
	}
}

// says records the pages that an answer of the model uses.
func (u *usage) says(m *memkernel.Message, now paging.Access) {
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.Kind == memkernel.PartText {
			u.names(p.Text, now, paging.UseNamed)
		}
		if p.Call == nil {
			continue
		}
		u.calls[p.Call.ID] = p.Call
		if u.Request.Resolver != "" && p.Call.Name == u.Request.Resolver {
			u.names(p.Call.Input, now, paging.UseFetched)
			continue
		}
		u.names(p.Call.Input, now, paging.UseNamed)
		if path := toolcall.Path(p.Call.Name, p.Call.Input); path != "" {
			u.use(u.about[path], now, paging.UseNamed)
		}
		if !acts(p.Call) {
			u.use(u.ran[toolcall.Canonical(p.Call.Name, p.Call.Input)], now, paging.UseRepeated)
		}
	}
}

func (u *usage) names(text string, now paging.Access, how paging.Use) {
	for _, id := range pagevm.Handles(text) {
		u.use(id, now, how)
	}
}

func (u *usage) use(page string, now paging.Access, how paging.Use) {
	if page != "" {
		now.How = how
		u.last[page] = now
	}
}

// shows records the pages that a message is the first to show, and the paths that the message's
// results are about.
func (u *usage) shows(i int, now paging.Access) {
	for j := range u.Hosts[i].Segments {
		s := &u.Hosts[i].Segments[j]
		u.use(s.Page, now, paging.UseShown)
		if s.Kind != pagevm.ItemResult {
			continue
		}
		call := u.calls[u.Msgs[i].Parts[s.Part].Result.CallID]
		if call == nil || acts(call) {
			continue
		}
		u.ran[toolcall.Canonical(call.Name, call.Input)] = s.Page
		if p := u.Page(s.Page); p != nil && p.Path != "" {
			u.about[p.Path] = s.Page
		}
	}
	for _, page := range u.blocks[u.Hosts[i].Key] {
		u.use(page, now, paging.UseShown)
	}
}
