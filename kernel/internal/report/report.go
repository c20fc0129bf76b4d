// Package report describes a plan for its host: the messages to send, the tokens of each region
// and the outcome of every page. Of the prompt it decides nothing. [ParamsOf] lists the request's
// parameters that follow from the plan, such as thinking that must be off.
package report

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/billing"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/kernel/internal/plan"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/represent"
	"github.com/memkernel/memkernel/retrieval"
	"github.com/memkernel/memkernel/transcript"
)

// Regions sums the blocks by region, in prompt order. They add up to the planned
// input.
func Regions(pl *plan.Result) ([]api.Region, int) {
	out := []api.Region{{Name: cachelayout.RegionTools}, {Name: cachelayout.RegionSystem}, {Name: cachelayout.RegionCarry}, {Name: cachelayout.RegionWorkingSet}, {Name: cachelayout.RegionRetrieval}, {Name: cachelayout.RegionNewest}}
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
		// The measured prompt was larger or smaller than the kernel's count of the same prompt.
		out[3].Tokens += shift
		total += shift
	}
	return out, total
}

// LayoutOf returns the cache side of a plan. The markers belong to the plan's breakpoints.
func LayoutOf(pl *plan.Result, markers []transcript.Marker) api.Layout {
	cuts, made, refused := cutsOf(pl)
	l := api.Layout{Breakpoints: make([]api.Breakpoint, 0, len(pl.Breakpoints)), Change: pl.Change, Bill: pl.Bill, Cold: pl.Cold, Clock: pl.Clock,
		Cut: pl.Cut, Made: made, Refused: list(refused), Cuts: list(cuts), Notes: list(pl.Notes), Reasoning: reasoningOf(pl), Reported: pl.Prev.Reported,
		Lifetimes: api.Lifetimes{FixedSeconds: seconds(pl.Lifetimes.Fixed), FixedWhy: pl.Lifetimes.FixedWhy,
			MessagesSeconds: seconds(pl.Lifetimes.Messages), MessagesWhy: pl.Lifetimes.MessagesWhy},
		Pace: api.Pace{Calls: pl.Next.Pace.Calls, IdleSeconds: make([]int, 0, len(pl.Next.Pace.Idle))}}
	for _, gap := range pl.Next.Pace.Idle {
		l.Pace.IdleSeconds = append(l.Pace.IdleSeconds, seconds(gap))
	}
	l.Bill.Notes = list(l.Bill.Notes)
	for i, b := range pl.Breakpoints {
		l.Breakpoints = append(l.Breakpoints, api.Breakpoint{Block: b.Block, Message: markers[i].Message, Region: b.Region, Why: b.Why,
			TTLSeconds: seconds(b.TTL), CumulativeTokens: b.CumulativeTokens})
	}
	return l
}

func seconds(d time.Duration) int { return int(d / time.Second) }

// list returns s, or an empty list for nil, so that no answer has null in place of a list.
func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// Markers turns breakpoints over blocks into positions in the request.
func Markers(pl *plan.Result) []transcript.Marker {
	out := make([]transcript.Marker, 0, len(pl.Breakpoints))
	fixed := len(pl.Blocks) - len(pl.Proj.Carry) - len(pl.Proj.Items)
	for _, bp := range pl.Breakpoints {
		m := transcript.Marker{Message: transcript.MarkerSystem, Part: transcript.LastPart, TTL: ttlName(bp.TTL)}
		switch i := bp.Block - fixed; {
		case i >= 0:
			m.Message, m.Part = pl.Blocks[bp.Block].Message, lastPart(pl, i)
		case pl.Blocks[bp.Block].Message == cachelayout.MessageTools:
			m.Message = transcript.MarkerTools
		}
		out = append(out, m)
	}
	return out
}

// ttlName returns the providers' name of a lifetime.
func ttlName(d time.Duration) string {
	if d%time.Hour == 0 {
		return strconv.Itoa(int(d/time.Hour)) + "h"
	}
	return strconv.Itoa(int(d/time.Minute)) + "m"
}

