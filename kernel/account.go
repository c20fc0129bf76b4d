package kernel

import (
	"cmp"
	"strconv"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/kernel/internal/plan"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/paging"
	"github.com/memkernel/memkernel/retrieval"
	"github.com/memkernel/memkernel/transcript"
)

// result turns finished work into the plan that the host gets.
func (pl *planned) result() *ContextPlan {
	messages := pl.compose()
	regions, total := pl.regions()
	span := pl.spanOf()
	out := &ContextPlan{
		ID: pl.Next.Plan, SessionKey: pl.s.Key, Branch: pl.req.Branch, Model: pl.req.Model,
		Tools: pl.req.Tools, System: pl.req.System, Messages: messages,
		Format:     pl.Format(),
		Markers:    pl.markers(),
		Params:     pl.params(),
		Retrieval:  pl.recallReport(),
		Layout:     pl.layoutReport(),
		Split:      pl.Split,
		Regions:    regions,
		Reduced:    pl.reduced(span),
		Debug:      pl.debug(span),
		Faults:     pl.faults,
		Alerts:     pl.alerts,
		Generation: pl.Proj.Generation,
		Stats:      pl.stats,
	}
	out.FlushDue = pl.Flush
	if pl.req.Deferred {
		out.Deferred = pl.deferred()
	}
	if pl.req.Table {
		out.Table = &paging.PageTable{Report: pl.Next.Paging.Report(), Pages: plan.Table(pl.Result)}
	}
	out.Budgets = Budgets{
		ContextWindow: pl.Window, ReserveTokens: pl.Reserve, PlannedInputTokens: total,
		PlannedCacheReadTokens:  pl.Bill.ReadTokens,
		PlannedCacheWriteTokens: pl.Bill.Write5mTokens + pl.Bill.Write1hTokens,
		PlannedUncachedTokens:   pl.Bill.UncachedTokens,
		PlannedCostUSD:          pl.Bill.CostUSD,
		TokensAre:               pl.Kind,
		MarginTokens:            pl.Window - pl.Reserve - pl.Hard,
		Utilization:             float64(pl.Before) / float64(pl.Window),
	}
	return out
}

// regions sums the blocks by region, in prompt order. They add up to the planned
// input.
func (pl *planned) regions() ([]Region, int) {
	out := []Region{{Name: RegionTools}, {Name: RegionSystem}, {Name: RegionCarry}, {Name: RegionWorkingSet}, {Name: RegionRetrieval}, {Name: RegionNewest}}
	total := 0
	for i := range pl.Blocks {
		for j := range out {
			if out[j].Name == pl.Blocks[i].Region {
				out[j].Tokens += pl.Blocks[i].Tokens
			}
		}
		total += pl.Blocks[i].Tokens
	}
	if shift := pl.AnchorShift(pl.Next.Anchor, pl.Proj); shift != 0 {
		// The measured prompt was larger or smaller than our count of it.
		out[3].Tokens += shift
		total += shift
	}
	return out, total
}

// markers turns breakpoints over blocks into positions in the request.
func (pl *planned) markers() []transcript.Marker {
	out := make([]transcript.Marker, 0, len(pl.Breakpoints))
	fixed := len(pl.Blocks) - len(pl.Proj.Carry) - len(pl.Proj.Items)
	for _, bp := range pl.Breakpoints {
		m := transcript.Marker{Message: transcript.MarkerSystem, Part: transcript.LastPart, TTL: ttlName(bp.TTL)}
		switch i := bp.Block - fixed; {
		case i >= 0:
			m.Message, m.Part = pl.Blocks[bp.Block].Message, pl.lastPart(i)
		case pl.Blocks[bp.Block].Message == cachelayout.MessageTools:
			m.Message = transcript.MarkerTools
		}
		out = append(out, m)
	}
	return out
}

// ttlName spells a lifetime as providers do.
func ttlName(d time.Duration) string {
	if d%time.Hour == 0 {
		return strconv.Itoa(int(d/time.Hour)) + "h"
	}
	return strconv.Itoa(int(d/time.Minute)) + "m"
}

// lastPart is where the last block of flat item i stands in its message.
func (pl *planned) lastPart(i int) int {
	it := pl.flat(i)
	if after := pl.flat(i + 1); after == nil || branch.MessageOf(after) != branch.MessageOf(it) {
		return transcript.LastPart
	}
	if i < len(pl.Proj.Carry) {
		return i
	}
	last := -1
	for ; ; i-- {
		last += pl.shownParts(pl.flat(i))
		if before := pl.flat(i - 1); i == len(pl.Proj.Carry) || branch.MessageOf(before) != branch.MessageOf(it) {
			return last
		}
	}
}

