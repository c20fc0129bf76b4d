package plan

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/pagevm"
)

// limits holds the numbers of tokens that a plan may spend, and the ratios by which tokens are
// measured.
type limits struct {
	// Window and Reserve are corrected by refusals. limit is Window minus Reserve. Hard is the
	// limit minus the counts' own error, for a prompt that the provider has not measured.
	Window, Reserve, Hard, limit int
	// From is the source of Window.
	From api.WindowFrom
	// Fixed is the size of the parts that are always shown in full: tools, system prompt and the
	// parts that the host does not show. ToolTokens and SystemTokens are the sizes of tools and
	// system prompt. toolHash and systemHash identify them.
	Fixed, ToolTokens, SystemTokens int
	toolHash, systemHash            string
	// Ratio is the number of calibrated tokens for a counted token. spread is the greatest number
	// of real tokens for a calibrated token.
	Ratio, spread float64
	// Kind is the kind of the counts, which decides how far they can be trusted.
	Kind budget.Kind
	// anchor is the provider's count of the last measured prompt.
	anchor branch.Anchor
}

// past holds what earlier requests have shown about this one.
type past struct {
	Refusal refusal
	// ran are the calls that ran. hits counts the pages that the model's newest calls used while
	// the prompt showed them.
	ran  branch.Ran
	hits int
	// sent is the content of the provider's cache. pace is the pace of the calls.
	sent cachelayout.Ledger
	pace cachelayout.Pace
}

// measure fixes the limits of the plan. A plan that learns from a refusal measures twice, each time
// from the values of the request. The returned call is compared with the prompt that the model has
// really seen last. That may be a prompt without a plan, or the prompt before a refused one.
func measure(c call, w window) (call, limits, past, error) {
	p := past{ran: c.Prev.Ran, sent: c.Prev.Ledger, pace: c.Prev.Pace}
	l := weigh(&c, w, &c.Prev.Overflow)
	if c.Request.Demand == nil {
		p.ran, p.hits = misses(&c)
	}
	if prev := unplanned(&c, &l); prev != nil {
		c, p.sent, p.pace = c.after(prev), prev.Ledger, prev.Pace
	}
	var err error
	if p.Refusal, err = learnRefusal(&c, &l); err != nil {
		return c, l, p, fmt.Errorf("plan %s: %w", c.Request.SessionKey, err)
	}
	if p.Refusal.Refused {
		if prev := takenBack(&c); prev != nil {
			c = c.after(prev)
		}
		l = weigh(&c, w, &p.Refusal.limits)
	}
	c.Maker.Large = l.unscale(budget.LargeResult(l.Window))
	return c, l, p, nil
}

// weigh returns the limits in a window, corrected by the limits that refusals taught.
func weigh(c *call, w window, learned *branch.Refusals) limits {
	r := c.Request
	l := limits{Window: w.tokens, From: w.from, anchor: c.Prev.Anchor}
	if learned.Window > 0 && learned.Window < l.Window {
		l.Window, l.From = learned.Window, api.WindowRefusal
	}
	l.Ratio, l.spread, l.Kind = calibration(c)
	l.Ratio = max(l.Ratio, learned.Ratio)
	if last := remembered(c); last != nil {
		l.ToolTokens, l.SystemTokens, l.toolHash, l.systemHash = last.ToolTokens, last.SystemTokens, last.ToolHash, last.SystemHash
	} else {
		l.ToolTokens = l.Scale(c.Maker.Count.Tools(r.Tools))
		l.SystemTokens = r.FixedTokens + l.Scale(c.Maker.Count.System(r.System)+c.Maker.Count.Base) + learned.Hidden
		l.toolHash, l.systemHash = hashOfTools(r.Tools), hashOfSystem(r.System, r.FixedTokens)
	}
	l.Fixed = l.ToolTokens + l.SystemTokens
	l.Reserve = l.reserveFor(c, learned)
	l.limit = learned.Tightened(l.Window-l.Reserve, l.Fixed)
	l.Hard = l.withMargin(l.Fixed)
	return l
}

