// Package meter adds up the bills of a proxy's calls, and the cost of the same calls without it.
// For a session's calls both figures come from the session's record, which the kernel made with
// the bill. A call without a record has the same cost in both sums.
//
// The package only adds. It estimates nothing, plans nothing and sends nothing.
package meter

import (
	"maps"
	"slices"
	"sync"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/billing"
	"github.com/memkernel/memkernel/serve/proxy"
)

// Sum is the sum of some calls.
type Sum struct {
	// Calls is the number of billed calls.
	Calls int
	// Unpriced is the number of calls of models without a price. No cost includes these calls.
	Unpriced int
	// Usage is the sum of the billed tokens.
	Usage memkernel.Usage
	// BilledUSD is the price of the calls, answers included.
	BilledUSD float64
	// WithoutUSD estimates the cost of the same calls without memkernel. A call that is in no
	// session's record adds its billed cost.
	WithoutUSD float64
	// Estimated is the number of calls that are in a session's record.
	Estimated int
	// Cuts is the number of cuts.
	Cuts int
}

// Add adds another sum.
func (s *Sum) Add(o Sum) {
	s.Calls, s.Unpriced, s.Estimated, s.Cuts = s.Calls+o.Calls, s.Unpriced+o.Unpriced, s.Estimated+o.Estimated, s.Cuts+o.Cuts
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

// Meter adds up the calls of one run. [Meter.Take] is for [proxy.Options.Billed].
type Meter struct {
	prices *cachelayout.Book

	// Each, if not nil, is called with every call and its part of the sum. It must be set before
	// the first call.
	Each func(proxy.Billed, Sum)

	mu     sync.Mutex
	all    Sum
	models map[string]lack
}

// New makes a meter.
func New(prices *cachelayout.Book) *Meter {
	return &Meter{prices: prices, models: map[string]lack{}}
}

// Sum returns the sum so far.
func (m *Meter) Sum() Sum {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.all
}

// Bill returns the sum so far in the form of a proxy's status.
func (m *Meter) Bill() proxy.Bill {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := &m.all
	return proxy.Bill{Calls: s.Calls, Unpriced: s.Unpriced, BilledUSD: s.BilledUSD, WithoutUSD: s.WithoutUSD, Saved: s.Saved()}
}

// Take adds a call.
func (m *Meter) Take(b proxy.Billed) {
	s := m.take(b)
	if m.Each != nil {
		m.Each(b, s)
	}
}

func (m *Meter) take(b proxy.Billed) Sum {
	m.mu.Lock()
	defer m.mu.Unlock()
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
	if b.Plan != nil && b.Plan.Layout.Made != nil {
		s.Cuts = 1
	}
	m.lacks(&b, s.Unpriced > 0)
	m.all.Add(s)
	return s
}

// lack has the unknown properties of a model.
type lack struct{ window, price bool }

// Unknown names the models of the calls whose window or price was unknown at the model's last call,
// in order. A model without a window was planned without one. No cost includes the calls of a
// model without a price.
func (m *Meter) Unknown() (window, price []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, model := range slices.Sorted(maps.Keys(m.models)) {
		if m.models[model].window {
			window = append(window, model)
		}
		if m.models[model].price {
			price = append(price, model)
		}
	}
	return window, price
}

// maxModels bounds the models that are remembered, because clients choose the names.
const maxModels = 100

// lacks notes which properties of a call's model are unknown. A call without a plan says nothing
// about the window.
func (m *Meter) lacks(b *proxy.Billed, unpriced bool) {
	old, met := m.models[b.Model]
	if b.Model == "" || !met && len(m.models) >= maxModels {
		return
	}
	if b.Plan != nil {
		old.window = b.Plan.Budgets.WindowFrom == api.WindowUnknown
	}
	m.models[b.Model] = lack{old.window, unpriced}
}
