package paging

import (
	"cmp"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/pagevm"
)

// assemble decides a session's next prompt: the fixed region, the minimum set, the
// demand if it is known, then upgrades.
func (e *Engine) assemble(s *session, demand []string) {
	e.sort(s)
	e.seq++
	room := e.cfg.Budget - e.cfg.Fixed
	used, required := 0, 0
	for i := range s.entries {
		en := &s.entries[i]
		r := &e.rows[en.row]
		en.starved, en.score = false, e.score(r, en)
		en.next = e.minimum(r, en)
		n := int(r.tok[en.next])
		used += n
		if r.hard || en.hold != pagevm.Gone {
			required += n
		}
	}
	e.out.Decision, e.out.Minimum, e.out.Required = e.seq, used, required
	if used > room {
		used = e.squeeze(s, room)
	}
	if required > room {
		e.out.Over = required - room
	}
	used = e.prefetch(s, demand, used, room)
	used = e.raise(s, used, room)
	e.install(s)
	e.out.Tokens = used + e.cfg.Fixed
}

// minimum returns the lowest level at which a page may be shown now. It returns Gone for a lost
// rule that is not pinned.
func (e *Engine) minimum(r *row, en *entry) pagevm.Level {
	low := r.lowest
	switch {
	case r.hard:
		return max(r.floor, en.hold)
	case r.rule && en.loaded, r.page.Type == pagevm.Plan && !r.stale:
		low = r.floor
	case r.rule:
		low = pagevm.Gone
	}
	if !e.cfg.Policy.Resolve && low > en.limit {
		low = en.limit
	}
	return max(low, en.hold)
}

// score returns B, the present worth of a page.
func (e *Engine) score(r *row, en *entry) float64 {
	w := &e.cfg.Policy.Weights
	b := r.base
	if age := e.turn - int(en.last); age < len(recencyAt) {
		b += w.Recency * recencyAt[max(age, 0)]
	}
	if r.page.Type == pagevm.Plan && !r.stale {
		b += w.Plan
	}
	if en.future > 0 {
		b += w.Future * float64(en.future)
	}
	return b
}

// squeeze fills room with floors when not all floors fit: first pinned pages and work in flight,
// then the pages used in this turn, then the other pages by score. A page that does not fit is
// left out, and the next one is tried.
func (e *Engine) squeeze(s *session, room int) int {
	e.order = e.order[:0]
	for i := range s.entries {
		if s.entries[i].next != pagevm.Gone {
			e.order = append(e.order, int32(i))
		}
	}
	slices.SortFunc(e.order, func(a, b int32) int { return e.claim(&s.entries[a], &s.entries[b]) })
	used := 0
	for _, i := range e.order {
		en := &s.entries[i]
		r := &e.rows[en.row]
		n := int(r.tok[en.next])
		if used+n <= room {
			used += n
			continue
		}
		if r.hard || en.hold != pagevm.Gone {
			e.out.Short = append(e.out.Short, Short{Page: r.page.ID, Tokens: n})
		}
		if n := int(r.tok[r.floor]); en.next > r.floor && used+n <= room {
			en.next, used = r.floor, used+n
			continue
		}
		en.next, en.starved = pagevm.Gone, true
	}
	return used
}

// claim orders entries by their right to a place in the minimum set.
func (e *Engine) claim(a, b *entry) int {
	ra, rb := &e.rows[a.row], &e.rows[b.row]
	rank := func(r *row, en *entry) int {
		switch {
		case r.hard:
			return 0
		case en.hold != pagevm.Gone:
			return 1
		case e.cfg.Policy.Prefetch && int(en.last) == e.turn:
			return 2
		}
		return 3
	}
	ka, kb := rank(ra, a), rank(rb, b)
	if ka == kb && ka > 1 {
		if c := cmp.Compare(b.score, a.score); c != 0 {
			return c
		}
	}
	return cmp.Or(cmp.Compare(ka, kb), strings.Compare(ra.page.ID, rb.page.ID))
}

// prefetch raises the pages that the turn demands to the level that a demand needs.
func (e *Engine) prefetch(s *session, demand []string, used, room int) int {
	if !e.cfg.Policy.Prefetch {
		return used
	}
	for _, id := range demand {
		en := e.entry(s, id)
		if en == nil {
			continue
		}
		r := &e.rows[en.row]
		if en.next >= r.need || !e.cfg.Policy.Resolve && r.fleeting && r.need > en.limit {
			continue
		}
		if cost := int(r.tok[r.need] - r.tok[en.next]); used+cost <= room {
			en.next, en.starved, used = r.need, false, used+cost
		}
	}
	return used
}