// leastReserve is the reserve for an unknown window.
const leastReserve = 8_000

// reserveFor returns the part of the window that stays free for the answer. It is the reserve that
// the host requires. If the host names the longest answer instead, and the provider refuses a
// prompt that leaves less room, it is the size of that answer. Otherwise it follows the answers of
// the session.
func (l *limits) reserveFor(c *call, learned *branch.Refusals) int {
	r, free := c.Request, l.Window-l.Fixed
	n := budget.Reserve(l.Window, longestAnswer(c, l), r.MaxTokens)
	switch {
	case r.Reserve > 0 && (r.Reserve < l.Window || l.From != api.WindowRefusal):
		n = r.Reserve
	case l.From == api.WindowUnknown:
		n = leastReserve
	case r.MaxTokens > n && r.MaxTokens < free && cachelayout.RefusesLongAnswers(r.Model):
		n = r.MaxTokens
	}
	if learned.Reserve < free {
		n = max(n, learned.Reserve)
	}
	return n
}

// longestAnswer returns the size of the longest answer in the conversation. Some hosts record too
// little output, so the recorded output only counts if it is larger than the message.
func longestAnswer(c *call, l *limits) (n int) {
	for i := range c.Msgs {
		if m := &c.Msgs[i]; byModel(m) {
			n = max(n, l.Scale(c.Hosts[i].Tokens()))
			if m.Usage != nil {
				n = max(n, m.Usage.OutputTokens)
			}
		}
	}
	return n
}

// withMargin returns the limit for a prompt of which the provider has measured a part. The error of
// the counts is subtracted from the rest. The fixed part has no such error.
func (l *limits) withMargin(measured int) int {
	return measured + int(float64(l.limit-measured)/l.spread)
}

// Most returns the largest size to which a prompt may grow.
func (l *limits) Most(p *pagevm.Projection) int {
	if l.anchored(l.anchor, p) {
		return l.withMargin(l.anchor.Total)
	}
	return l.Hard
}

// room returns the number of tokens that may be added to a prompt.
func (l *limits) room(p *pagevm.Projection) int { return l.Most(p) - l.Planned(p) }

// hashOfTools returns the hash of definitions.
func hashOfTools(tools []memkernel.Tool) (hash string) {
	for i := range tools {
		hash = ingest.Hash(hash + tools[i].Raw)
	}
	return hash
}

// hashOfSystem returns the hash of a system prompt, and of the size of the parts that the host
// does not show.
func hashOfSystem(system []memkernel.Part, unseen int) (hash string) {
	for i := range system {
		hash = ingest.Hash(hash + system[i].Text)
	}
	return ingest.Hash(hash + strconv.Itoa(unseen))
}

// calibration returns the ratio between real and counted tokens, its spread and how far it can be
// trusted. They come from the bills of this model: persisted observations, and the growth from call
// to call that the transcript recorded. If the session itself has recorded enough, its sums give
// the ratio and the spread of a whole prompt, because the errors of its parts partly cancel.
func calibration(c *call) (ratio, spread float64, kind budget.Kind) {
	count := &c.Maker.Count
	cal, own := c.recordedGrowth(c.prior.Calibration)
	if count.Kind != budget.Estimated || !cal.Trusted() {
		return 1, count.Spread(), count.Kind
	}
	ratio, spread = cal.Factor()
	if len(own) >= leastCalls {
		ratio, spread = ownRatio(c, own, spread)
	}
	return ratio, spread, budget.Calibrated
}

// leastCalls is the number of calls from which a session's own sums are used.
const leastCalls = 5

// growthOfCall is the growth of the prompt by a call, by the kernel's count and by the bill.
type growthOfCall struct{ counted, actual int }

