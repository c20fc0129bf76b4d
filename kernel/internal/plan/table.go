package plan

import (
	"cmp"
	"slices"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/paging"
	"github.com/memkernel/memkernel/pagevm/toolcall"
	"github.com/memkernel/memkernel/transcript"
)

// Table lists the pages of a plan. It begins with the pages in the prompt, in the prompt's order.
// Then come the pins without room in the prompt, the pages that left the prompt, and the spans
// that hold these pages. A recalled block has one row, and the pages that the block shows have no
// rows. A plan that was not recorded has made nothing durable.
func (r *Result) Table() []paging.PageRow {
	x := index{used: accesses(r), pins: map[string]paging.Pin{}, spans: r.spanOf(), recorded: r.Next.Plan != ""}
	for _, p := range r.pins {
		x.pins[p.ref.Path] = pinClass(*p.StoredPage)
	}
	out := make([]paging.PageRow, 0, len(r.Proj.Carry)+len(r.Proj.Items)+len(r.Chosen.Spans))
	for i := range r.Proj.Carry {
		out = append(out, blockRow(r, &x, &r.Proj.Carry[i], paging.InCarry))
	}
	return slices.Concat(out, shownRows(r, &x), untoldRows(r, &x), goneRows(r, &x), spanRows(r, &x))
}

// spanOf returns the span that each message left with, by the message's key.
func (r *Result) spanOf() map[string]string {
	n := 0
	for i := range r.Chosen.Spans {
		n += len(r.Chosen.Spans[i].Keys)
	}
	spans := make(map[string]string, n)
	for i := range r.Chosen.Spans {
		for _, key := range r.Chosen.Spans[i].Keys {
			spans[key] = r.Chosen.Spans[i].ID
		}
	}
	return spans
}

// index has the facts about a plan that rows need.
type index struct {
	used     map[string]paging.Access
	pins     map[string]paging.Pin // by the place that a page cites
	spans    map[string]string     // by the messages' keys
	recorded bool
}

// shownRows returns the rows of the messages and of the blocks after them.
func shownRows(r *Result, x *index) (out []paging.PageRow) {
	for it, s := range r.Proj.Spots(r.Hosts) {
		switch {
		case it.Kind == pagevm.ItemNote:
			out = append(out, blockRow(r, x, it, paging.InNote))
		case it.Kind == pagevm.ItemRetrieval:
			out = append(out, blockRow(r, x, it, paging.InRetrieval))
		case s.Segment != nil:
			row := segmentRow(r, x, s.Message, s.Segment)
			row.Place, row.Level, row.ShownTokens, row.Bare = paging.InConversation, it.Level, r.Scale(it.Tokens), it.Bare
			if it.Blank() {
				row.Place, row.Level = paging.Nowhere, pagevm.Gone
			}
			out = append(out, row)
		}
	}
	return out
}

// segmentRow returns the row of a run of a host's message, without its place.
func segmentRow(r *Result, x *index, i int, s *pagevm.Segment) paging.PageRow {
	row := paging.PageRow{ID: s.Page, Type: s.Type, Scope: memkernel.ScopeSession, Floor: s.Lowest(r.Request.Resolver != ""), Pin: paging.PinNone,
		Dirty: !s.Committed || unwritten(r, x, s.Page), Last: x.used[s.Page],
		Tokens: paging.Tokens{Full: r.Scale(s.At[pagevm.Full].Tokens), Compressed: r.Scale(s.At[pagevm.Compressed].Tokens),
			Structured: r.Scale(s.At[pagevm.Structured].Tokens), Pointer: r.Scale(s.At[pagevm.Pointer].Tokens)}}
	row = ofPage(r, x, row, r.Page(s.Page))
	row.Key = r.HostKey(r.Hosts[i].Key)
	if s.Kind == pagevm.ItemResult {
		row.CallID = r.Msgs[i].Parts[s.Part].Result.CallID
		if call := r.Maker.Calls[row.CallID]; call != nil && (call.Look == toolcall.LookContent || call.Look == toolcall.LookState) {
			row.RecomputeCost = new(1.0)
		}
	}
	return row
}