// lastPart returns the index of the last block of flat item i in its message.
func lastPart(pl *plan.Result, i int) int {
	it := pl.Proj.At(i)
	if after := pl.Proj.At(i + 1); after == nil || branch.MessageOf(after) != branch.MessageOf(it) {
		return transcript.LastPart
	}
	last := -1
	for ; i >= 0 && branch.MessageOf(pl.Proj.At(i)) == branch.MessageOf(it); i-- {
		last += shownParts(pl, pl.Proj.At(i))
	}
	return last
}

// shownParts counts the parts that an item puts into its host's message.
func shownParts(pl *plan.Result, it *pagevm.Item) int {
	if it.Kind != pagevm.ItemHost || it.Level == pagevm.Full && !it.Bare {
		return max(it.Parts, 1)
	}
	i := slices.IndexFunc(pl.Msgs, func(m memkernel.Message) bool { return m.Key == it.Key })
	return len(shown(pl, &pl.Msgs[i], []pagevm.Item{*it}).Parts)
}

// bindingBeta is the beta header of Anthropic's drop option for thinking blocks
// bound to another prefix.
const bindingBeta = "thinking-binding-controls-2026-08-01"

// ParamsOf returns the request settings that a plan requires.
func ParamsOf(pl *plan.Result) api.Params {
	p := api.Params{Betas: []string{}}
	if pl.Request.Price.Cache == cachelayout.CacheOpenAIAuto || pl.Request.Price.Cache == cachelayout.CacheOpenAIExplicit {
		p.CacheKey = cachelayout.CacheKey(pl.Session(), pl.Blocks)
	}
	p.ThinkingOff = bareLoop(pl) && strings.Contains(pl.Request.Thinking, `"enabled"`)
	if !pl.Request.Price.PreservedThinking {
		return p
	}
	if pl.Request.DropOption && len(pl.Proj.Cuts) > 0 {
		p.DropOption, p.Betas = true, append(p.Betas, bindingBeta)
	}
	return p
}

// bareLoop reports whether a message of the open tool loop is shown without its thinking.
func bareLoop(pl *plan.Result) bool {
	for it, s := range pl.Proj.Spots(pl.Hosts) {
		if (it.Bare || it.Role == memkernel.RoleAssistant && it.Level < pagevm.Full) && pl.Places[s.Message].InLoop {
			return true
		}
	}
	return false
}

// cutsOf returns all cuts of the projection, the cut that the plan made, and the refused cuts.
// made is nil if the plan made no cut. All sizes are in calibrated tokens.
func cutsOf(pl *plan.Result) (all []pagevm.CutPoint, made *pagevm.CutPoint, refused []pagevm.Refusal) {
	refused = pl.Made.Refused
	for _, c := range pl.Proj.Cuts {
		all = append(all, calibrated(pl, c))
	}
	if pl.Held {
		refused = append(refused[:len(refused):len(refused)], pagevm.Refusal{Atom: -1, Rule: "no_progress"})
	}
	if pl.Made.Cut != nil {
		c := calibrated(pl, *pl.Made.Cut)
		made = &c
	}
	return all, made, refused
}

func calibrated(pl *plan.Result, c pagevm.CutPoint) pagevm.CutPoint {
	c.Before, c.After = pl.Scale(c.Before), pl.Scale(c.After)
	return c
}

