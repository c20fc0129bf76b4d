package kernel

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/transcript"
)

// result turns finished work into the plan that the host gets.
func (w *work) result() *ContextPlan {
	messages := w.compose()
	regions, total := w.regions()
	plan := &ContextPlan{
		ID: w.next.Plan, SessionKey: w.s.key, Branch: w.req.Branch, Model: w.req.Model,
		Tools: w.req.Tools, System: w.req.System, Messages: messages,
		Format:     w.format(),
		Markers:    w.markers(),
		Params:     w.params(),
		Retrieval:  w.recallReport(),
		Layout:     w.layoutReport(),
		Split:      w.split,
		Regions:    regions,
		Reduced:    w.reduced(),
		Debug:      w.debug(),
		Faults:     w.faults,
		Alerts:     w.alerts,
		Generation: w.proj.Generation,
		Stats:      w.stats,
	}
	plan.FlushDue = w.flush
	if w.req.Deferred {
		plan.Deferred = w.deferred()
	}
	plan.Budgets = Budgets{
		ContextWindow: w.window, ReserveTokens: w.reserve, PlannedInputTokens: total,
		PlannedCacheReadTokens:  w.bill.ReadTokens,
		PlannedCacheWriteTokens: w.bill.Write5mTokens + w.bill.Write1hTokens,
		PlannedUncachedTokens:   w.bill.UncachedTokens,
		PlannedCostUSD:          w.bill.CostUSD,
		TokensAre:               w.kind,
		MarginTokens:            w.window - w.reserve - w.hard,
		Utilization:             float64(w.before) / float64(w.window),
	}
	return plan
}

// regions sums the blocks by region, in prompt order. They add up to the planned
// input.
func (w *work) regions() ([]Region, int) {
	out := []Region{{Name: RegionTools}, {Name: RegionSystem}, {Name: RegionCarry}, {Name: RegionWorkingSet}, {Name: RegionRetrieval}, {Name: RegionNewest}}
	total := 0
	for i := range w.blocks {
		for j := range out {
			if out[j].Name == w.blocks[i].Region {
				out[j].Tokens += w.blocks[i].Tokens
			}
		}
		total += w.blocks[i].Tokens
	}
	if shift := w.anchorShift(w.proj); shift != 0 {
		// The measured prompt was larger or smaller than our count of it.
		out[3].Tokens += shift
		total += shift
	}
	return out, total
}