// unwritten reports whether a page is new with a plan that was not recorded.
func unwritten(r *Result, x *index, id string) bool { return !x.recorded && r.Maker.Known[id] == nil }

// ofPage returns a row with the columns that a page itself holds.
func ofPage(r *Result, x *index, row paging.PageRow, p *pagevm.Page) paging.PageRow {
	if p == nil {
		return row
	}
	row.Type, row.Scope = p.Type, p.Scope
	row.Tool, row.Path, row.CallID, row.Refs = p.Tool, p.Path, p.CallID, p.Refs
	if p.MessageKey != "" {
		row.Key = r.HostKey(p.MessageKey)
	}
	row.Pin = cmp.Or(x.pins[p.Source()], row.Pin)
	return row
}

// blockRow returns the row of a block of the kernel.
func blockRow(r *Result, x *index, it *pagevm.Item, place paging.Place) paging.PageRow {
	row := paging.PageRow{ID: it.Page, Type: pagevm.Conversation, Scope: memkernel.ScopeSession, Pin: paging.PinNone, Place: place, Level: it.Level,
		ShownTokens: r.Scale(it.Tokens), Last: x.used[it.Page], RecomputeCost: new(0.0)}
	p := r.Page(it.Page)
	if p == nil { // such as the list of spans or the restore text, which are made with the block
		*row.Tokens.Of(it.Level) = row.ShownTokens
		if it.Page == ingest.PageID("rs", r.prior.Name) {
			row.Type = pagevm.Plan
		}
		row.Floor, row.Dirty = it.Level, !x.recorded && r.prior.Texts[it.Hash] == ""
		return row
	}
	row = ofPage(r, x, row, p)
	floor := pagevm.Floor(p.Type, r.Request.Resolver != "")
	row.Floor = pagevm.Full
	for i := range p.Reps {
		if rep := &p.Reps[i]; rep.Text != "" {
			*row.Tokens.Of(rep.Level) = r.Scale(r.Maker.Count.Text(rep.Text))
			if rep.Level >= floor {
				row.Floor = min(row.Floor, rep.Level)
			}
		}
	}
	*row.Tokens.Of(it.Level) = row.ShownTokens
	row.Dirty = unwritten(r, x, it.Page)
	return row
}

// untoldRows returns the rows of the pins that the prompt does not show at all.
func untoldRows(r *Result, x *index) (out []paging.PageRow) {
	for _, p := range r.pins {
		if r.told(r.Proj, p.ref.Path) != nil {
			continue
		}
		row := paging.PageRow{ID: p.id, Type: p.Type, Scope: p.Scope, Pin: x.pins[p.ref.Path], Place: paging.Nowhere, Refs: []memkernel.Ref{p.ref},
			Floor: pagevm.Full, Tokens: paging.Tokens{Full: r.Scale(r.Maker.Count.Text(p.full))}, RecomputeCost: new(0.0), Last: x.used[p.id]}
		if p.short != "" {
			row.Floor, row.Tokens.Structured = pagevm.Structured, r.Scale(r.Maker.Count.Text(p.short))
		}
		out = append(out, row)
	}
	return out
}

// goneRows returns the rows of the messages that left.
func goneRows(r *Result, x *index) (out []paging.PageRow) {
	for i, s := range r.gone() {
		row := segmentRow(r, x, i, s)
		row.Place, row.Span = paging.Nowhere, x.spans[r.Hosts[i].Key]
		if row.Span != "" {
			row.Place = paging.InSpan
		}
		out = append(out, row)
	}
	return out
}

