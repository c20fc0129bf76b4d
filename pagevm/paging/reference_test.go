package paging

import (
	"slices"
	"strings"

	"github.com/memkernel/memkernel/pagevm"
)

// reference is the contract again, written for reading and not for speed: maps, and
// Listing 1 with all upgrades made and sorted. It knows one session, no groups and
// no oracle.
type reference struct {
	policy                Policy
	budget, turn          int
	pages                 map[string]Page
	level, limit          map[string]pagevm.Level
	last                  map[string]int
	loaded, dirty, missed map[string]bool
	calls                 map[string]string
	compacted             bool
	faults                map[Code]int
	hits, alerts, tokens  int
}

func newReference(p Policy, budget int) *reference {
	return &reference{policy: p, budget: budget, pages: map[string]Page{}, level: map[string]pagevm.Level{}, limit: map[string]pagevm.Level{}, last: map[string]int{},
		loaded: map[string]bool{}, dirty: map[string]bool{}, calls: map[string]string{}, faults: map[Code]int{}}
}

func (m *reference) add(p Page) {
	m.pages[p.ID], m.limit[p.ID], m.last[p.ID], m.loaded[p.ID] = p, pagevm.Full, m.turn, true
}

func rule(p Page) bool     { return p.Type == pagevm.Bootstrap || p.Type == pagevm.Constraint }
func fleeting(p Page) bool { return p.Type == pagevm.Evidence || p.Type == pagevm.Conversation }

func (m *reference) hard(p Page) bool { return p.Pin == PinHard || m.policy.Pin && rule(p) }

func (m *reference) floor(id string) pagevm.Level {
	p := m.pages[id]
	switch {
	case m.hard(p), rule(p) && m.loaded[id], p.Type == pagevm.Plan:
		return p.Floor()
	case rule(p):
		return pagevm.Gone
	case !m.policy.Resolve && fleeting(p):
		return min(p.has(pagevm.Pointer), m.limit[id])
	}
	return p.has(pagevm.Pointer)
}

func (m *reference) need(id string) pagevm.Level {
	p := m.pages[id]
	if !m.policy.Resolve {
		return p.has(pagevm.Structured)
	}
	return p.Floor()
}

func (m *reference) score(id string) float64 {
	p, w := m.pages[id], m.policy.Weights
	b := w.Recompute * p.RecomputeCost / (1 + p.RecomputeCost)
	switch {
	case m.hard(p):
		b += w.PinHard
	case p.Pin == PinSoft:
		b += w.PinSoft
	}
	if p.Type == pagevm.Bootstrap {
		b += w.Bootstrap
	}
	b += w.Scope
	if age := m.turn - m.last[id]; age < 128 {
		b += w.Recency * recencyAt[age]
	}
	if p.Type == pagevm.Plan {
		b += w.Plan
	}
	return b
}

type refUpgrade struct {
	id       string
	from, to pagevm.Level
	rank     float64
}

// upgrades makes every step of every page from its level up.
func (m *reference) upgrades(next map[string]pagevm.Level) (all []refUpgrade) {
	for id, p := range m.pages {
		from, rank := next[id], 1e300
		for to := from + 1; to <= pagevm.Full; to++ {
			if p.Tokens.At(to) == 0 || !slices.Contains(pagevm.Path(p.Type), to) || !m.policy.Resolve && fleeting(p) && to > m.limit[id] {
				continue
			}
			ratio := (levelShare[to] - levelShare[from]) / float64(max(p.Tokens.At(to)-p.Tokens.At(from), 1))
			r := m.score(id) * ratio
			if m.policy.Upgrade == UpgradeLRU {
				r = 1 / float64(1+m.turn-m.last[id])
			}
			rank = min(rank, r)
			all = append(all, refUpgrade{id, from, to, rank})
			from = to
		}
	}
	slices.SortFunc(all, func(a, b refUpgrade) int {
		switch {
		case a.rank != b.rank && a.rank > b.rank:
			return -1
		case a.rank != b.rank:
			return 1
		case a.id != b.id:
			return strings.Compare(a.id, b.id)
		}
		return int(a.to) - int(b.to)
	})
	return all
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
	if m.policy.Prefetch {
		for _, id := range demand {
			if n := m.need(id); next[id] < n && (m.policy.Resolve || !fleeting(m.pages[id]) || n <= m.limit[id]) {
				raise(id, n)
			}
		}
	}
	if m.policy.Upgrade != UpgradeNone {
		for _, u := range m.upgrades(next) {
			if next[u.id] == u.from {
				raise(u.id, u.to)
			}
		}
	}
	for id := range m.pages {
		if !m.policy.Resolve && fleeting(m.pages[id]) {
			m.limit[id] = min(m.limit[id], next[id])
		}
		if next[id] < m.level[id] && (m.policy.WritebackCompaction || m.policy.WritebackReset) {
			delete(m.dirty, id)
		}
	}
	m.level, m.tokens = next, used
	return true
}

func (m *reference) fault(c Code, id string) { m.faults[c]++; m.missed[id] = true }

func (m *reference) step(t *Turn) bool {
	m.turn, m.missed = t.Turn, map[string]bool{}
	if m.policy.Prefetch {
		for _, id := range t.Demand {
			m.last[id] = m.turn
		}
	}
	if !m.assemble(t.Demand) {
		return false
	}
	for id, p := range m.pages {
		if m.compacted && p.Type == pagevm.Bootstrap && !m.hard(p) && m.level[id] < p.Floor() {
			m.fault(PostCompactionBootstrap, id)
		}
	}
	m.compacted = false
	for _, c := range t.Calls {
		if before, ok := m.calls[c.Signature]; ok && (m.level[before] >= m.need(before) || m.missed[before]) {
			m.alerts++
		} else if ok {
			m.fault(DuplicateTool, before)
		}
	}
	for _, id := range t.Demand {
		if m.level[id] >= m.need(id) {
			m.hits++
		} else if !m.missed[id] {
			m.fault(Refetch, id)
		}
	}
	m.arrive(t)
	for _, ev := range t.Events {
		m.strike(ev)
	}
	return true
}

func (m *reference) arrive(t *Turn) {
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

func (m *reference) strike(ev Event) {
	k := m.policy.Knobs
	commits := ev == EventCompaction && k.WritebackCompaction || (ev == EventReset || ev == EventSessionEnd) && k.WritebackReset
	if ev == EventFlush {
		if k.WritebackCompaction || k.WritebackReset {
			clear(m.dirty)
		}
		return
	}
	if !commits {
		m.faults[FlushMiss] += len(m.dirty)
	}
	clear(m.dirty)
	m.compacted = ev == EventCompaction
	for id, p := range m.pages {
		m.level[id], m.loaded[id] = pagevm.Gone, ev != EventCompaction && p.Type == pagevm.Bootstrap
		if fleeting(p) && !k.Resolve {
			m.limit[id] = min(m.limit[id], pagevm.Pointer)
			if p.Tokens.Pointer == 0 {
				m.limit[id] = pagevm.Gone
			}
		}
	}
}
