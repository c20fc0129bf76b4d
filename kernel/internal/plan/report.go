package plan

import (
	"cmp"
	"iter"
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
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/represent"
	"github.com/memkernel/memkernel/retrieval"
	"github.com/memkernel/memkernel/transcript"
)

// Regions sums the blocks by region, in prompt order. They add up to the planned
// input.
func (r *Result) Regions() ([]api.Region, int) {
	out := []api.Region{{Name: cachelayout.RegionTools}, {Name: cachelayout.RegionSystem}, {Name: cachelayout.RegionCarry}, {Name: cachelayout.RegionWorkingSet}, {Name: cachelayout.RegionRetrieval}, {Name: cachelayout.RegionNewest}}
	total := 0
	for i := range r.Blocks {
		for j := range out {
			if out[j].Name == r.Blocks[i].Region {
				out[j].Tokens += r.Blocks[i].Tokens
			}
		}
		total += r.Blocks[i].Tokens
	}
	if shift := r.AnchorShift(r.Next.Anchor, r.Proj); shift != 0 {
		// The provider's measured size differs from the kernel's count of the same prompt.
		out[3].Tokens += shift
		total += shift
	}
	return out, total
}

// Layout returns the plan's use of the provider's cache. The markers belong to the plan's
// breakpoints.
func (r *Result) Layout(markers []transcript.Marker) api.Layout {
	cuts, made, refused := r.cutsOf()
	l := api.Layout{Breakpoints: make([]api.Breakpoint, 0, len(r.Breakpoints)), Change: r.Change, Bill: r.Bill, Cold: r.Cold, Clock: r.Clock,
		Cut: r.Cut, Made: made, Refused: list(refused), Cuts: list(cuts), Notes: list(r.Notes), Reasoning: r.reasoning(), Reported: r.Prev.Reported,
		Lifetimes: api.Lifetimes{FixedSeconds: seconds(r.Lifetimes.Fixed), FixedWhy: r.Lifetimes.FixedWhy,
			MessagesSeconds: seconds(r.Lifetimes.Messages), MessagesWhy: r.Lifetimes.MessagesWhy},
		Pace: api.Pace{Calls: r.Next.Pace.Calls, IdleSeconds: make([]int, 0, len(r.Next.Pace.Idle))}}
	for _, gap := range r.Next.Pace.Idle {
		l.Pace.IdleSeconds = append(l.Pace.IdleSeconds, seconds(gap))
	}
	l.Bill.Notes = list(l.Bill.Notes)
	for i, b := range r.Breakpoints {
		l.Breakpoints = append(l.Breakpoints, api.Breakpoint{Block: b.Block, Message: markers[i].Message, Region: b.Region, Why: b.Why,
			TTLSeconds: seconds(b.TTL), CumulativeTokens: b.CumulativeTokens})
	}
	return l
}

func seconds(d time.Duration) int { return int(d / time.Second) }

