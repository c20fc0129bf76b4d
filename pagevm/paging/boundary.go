package paging

import (
	"slices"

	"github.com/memkernel/memkernel/pagevm"
)

// atEviction is the commit point of a page that is lowered while it is dirty. The other commit
// points have the names of their events.
const atEviction = "eviction"

// atTurn is the commit point of a prompt that somebody else assembled.
const atTurn = "turn"

// markDirty marks a page as dirty: it was changed, and only the context holds the change.
func (e *Engine) markDirty(s *session, id string) {
	i := e.ids[id]
	r := &e.rows[i]
	r.page.Version++
	for _, d := range s.dirty {
		if d.row == i {
			return
		}
	}
	s.dirty = append(s.dirty, dirt{row: i, base: r.committed})
}

// strike applies an event to a session.
func (e *Engine) strike(s *session, ev Event) {
	e.seq++
	k := &e.cfg.Policy.Knobs
	commits := k.WritebackReset && e.outside == nil
	switch ev {
	case EventFlush:
		// A flush destroys nothing, so nothing is lost without a commit.
		if k.WritebackCompaction || k.WritebackReset {
			e.commitAll(s, string(ev))
		}
		return
	case EventCompaction:
		commits = k.WritebackCompaction && e.outside == nil
	}
	if commits {
		e.commitAll(s, string(ev))
	} else {
		e.lose(s, Cause(ev))
	}
	e.destroy(s, ev)
}

// settle commits the changes of a turn that were durable at the turn's end.
func (e *Engine) settle(s *session, p *Prompt) {
	s.dirty = slices.DeleteFunc(s.dirty, func(d dirt) bool {
		r := &e.rows[d.row]
		c := Commit{Page: r.page.ID, At: atTurn, Version: r.page.Version}
		switch {
		case slices.Contains(p.Lost, r.page.ID):
			return false
		case slices.Contains(p.Rejected, r.page.ID):
			c.Rejected = DestructiveOp
			e.totals.Rejected++
		default:
			r.committed = r.page.Version
			e.totals.Commits++
		}
		e.out.Commits = append(e.out.Commits, c)
		return true
	})
}

// lose counts dirty pages that are gone now.
func (e *Engine) lose(s *session, why Cause) {
	for _, d := range s.dirty {
		e.note(Fault{Code: FlushMiss, Turn: e.turn, Session: s.name, Page: e.rows[d.row].page.ID, Cause: why, Decision: e.seq})
	}
	s.dirty = s.dirty[:0]
}

// destroy takes everything out of the context except work in flight. After a reset the host loads
// the rules as at every start of a session. After a compaction it does not load them.
func (e *Engine) destroy(s *session, ev Event) {
	s.compacted = ev == EventCompaction
	for i := range s.entries {
		en := &s.entries[i]
		r := &e.rows[en.row]
		en.loaded = ev != EventCompaction && r.page.Type == pagevm.Bootstrap
		if en.hold != pagevm.Gone {
			continue
		}
		if r.fleeting {
			en.limit = min(en.limit, e.handle(r))
		}
		en.level, en.drop, en.lost = pagevm.Gone, e.seq, Cause(ev)
	}
}

// handle returns the level that a page keeps when its content is destroyed.
func (e *Engine) handle(r *row) pagevm.Level {
	switch {
	case e.cfg.Policy.Resolve:
		return pagevm.Full
	case r.lowest == pagevm.Pointer:
		return pagevm.Pointer
	}
	return pagevm.Gone
}

func (e *Engine) commitAll(s *session, at string) {
	for _, d := range s.dirty {
		e.commit(d, at)
	}
	s.dirty = s.dirty[:0]
}

// commitPage commits one page if it is dirty in the session.
func (e *Engine) commitPage(s *session, i int32, at string) {
	for n, d := range s.dirty {
		if d.row == i {
			e.commit(d, at)
			s.dirty = append(s.dirty[:n], s.dirty[n+1:]...)
			return
		}
	}
}

// commit makes a change durable, unless another session committed the same page
// since the change was begun.
func (e *Engine) commit(d dirt, at string) {
	r := &e.rows[d.row]
	c := Commit{Page: r.page.ID, At: at, Version: r.page.Version}
	if d.base != r.committed {
		c.Rejected = DestructiveOp
		e.totals.Rejected++
	} else {
		r.committed = r.page.Version
		e.totals.Commits++
	}
	e.out.Commits = append(e.out.Commits, c)
}
