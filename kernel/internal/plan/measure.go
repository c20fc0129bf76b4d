package plan

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/kernel/internal/ids"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/pagevm"
)

// Limits holds the numbers of tokens that a plan may spend, and the ratios by which tokens are
// measured.
type Limits struct {
	// Window and Reserve are corrected by refusals. Hard is Window minus Reserve, with the
	// counts' own error taken off.
	Window, Reserve, Hard int
	// From is the source of Window.
	From api.WindowFrom
	// Fixed is the size of the parts that are always shown in full: tools, system prompt and the
	// parts that the host does not show. ToolTokens and SystemTokens are the sizes of tools and
	// system prompt.
	Fixed, ToolTokens, SystemTokens int
	// toolHash and systemHash identify tools and system prompt.
	toolHash, systemHash string
	// Ratio is the number of calibrated tokens for a counted token. spread is the greatest number
	// of real tokens for a calibrated token.
	Ratio, spread float64
	// Kind is how far the counts can be trusted.
	Kind budget.Kind
}

// measured is a conversation with the limits of its plan.
type measured struct {
	conversation
	Limits
	asked resolved
	// fixedAs is the last call if the texts of system prompt and tools are unknown and only their
	// sizes are known.
	fixedAs *branch.Call
	// Refusal is the provider's refusal of the last request.
	Refusal *budget.Overflow
	// Refused reports that this plan answers the refusal. Learned reports that the plan has
	// learned from the refusal.
	Refused, Learned bool
	// RefusedCount is the counted size of the refused prompt, and RefusedActual is its real size.
	RefusedCount, RefusedActual int
	refusedProj                 *pagevm.Projection
	// thinkingRefused: this plan answers the refusal of thinking.
	thinkingRefused bool
	// Parts of the next state: the limits learned from refusals, the calls that ran, the content
	// of the provider's cache, and the pace of the calls.
	overflow branch.Refusals
	ran      branch.Ran
	// hits counts the pages that the model's newest calls used while the prompt showed them.
	hits   int
	ledger cachelayout.Ledger
	Pace   cachelayout.Pace
}

// measure fixes the limits of the plan. A plan that learns from a refusal measures twice, each
// time from the values of the request.
func measure(c conversation, res resolved) (measured, error) {
	p := c.Prev
	m := measured{conversation: c, asked: res, overflow: p.Overflow, ran: p.Ran, ledger: p.Ledger, Pace: p.Pace}
	m.Kind = c.Count.Kind
	if c.req.Demand != nil {
		m.fixedAs = remembered(p, c.req)
	}
	weigh(&m)
	if c.req.Demand == nil {
		misses(&m)
	}
	takeUnplanned(&m)
	if err := learnRefusal(&m); err != nil {
		return m, fmt.Errorf("plan %s: %w", c.req.SessionKey, err)
	}
	if m.Learned {
		takeBackRefused(&m)
		weigh(&m)
	}
	return m, nil
}

// weigh measures: the calibration, the fixed part, and the hard limit with the counts'
// own error taken off.
func weigh(m *measured) {
	m.Window, m.Reserve, m.From = m.asked.window, m.asked.reserve, m.asked.from
	calibrate(m)
	applyRefusals(m)
	measureFixed(m)
	m.Hard = m.overflow.Tightened(m.withMargin(m.Window-m.Reserve), m.Fixed)
}

// withMargin subtracts the error of the counts from a limit. The fixed part that the host
// measured itself has no such error.
func (m *measured) withMargin(limit int) int {
	return m.Fixed + int(float64(limit-m.Fixed)/m.spread)
}

// measureFixed counts the parts that are always shown in full.
func measureFixed(m *measured) {
	m.toolHash, m.systemHash = hashOf(m.req.Tools), ""
	for i := range m.req.System {
		m.systemHash = ids.Hash(m.systemHash + m.req.System[i].Text)
	}
	m.systemHash = ids.Hash(m.systemHash + strconv.Itoa(m.req.FixedTokens))
	m.ToolTokens = m.Scale(m.Count.Tools(m.req.Tools))
	m.SystemTokens = m.req.FixedTokens + m.Scale(m.Count.System(m.req.System)+m.Count.Overheads.Base)
	if c := m.fixedAs; c != nil {
		m.ToolTokens, m.SystemTokens, m.toolHash, m.systemHash = c.ToolTokens, c.SystemTokens, c.ToolHash, c.SystemHash
	} else {
		m.SystemTokens += m.overflow.Hidden
	}
	m.Fixed = m.ToolTokens + m.SystemTokens
}