// ownRatio returns the ratio of the sums of a session's growth, and the spread of a whole prompt.
// The error of the measured calls that a cut leaves is taken as two standard deviations of their
// sum. It is largest if half of the calls are left. The error of all other messages is the spread
// of a single call.
func ownRatio(c *call, own []growthOfCall, single float64) (ratio, spread float64) {
	counted, actual, all := 0, 0, 0
	for _, g := range own {
		counted, actual = counted+g.counted, actual+g.actual
	}
	for i := range c.Hosts {
		all += c.Hosts[i].Tokens()
	}
	ratio = float64(actual) / float64(counted)
	squares := 0.0
	for _, g := range own {
		d := float64(g.actual) - ratio*float64(g.counted)
		squares += d * d
	}
	known := float64(actual) / 2
	rest := math.Max(0, ratio*float64(all-counted))
	return ratio, math.Min(single, 1+(math.Sqrt(squares)+rest*(single-1))/(known+rest))
}

// recordedGrowth returns a calibration that is trained on the growth of the recorded prompt from
// one call to the next, and the growth of the calls that trained it. It ignores prompts that
// shrank and prompts that another model answered.
func (c *call) recordedGrowth(cal budget.Calibration) (budget.Calibration, []growthOfCall) {
	last, sum, n := 0, 0, 0
	var own []growthOfCall
	for i := range c.Msgs {
		msg := &c.Msgs[i]
		if msg.Origin == memkernel.OriginSummary {
			last = 0
		}
		if billed(msg) {
			total := msg.Usage.InputTotal()
			if last > 0 && total > last && msg.Model == c.Request.Model &&
				cal.Observe(budget.Count{Tokens: sum, Bound: sum, Kind: c.Maker.Count.Kind}, n, total-last) {
				own = append(own, growthOfCall{sum, total - last})
			}
			last, sum, n = total, 0, 0
		}
		sum += c.Hosts[i].Tokens()
		n++
	}
	return cal, own
}

// lastCall returns the plan's call, to be stored in the next state.
func (r *Result) lastCall() *branch.Call {
	q := r.Request
	return &branch.Call{ContextWindow: q.ContextWindow, Reserve: q.Reserve, FixedTokens: q.FixedTokens, Resolver: q.Resolver,
		ToolChoice: q.ToolChoice, Thinking: q.Thinking, Effort: q.Effort, DropOption: q.DropOption, Format: q.Format, TTL: q.TTL, Economy: q.Economy,
		ToolTokens: r.ToolTokens, SystemTokens: r.SystemTokens, ToolHash: r.toolHash, SystemHash: r.systemHash}
}

// remembered returns the last call if another process planned it, so that only the sizes of its
// system prompt and tools are known. A compaction on demand uses these sizes. It returns nil if the
// texts are known, or if the request has other texts.
func remembered(c *call) *branch.Call {
	p, r := c.Prev, c.Request
	last := p.Call
	if r.Demand == nil || last == nil || r.System != nil || r.Tools != nil || p.System != nil || p.Tools != nil ||
		last.FixedTokens != r.FixedTokens || last.ToolTokens+last.SystemTokens <= r.FixedTokens {
		return nil
	}
	return last
}

// KnownWindow returns the window, 0 if it is unknown.
func (l *limits) KnownWindow() int {
	if l.From == api.WindowUnknown {
		return 0
	}
	return l.Window
}

// Scale turns counted tokens into calibrated ones, rounding up.
func (l *limits) Scale(tokens int) int { return branch.Scaled(tokens, l.Ratio) }

// unscale is the inverse of Scale for budgets, rounding down.
func (l *limits) unscale(tokens int) int { return int(float64(tokens) / l.Ratio) }

// Conversation returns the size of a projection, calibrated, without the fixed part.
func (l *limits) Conversation(p *pagevm.Projection) int {
	n := 0
	for i := range p.Len() {
		n += l.Scale(p.At(i).Tokens)
	}
	return n
}

// Planned returns the whole input of a projection, calibrated and anchored.
func (l *limits) Planned(p *pagevm.Projection) int {
	return l.Fixed + l.Conversation(p) + l.AnchorShift(l.anchor, p)
}

