// Package meter adds up what a proxy's calls were billed, and estimates what they would have
// cost without it. The estimate is what a replay has for a client that appends until its
// window is full and then summarises, over the very requests that the client wrote, by the
// same price book: it is no measurement. Sums are kept in the state directory, a document
// for each run of a proxy; they hold no content.
//
// It prices and adds: it plans nothing, sends nothing, and changes nothing of what is sent.
package meter

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/outline"
	"github.com/memkernel/memkernel/replay"
	"github.com/memkernel/memkernel/serve/proxy"
)

// Sum is what calls came to.
type Sum struct {
	// Calls were billed. Unpriced are those of models without a price: they are in no cost.
	Calls    int `json:"calls"`
	Unpriced int `json:"unpriced_calls"`
	// Usage adds up what was billed, in tokens; BilledUSD is its price, answers included.
	Usage     memkernel.Usage `json:"usage"`
	BilledUSD float64         `json:"billed_usd"`
	// WithoutUSD is the estimate for the same calls. Those that were not planned cost the
	// same in both; Estimated are the others.
	WithoutUSD float64 `json:"without_usd"`
	Estimated  int     `json:"estimated_calls"`
	// Cuts were made, Recalled are the calls that memory was brought to, Restored are pages
	// that the model had brought back after they left.
	Cuts     int `json:"cuts"`
	Recalled int `json:"recalled"`
	Restored int `json:"restored"`
	// KeptOutTokens are about those that clients wrote and that were not sent.
	KeptOutTokens int `json:"kept_out_tokens"`
}

// Add adds another sum.
func (s *Sum) Add(o Sum) {
	s.Calls, s.Unpriced, s.Estimated = s.Calls+o.Calls, s.Unpriced+o.Unpriced, s.Estimated+o.Estimated
	s.Cuts, s.Recalled, s.Restored = s.Cuts+o.Cuts, s.Recalled+o.Recalled, s.Restored+o.Restored
	s.KeptOutTokens += o.KeptOutTokens
	s.BilledUSD, s.WithoutUSD = s.BilledUSD+o.BilledUSD, s.WithoutUSD+o.WithoutUSD
	u, v := &s.Usage, &o.Usage
	u.InputTokens, u.CacheReadTokens, u.OutputTokens = u.InputTokens+v.InputTokens, u.CacheReadTokens+v.CacheReadTokens, u.OutputTokens+v.OutputTokens
	u.CacheWrite5mTokens, u.CacheWrite1hTokens = u.CacheWrite5mTokens+v.CacheWrite5mTokens, u.CacheWrite1hTokens+v.CacheWrite1hTokens
}

// Saved is the share of the estimate that was not billed, negative where more was; 0 of
// nothing.
func (s *Sum) Saved() float64 {
	if s.WithoutUSD <= 0 {
		return 0
	}
	return 1 - s.BilledUSD/s.WithoutUSD
}

// Meter adds up the calls of one run. Its Take is for [proxy.Options].
type Meter struct {
	prices *cachelayout.Book
	window int
	keep   store.Store
	name   string

	// Each, if not nil, is told of every call and what it adds to the sum. It is set before
	// the first.
	Each func(proxy.Billed, Sum)
	// Day, if not nil, is told once of every day that has been recorded by whatever process:
	// with the first call of a later day, and by Close of the day that is not over yet. It is
	// set before the first call.
	Day func(d Day, soFar bool)

	mu    sync.Mutex
	in    *time.Location // of days
	day   string         // of the newest call
	all   Sum            // of this process
	run   Run            // of the day
	lines map[string]*line
	err   error
}

// line is a conversation as it would have been without.
type line struct {
	model   string
	without *replay.Live
	msgs    []uint64
	// ratio is how many billed tokens a counted one is, taken from calls that show all that
	// the client sent.
	ratio    float64
	recalled string          // the block of the plan before
	pages    map[string]bool // not shown in full by the plan before
}

// New makes a meter of a run that begins now. Window is as in [proxy.Options]; command names
// what is run. A keep of nil writes nothing down. Days are those of now's location; a day's
// calls are a run of their own.
func New(prices *cachelayout.Book, window int, keep store.Store, command string, now time.Time) *Meter {
	m := &Meter{in: now.Location(), prices: prices, window: window, keep: keep, run: Run{Started: now, Command: command}, lines: map[string]*line{}}
	m.name = runName(now)
	return m
}

// Sum is what there is so far; the error is the first that kept it from being written down.
func (m *Meter) Sum() (Sum, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.all, m.err
}

// Bill is the sum so far, as the status of a proxy has it.
func (m *Meter) Bill() proxy.Bill {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := &m.all
	return proxy.Bill{Calls: s.Calls, Unpriced: s.Unpriced, BilledUSD: s.BilledUSD, WithoutUSD: s.WithoutUSD, Saved: s.Saved()}
}