// Pages returns the outcome of each page: the pages that are shown, those that are not shown and
// why, and those that are not shown in full.
func Pages(pl *plan.Result) (in []api.Included, out []api.Excluded, reduced []api.Reduced) {
	gone := 0
	for i := range pl.Hosts {
		if pl.Proj.Seen[i].Gone {
			gone += len(pl.Hosts[i].Segments)
		}
	}
	in = make([]api.Included, 0, len(pl.Blocks)+1)
	left := make([]api.Excluded, 0, gone)
	reduced = make([]api.Reduced, 0, gone+len(pl.Proj.Items)/4)
	for _, b := range pl.Blocks[:len(pl.Blocks)-len(pl.Proj.Carry)-len(pl.Proj.Items)] { // tools and system
		in = append(in, api.Included{Kind: b.Region, ID: b.ID, Tokens: b.Tokens, FullTokens: b.Tokens, Level: pagevm.Full})
	}
	states := pl.States()
	for i := range pl.Proj.Carry {
		in = append(in, included(pl, &pl.Proj.Carry[i], 0))
	}
	span := pl.SpanOf()
	reason, before := "", "?"
	bareReason := "its step had ended at a cut"
	if pl.Request.Price.PreservedThinking {
		bareReason = "a cut made it invalid"
	}
	for i := range pl.Hosts {
		if !pl.Proj.Seen[i].Gone {
			continue
		}
		id := span[pl.Hosts[i].Key]
		if id != before { // neighbours that left together share one string
			reason, before = cmp.Or(id, "changed by the host under a cut"), id
			if id != "" {
				reason = "left at a cut, kept in span " + id
			}
		}
		for j := range pl.Hosts[i].Segments {
			s := &pl.Hosts[i].Segments[j]
			left = append(left, api.Excluded{Kind: s.Kind.Word(), ID: s.Page, Tokens: pl.Scale(s.At[pagevm.Full].Tokens), Reason: joined(reason, states[s.Page])})
			reduced = append(reduced, api.Reduced{Page: s.Page, Key: pl.HostKey(pl.Hosts[i].Key), CallID: callID(pl, i, s), Level: pagevm.Gone, Handle: cmp.Or(id, s.Page)})
		}
	}
	for it, s := range pl.Proj.Spots(pl.Hosts) {
		row := included(pl, it, s.Full())
		row.Note = joined(row.Note, states[it.Page])
		in = append(in, row)
		if it.Bare {
			out = append(out, api.Excluded{Kind: string(memkernel.PartThinking), ID: pl.HostKey(it.Key), Tokens: row.FullTokens - row.Tokens, Reason: bareReason})
		}
		switch {
		case it.Blank():
			reduced = append(reduced, api.Reduced{Page: it.Page, Key: pl.HostKey(it.Key), Level: pagevm.Gone, Handle: it.Page})
		case it.Shortened():
			r := api.Reduced{Page: it.Page, Key: pl.HostKey(it.Key), Level: it.Level, Handle: it.Page}
			if p := pl.Page(it.Page); p != nil {
				r.CallID = p.CallID
			}
			reduced = append(reduced, r)
		}
	}
	if shift := pl.AnchorShift(pl.Next.Anchor, pl.Proj); shift != 0 {
		in = append(in, api.Included{Kind: "anchor", ID: pl.Next.Plan, Tokens: shift, FullTokens: shift, Level: pagevm.Full,
			Note: "difference between the provider's count of the prompt before and ours"})
	}
	return in, list(slices.Concat(out, left, pl.Removed, pl.Left)), reduced
}

// joined joins the parts of a note that there are.
func joined(note, more string) string {
	if note == "" || more == "" {
		return note + more
	}
	return note + ", " + more
}

// included returns the row of an item. The size of its host's content is full.
func included(pl *plan.Result, it *pagevm.Item, full int) api.Included {
	row := api.Included{Kind: it.Kind.Word(), ID: it.Page, Tokens: pl.Scale(it.Tokens), Level: it.Level}
	row.FullTokens = row.Tokens
	switch it.Kind {
	case pagevm.ItemCarry, pagevm.ItemNote:
		fromWorkspace(pl, &row, it)
	}
	if it.Bare {
		row.FullTokens, row.Note = pl.Scale(full), "without its thinking"
	}
	if it.Shortened() {
		row.FullTokens = pl.Scale(full)
		row.Note = it.Level.String() + ", " + strconv.Itoa(row.FullTokens) + " tokens in full"
		if p := pl.Page(it.Page); p != nil && p.Door() != "" && p.Reps[0].Hash == it.Hash {
			row.Note += ", at first sight: " + p.Door()
		}
	}
	return row
}