// list returns s, or an empty list for nil, so that JSON has no null in place of a list.
func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// Markers turns breakpoints over blocks into positions in the request.
func (r *Result) Markers() []transcript.Marker {
	out := make([]transcript.Marker, 0, len(r.Breakpoints))
	fixed := len(r.Blocks) - len(r.Proj.Carry) - len(r.Proj.Items)
	for _, bp := range r.Breakpoints {
		m := transcript.Marker{Message: transcript.MarkerSystem, Part: transcript.LastPart, TTL: ttlName(bp.TTL)}
		switch i := bp.Block - fixed; {
		case i >= 0:
			m.Message, m.Part = r.Blocks[bp.Block].Message, r.lastPart(i)
		case r.Blocks[bp.Block].Message == cachelayout.MessageTools:
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
func (r *Result) lastPart(i int) int {
	it := r.Proj.At(i)
	if after := r.Proj.At(i + 1); after == nil || branch.MessageOf(after) != branch.MessageOf(it) {
		return transcript.LastPart
	}
	last := -1
	for ; i >= 0 && branch.MessageOf(r.Proj.At(i)) == branch.MessageOf(it); i-- {
		last += r.shownParts(r.Proj.At(i))
	}
	return last
}

// shownParts counts the parts that an item puts into its host's message.
func (r *Result) shownParts(it *pagevm.Item) int {
	if it.Kind != pagevm.ItemHost || it.Level == pagevm.Full && !it.Bare {
		return max(it.Parts, 1)
	}
	i := slices.IndexFunc(r.Msgs, func(m memkernel.Message) bool { return m.Key == it.Key })
	return len(r.rendered(&r.Msgs[i], []pagevm.Item{*it}).Parts)
}

// bindingBeta is the beta header of Anthropic's option to drop thinking blocks that are bound to
// another prefix.
const bindingBeta = "thinking-binding-controls-2026-08-01"

// Params returns the request settings that a plan requires.
func (r *Result) Params() api.Params {
	p := api.Params{Betas: []string{}}
	if r.Request.Price.Cache == cachelayout.CacheOpenAIAuto || r.Request.Price.Cache == cachelayout.CacheOpenAIExplicit {
		p.CacheKey = cachelayout.CacheKey(r.prior.Key, r.Blocks)
	}
	p.ThinkingOff = r.bareLoop() && strings.Contains(r.Request.Thinking, `"enabled"`)
	if !r.Request.Price.PreservedThinking {
		return p
	}
	if r.Request.DropOption && len(r.Proj.Cuts) > 0 {
		p.DropOption, p.Betas = true, append(p.Betas, bindingBeta)
	}
	return p
}

// bareLoop reports whether a message of the open tool loop is shown without its thinking.
func (r *Result) bareLoop() bool {
	for it, s := range r.Proj.Spots(r.Hosts) {
		if (it.Bare || it.Role == memkernel.RoleAssistant && it.Level < pagevm.Full) && r.Places[s.Message].InLoop {
			return true
		}
	}
	return false
}

// cutsOf returns all cuts of the projection, the cut that the plan made, and the refused cuts.
// made is nil if the plan made no cut. All sizes are in calibrated tokens.
func (r *Result) cutsOf() (all []pagevm.CutPoint, made *pagevm.CutPoint, refused []pagevm.Refusal) {
	refused = r.Made.Refused
	for _, c := range r.Proj.Cuts {
		all = append(all, r.calibrated(c))
	}
	if r.Held {
		refused = append(refused[:len(refused):len(refused)], pagevm.Refusal{Atom: -1, Rule: "no_progress"})
	}
	if r.Made.Cut != nil {
		c := r.calibrated(*r.Made.Cut)
		made = &c
	}
	return all, made, refused
}

func (r *Result) calibrated(c pagevm.CutPoint) pagevm.CutPoint {
	c.Before, c.After = r.Scale(c.Before), r.Scale(c.After)
	return c
}

// Pages returns the outcome of each page: the pages that are shown, those that are not shown and
// why, and those that are not shown in full.
func (r *Result) Pages() (in []api.Included, out []api.Excluded, reduced []api.Reduced) {
	in = make([]api.Included, 0, len(r.Blocks)+1)
	left := []api.Excluded{}
	reduced = make([]api.Reduced, 0, len(r.Hosts))
	for _, b := range r.Blocks[:len(r.Blocks)-len(r.Proj.Carry)-len(r.Proj.Items)] { // tools and system
		in = append(in, api.Included{Kind: b.Region, ID: b.ID, Tokens: b.Tokens, FullTokens: b.Tokens, Level: pagevm.Full})
	}
	states := r.states()
	for i := range r.Proj.Carry {
		in = append(in, r.included(&r.Proj.Carry[i], 0))
	}
	span := r.spanOf()
	reason, before := "", "?"
	bareReason := "its step had ended at a cut"
	if r.Request.Price.PreservedThinking {
		bareReason = "a cut made it invalid"
	}
	for i, s := range r.gone() {
		id, state := span[r.Hosts[i].Key], states[s.Page]
		if id+state != before { // neighbours that left together share one string
			reason, before = "changed by the host under a cut", id+state
			if id != "" {
				reason = "left at a cut, kept in span " + id
			}
			reason = joined(reason, state)
		}
		left = append(left, api.Excluded{Kind: s.Kind.Word(), ID: s.Page, Tokens: r.Scale(s.At[pagevm.Full].Tokens), Reason: reason})
		reduced = append(reduced, api.Reduced{Page: s.Page, Key: r.HostKey(r.Hosts[i].Key), CallID: r.callID(i, s), Level: pagevm.Gone, Handle: cmp.Or(id, s.Page)})
	}
	for it, s := range r.Proj.Spots(r.Hosts) {
		row := r.included(it, s.Full())
		row.Note = joined(row.Note, states[it.Page])
		in = append(in, row)
		if it.Bare {
			out = append(out, api.Excluded{Kind: string(memkernel.PartThinking), ID: r.HostKey(it.Key), Tokens: row.FullTokens - row.Tokens, Reason: bareReason})
		}
		switch {
		case it.Blank():
			reduced = append(reduced, api.Reduced{Page: it.Page, Key: r.HostKey(it.Key), Level: pagevm.Gone, Handle: it.Page})
		case it.Shortened():
			short := api.Reduced{Page: it.Page, Key: r.HostKey(it.Key), Level: it.Level, Handle: it.Page}
			if p := r.Page(it.Page); p != nil {
				short.CallID = p.CallID
			}
			reduced = append(reduced, short)
		}
	}
	if shift := r.AnchorShift(r.Next.Anchor, r.Proj); shift != 0 {
		in = append(in, api.Included{Kind: "anchor", ID: r.Next.Plan, Tokens: shift, FullTokens: shift, Level: pagevm.Full,
			Note: "difference between the provider's count of the prompt before and ours"})
	}
	return in, list(slices.Concat(out, left, r.Removed, r.Left)), reduced
}

// gone yields the segments of the messages that left, each with the index of its message.
func (r *Result) gone() iter.Seq2[int, *pagevm.Segment] {
	return func(yield func(int, *pagevm.Segment) bool) {
		for i, s := range r.segments(0) {
			if r.Proj.Seen[i].Gone && !yield(i, s) {
				return
			}
		}
	}
}

// joined joins the parts of a note that are not empty.
func joined(note, more string) string {
	if note == "" || more == "" {
		return note + more
	}
	return note + ", " + more
}

// included returns the row of an item. The size of its host's content is full.
func (r *Result) included(it *pagevm.Item, full int) api.Included {
	row := api.Included{Kind: it.Kind.Word(), ID: it.Page, Tokens: r.Scale(it.Tokens), Level: it.Level}
	row.FullTokens = row.Tokens
	switch it.Kind {
	case pagevm.ItemCarry, pagevm.ItemNote:
		row = r.fromWorkspace(row, it)
	}
	if it.Bare {
		row.FullTokens, row.Note = r.Scale(full), "without its thinking"
	}
	if it.Shortened() {
		row.FullTokens = r.Scale(full)
		row.Note = it.Level.String() + ", " + strconv.Itoa(row.FullTokens) + " tokens in full"
		if p := r.Page(it.Page); p != nil && p.Door() != "" && p.Reps[0].Hash == it.Hash {
			row.Note += ", at first sight: " + p.Door()
		}
	}
	return row
}

// fromWorkspace returns the row of a block with the type and the name of the file of the workspace
// that the block shows.
func (r *Result) fromWorkspace(row api.Included, it *pagevm.Item) api.Included {
	p := r.Page(it.Page)
	if p.Source() == "" {
		return row
	}
	row.Kind, row.Note = string(p.Type), p.Source()
	switch {
	case it.Kind == pagevm.ItemNote && p.Type != pagevm.Plan:
		row.Note += ", what changed in it"
	case it.Level != pagevm.Full:
		for i := range p.Reps {
			if p.Reps[i].Level == pagevm.Full {
				row.FullTokens = r.Scale(r.Maker.Count.Text(p.Reps[i].Text))
			}
		}
	}
	return row
}

func (r *Result) callID(i int, s *pagevm.Segment) string {
	if s.Kind != pagevm.ItemResult {
		return ""
	}
	return r.Msgs[i].Parts[s.Part].Result.CallID
}

// Retrieval returns the outcome of recall.
func (r *Result) Retrieval(withheld []retrieval.Withheld) api.Retrieval {
	found := r.Proj.Recall
	out := api.Retrieval{Reason: found.Reason, Mode: found.Mode, Detail: found.Detail, Citations: []string{}}
	if r.workspace == nil || found.Turn == "" {
		out.Reason, out.Mode = string(retrieval.Disabled), string(retrieval.NoSearch)
		if r.workspace == nil {
			out.Detail = memoryOff
		}
	}
	if found.Turn == "" {
		return out
	}
	if found.Reason != string(retrieval.Disabled) {
		out.Withheld = withheld
	}
	for i := range r.Proj.Items {
		if it := &r.Proj.Items[i]; it.Page == found.Page && found.Page != "" {
			out.Page, out.Tokens = it.Page, r.Scale(it.Tokens)
			if p := r.Page(it.Page); p != nil { // if there is no such page, check reports it
				for _, ref := range p.Refs {
					out.Citations = append(out.Citations, citation(ref))
				}
			}
		}
	}
	out.Items, out.Origins = len(out.Citations), r.origins(out.Citations)
	return out
}

// origins returns the system of each citation's page, "" for the kernel's own memory. It returns
// nil if all citations come from the kernel's own memory.
func (r *Result) origins(citations []string) []string {
	var out []string
	for i, c := range citations {
		if p := r.Page(c); p != nil && p.Type == pagevm.Preference && len(p.Refs) > 0 {
			if out == nil {
				out = make([]string, len(citations))
			}
			out[i] = citation(p.Refs[0])
		}
	}
	return out
}

// Messages returns the messages to send. A message whose every item is shown in full is the
// host's own value, untouched.
func (r *Result) Messages() []memkernel.Message {
	out := make([]memkernel.Message, 0, len(r.Msgs)+1)
	next, hosts := 0, r.Proj.Items // the host's messages that were not yet shown
	for i := 0; i < r.Proj.Len(); {
		it, end := r.Proj.At(i), i+1
		for end < r.Proj.Len() && branch.MessageOf(r.Proj.At(end)) == branch.MessageOf(it) {
			end++
		}
		if it.Kind == pagevm.ItemHost || it.Kind == pagevm.ItemResult {
			for r.Msgs[next].Key != it.Key {
				next++
			}
			if m := r.rendered(&r.Msgs[next], hosts[:end-i]); len(m.Parts) > 0 {
				m.Key = r.HostKey(m.Key)
				out = append(out, m)
			}
		} else {
			out = append(out, r.added(i, end))
		}
		if it.Kind != pagevm.ItemCarry && it.Kind != pagevm.ItemCompaction {
			hosts = hosts[end-i:]
		}
		i = end
	}
	if r.Format() == transcript.FormatAnthropic {
		placeSystem(out)
	}
	return out
}

// added returns the kernel's message that consists of the items i to end of the prompt.
func (r *Result) added(i, end int) memkernel.Message {
	m := memkernel.Message{Key: branch.MessageOf(r.Proj.At(i)), Role: r.Proj.At(i).Role}
	for ; i < end; i++ {
		if it := r.Proj.At(i); it.Kind == pagevm.ItemCompaction {
			m.Parts = append(m.Parts, memkernel.Part{Kind: memkernel.PartOther, Raw: r.Text(it.Hash)})
		} else {
			m.Parts = append(m.Parts, memkernel.Part{Kind: memkernel.PartText, Text: r.Text(it.Hash)})
		}
	}
	return m
}

// placeSystem turns a system message into a user message if its neighbours left at a cut. The
// Messages API accepts a system message only between a user's turn and the assistant's turn, or at
// the end.
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

// rendered returns message m as items show it. Results and long messages are shown at their levels.
// Runs lack the thinking that a cut made invalid.
func (r *Result) rendered(m *memkernel.Message, items []pagevm.Item) memkernel.Message {
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
			c.Parts = append(c.Parts, ingest.Lowered(m.Parts[it.Part:it.Part+it.Parts], r.Text(it.Hash))...)
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
func (r *Result) Expected() *billing.Expected {
	lost := r.reasoning()
	if lost.Binding == cachelayout.BindingNone {
		lost = cachelayout.Reasoning{}
	}
	return &billing.Expected{
		Reasoning:      lost,
		Broke:          r.Change.Host,
		FirstSight:     r.firstSight(),
		UncachedTokens: r.Bill.UncachedTokens, CacheReadTokens: r.Bill.ReadTokens,
		CacheWrite5mTokens: r.Bill.Write5mTokens, CacheWrite1hTokens: r.Bill.Write1hTokens,
		CostUSD: r.Bill.CostUSD, Cold: r.Cold, Cut: r.Made.Cut != nil, SavedTokens: r.savedTokens(), BeforeTokens: r.Prev.Ledger.Tokens(), At: r.Request.Now, Alone: r.Alone(),
	}
}

// firstSight returns the results that this plan is the first to show shortened, and the shortened
// results that the model fetched since the last plan.
func (r *Result) firstSight() (out []billing.FirstSight) {
	for _, s := range r.segments(r.Align.At) {
		page := r.Page(s.Page)
		if page == nil || s.Kind != pagevm.ItemResult {
			continue
		}
		if kind := page.Door(); kind != "" && s.First == pagevm.Compressed {
			out = billing.AddFirstSight(out, billing.FirstSight{Kind: kind, Results: 1, Tokens: r.Scale(s.At[pagevm.Full].Tokens - s.At[s.First].Tokens)})
		}
		call := r.Maker.Calls[page.CallID]
		if call == nil || !represent.Resolves(r.Request.Resolver, call.Name, call.Input) {
			continue
		}
		for _, id := range pagevm.Handles(call.Input) {
			if of := r.Page(id); of != nil && of.Door() != "" {
				out = billing.AddFirstSight(out, billing.FirstSight{Kind: of.Door(), FetchedTokens: r.Scale(s.At[s.First].Tokens)})
			}
		}
	}
	return out
}

// savedTokens returns the full size of the messages that left, and of the results that are not
// shown in full.
func (r *Result) savedTokens() int {
	n := 0
	for _, s := range r.gone() {
		n += s.At[pagevm.Full].Tokens
	}
	if len(r.Proj.Cuts) == 0 && n == 0 {
		return 0 // only results that were too large were ever shortened
	}
	for it, s := range r.Proj.Spots(r.Hosts) {
		if s.Segment != nil && (it.Bare || it.Shortened()) {
			n += max(0, s.At[pagevm.Full].Tokens-it.Tokens)
		}
	}
	return r.Scale(n)
}