// Close lets go of what estimating holds, and has today told of. The error is the first that
// kept something from being written down.
func (m *Meter) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.all.Calls > 0 {
		m.failed(m.tell(true))
	}
	for _, l := range m.lines {
		l.close()
	}
	m.lines = map[string]*line{}
	return m.err
}

// Take takes a call in.
func (m *Meter) Take(b proxy.Billed) {
	s := m.take(b)
	if m.Each != nil {
		m.Each(b, s)
	}
}

func (m *Meter) take(b proxy.Billed) Sum {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.turn(b.Began)
	s := Sum{Calls: 1, Usage: b.Usage, KeptOutTokens: max(b.WholeTokens-b.Usage.InputTotal(), 0)}
	price, _ := m.prices.Lookup(b.Model, b.Began)
	u := b.Usage
	usd := price.Cost(u.CacheReadTokens, u.CacheWrite5mTokens, u.CacheWrite1hTokens, u.InputTokens, u.OutputTokens)
	if usd == nil {
		s.Unpriced = 1
	} else {
		s.BilledUSD, s.WithoutUSD = *usd, *usd
		if b.Conversation != "" && b.Body != nil {
			m.estimate(&b, &s)
		}
	}
	m.run.Sum.Add(s)
	m.all.Add(s)
	m.run.Ended = b.Began
	if m.keep != nil {
		m.failed(m.run.write(m.keep, m.name))
	}
	return s
}

// estimate fills in what a call would have cost without, and what its plan did.
func (m *Meter) estimate(b *proxy.Billed, s *Sum) {
	l := m.line(b)
	if l == nil {
		return
	}
	if p := b.Plan; p != nil {
		if p.Layout.Made != nil {
			s.Cuts = 1
		}
		if p.Retrieval.Page != "" && p.Retrieval.Page != l.recalled {
			s.Recalled = 1
		}
		l.recalled = p.Retrieval.Page
		s.Restored = l.restored(p.Reduced)
	}
	sent, err := l.without.Plan(context.Background(), b.Body.Messages, b.Began)
	if err != nil {
		l.close() // it is begun anew with the next call
		delete(m.lines, b.Conversation)
		return
	}
	if b.Plan != nil && len(b.Plan.Reduced) == 0 && sent.Call.Input > 0 {
		l.ratio = min(max(float64(b.Usage.InputTotal())/float64(sent.Call.Input), leastRatio), mostRatio)
	}
	if usd := sent.CostUSD(0); usd != nil {
		price, _ := m.prices.Lookup(b.Model, b.Began)
		if output := price.Cost(0, 0, 0, 0, b.Usage.OutputTokens); output != nil {
			s.WithoutUSD, s.Estimated = *usd*l.ratio+*output, 1
		}
	}
}

// The ratios of billed and counted tokens that are believed.
const (
	leastRatio = 0.5
	mostRatio  = 2
)

// restored counts the pages that stood shortened before and stand in full again.
func (l *line) restored(reduced []outline.Reduced) (n int) {
	now := make(map[string]bool, len(reduced))
	for i := range reduced {
		now[reduced[i].Page] = true
	}
	for id := range l.pages {
		if !now[id] {
			n++
		}
	}
	l.pages = now
	return n
}

// line is a call's conversation, begun anew where the client took back or rewrote what it
// had sent: without memkernel it would have paid for that as well. Nil where nothing says
// how large tools and system prompt are.
func (m *Meter) line(b *proxy.Billed) *line {
	msgs := b.Messages
	l := m.lines[b.Conversation]
	if l != nil && l.model == b.Model && len(l.msgs) <= len(msgs) && slices.Equal(l.msgs, msgs[:len(l.msgs)]) {
		l.msgs = msgs
		return l
	}
	if b.Plan == nil {
		return nil
	}
	fixed := 0
	for _, r := range b.Plan.Regions {
		if r.Name == outline.RegionTools || r.Name == outline.RegionSystem {
			fixed += r.Tokens
		}
	}
	without, err := replay.NewLive(context.Background(), replay.AppendLate, replay.Options{Model: b.Model, ContextWindow: m.window, FixedTokens: fixed, Prices: m.prices})
	if err != nil {
		return nil
	}
	fresh := &line{model: b.Model, without: without, msgs: msgs, ratio: 1}
	if l != nil {
		fresh.ratio, fresh.recalled, fresh.pages = l.ratio, l.recalled, l.pages
		l.close()
	}
	m.lines[b.Conversation] = fresh
	return fresh
}

func (l *line) close() { l.without.Close() }