// fromWorkspace sets the type and the file's name in the row of a block that shows a file of the
// workspace.
func fromWorkspace(pl *plan.Result, row *api.Included, it *pagevm.Item) {
	p := pl.Page(it.Page)
	if p.Source() == "" {
		return
	}
	row.Kind, row.Note = string(p.Type), p.Source()
	switch {
	case it.Kind == pagevm.ItemNote && p.Type != pagevm.Plan:
		row.Note += ", what changed in it"
	case it.Level != pagevm.Full:
		for i := range p.Reps {
			if p.Reps[i].Level == pagevm.Full {
				row.FullTokens = pl.Scale(pl.Maker.Count.Text(p.Reps[i].Text))
			}
		}
	}
}

func callID(pl *plan.Result, i int, s *pagevm.Segment) string {
	if s.Kind != pagevm.ItemResult {
		return ""
	}
	return pl.Msgs[i].Parts[s.Part].Result.CallID
}

// RetrievalOf returns a plan's report on retrieval.
func RetrievalOf(pl *plan.Result, withheld []retrieval.Withheld) api.Retrieval {
	r := pl.Proj.Recall
	out := api.Retrieval{Reason: r.Reason, Mode: r.Mode, Detail: r.Detail, Citations: []string{}}
	if pl.LeftAlone() || r.Turn == "" {
		out.Reason, out.Mode = string(retrieval.Disabled), string(retrieval.NoSearch)
		if pl.LeftAlone() {
			out.Detail = plan.MemoryOff
		}
	}
	if r.Turn == "" {
		return out
	}
	if r.Reason != string(retrieval.Disabled) {
		out.Withheld = withheld
	}
	for i := range pl.Proj.Items {
		if it := &pl.Proj.Items[i]; it.Page == r.Page && r.Page != "" {
			out.Page, out.Tokens = it.Page, pl.Scale(it.Tokens)
			if p := pl.Page(it.Page); p != nil { // if there is no such page, check reports it
				for _, ref := range p.Refs {
					out.Citations = append(out.Citations, plan.Citation(ref))
				}
			}
		}
	}
	out.Items, out.Origins = len(out.Citations), origins(pl, out.Citations)
	return out
}