// AnchorShift returns the difference between the provider's count of a measured prompt and the
// kernel's count, as long as p extends that prompt.
func (l *limits) AnchorShift(a branch.Anchor, p *pagevm.Projection) int {
	if !l.anchored(a, p) {
		return 0
	}
	covered := pagevm.Projection{Carry: p.Carry, Items: p.Items[:a.Items]}
	return a.Total - l.Fixed - l.Conversation(&covered)
}

// anchored reports whether p extends the measured prompt.
func (l *limits) anchored(a branch.Anchor, p *pagevm.Projection) bool {
	return a.Total > 0 && a.Generation == p.Generation && a.Fixed == l.Fixed && a.Items <= len(p.Items) && a.Carry == len(p.Carry)
}

// Unanchored returns the size of a prompt by a measure that is the same before and after a cut.
func (l *limits) Unanchored(p *pagevm.Projection) int { return l.Fixed + l.Conversation(p) }

// mustStandTokens returns the size, in calibrated tokens, of the messages that every cut keeps. They
// are the atoms that are not closed and the opener of the loop.
func mustStandTokens(c *call, l *limits) (n int) {
	for _, it := range mustStandItems(c) {
		n += l.Scale(it.Tokens)
	}
	return n
}

// mustStandItems returns the items that must be shown.
func mustStandItems(c *call) (items []pagevm.Item) {
	for i, s := range c.segments(0) {
		if c.mustStand(i) {
			items = append(items, pagevm.Item{Kind: s.Kind, Page: s.Page, Tokens: s.At[s.First].Tokens})
		}
	}
	return items
}

// maxLargest limits the number of items that an error names if a prompt does not fit.
const maxLargest = 5

// largestItems returns the largest of the fixed parts and of the items in lists, with descriptive
// names.
func largestItems(c *call, l *limits, lists ...[]pagevm.Item) []budget.Item {
	items := []budget.Item{{Name: cachelayout.RegionTools, Tokens: l.ToolTokens}, {Name: cachelayout.RegionSystem, Tokens: l.SystemTokens}}
	for _, list := range lists {
		for i := range list {
			items = append(items, budget.Item{Name: c.itemName(&list[i]), Tokens: l.Scale(list[i].Tokens)})
		}
	}
	slices.SortStableFunc(items, func(a, b budget.Item) int { return b.Tokens - a.Tokens })
	return items[:min(len(items), maxLargest)]
}

// itemName returns the page that an item shows, with its source file or the number of its media.
func (c *call) itemName(it *pagevm.Item) string {
	name := it.Kind.Word() + " " + it.Page
	if from := c.Page(it.Page).Source(); from != "" {
		return name + " (" + from + ")"
	}
	for i, s := range c.segments(0) {
		if s.Page != it.Page {
			continue
		}
		if n := countMedia(c.SegmentParts(i, s)); n > 0 {
			return name + " (with " + strconv.Itoa(n) + " media, which keep their size)"
		}
	}
	return name
}

// countMedia counts the images and documents among parts, including those inside results.
func countMedia(parts []memkernel.Part) (n int) {
	for i := range parts {
		if r := parts[i].Result; r != nil {
			n += countMedia(r.Content)
		}
		if parts[i].Media != nil {
			n++
		}
	}
	return n
}

// blockList is the prompt's content in provider order. Tokens are calibrated.
func (l *limits) blockList(p *pagevm.Projection) []cachelayout.Block {
	fixed := make([]cachelayout.Block, 0, 2)
	if t := l.ToolTokens; t > 0 {
		fixed = append(fixed, cachelayout.Block{ID: "tools", Region: cachelayout.RegionTools, Hash: l.toolHash, Tokens: t, Positions: 1, Markable: true, Message: cachelayout.MessageTools})
	}
	if t := l.SystemTokens; t > 0 {
		fixed = append(fixed, cachelayout.Block{ID: "system", Region: cachelayout.RegionSystem, Hash: l.systemHash, Tokens: t, Positions: 1, Markable: true, Message: cachelayout.MessageSystem})
	}
	return branch.Blocks(fixed, p, l.Ratio)
}