// markers turns breakpoints over blocks into positions in the request.
func (w *work) markers() []transcript.Marker {
	out := make([]transcript.Marker, 0, len(w.breakpoints))
	fixed := len(w.blocks) - len(w.proj.Carry) - len(w.proj.Items)
	for _, bp := range w.breakpoints {
		m := transcript.Marker{Message: transcript.MarkerSystem, Part: transcript.LastPart, TTL: ttlName(bp.TTL)}
		switch i := bp.Block - fixed; {
		case i >= 0:
			m.Message, m.Part = w.blocks[bp.Block].Message, w.lastPart(i)
		case w.blocks[bp.Block].Message == cachelayout.MessageTools:
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

// format is the request's shape.
func (w *work) format() transcript.Format { return formatOf(w.req.Format, &w.model) }

// lastPart is where the last block of flat item i stands in its message.
func (w *work) lastPart(i int) int {
	it := w.flat(i)
	if after := w.flat(i + 1); after == nil || branch.MessageOf(after) != branch.MessageOf(it) {
		return transcript.LastPart
	}
	if i < len(w.proj.Carry) {
		return i
	}
	last := -1
	for ; ; i-- {
		last += w.shownParts(w.flat(i))
		if before := w.flat(i - 1); i == len(w.proj.Carry) || branch.MessageOf(before) != branch.MessageOf(it) {
			return last
		}
	}
}

// shownParts counts the parts that an item of a host's message puts into it.
func (w *work) shownParts(it *pagevm.Item) int {
	if it.Kind != pagevm.ItemHost || it.Level == pagevm.Full && !it.Bare {
		return max(it.Parts, 1)
	}
	for i := range w.Msgs {
		if w.Msgs[i].Key == it.Key {
			return len(w.shown(&w.Msgs[i], []pagevm.Item{*it}).Parts)
		}
	}
	return it.Parts
}

// flat is the item at i, the carry block counted in; nil behind the last.
func (w *work) flat(i int) *pagevm.Item {
	carry, items := w.proj.Carry, w.proj.Items
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

func (w *work) params() Params {
	p := Params{Betas: []string{}}
	if w.model.Cache == cachelayout.CacheOpenAIAuto || w.model.Cache == cachelayout.CacheOpenAIExplicit {
		p.CacheKey = cachelayout.CacheKey(w.s.key, w.blocks)
	}
	if !w.model.PreservedThinking || len(w.proj.Cuts) == 0 {
		return p
	}
	if w.req.DropOption {
		p.DropOption, p.Betas = true, append(p.Betas, bindingBeta)
	}
	p.ThinkingOff = w.bareLoop()
	return p
}

// bareLoop tells whether a message of the open tool loop stands without the
// thinking that it had.
func (w *work) bareLoop() bool {
	inLoop := map[string]bool{}
	for i := len(w.places) - 1; i >= 0 && w.places[i].InLoop; i-- {
		inLoop[w.Hosts[i].Key] = true
	}
	for i := range w.proj.Items {
		if w.proj.Items[i].Bare && inLoop[w.proj.Items[i].Key] {
			return true
		}
	}
	return false
}

func (w *work) layoutReport() Layout {
	l := Layout{Breakpoints: w.breakpoints, Change: w.change, Bill: w.bill, Cold: w.cold, Clock: w.clock,
		Cut: w.cut, Refused: w.decision.Refused, Notes: w.notes, Pace: w.next.Pace, Advice: w.advice,
		Lifetimes: Lifetimes{Fixed: w.lifetimes.Fixed, FixedWhy: w.lifetimes.fixedWhy,
			Messages: w.lifetimes.Messages, MessagesWhy: w.lifetimes.messagesWhy}}
	for _, c := range w.proj.Cuts {
		l.Cuts = append(l.Cuts, w.calibrated(c))
	}
	if w.held {
		l.Refused = append(l.Refused[:len(l.Refused):len(l.Refused)], pagevm.Refusal{Atom: -1, Rule: RuleNoProgress})
	}
	if w.decision.Cut != nil {
		made := w.calibrated(*w.decision.Cut)
		l.Made = &made
	}
	return l
}

// calibrated gives a cut's sizes in calibrated tokens, like all else in a plan.
func (w *work) calibrated(c pagevm.CutPoint) pagevm.CutPoint {
	c.Before, c.After = w.scale(c.Before), w.scale(c.After)
	return c
}

// debug lists every page: where it stands, or why it does not.
func (w *work) debug() Debug {
	d := Debug{Included: make([]Included, 0, len(w.blocks)), Excluded: []Excluded{}}
	if w.toolTokens > 0 {
		d.Included = append(d.Included, Included{Kind: RegionTools, ID: RegionTools, Tokens: w.toolTokens, FullTokens: w.toolTokens, Level: pagevm.Full})
	}
	if w.systemTokens > 0 {
		d.Included = append(d.Included, Included{Kind: RegionSystem, ID: RegionSystem, Tokens: w.systemTokens, FullTokens: w.systemTokens, Level: pagevm.Full})
	}
	fulls := w.fullTokens()
	for i := range w.proj.Carry {
		d.Included = append(d.Included, w.included(&w.proj.Carry[i], fulls))
	}
	for i := range w.proj.Items {
		row := w.included(&w.proj.Items[i], fulls)
		d.Included = append(d.Included, row)
		if it := &w.proj.Items[i]; it.Bare {
			d.Excluded = append(d.Excluded, Excluded{Kind: string(memkernel.PartThinking), ID: w.hostKey(it.Key),
				Tokens: row.FullTokens - row.Tokens, Reason: "a cut made it invalid"})
		}
	}
	if shift := w.anchorShift(w.proj); shift != 0 {
		d.Included = append(d.Included, Included{Kind: "anchor", ID: w.next.Plan, Tokens: shift, FullTokens: shift, Level: pagevm.Full,
			Note: "difference between the provider's count of the prompt before and ours"})
	}
	d.Excluded = append(d.Excluded, w.goneRows()...)
	for _, r := range w.Removed {
		d.Excluded = append(d.Excluded, Excluded(r))
	}
	d.Excluded = append(d.Excluded, w.left...)
	return d
}

// shortened tells whether an item shows less of a host's message than came.
func shortened(it *pagevm.Item) bool {
	return it.Level != pagevm.Full && (it.Kind == pagevm.ItemResult || it.Kind == pagevm.ItemHost)
}

// fullTokens is what each item would cost in full that is shown below it.
func (w *work) fullTokens() map[string]int {
	m := map[string]int{}
	at := 0
	for i := range w.proj.Items {
		it := &w.proj.Items[i]
		if !it.Bare && !shortened(it) {
			continue
		}
		for at < len(w.Hosts)-1 && w.Hosts[at].Key != it.Key { // both are in the host's order
			at++
		}
		for j := range w.Hosts[at].Segments {
			if s := &w.Hosts[at].Segments[j]; s.Page == it.Page {
				m[it.Page] = s.At[pagevm.Full].Tokens
			}
		}
	}
	return m
}

func (w *work) included(it *pagevm.Item, fulls map[string]int) Included {
	row := Included{Kind: kindOf(it), ID: it.Page, Tokens: w.scale(it.Tokens), Level: it.Level}
	row.FullTokens = row.Tokens
	switch it.Kind {
	case pagevm.ItemCarry, pagevm.ItemNote:
		w.fromWorkspace(&row, it)
	}
	if it.Bare {
		row.FullTokens, row.Note = w.scale(fulls[it.Page]), "without its thinking"
	}
	if shortened(it) {
		row.FullTokens = w.scale(fulls[it.Page])
		row.Note = it.Level.String() + ", " + strconv.Itoa(w.scale(fulls[it.Page])) + " tokens in full"
	}
	return row
}

// fromWorkspace gives the row of a block that shows a file of the workspace the
// type of its page and the file's name.
func (w *work) fromWorkspace(row *Included, it *pagevm.Item) {
	p := w.page(it.Page)
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
				row.FullTokens = w.scale(w.Count.Text(p.Reps[i].Text))
			}
		}
	}
}

func kindOf(it *pagevm.Item) string {
	switch it.Kind {
	case pagevm.ItemResult:
		return string(pagevm.Evidence)
	case pagevm.ItemHost:
		return string(pagevm.Conversation)
	}
	return string(it.Kind)
}

// goneRows lists the pages that left, with the cut that let them go.
func (w *work) goneRows() []Excluded {
	out := make([]Excluded, 0, w.goneSegments())
	span := w.spanOf()
	reason, before := "", "?"
	for i := range w.Hosts {
		if !w.proj.Seen[i].Gone {
			continue
		}
		switch id := span[w.Hosts[i].Key]; {
		case id == before: // neighbours left together: one string does
		case id == "":
			reason, before = "changed by the host under a cut", id
		default:
			reason, before = "left at a cut, kept in span "+id, id
		}
		for j := range w.Hosts[i].Segments {
			s := &w.Hosts[i].Segments[j]
			out = append(out, Excluded{Kind: kindOf(&pagevm.Item{Kind: s.Kind}), ID: s.Page, Tokens: w.scale(s.At[pagevm.Full].Tokens), Reason: reason})
		}
	}
	return out
}

// goneSegments counts the segments of the messages that left.
func (w *work) goneSegments() int {
	n := 0
	for i := range w.Hosts {
		if w.proj.Seen[i].Gone {
			n += len(w.Hosts[i].Segments)
		}
	}
	return n
}

// spanOf finds the span that a message left with, by its key.
func (w *work) spanOf() map[string]string {
	if w.spans == nil {
		n := 0
		for i := range w.next.Spans {
			n += len(w.next.Spans[i].Keys)
		}
		w.spans = make(map[string]string, n)
		for i := range w.next.Spans {
			for _, k := range w.next.Spans[i].Keys {
				w.spans[k] = w.next.Spans[i].ID
			}
		}
	}
	return w.spans
}

// reduced lists what the prompt does not show in full.
func (w *work) reduced() []Reduced {
	out := make([]Reduced, 0, w.goneSegments()+len(w.proj.Items)/4)
	span := w.spanOf()
	for i := range w.Hosts {
		if w.proj.Seen[i].Gone {
			for j := range w.Hosts[i].Segments {
				s := &w.Hosts[i].Segments[j]
				out = append(out, Reduced{Page: s.Page, Key: w.hostKey(w.Hosts[i].Key), CallID: w.callID(i, s), Level: pagevm.Gone, Handle: cmp.Or(span[w.Hosts[i].Key], s.Page)})
			}
		}
	}
	for i := range w.proj.Items {
		switch it := &w.proj.Items[i]; {
		case branch.Blank(it):
			out = append(out, Reduced{Page: it.Page, Key: w.hostKey(it.Key), Level: pagevm.Gone, Handle: it.Page})
		case shortened(it):
			out = append(out, Reduced{Page: it.Page, Key: w.hostKey(it.Key), CallID: w.pageCall(it.Page), Level: it.Level, Handle: it.Page})
		}
	}
	return out
}

func (w *work) callID(i int, s *pagevm.Segment) string {
	if s.Kind != pagevm.ItemResult {
		return ""
	}
	return w.Msgs[i].Parts[s.Part].Result.CallID
}

func (w *work) pageCall(id string) string {
	if p := w.page(id); p != nil {
		return p.CallID
	}
	return ""
}

// maxLargest bounds the items that a TooSmallError names.
const maxLargest = 5

// tooSmall says by how much the prompt does not fit, and what is largest in it.
func (w *work) tooSmall(over int) error {
	return &TooSmallError{Window: w.window, Reserve: w.reserve, Fixed: w.fixed, Over: over, Largest: w.largestItems(w.proj.Carry, w.proj.Items)}
}

// largestItems are the largest of what always stands and of some items, by names that
// say what they are.
func (w *work) largestItems(lists ...[]pagevm.Item) []budget.Item {
	items := []budget.Item{{Name: RegionTools, Tokens: w.toolTokens}, {Name: RegionSystem, Tokens: w.systemTokens}}
	for _, list := range lists {
		for i := range list {
			items = append(items, budget.Item{Name: w.itemName(&list[i]), Tokens: w.scale(list[i].Tokens)})
		}
	}
	slices.SortStableFunc(items, func(a, b budget.Item) int { return b.Tokens - a.Tokens })
	return items[:min(len(items), maxLargest)]
}

// itemName is the page that an item shows, with the file that it was made of, or with
// how many media it holds.
func (w *work) itemName(it *pagevm.Item) string {
	name := kindOf(it) + " " + it.Page
	if page := w.page(it.Page); page != nil && len(page.Refs) > 0 {
		return name + " (" + page.Refs[0].Path + ")"
	}
	for i := range w.Hosts {
		for j := range w.Hosts[i].Segments {
			s := &w.Hosts[i].Segments[j]
			if s.Page != it.Page {
				continue
			}
			if n := ingest.CountMedia(w.segmentParts(i, s)); n > 0 {
				return name + " (with " + strconv.Itoa(n) + " media, which keep their size)"
			}
		}
	}
	return name
}