// shownParts counts the parts that an item of a host's message puts into it.
func (pl *planned) shownParts(it *pagevm.Item) int {
	if it.Kind != pagevm.ItemHost || it.Level == pagevm.Full && !it.Bare {
		return max(it.Parts, 1)
	}
	for i := range pl.Msgs {
		if pl.Msgs[i].Key == it.Key {
			return len(pl.shown(&pl.Msgs[i], []pagevm.Item{*it}).Parts)
		}
	}
	return it.Parts
}

// flat is the item at i, the carry block counted in; nil behind the last.
func (pl *planned) flat(i int) *pagevm.Item {
	carry, items := pl.Proj.Carry, pl.Proj.Items
	switch {
	case i < len(carry):
		return &carry[i]
	case i-len(carry) < len(items):
		return &items[i-len(carry)]
	}
	return nil
}

// bindingBeta is the beta header of Anthropic's drop option for thinking blocks
// bound to another prefix.
const bindingBeta = "thinking-binding-controls-2026-08-01"

func (pl *planned) params() Params {
	p := Params{Betas: []string{}}
	if pl.price.Cache == cachelayout.CacheOpenAIAuto || pl.price.Cache == cachelayout.CacheOpenAIExplicit {
		p.CacheKey = cachelayout.CacheKey(pl.s.Key, pl.Blocks)
	}
	if !pl.price.PreservedThinking || len(pl.Proj.Cuts) == 0 {
		return p
	}
	if pl.req.DropOption {
		p.DropOption, p.Betas = true, append(p.Betas, bindingBeta)
	}
	p.ThinkingOff = pl.bareLoop()
	return p
}

// bareLoop tells whether a message of the open tool loop stands without the
// thinking that it had.
func (pl *planned) bareLoop() bool {
	inLoop := map[string]bool{}
	for i := len(pl.Places) - 1; i >= 0 && pl.Places[i].InLoop; i-- {
		inLoop[pl.Hosts[i].Key] = true
	}
	for i := range pl.Proj.Items {
		if pl.Proj.Items[i].Bare && inLoop[pl.Proj.Items[i].Key] {
			return true
		}
	}
	return false
}

func (pl *planned) layoutReport() Layout {
	l := Layout{Breakpoints: pl.Breakpoints, Change: pl.Change, Bill: pl.Bill, Cold: pl.Cold, Clock: pl.Clock,
		Cut: pl.Cut, Refused: pl.Made.Refused, Notes: pl.Notes, Pace: pl.Next.Pace, Advice: pl.Advice,
		Lifetimes: Lifetimes{Fixed: pl.Lifetimes.Fixed, FixedWhy: pl.Lifetimes.FixedWhy,
			Messages: pl.Lifetimes.Messages, MessagesWhy: pl.Lifetimes.MessagesWhy}}
	for _, c := range pl.Proj.Cuts {
		l.Cuts = append(l.Cuts, pl.calibrated(c))
	}
	if pl.Held {
		l.Refused = append(l.Refused[:len(l.Refused):len(l.Refused)], pagevm.Refusal{Atom: -1, Rule: RuleNoProgress})
	}
	if pl.Made.Cut != nil {
		made := pl.calibrated(*pl.Made.Cut)
		l.Made = &made
	}
	return l
}

// calibrated gives a cut's sizes in calibrated tokens, like all else in a plan.
func (pl *planned) calibrated(c pagevm.CutPoint) pagevm.CutPoint {
	c.Before, c.After = pl.Scale(c.Before), pl.Scale(c.After)
	return c
}

// debug lists every page: where it stands, or why it does not.
func (pl *planned) debug(span map[string]string) Debug {
	d := Debug{Included: make([]Included, 0, len(pl.Blocks)), Excluded: []Excluded{}}
	if pl.ToolTokens > 0 {
		d.Included = append(d.Included, Included{Kind: RegionTools, ID: RegionTools, Tokens: pl.ToolTokens, FullTokens: pl.ToolTokens, Level: pagevm.Full})
	}
	if pl.SystemTokens > 0 {
		d.Included = append(d.Included, Included{Kind: RegionSystem, ID: RegionSystem, Tokens: pl.SystemTokens, FullTokens: pl.SystemTokens, Level: pagevm.Full})
	}
	fulls := pl.fullTokens()
	for i := range pl.Proj.Carry {
		d.Included = append(d.Included, pl.included(&pl.Proj.Carry[i], fulls))
	}
	for i := range pl.Proj.Items {
		row := pl.included(&pl.Proj.Items[i], fulls)
		d.Included = append(d.Included, row)
		if it := &pl.Proj.Items[i]; it.Bare {
			d.Excluded = append(d.Excluded, Excluded{Kind: string(memkernel.PartThinking), ID: pl.HostKey(it.Key),
				Tokens: row.FullTokens - row.Tokens, Reason: "a cut made it invalid"})
		}
	}
	if shift := pl.AnchorShift(pl.Next.Anchor, pl.Proj); shift != 0 {
		d.Included = append(d.Included, Included{Kind: "anchor", ID: pl.Next.Plan, Tokens: shift, FullTokens: shift, Level: pagevm.Full,
			Note: "difference between the provider's count of the prompt before and ours"})
	}
	d.Excluded = append(d.Excluded, pl.goneRows(span)...)
	for _, r := range pl.Removed {
		d.Excluded = append(d.Excluded, Excluded(r))
	}
	for _, l := range pl.Left {
		d.Excluded = append(d.Excluded, Excluded(l))
	}
	return d
}

