package replay

import (
	"context"
	"slices"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/transcript"
)

// Chooser decides which items a call shows. It is called for every call in turn.
type Chooser interface {
	Choose(req Request) Choice
}

// Request describes a call to a chooser.
type Request struct {
	// N is the number of the call. End is how many messages are before the call.
	N, End int
	// Cold reports whether the cache holds nothing of the last prompt's
	// messages.
	Cold bool
	// Room is the space for messages: window − reserve − fixed part.
	Room   int
	Window int
	Model  cachelayout.Model
}

// Choice lists the items that a call shows.
type Choice struct {
	Items []Item
	// Cut is the reason why something that was shown before is no longer shown, "" if everything
	// is still shown.
	Cut string
	// Stable is the number of items that the policy expects to survive the next cut unchanged. A
	// marker is put after these items. 0 means that the policy does not know.
	Stable int
	// summaries are the calls that wrote a summary for this choice.
	summaries []summaryCall
}

// summaryCall is a call that writes a summary. old counts the tokens it reads that an earlier
// call sent. fresh counts the tokens it reads that no call sent before. output counts the tokens
// it writes.
type summaryCall struct{ old, fresh, output int }

// Summarise adds a summarising call. fresh counts the tokens that the call reads and that no call
// has sent before.
func (c *Choice) Summarise(messages, fresh, output int) {
	c.summaries = append(c.summaries, summaryCall{messages - fresh, fresh, output})
}

// hostPolicy sends the items that a chooser chooses. It places markers as the kernel does, and
// bills the items by the same ledger.
type hostPolicy struct {
	rec    *Recording
	by     Chooser
	ledger cachelayout.Ledger
	images bool
}

func (p *hostPolicy) close() error { return nil }

func (p *hostPolicy) plan(_ context.Context, n int) (*prompt, error) {
	start := p.rec.Calls[n].Start
	req := p.request(n, start)
	c := p.by.Choose(req)
	pr := p.send(c, req, start)
	pr.call.Cut, pr.call.Cold = c.Cut, req.Cold
	pr.call.Violations = p.violations(c.Items, req.Model)
	for _, call := range c.summaries {
		pr.extra = add(pr.extra, p.summaryCall(call, req))
	}
	return pr, nil
}

func (p *hostPolicy) request(n int, start time.Time) Request {
	opt := &p.rec.Opt
	model := p.rec.Model(start)
	window := orElse(opt.ContextWindow, model.ContextWindow)
	cold, _ := p.ledger.Cold(model, p.identity(), start)
	return Request{N: n, End: p.rec.End(n), Cold: cold, Room: p.rec.Room(window), Window: window, Model: model}
}

// Room returns the space for messages in a window: all but the reserve and the fixed part.
func (r *Recording) Room(window int) int {
	if reserve := r.Opt.Reserve; reserve > 0 {
		return window - reserve - r.Opt.FixedTokens
	}
	return cachelayout.HostRoom(window, r.Opt.FixedTokens)
}

func (p *hostPolicy) identity() cachelayout.Identity {
	return cachelayout.Identity{Model: p.rec.Opt.Model, Images: p.images}
}

// send bills a prompt and advances the ledger.
func (p *hostPolicy) send(c Choice, req Request, start time.Time) *prompt {
	blocks := p.blocks(c.Items)
	p.images = cachelayout.HasImage(blocks)
	ttl := p.rec.Opt.TTL
	bps, _ := cachelayout.Layout(blocks, req.Model, p.ledger.Tail(blocks), cachelayout.LayoutOptions{Fixed: ttl, Messages: ttl})
	if c.Stable > 0 {
		bps = mark(bps, blocks, len(blocks)-len(c.Items)+c.Stable-1, req.Model)
	}
	bill := p.ledger.Bill(req.Model, p.identity(), blocks, bps, start)
	p.ledger = p.ledger.Advance(p.identity(), blocks, bps, start)
	pr := &prompt{bill: bill, extra: new(float64), call: Call{Overflow: bill.Total() > req.Room+p.rec.Opt.FixedTokens}}
	for i := range c.Items {
		pr.texts = append(pr.texts, c.Items[i].Text)
		pr.messages = append(pr.messages, c.Items[i].Msg)
	}
	return pr
}

// mark adds a marker at a block of the messages. If the request already has as many markers as
// allowed, it replaces one whose reason is WhyGuard or WhyCarry.
func mark(bps []cachelayout.Breakpoint, blocks []cachelayout.Block, at int, m cachelayout.Model) []cachelayout.Breakpoint {
	if len(bps) == 0 || slices.ContainsFunc(bps, func(b cachelayout.Breakpoint) bool { return b.Block == at }) {
		return bps
	}
	if len(bps) >= m.MaxBreakpoints {
		least := slices.IndexFunc(bps, func(b cachelayout.Breakpoint) bool {
			return b.Why == cachelayout.WhyGuard || b.Why == cachelayout.WhyCarry
		})
		if least < 0 {
			return bps
		}
		bps = slices.Delete(bps, least, least+1)
	}
	tokens := 0
	for i := range at + 1 {
		tokens += blocks[i].Tokens
	}
	if tokens < m.MinCacheTokens {
		return bps
	}
	bps = append(bps, cachelayout.Breakpoint{Block: at, Region: blocks[at].Region, Why: cachelayout.WhyGuard, TTL: bps[len(bps)-1].TTL, CumulativeTokens: tokens})
	slices.SortFunc(bps, func(a, b cachelayout.Breakpoint) int { return a.Block - b.Block })
	return bps
}

func (p *hostPolicy) blocks(items []Item) []cachelayout.Block {
	out := make([]cachelayout.Block, 0, len(items)+1)
	if n := p.rec.Opt.FixedTokens; n > 0 {
		out = append(out, cachelayout.Block{ID: "fixed", Region: cachelayout.RegionSystem, Hash: "fixed", Tokens: n,
			Positions: 1, Markable: true, Message: cachelayout.MessageSystem})
	}
	for i := range items {
		it := &items[i]
		out = append(out, cachelayout.Block{ID: it.hash, Region: it.region, Hash: it.hash,
			Tokens: it.Tokens, Positions: 1, Markable: true, Image: it.image, Message: i})
	}
	return out
}

// violations counts the rules of the provider that the request breaks.
func (p *hostPolicy) violations(items []Item, model cachelayout.Model) int {
	format := transcript.FormatAnthropic
	if model.Provider == "openai" {
		format = transcript.FormatOpenAI
	}
	req := &transcript.Request{Model: p.rec.Opt.Model, Messages: make([]memkernel.Message, 0, len(items))}
	for i := range items {
		req.Messages = append(req.Messages, items[i].Msg)
	}
	return len(transcript.Validate(format, req))
}

// summaryCall prices the call that writes a summary. The fixed part and the messages sent before
// cost the read price if the cache is warm, and the base price if it is cold. New messages cost
// the base price, and the summary is output.
func (p *hostPolicy) summaryCall(c summaryCall, req Request) *float64 {
	old := c.old + p.rec.Opt.FixedTokens
	if req.Cold {
		return req.Model.Cost(0, 0, 0, old+c.fresh, c.output)
	}
	return req.Model.Cost(old, 0, 0, c.fresh, c.output)
}