// raise spends the rest of the room on upgrades, best rank first. It uses the same order as
// Select in pagevm.
func (e *Engine) raise(s *session, used, room int) int {
	if e.cfg.Policy.Upgrade == UpgradeNone {
		return used
	}
	e.climber = climber{e, s}
	left, heap := pagevm.Climb(&e.climber, len(s.entries), room-used, e.heap)
	e.heap = heap
	return room - left
}

// climber holds the entries of a session that upgrades may raise, in the order of their page ids.
type climber struct {
	e *Engine
	s *session
}

// Next returns the next step up of an entry, if there is one that fits.
func (c *climber) Next(i int32, room int) (pagevm.Step, bool) { return c.e.upgrade(c.s, i, room) }

// Take makes a step, unless another page of the group has the right to rise.
func (c *climber) Take(u pagevm.Step) pagevm.Taken {
	en := &c.s.entries[u.Entry]
	if !c.e.grant(&c.e.rows[en.row], en.row) {
		return pagevm.Barred
	}
	en.next = u.To
	return pagevm.Made
}

// grant gives a page of a group the right to rise, unless another page has it.
func (e *Engine) grant(r *row, i int32) bool {
	if r.group == 0 {
		return true
	}
	if g := &e.granted[r.group]; g.seq != e.seq {
		*g = grant{seq: e.seq, row: i}
	}
	return e.granted[r.group].row == i
}

// grant records which page of a group may rise in a decision.
type grant struct {
	seq uint64
	row int32
}

// upgrade returns the next step up of an entry, if there is one that fits.
func (e *Engine) upgrade(s *session, i int32, room int) (pagevm.Step, bool) {
	en := &s.entries[i]
	r := &e.rows[en.row]
	to := r.up[en.next]
	cost := int(r.tok[to] - r.tok[en.next])
	if to == pagevm.Gone || cost > room || r.stale {
		return pagevm.Step{}, false
	}
	if !e.cfg.Policy.Resolve && r.fleeting && to > en.limit {
		return pagevm.Step{}, false
	}
	rank := en.score * r.ratio[en.next]
	if e.cfg.Policy.Upgrade == UpgradeLRU {
		rank = 1 / float64(1+e.turn-int(en.last))
	}
	return pagevm.Step{Rank: rank, Cost: cost, Entry: i, To: to}, true
}

// adopt takes a prompt as it is: every page at the level that it has there.
func (e *Engine) adopt(s *session, p Prompt) {
	e.sort(s)
	e.seq++
	room := e.cfg.Budget - e.cfg.Fixed
	e.outside = &p
	e.out.Decision, e.out.Tokens = e.seq, p.Tokens
	for i := range s.entries {
		en := &s.entries[i]
		r := &e.rows[en.row]
		en.next = p.Levels[r.page.ID]
		n := int(r.tok[e.minimum(r, en)])
		e.out.Minimum += n
		if r.hard || en.hold != pagevm.Gone {
			e.out.Required += n
		}
	}
	e.out.Over = max(e.out.Required-room, 0)
	for i := range s.entries {
		en := &s.entries[i]
		r := &e.rows[en.row]
		// If all floors fit, a missing page is not missing for lack of room.
		en.starved = en.next == pagevm.Gone && (e.out.Over > 0 || !r.hard && e.out.Minimum > room)
		if r.hard && en.next < r.floor {
			e.out.Short = append(e.out.Short, Short{Page: r.page.ID, Tokens: int(r.tok[r.floor])})
		}
	}
	e.install(s)
}

// install applies the decision to the entries and records the changes.
func (e *Engine) install(s *session) {
	for i := range s.entries {
		en := &s.entries[i]
		r := &e.rows[en.row]
		if !e.cfg.Policy.Resolve && r.fleeting {
			en.limit = min(en.limit, en.next)
		}
		if en.next == en.level {
			continue
		}
		e.out.Changes = append(e.out.Changes, Change{Page: r.page.ID, From: en.level, To: en.next})
		if en.next < en.level {
			e.lower(s, en)
		}
		en.level = en.next
	}
}

// lower records the decision that lowered the entry, and commits the entry's page if the policy
// does so at evictions.
func (e *Engine) lower(s *session, en *entry) {
	en.drop, en.lost = e.seq, CauseSelection
	if k := &e.cfg.Policy.Knobs; k.WritebackCompaction || k.WritebackReset {
		e.commitPage(s, en.row, atEviction)
	}
}