// fullTokens is what each item would cost in full that is shown below it.
func (pl *planned) fullTokens() map[string]int {
	m := map[string]int{}
	at := 0
	for i := range pl.Proj.Items {
		it := &pl.Proj.Items[i]
		if !it.Bare && !plan.Shortened(it) {
			continue
		}
		for at < len(pl.Hosts)-1 && pl.Hosts[at].Key != it.Key { // both are in the host's order
			at++
		}
		for j := range pl.Hosts[at].Segments {
			if s := &pl.Hosts[at].Segments[j]; s.Page == it.Page {
				m[it.Page] = s.At[pagevm.Full].Tokens
			}
		}
	}
	return m
}

func (pl *planned) included(it *pagevm.Item, fulls map[string]int) Included {
	row := Included{Kind: plan.KindOf(it), ID: it.Page, Tokens: pl.Scale(it.Tokens), Level: it.Level}
	row.FullTokens = row.Tokens
	switch it.Kind {
	case pagevm.ItemCarry, pagevm.ItemNote:
		pl.fromWorkspace(&row, it)
	}
	if it.Bare {
		row.FullTokens, row.Note = pl.Scale(fulls[it.Page]), "without its thinking"
	}
	if plan.Shortened(it) {
		row.FullTokens = pl.Scale(fulls[it.Page])
		row.Note = it.Level.String() + ", " + strconv.Itoa(pl.Scale(fulls[it.Page])) + " tokens in full"
	}
	return row
}

// fromWorkspace gives the row of a block that shows a file of the workspace the
// type of its page and the file's name.
func (pl *planned) fromWorkspace(row *Included, it *pagevm.Item) {
	p := pl.Page(it.Page)
	if p == nil || len(p.Refs) == 0 {
		return
	}
	row.Kind, row.Note = string(p.Type), p.Refs[0].Path
	switch {
	case it.Kind == pagevm.ItemNote && p.Type != pagevm.Plan:
		row.Note += ", what changed in it"
	case it.Level != pagevm.Full:
		for i := range p.Reps {
			if p.Reps[i].Level == pagevm.Full {
				row.FullTokens = pl.Scale(pl.Count.Text(p.Reps[i].Text))
			}
		}
	}
}

// goneRows lists the pages that left, with the cut that let them go.
func (pl *planned) goneRows(span map[string]string) []Excluded {
	out := make([]Excluded, 0, pl.goneSegments())
	reason, before := "", "?"
	for i := range pl.Hosts {
		if !pl.Proj.Seen[i].Gone {
			continue
		}
		switch id := span[pl.Hosts[i].Key]; {
		case id == before: // neighbours left together: one string does
		case id == "":
			reason, before = "changed by the host under a cut", id
		default:
			reason, before = "left at a cut, kept in span "+id, id
		}
		for j := range pl.Hosts[i].Segments {
			s := &pl.Hosts[i].Segments[j]
			out = append(out, Excluded{Kind: plan.KindOf(&pagevm.Item{Kind: s.Kind}), ID: s.Page, Tokens: pl.Scale(s.At[pagevm.Full].Tokens), Reason: reason})
		}
	}
	return out
}

// goneSegments counts the segments of the messages that left.
func (pl *planned) goneSegments() int {
	n := 0
	for i := range pl.Hosts {
		if pl.Proj.Seen[i].Gone {
			n += len(pl.Hosts[i].Segments)
		}
	}
	return n
}

// spanOf finds the span that a message left with, by its key.
func (pl *planned) spanOf() map[string]string {
	n := 0
	for i := range pl.Spans {
		n += len(pl.Spans[i].Keys)
	}
	spans := make(map[string]string, n)
	for i := range pl.Spans {
		for _, k := range pl.Spans[i].Keys {
			spans[k] = pl.Spans[i].ID
		}
	}
	return spans
}

