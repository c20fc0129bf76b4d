// Package meter adds up the bills of a proxy's calls, and the cost of the same calls without it.
// For a session's calls both figures come from the session's record, which the kernel made with
// the bill. A call without a record has the same cost in both sums. Sums are kept in the state
// directory, in one document for each run of a proxy. They have no content of conversations.
//
// The package only adds. It estimates nothing, plans nothing and sends nothing.
package meter

import (
	"sync"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/billing"
	"github.com/memkernel/memkernel/serve/proxy"
)

// Sum is the sum of some calls.
type Sum struct {
	// Calls is the number of billed calls.
	Calls int `json:"calls"`
	// Unpriced is the number of calls of models without a price. No cost includes these calls.
	Unpriced int `json:"unpriced_calls"`
	// Usage is the sum of the billed tokens.
	Usage memkernel.Usage `json:"usage"`
	// BilledUSD is the price of the calls, answers included.
	BilledUSD float64 `json:"billed_usd"`
	// WithoutUSD estimates the cost of the same calls without memkernel. A call that is in no
	// session's record adds its billed cost.
	WithoutUSD float64 `json:"without_usd"`
	// Estimated is the number of calls that are in a session's record.
	Estimated int `json:"estimated_calls"`
	// Cuts is the number of cuts.
	Cuts int `json:"cuts"`
	// Recalled is the number of calls to which memory was added.
	Recalled int `json:"recalled"`
	// Restored is the number of pages that left the prompt and that the model brought back.
	Restored int `json:"restored"`
}

// Add adds another sum.
func (s *Sum) Add(o Sum) {
	s.Calls, s.Unpriced, s.Estimated = s.Calls+o.Calls, s.Unpriced+o.Unpriced, s.Estimated+o.Estimated
	s.Cuts, s.Recalled, s.Restored = s.Cuts+o.Cuts, s.Recalled+o.Recalled, s.Restored+o.Restored
	s.BilledUSD, s.WithoutUSD = s.BilledUSD+o.BilledUSD, s.WithoutUSD+o.WithoutUSD
	u, v := &s.Usage, &o.Usage
	u.InputTokens, u.CacheReadTokens, u.OutputTokens = u.InputTokens+v.InputTokens, u.CacheReadTokens+v.CacheReadTokens, u.OutputTokens+v.OutputTokens
	u.CacheWrite5mTokens, u.CacheWrite1hTokens = u.CacheWrite5mTokens+v.CacheWrite5mTokens, u.CacheWrite1hTokens+v.CacheWrite1hTokens
}

// Saved returns the share of the estimated cost that was not billed. It is negative if more than
// the estimate was billed. It is 0 if the estimate is 0.
func (s *Sum) Saved() float64 {
	if s.WithoutUSD <= 0 {
		return 0
	}
	return 1 - s.BilledUSD/s.WithoutUSD
}

// Meter adds up the calls of one run. Its Take is for [proxy.Options].
type Meter struct {
	prices *cachelayout.Book
	keep   store.Store
	name   string

	// Each, if not nil, is called with every call and its part of the sum. It must be set before
	// the first call.
	Each func(proxy.Billed, Sum)

	mu    sync.Mutex
	in    *time.Location // of days
	all   Sum            // of this process
	run   Run            // of the day
	lines map[string]*line
	err   error
}

// line is the newest plan of a conversation.
type line struct {
	recalled string          // the block of memory
	pages    map[string]bool // not shown in full
}

// New makes a meter of a run that begins now. The parameter command is the name of the program
// that is run. If keep is nil, the meter writes nothing. Days are days in the location of now.
// The calls of each day are a run of their own.
func New(prices *cachelayout.Book, keep store.Store, command string, now time.Time) *Meter {
	m := &Meter{in: now.Location(), prices: prices, keep: keep, run: Run{Started: now, Command: command}, lines: map[string]*line{}}
	m.name = runName(now)
	return m
}

// Sum returns the sum so far, and the first error that prevented a write of it.
func (m *Meter) Sum() (Sum, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.all, m.err
}

// Unknown names the models of today's calls whose window or price is unknown.
func (m *Meter) Unknown() Unknown {
	m.mu.Lock()
	defer m.mu.Unlock()
	return unknownIn(m.run)
}

// Bill returns the sum so far in the form of a proxy's status.
func (m *Meter) Bill() proxy.Bill {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := &m.all
	return proxy.Bill{Calls: s.Calls, Unpriced: s.Unpriced, BilledUSD: s.BilledUSD, WithoutUSD: s.WithoutUSD, Saved: s.Saved()}
}

// turn begins another run when a call belongs to a later day than the earlier calls. The caller
// must hold m.mu.
func (m *Meter) turn(began time.Time) {
	began = began.In(m.in)
	if began.Format(time.DateOnly) > m.run.Started.In(m.in).Format(time.DateOnly) {
		m.run, m.name = Run{Started: began, Command: m.run.Command}, runName(began)
	}
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
	s := Sum{Calls: 1, Usage: b.Usage}
	row := b.Row
	if row == nil {
		price, _ := m.prices.Lookup(b.Model, b.Began)
		u := b.Usage
		row = &billing.Call{BilledUSD: price.Cost(u.CacheReadTokens, u.CacheWrite5mTokens, u.CacheWrite1hTokens, u.InputTokens, u.OutputTokens)}
	}
	if row.BilledUSD == nil {
		s.Unpriced = 1
	} else {
		s.BilledUSD, s.WithoutUSD = *row.BilledUSD, *row.Without()
	}
	if row.WithoutUSD != nil {
		s.Estimated = 1
	}
	if b.Plan != nil {
		m.did(&b, &s)
	}
	m.run.lacks(&b, s.Unpriced > 0)
	m.run.Sum.Add(s)
	m.all.Add(s)
	m.run.Ended = b.Began
	if m.keep != nil {
		if err := m.run.write(m.keep, m.name); m.err == nil {
			m.err = err
		}
	}
	return s
}

// did fills in the effects of a call's plan.
func (m *Meter) did(b *proxy.Billed, s *Sum) {
	l := m.lines[b.Conversation]
	if l == nil {
		l = &line{}
		m.lines[b.Conversation] = l
	}
	if b.Plan.Layout.Made != nil {
		s.Cuts = 1
	}
	if page := b.Plan.Retrieval.Page; page != "" && page != l.recalled {
		s.Recalled = 1
	}
	l.recalled = b.Plan.Retrieval.Page
	s.Restored = l.restored(b.Plan.Reduced)
}

// restored counts the pages that were shortened before and are shown in full again.
func (l *line) restored(reduced []api.Reduced) (n int) {
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
