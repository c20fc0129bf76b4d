package paging

import (
	"maps"
	"math"
	"slices"

	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/paging"
)

// reference is the contract again, written for reading and not for speed: maps, and
// Listing 1 with every upgrade of every page ranked for every step. It knows one session and
// no oracle.
type reference struct {
	policy                policy
	budget, turn          int
	pages                 map[string]page
	level, limit          map[string]pagevm.Level
	last                  map[string]int
	loaded, dirty, missed map[string]bool
	calls                 map[string]string
	compacted             bool
	faults                map[paging.Code]int
	hits, alerts, tokens  int
}

func newReference(p policy, budget int) *reference {
	return &reference{policy: p, budget: budget, pages: map[string]page{}, level: map[string]pagevm.Level{}, limit: map[string]pagevm.Level{}, last: map[string]int{},
		loaded: map[string]bool{}, dirty: map[string]bool{}, calls: map[string]string{}, faults: map[paging.Code]int{}}
}

func (m *reference) add(p page) {
	m.pages[p.ID], m.limit[p.ID], m.last[p.ID], m.loaded[p.ID] = p, pagevm.Full, m.turn, true
}

func rule(p page) bool     { return p.Type == pagevm.Bootstrap || p.Type == pagevm.Constraint }
func fleeting(p page) bool { return p.Type == pagevm.Evidence || p.Type == pagevm.Conversation }

func (m *reference) hard(p page) bool { return p.Pin == paging.PinHard || m.policy.pin && rule(p) }

func (m *reference) floor(id string) pagevm.Level {
	p := m.pages[id]
	switch {
	case m.hard(p), rule(p) && m.loaded[id], p.Type == pagevm.Plan:
		return p.floor()
	case rule(p):
		return pagevm.Gone
	case !m.policy.resolve && fleeting(p):
		return min(p.has(pagevm.Pointer), m.limit[id])
	}
	return p.has(pagevm.Pointer)
}

func (m *reference) need(id string) pagevm.Level {
	p := m.pages[id]
	if !m.policy.resolve {
		return p.has(pagevm.Structured)
	}
	return p.floor()
}

func (m *reference) score(id string) float64 {
	p, w := m.pages[id], m.policy.weights
	if m.policy.upgrade == upgradeLRU {
		return float64(p.Tokens.Full) * math.Exp2(-16*float64(m.turn-m.last[id]))
	}
	b := w.recompute * p.RecomputeCost / (1 + p.RecomputeCost)
	switch {
	case m.hard(p):
		b += w.pinHard
	case p.Pin == paging.PinSoft:
		b += w.pinSoft
	}
	if p.Type == pagevm.Bootstrap {
		b += w.bootstrap
	}
	b += w.scope
	if age := m.turn - m.last[id]; age < 128 {
		b += w.recency * recencyAt[age]
	}
	if p.Type == pagevm.Plan {
		b += w.plan
	}
	return b
}

// worthShare is the share of a page's worth that a level carries.
var worthShare = [pagevm.Full + 1]float64{pagevm.Structured: 0.18, pagevm.Compressed: 0.56, pagevm.Full: 1}

// rises lists the levels that a page may rise to within room, with the worth that they add to the
// level from.
func (m *reference) rises(id string, from pagevm.Level, room int) (to []pagevm.Level, cost []int, gain []float64) {
	p := m.pages[id]
	for l := from + 1; l <= pagevm.Full; l++ {
		n := p.Tokens.At(l)
		if n == 0 || !slices.Contains(degraded(p.Type), l) || !m.policy.resolve && fleeting(p) && l > m.limit[id] || n-p.Tokens.At(from) > room {
			continue
		}
		to, cost, gain = append(to, l), append(cost, n-p.Tokens.At(from)), append(gain, m.score(id)*(worthShare[l]-worthShare[from]))
	}
	return to, cost, gain
}

// upgrade returns the best rise of a page: the one that is worth most per token. A page that is not
// shown yet comes in at its lowest level first, and rises at once if that is worth more per token.
func (m *reference) upgrade(id string, from pagevm.Level, room int) (best pagevm.Level, cost int, rank float64) {
	p := m.pages[id]
	to, costs, gains := m.rises(id, from, room)
	if len(to) == 0 || from == pagevm.Gone && to[0] != p.has(pagevm.Pointer) {
		return pagevm.Gone, 0, 0
	}
	at := 0
	for i := range to {
		more, dearer := gains[i]-gains[at], costs[i]-costs[at]
		if from == pagevm.Gone && more*float64(costs[at]) > gains[at]*float64(dearer) ||
			from != pagevm.Gone && gains[i]*float64(max(costs[at], 1)) > gains[at]*float64(max(costs[i], 1)) {
			at = i
		}
	}
	return to[at], costs[at], gains[at] / float64(max(costs[at], 1))
}

