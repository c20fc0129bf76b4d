package replay

import (
	"context"
	"strings"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/bench/recall"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/transcript"
)

// The figures of append-late, as harnesses commonly have them.
const (
	// lateReserve and lateReserveShare: the reserve is the smaller of the two.
	lateReserve      = 32_000
	lateReserveShare = 0.16
	// lateKeep bounds the newest atoms that a compaction keeps.
	lateKeep = 20_000
	// lateSummary is the size of its summary, and of the output that writes it.
	lateSummary = 2_000
)

// appendPolicy appends. Unless it is unbounded it compacts when the prompt would
// be over window − reserve.
type appendPolicy struct {
	opt       Options
	model     cachelayout.Model
	unbounded bool
	reserve   int
	tokens    []int // per message
	texts     []string
	msgs      []memkernel.Message

	from    int // the first message that stands
	summary int // compactions so far
	ledger  cachelayout.Ledger
}

func newAppendPolicy(opt Options, msgs []memkernel.Message, unbounded bool) (*appendPolicy, error) {
	c, err := kernel.NewMessageCounter(opt.Prices, opt.Model)
	if err != nil {
		return nil, err
	}
	p := &appendPolicy{opt: opt, unbounded: unbounded, msgs: msgs}
	for i := range msgs {
		p.tokens = append(p.tokens, c.Message(&msgs[i]))
		p.texts = append(p.texts, recall.TextOf(msgs[i]))
	}
	return p, nil
}

func (p *appendPolicy) close() error { return nil }

func (p *appendPolicy) plan(ctx context.Context, msgs []memkernel.Message, start time.Time) (*prompt, error) {
	model, known := p.opt.Prices.Lookup(p.opt.Model, start)
	if !known {
		model = cachelayout.Assume(p.opt.Model)
	}
	p.model = model
	window := p.opt.ContextWindow
	if window == 0 {
		window = model.ContextWindow
	}
	if p.reserve = p.opt.Reserve; p.reserve == 0 {
		p.reserve = min(lateReserve, int(lateReserveShare*float64(window)))
	}
	pr := &prompt{}
	extra := p.compactIfFull(len(msgs), window, start, pr)
	blocks := p.blocks(len(msgs))
	id := cachelayout.Identity{Model: p.opt.Model, Images: cachelayout.HasImage(blocks)}
	opt := cachelayout.LayoutOptions{Fixed: p.opt.TTL, Carry: p.opt.TTL, Messages: p.opt.TTL}
	bps := cachelayout.Breakpoints(blocks, model, p.ledger.Tail(blocks), opt)
	cold, _ := p.ledger.Cold(model, id, start)
	bill := p.ledger.Bill(model, id, blocks, bps, start)
	p.ledger = p.ledger.Advance(id, blocks, bps, start)
	pr.call = Call{Input: bill.Total(), Read: bill.ReadTokens, Write: bill.Write5mTokens + bill.Write1hTokens,
		Uncached: bill.UncachedTokens, CostUSD: add(bill.CostUSD, extra), Cold: cold, Cut: pr.call.Cut,
		Overflow: bill.Total() > window-p.reserve}
	pr.texts = p.texts[p.from:len(msgs)]
	return pr, nil
}

// compactIfFull compacts when the planned input is over window − reserve. It
// returns the price of the call that writes the summary: the old context at the
// read price if the cache is warm, at the base price if it is cold, and the
// summary as output.
func (p *appendPolicy) compactIfFull(n, window int, start time.Time, pr *prompt) *float64 {
	zero := 0.0
	if p.unbounded || p.total(p.from, n) <= window-p.reserve {
		return &zero
	}
	old := p.total(p.from, n-1)
	cold, _ := p.ledger.Cold(p.model, cachelayout.Identity{Model: p.opt.Model}, start)
	read, uncached := old, 0
	if cold {
		read, uncached = 0, old
	}
	keep := min(lateKeep, (window-p.reserve-p.opt.FixedTokens)/4)
	p.from = p.newestAtoms(n, keep)
	p.summary++
	pr.call.Cut = "full"
	return p.model.Cost(read, 0, 0, uncached, lateSummary)
}

// newestAtoms is where the newest whole atoms within keep tokens begin. The
// newest atom stands whatever its size.
func (p *appendPolicy) newestAtoms(n, keep int) int {
	atoms := transcript.Atoms(p.msgs[:n])
	from := n
	for i := len(atoms) - 1; i >= 0 && atoms[i].Start >= p.from; i-- {
		if from < n && p.sum(atoms[i].Start, n) > keep {
			break
		}
		from = atoms[i].Start
	}
	return from
}

func (p *appendPolicy) sum(from, to int) int {
	n := 0
	for _, t := range p.tokens[from:to] {
		n += t
	}
	return n
}

// total is the whole prompt that shows messages from to n.
func (p *appendPolicy) total(from, n int) int {
	t := p.opt.FixedTokens + p.sum(from, n)
	if p.summary > 0 {
		t += lateSummary
	}
	return t
}

func (p *appendPolicy) blocks(n int) []cachelayout.Block {
	var out []cachelayout.Block
	if p.opt.FixedTokens > 0 {
		out = append(out, cachelayout.Block{ID: "fixed", Region: cachelayout.RegionSystem, Hash: "fixed", Tokens: p.opt.FixedTokens,
			Positions: 1, Markable: true, Message: cachelayout.MessageSystem})
	}
	if p.summary > 0 {
		out = append(out, cachelayout.Block{ID: "summary", Region: cachelayout.RegionCarry, Hash: "summary" + strings.Repeat("'", p.summary),
			Tokens: lateSummary, Positions: 1, Markable: true})
	}
	for i := p.from; i < n; i++ {
		out = append(out, cachelayout.Block{ID: p.msgs[i].Key, Region: cachelayout.RegionWorkingSet, Hash: p.msgs[i].Key,
			Tokens: p.tokens[i], Positions: 1, Markable: true, Image: hasImage(&p.msgs[i]), Message: i})
	}
	return out
}

func hasImage(m *memkernel.Message) bool {
	for i := range m.Parts {
		if m.Parts[i].Kind == memkernel.PartImage {
			return true
		}
		if r := m.Parts[i].Result; r != nil {
			for j := range r.Content {
				if r.Content[j].Kind == memkernel.PartImage {
					return true
				}
			}
		}
	}
	return false
}

// add sums two costs; an unknown one makes the sum unknown.
func add(a, b *float64) *float64 {
	if a == nil || b == nil {
		return nil
	}
	s := *a + *b
	return &s
}