// calibrate takes the ratio between real and counted tokens from the bills of this model:
// persisted observations, and the growth from call to call that the transcript recorded.
func calibrate(m *measured) {
	m.Ratio, m.spread, m.Kind = 1, m.Count.Spread(), m.Count.Kind
	cal := m.prior.Calibration
	learnRecorded(m, &cal)
	if m.Count.Kind == budget.Estimated && cal.Trusted() {
		m.Ratio, m.spread = cal.Factor()
		m.Kind = budget.Calibrated
	}
}

// learnRecorded trains a calibration on the growth of the recorded prompt from one call to the
// next. It ignores prompts that shrank and prompts that another model answered.
func learnRecorded(m *measured, cal *budget.Calibration) {
	last, sum, n := 0, 0, 0
	for i := range m.Msgs {
		msg := &m.Msgs[i]
		if msg.Origin == memkernel.OriginSummary {
			last = 0
		}
		if msg.Role == memkernel.RoleAssistant && msg.Usage != nil && msg.Usage.InputTotal() > 0 {
			total := msg.Usage.InputTotal()
			if last > 0 && total > last && msg.Model == m.req.Model {
				cal.Observe(budget.Count{Tokens: sum, Bound: sum, Kind: m.Count.Kind}, n, total-last)
			}
			last, sum, n = total, 0, 0
		}
		sum += m.Hosts[i].Tokens()
		n++
	}
}

// lastCall returns the call of the plan, for the state to remember.
func (m *measured) lastCall() *branch.Call {
	r := m.req
	return &branch.Call{ContextWindow: r.ContextWindow, Reserve: r.Reserve, FixedTokens: r.FixedTokens, Resolver: r.Resolver,
		ToolChoice: r.ToolChoice, Thinking: r.Thinking, Effort: r.Effort, DropOption: r.DropOption, Format: r.Format, TTL: r.TTL, Economy: r.Economy,
		ToolTokens: m.ToolTokens, SystemTokens: m.SystemTokens, ToolHash: m.toolHash, SystemHash: m.systemHash}
}

// remembered returns the last call if only the sizes of its system prompt and tools are known
// because another process planned the call. It returns nil if their texts are known, or if the
// request has other texts.
func remembered(l *branch.State, r *Request) *branch.Call {
	c := l.Call
	if c == nil || r.System != nil || r.Tools != nil || l.System != nil || l.Tools != nil || c.FixedTokens != r.FixedTokens || c.ToolTokens+c.SystemTokens <= r.FixedTokens {
		return nil
	}
	return c
}

// KnownWindow returns the window, 0 if it is unknown.
func (l *Limits) KnownWindow() int {
	if l.From == api.WindowUnknown {
		return 0
	}
	return l.Window
}

// LearnedWindow returns the window to store for a model whose window is neither in the request
// nor in the price book, with the window's source. It returns 0 if nothing new was learned.
func (m *measured) LearnedWindow() (window int, from api.WindowFrom) {
	kept := m.prior.Calibration.Window
	switch {
	case m.asked.from == api.WindowRequest || m.asked.from == api.WindowPrices:
	case m.Learned && m.Refusal.Limit > 0 && m.Refusal.Limit != kept:
		return m.Refusal.Limit, api.WindowRefusal
	case m.asked.from == api.WindowServer && !m.Learned && m.req.ServerWindow > 0 && m.req.ServerWindow != kept:
		return m.req.ServerWindow, api.WindowServer
	}
	return 0, ""
}

// Scale turns counted tokens into calibrated ones, rounding up.
func (l *Limits) Scale(tokens int) int { return branch.Scaled(tokens, l.Ratio) }

// unscale is the inverse of Scale for budgets, rounding down.
func (l *Limits) unscale(tokens int) int { return int(float64(tokens) / l.Ratio) }

// Conversation returns the size of a projection, calibrated, without the fixed part.
func (l *Limits) Conversation(p *pagevm.Projection) int {
	n := 0
	for i := range p.Carry {
		n += l.Scale(p.Carry[i].Tokens)
	}
	for i := range p.Items {
		n += l.Scale(p.Items[i].Tokens)
	}
	return n
}

// Planned returns the whole input of a projection, calibrated and anchored.
func (m *measured) Planned(p *pagevm.Projection) int {
	return m.Fixed + m.Conversation(p) + m.AnchorShift(m.Prev.Anchor, p)
}

// AnchorShift returns the difference between the provider's count of the last measured prompt and
// the kernel's count, as long as p extends that prompt.
func (m *measured) AnchorShift(a branch.Anchor, p *pagevm.Projection) int {
	if a.Total == 0 || a.Generation != p.Generation || a.Fixed != m.Fixed || a.Items > len(p.Items) || a.Carry != len(p.Carry) {
		return 0
	}
	covered := pagevm.Projection{Carry: p.Carry, Items: p.Items[:a.Items]}
	return a.Total - m.Fixed - m.Conversation(&covered)
}