// reduced lists what the prompt does not show in full.
func (pl *planned) reduced(span map[string]string) []Reduced {
	out := make([]Reduced, 0, pl.goneSegments()+len(pl.Proj.Items)/4)
	for i := range pl.Hosts {
		if pl.Proj.Seen[i].Gone {
			for j := range pl.Hosts[i].Segments {
				s := &pl.Hosts[i].Segments[j]
				out = append(out, Reduced{Page: s.Page, Key: pl.HostKey(pl.Hosts[i].Key), CallID: pl.callID(i, s), Level: pagevm.Gone, Handle: cmp.Or(span[pl.Hosts[i].Key], s.Page)})
			}
		}
	}
	for i := range pl.Proj.Items {
		switch it := &pl.Proj.Items[i]; {
		case branch.Blank(it):
			out = append(out, Reduced{Page: it.Page, Key: pl.HostKey(it.Key), Level: pagevm.Gone, Handle: it.Page})
		case plan.Shortened(it):
			out = append(out, Reduced{Page: it.Page, Key: pl.HostKey(it.Key), CallID: pl.pageCall(it.Page), Level: it.Level, Handle: it.Page})
		}
	}
	return out
}

func (pl *planned) callID(i int, s *pagevm.Segment) string {
	if s.Kind != pagevm.ItemResult {
		return ""
	}
	return pl.Msgs[i].Parts[s.Part].Result.CallID
}

func (pl *planned) pageCall(id string) string {
	if p := pl.Page(id); p != nil {
		return p.CallID
	}
	return ""
}

// recallReport is what the plan says of retrieval.
func (pl *planned) recallReport() Retrieval {
	r := pl.Proj.Recall
	out := Retrieval{Reason: r.Reason, Mode: r.Mode, Detail: r.Detail, Citations: []string{}}
	if pl.k.memory == nil || r.Turn == "" {
		out.Reason, out.Mode = string(retrieval.Disabled), string(retrieval.NoSearch)
		if pl.k.memory == nil {
			out.Detail = plan.MemoryOff
		}
	}
	if r.Turn == "" {
		return out
	}
	for i := range pl.Proj.Items {
		if it := &pl.Proj.Items[i]; it.Page == r.Page && r.Page != "" {
			out.Page, out.Tokens = it.Page, pl.Scale(it.Tokens)
			for _, ref := range pl.Page(it.Page).Refs {
				out.Citations = append(out.Citations, plan.Citation(ref))
			}
		}
	}
	out.Items, out.Origins = len(out.Citations), pl.origins(out.Citations)
	return out
}

// origins say where the cited pages of other systems come from, one for each
// citation, "" for what is our own; nil if all is.
func (pl *planned) origins(citations []string) []string {
	var out []string
	for i, c := range citations {
		if p := pl.Page(c); p != nil && p.Type == pagevm.Preference && len(p.Refs) > 0 {
			if out == nil {
				out = make([]string, len(citations))
			}
			out[i] = plan.Citation(p.Refs[0])
		}
	}
	return out
}

// compose turns a projection into the messages to send. A message whose every
// item stands in full is the host's own value, untouched.
func (pl *planned) compose() []memkernel.Message {
	out := make([]memkernel.Message, 0, len(pl.Msgs)+1)
	if len(pl.Proj.Carry) > 0 {
		m := memkernel.Message{Key: branch.CarryKey, Role: memkernel.RoleUser}
		for i := range pl.Proj.Carry {
			m.Parts = append(m.Parts, ingest.TextPart(pl.Text(pl.Proj.Carry[i].Hash)))
		}
		out = append(out, m)
	}
	next := 0
	for i := 0; i < len(pl.Proj.Items); {
		it := &pl.Proj.Items[i]
		if it.Kind == pagevm.ItemNote || it.Kind == pagevm.ItemRetrieval {
			out = append(out, memkernel.Message{Key: branch.MessageOf(it), Role: memkernel.RoleUser, Parts: []memkernel.Part{ingest.TextPart(pl.Text(it.Hash))}})
			i++
			continue
		}
		for pl.Msgs[next].Key != it.Key {
			next++
		}
		end := i
		for end < len(pl.Proj.Items) && pl.Proj.Items[end].Key == it.Key && branch.MessageOf(&pl.Proj.Items[end]) == it.Key {
			end++
		}
		if m := pl.shown(&pl.Msgs[next], pl.Proj.Items[i:end]); len(m.Parts) > 0 {
			m.Key = pl.HostKey(m.Key)
			out = append(out, m)
		}
		i = end
	}
	if pl.Format() == transcript.FormatAnthropic {
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
func (pl *planned) shown(m *memkernel.Message, items []pagevm.Item) memkernel.Message {
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
			c.Parts = append(c.Parts, ingest.Lowered(m.Parts[it.Part:it.Part+it.Parts], pl.Text(it.Hash))...)
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