// origins returns the system of each citation's page, "" for the kernel's own memory. It returns
// nil if all citations come from the kernel's own memory.
func origins(pl *plan.Result, citations []string) []string {
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

// Messages returns the messages to send. A message whose every item is shown in full is the
// host's own value, untouched.
func Messages(pl *plan.Result) []memkernel.Message {
	out := make([]memkernel.Message, 0, len(pl.Msgs)+1)
	next, hosts := 0, pl.Proj.Items // the host's messages that were not yet shown
	for i := 0; i < pl.Proj.Len(); {
		it, end := pl.Proj.At(i), i+1
		for end < pl.Proj.Len() && branch.MessageOf(pl.Proj.At(end)) == branch.MessageOf(it) {
			end++
		}
		if it.Kind == pagevm.ItemHost || it.Kind == pagevm.ItemResult {
			for pl.Msgs[next].Key != it.Key {
				next++
			}
			if m := shown(pl, &pl.Msgs[next], hosts[:end-i]); len(m.Parts) > 0 {
				m.Key = pl.HostKey(m.Key)
				out = append(out, m)
			}
		} else {
			out = append(out, added(pl, i, end))
		}
		if it.Kind != pagevm.ItemCarry && it.Kind != pagevm.ItemCompaction {
			hosts = hosts[end-i:]
		}
		i = end
	}
	if pl.Format() == transcript.FormatAnthropic {
		placeSystem(out)
	}
	return out
}

// added returns the kernel's message that consists of the items i to end of the prompt.
func added(pl *plan.Result, i, end int) memkernel.Message {
	m := memkernel.Message{Key: branch.MessageOf(pl.Proj.At(i)), Role: pl.Proj.At(i).Role}
	for ; i < end; i++ {
		if it := pl.Proj.At(i); it.Kind == pagevm.ItemCompaction {
			m.Parts = append(m.Parts, memkernel.Part{Kind: memkernel.PartOther, Raw: pl.Text(it.Hash)})
		} else {
			m.Parts = append(m.Parts, memkernel.Part{Kind: memkernel.PartText, Text: pl.Text(it.Hash)})
		}
	}
	return m
}

// placeSystem turns a system message whose neighbours left at a cut into a user message. The
// Messages API accepts a system message only between a user's turn and the assistant's turn, or
// at the end.
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

// shown returns message m as items show it. Results and long messages have their levels, and runs
// lack the thinking that a cut made invalid.
func shown(pl *plan.Result, m *memkernel.Message, items []pagevm.Item) memkernel.Message {
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

// Expected returns a plan's estimate of its call's bill.
func Expected(pl *plan.Result) *billing.Expected {
	lost := reasoningOf(pl)
	if lost.Binding == cachelayout.BindingNone {
		lost = cachelayout.Reasoning{}
	}
	return &billing.Expected{
		Reasoning:      lost,
		Broke:          pl.Change.Host,
		FirstSight:     firstSight(pl),
		UncachedTokens: pl.Bill.UncachedTokens, CacheReadTokens: pl.Bill.ReadTokens,
		CacheWrite5mTokens: pl.Bill.Write5mTokens, CacheWrite1hTokens: pl.Bill.Write1hTokens,
		CostUSD: pl.Bill.CostUSD, Cold: pl.Cold, Cut: pl.Made.Cut != nil, SavedTokens: savedTokens(pl), BeforeTokens: pl.Prev.Ledger.Tokens(), At: pl.Request.Now, Alone: pl.Alone(),
	}
}

// firstSight returns the results that the plan is the first to show shortened, and those of such
// results that the model fetched since the last plan.
func firstSight(pl *plan.Result) (out []billing.FirstSight) {
	for i := pl.Align.At; i < len(pl.Hosts); i++ {
		for j := range pl.Hosts[i].Segments {
			s := &pl.Hosts[i].Segments[j]
			page := pl.Page(s.Page)
			if page == nil || s.Kind != pagevm.ItemResult {
				continue
			}
			if kind := page.Door(); kind != "" && s.First == pagevm.Compressed {
				out = billing.AddFirstSight(out, billing.FirstSight{Kind: kind, Results: 1, Tokens: pl.Scale(s.At[pagevm.Full].Tokens - s.At[s.First].Tokens)})
			}
			call := pl.Maker.Calls[page.CallID]
			if call == nil || !represent.Resolves(pl.Request.Resolver, call.Name, call.Input) {
				continue
			}
			for _, id := range pagevm.Handles(call.Input) {
				if of := pl.Page(id); of != nil && of.Door() != "" {
					out = billing.AddFirstSight(out, billing.FirstSight{Kind: of.Door(), FetchedTokens: pl.Scale(s.At[s.First].Tokens)})
				}
			}
		}
	}
	return out
}

// savedTokens returns the full size of the messages that left, and of the results that are not
// shown in full.
func savedTokens(pl *plan.Result) int {
	n := 0
	for i := range pl.Hosts {
		if !pl.Proj.Seen[i].Gone {
			continue
		}
		for j := range pl.Hosts[i].Segments {
			n += pl.Hosts[i].Segments[j].At[pagevm.Full].Tokens
		}
	}
	if len(pl.Proj.Cuts) == 0 && n == 0 {
		return 0 // no result was ever lowered except for its size
	}
	for it, s := range pl.Proj.Spots(pl.Hosts) {
		if s.Segment != nil && (it.Bare || it.Shortened()) {
			n += max(0, s.At[pagevm.Full].Tokens-it.Tokens)
		}
	}
	return pl.Scale(n)
}