// Unanchored returns the size of a prompt by a measure that is the same before and after a cut.
func (m *measured) Unanchored(p *pagevm.Projection) int { return m.Fixed + m.Conversation(p) }

// maker makes pages, with the size that counts as large now.
func (m *measured) maker() *ingest.Maker {
	g := m.Maker
	g.Large = m.unscale(budget.LargeResult(m.Window))
	return &g
}

// newestTokens returns the size, in calibrated tokens, of the messages that every cut keeps. They
// are the atoms that are not closed and the opener of the loop.
func (m *measured) newestTokens() (n int) {
	for i := range m.Hosts {
		if m.mustStand(i) {
			n += m.scaledHost(i)
		}
	}
	return n
}

// newestItems returns the items that must be shown.
func (m *measured) newestItems() (items []pagevm.Item) {
	for i := range m.Hosts {
		for j := range m.Hosts[i].Segments {
			if s := &m.Hosts[i].Segments[j]; m.mustStand(i) {
				items = append(items, pagevm.Item{Kind: s.Kind, Page: s.Page, Tokens: s.At[s.First].Tokens})
			}
		}
	}
	return items
}

func (m *measured) scaledHost(i int) (n int) {
	for j := range m.Hosts[i].Segments {
		s := &m.Hosts[i].Segments[j]
		n += m.Scale(s.At[s.First].Tokens)
	}
	return n
}

// hashOf returns the hash of definitions.
func hashOf(tools []memkernel.Tool) (hash string) {
	for i := range tools {
		hash = ids.Hash(hash + tools[i].Raw)
	}
	return hash
}

// scaledFresh returns the size that the unsent messages would add.
func (m *measured) scaledFresh() (n int) {
	for i := m.Align.At; i < len(m.Hosts); i++ {
		n += m.scaledHost(i)
	}
	return n
}

// maxLargest limits the number of items that an error names if a prompt does not fit.
const maxLargest = 5

// LargestItems returns the largest of the fixed parts and of the items in lists, with descriptive
// names.
func (m *measured) LargestItems(lists ...[]pagevm.Item) []budget.Item {
	items := []budget.Item{{Name: api.RegionTools, Tokens: m.ToolTokens}, {Name: api.RegionSystem, Tokens: m.SystemTokens}}
	for _, list := range lists {
		for i := range list {
			items = append(items, budget.Item{Name: m.itemName(&list[i]), Tokens: m.Scale(list[i].Tokens)})
		}
	}
	slices.SortStableFunc(items, func(a, b budget.Item) int { return b.Tokens - a.Tokens })
	return items[:min(len(items), maxLargest)]
}

// itemName returns the page that an item shows, with its source file or the number of its media.
func (m *measured) itemName(it *pagevm.Item) string {
	name := KindOf(it) + " " + it.Page
	if page := m.Page(it.Page); page != nil && len(page.Refs) > 0 {
		return name + " (" + page.Refs[0].Path + ")"
	}
	for i := range m.Hosts {
		for j := range m.Hosts[i].Segments {
			s := &m.Hosts[i].Segments[j]
			if s.Page != it.Page {
				continue
			}
			if n := ingest.CountMedia(m.SegmentParts(i, s)); n > 0 {
				return name + " (with " + strconv.Itoa(n) + " media, which keep their size)"
			}
		}
	}
	return name
}

// blockList is the prompt's content in provider order. Tokens are calibrated.
func (m *measured) blockList(p *pagevm.Projection) []cachelayout.Block {
	fixed := make([]cachelayout.Block, 0, 2)
	if t := m.ToolTokens; t > 0 {
		fixed = append(fixed, cachelayout.Block{ID: "tools", Region: api.RegionTools, Hash: m.toolHash, Tokens: t, Positions: 1, Markable: true, Message: cachelayout.MessageTools})
	}
	if t := m.SystemTokens; t > 0 {
		fixed = append(fixed, cachelayout.Block{ID: "system", Region: api.RegionSystem, Hash: m.systemHash, Tokens: t, Positions: 1, Markable: true, Message: cachelayout.MessageSystem})
	}
	return branch.Blocks(fixed, p, m.Ratio)
}

// fault files a fault under the user's turn and the plan that caused it: the last one, which the
// model has acted on, unless the fault is this plan's own.
func (m *measured) fault(f fault.Fault) {
	if f.Turn == "" {
		f.Turn, _, _ = m.userTurn()
	}
	m.log.faults = append(m.log.faults, f)
}

// KindOf returns the kind of text that an item is a part of, in a word.
func KindOf(it *pagevm.Item) string {
	switch it.Kind {
	case pagevm.ItemResult:
		return string(pagevm.Evidence)
	case pagevm.ItemHost:
		return string(pagevm.Conversation)
	}
	return string(it.Kind)
}