// assemble is Listing 1. It reports whether the minimum set fits; if not, the caller
// has nothing to compare.
func (m *reference) assemble(demand []string) bool {
	next, used := map[string]pagevm.Level{}, 0
	for id, p := range m.pages {
		next[id] = m.floor(id)
		used += p.Tokens.At(next[id])
	}
	if used > m.budget {
		return false
	}
	raise := func(id string, to pagevm.Level) {
		if cost := m.pages[id].Tokens.At(to) - m.pages[id].Tokens.At(next[id]); used+cost <= m.budget {
			next[id], used = to, used+cost
		}
	}
	if m.policy.prefetch {
		for _, id := range demand {
			if n := m.need(id); next[id] < n && (m.policy.resolve || !fleeting(m.pages[id]) || n <= m.limit[id]) {
				raise(id, n)
			}
		}
	}
	if m.policy.upgrade != upgradeNone {
		for m.raiseBest(next, &used) {
		}
	}
	for id := range m.pages {
		if !m.policy.resolve && fleeting(m.pages[id]) {
			m.limit[id] = min(m.limit[id], next[id])
		}
		if next[id] < m.level[id] && (m.policy.writebackCompaction || m.policy.writebackReset) {
			delete(m.dirty, id)
		}
	}
	m.level, m.tokens = next, used
	return true
}

// raiseBest makes the best of all upgrades that fit, and reports whether there was one. Of two equal
// upgrades it makes the one of the smaller page id.
func (m *reference) raiseBest(next map[string]pagevm.Level, used *int) bool {
	var page string
	var level pagevm.Level
	var cost int
	rank := -1.0
	for _, id := range slices.Sorted(maps.Keys(m.pages)) {
		if to, n, r := m.upgrade(id, next[id], m.budget-*used); to != pagevm.Gone && r > rank {
			page, level, cost, rank = id, to, n, r
		}
	}
	if page == "" {
		return false
	}
	next[page], *used = level, *used+cost
	return true
}

func (m *reference) fault(c paging.Code, id string) { m.faults[c]++; m.missed[id] = true }

func (m *reference) step(t *turn) bool {
	m.turn, m.missed = t.Turn, map[string]bool{}
	if m.policy.prefetch {
		for _, id := range t.Demand {
			m.last[id] = m.turn
		}
	}
	if !m.assemble(t.Demand) {
		return false
	}
	for id, p := range m.pages {
		if m.compacted && p.Type == pagevm.Bootstrap && !m.hard(p) && m.level[id] < p.floor() {
			m.fault(paging.PostCompactionBootstrap, id)
		}
	}
	m.compacted = false
	for _, c := range t.Calls {
		if before, ok := m.calls[c.Signature]; ok && (m.level[before] >= m.need(before) || m.missed[before]) {
			m.alerts++
		} else if ok {
			m.fault(paging.DuplicateTool, before)
		}
	}
	for _, id := range t.Demand {
		if m.level[id] >= m.need(id) {
			m.hits++
		} else if !m.missed[id] {
			m.fault(paging.Refetch, id)
		}
	}
	m.arrive(t)
	for _, ev := range t.Events {
		m.strike(ev)
	}
	return true
}

func (m *reference) arrive(t *turn) {
	show := func(id string) {
		m.level[id], m.limit[id], m.last[id], m.loaded[id] = pagevm.Full, pagevm.Full, m.turn, true
	}
	for _, c := range t.Calls {
		m.calls[c.Signature] = c.Page
		show(c.Page)
	}
	for _, id := range t.Demand {
		m.last[id] = m.turn
		if m.missed[id] {
			show(id)
		}
	}
	for _, id := range t.Dirty {
		m.dirty[id] = true
	}
}

func (m *reference) strike(ev event) {
	k := m.policy.knobs
	commits := ev == eventCompaction && k.writebackCompaction || (ev == eventReset || ev == eventSessionEnd) && k.writebackReset
	if ev == eventFlush {
		if k.writebackCompaction || k.writebackReset {
			clear(m.dirty)
		}
		return
	}
	if !commits {
		m.faults[paging.FlushMiss] += len(m.dirty)
	}
	clear(m.dirty)
	m.compacted = ev == eventCompaction
	for id, p := range m.pages {
		m.level[id], m.loaded[id] = pagevm.Gone, ev != eventCompaction && p.Type == pagevm.Bootstrap
		if fleeting(p) && !k.resolve {
			m.limit[id] = min(m.limit[id], pagevm.Pointer)
			if p.Tokens.Pointer == 0 {
				m.limit[id] = pagevm.Gone
			}
		}
	}
}