// spanRows returns the rows of the spans. The carry block names the newest spans, each by a line
// of its list.
func spanRows(r *Result, x *index) (out []paging.PageRow) {
	spans := r.Chosen.Spans
	for i := range spans {
		s := &spans[i]
		row := paging.PageRow{ID: s.ID, Type: pagevm.Conversation, Scope: memkernel.ScopeSession, Pin: paging.PinNone, Place: paging.Nowhere,
			Floor: s.Level, Tokens: paging.Tokens{Full: r.Scale(s.Tokens)}, Last: x.used[s.ID], Dirty: !x.recorded && i >= len(r.Prev.Spans)}
		if len(s.Keys) > 0 {
			row.Key = r.HostKey(s.Keys[0])
		}
		*row.Tokens.Of(s.Level) = r.Scale(r.Maker.Count.Text(s.Text))
		if i >= len(spans)-maxSpanLines && len(r.Proj.Carry) > 0 {
			row.Place, row.Level, row.ShownTokens = paging.InCarry, s.Level, row.Tokens.At(s.Level)
		}
		out = append(out, row)
	}
	return out
}

// accesses returns the newest uses of pages, as the conversation shows them. A page that is made
// again, such as a carry block at a cut, counts as new.
func accesses(r *Result) map[string]paging.Access {
	last := map[string]paging.Access{}
	now := paging.Access{Call: 1}
	use := func(page string, how paging.Use) {
		if page != "" {
			now.How = how
			last[page] = now
		}
	}
	blocks := map[string][]string{} // the kernel's blocks after each message
	for i := range r.Proj.Items {
		if it := &r.Proj.Items[i]; !it.Hosted() {
			blocks[it.Key] = append(blocks[it.Key], it.Page)
		}
	}
	carried := func() { // the carry block was made
		for i := range r.Proj.Carry {
			use(r.Proj.Carry[i].Page, paging.UseShown)
		}
		for i := range r.Chosen.Spans {
			use(r.Chosen.Spans[i].ID, paging.UseShown)
		}
	}
	covers := 0 // by the newest cut
	if n := len(r.Proj.Cuts); n > 0 {
		covers = min(r.Proj.Cuts[n-1].Covers, len(r.Msgs))
	}
	calls := map[string]*toolcall.Call{} // by id
	// ran is the newest result of each call that only looks, by the call's canonical form. about
	// is the newest result about each path.
	ran, about := map[string]string{}, map[string]string{}
	for i := range r.Msgs {
		if i == covers {
			carried()
		}
		m := &r.Msgs[i]
		if transcript.PlainUser(*m) {
			now.Turn++
		}
		for k := range m.Parts {
			p := &m.Parts[k]
			if m.Role != memkernel.RoleAssistant || p.Kind != memkernel.PartText && p.Call == nil {
				continue
			}
			text, how := p.Text, paging.UseNamed
			var call *toolcall.Call
			if p.Call != nil {
				call = r.shown(p.Call)
				text, calls[p.Call.ID] = call.Input, call
				if r.Request.Resolver != "" && p.Call.Name == r.Request.Resolver {
					how = paging.UseFetched
				}
			}
			for _, id := range pagevm.Handles(text) {
				use(id, how)
			}
			if call == nil || how == paging.UseFetched {
				continue
			}
			if path := call.Path(); path != "" {
				use(about[path], paging.UseNamed)
			}
			if call.Look != toolcall.LookAct {
				use(ran[call.Canonical()], paging.UseRepeated)
			}
		}
		if m.Role == memkernel.RoleAssistant && m.Origin == memkernel.OriginHost {
			now.Call++
		}
		for j := range r.Hosts[i].Segments {
			s := &r.Hosts[i].Segments[j]
			use(s.Page, paging.UseShown)
			if s.Kind != pagevm.ItemResult {
				continue
			}
			call := calls[m.Parts[s.Part].Result.CallID]
			if call == nil || call.Look == toolcall.LookAct {
				continue
			}
			ran[call.Canonical()] = s.Page
			if p := r.Page(s.Page); p != nil && p.Path != "" {
				about[p.Path] = s.Page
			}
		}
		for _, page := range blocks[r.Hosts[i].Key] {
			use(page, paging.UseShown)
		}
	}
	if covers == len(r.Msgs) {
		carried()
	}
	return last
}
