package paging

import (
	"slices"

	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/journal"
	"github.com/memkernel/memkernel/pagevm/paging"
)

// Fault is one observed failure.
type Fault struct {
	Code    paging.Code `json:"code"`
	Turn    int         `json:"turn"`
	Session string      `json:"session"`
	// Page is the page that was missing. It is "" for a silent recall, which has a Query instead.
	Page  string       `json:"page,omitempty"`
	Query string       `json:"query,omitempty"`
	Cause paging.Cause `json:"cause"`
	// Decision is the number of the decision or boundary that caused the fault.
	Decision uint64 `json:"decision"`
	// BudgetInsufficient marks a fault that no policy could have prevented: the
	// minimum set did not fit.
	BudgetInsufficient bool `json:"budget_insufficient,omitempty"`
}

// The causes of faults in addition to the kernel's. A reset and a session's end are causes, too.
const (
	causeDenied  paging.Cause = "DENIED"
	causeBackend paging.Cause = "BACKEND_ERROR"
)

// Change is one page's move in a decision or at a boundary.
type Change struct {
	Page string       `json:"page"`
	From pagevm.Level `json:"from"`
	To   pagevm.Level `json:"to"`
}

// Short is a pinned page or work in flight that did not fit.
type Short struct {
	Page   string `json:"page"`
	Tokens int    `json:"tokens"`
}

// Commit is a change that became durable, or was rejected.
type Commit struct {
	Page string `json:"page"`
	// At is the commit point: eviction, turn, or an event.
	At      Event `json:"at"`
	Version int   `json:"version"`
	// Rejected is the reason code of a change that was refused and kept.
	Rejected string `json:"rejected,omitempty"`
}

// Outcome is the result of a turn.
type Outcome struct {
	// Decision is the number of the assembly. The boundaries of the turn have the following
	// numbers.
	Decision uint64 `json:"decision"`
	// Tokens is the size of the prompt.
	Tokens int `json:"tokens"`
	// Minimum is the sum of the floors of all pages.
	Minimum int `json:"minimum"`
	// Required is the sum of the floors of pinned pages and of work in flight.
	Required int `json:"required"`
	// Over is the number of tokens that Required exceeds the budget by, 0 if it fits.
	Over int `json:"over,omitempty"`
	// Short lists the pages of Required that were left out. It is empty if Required fits.
	Short   []Short  `json:"short,omitempty"`
	Changes []Change `json:"changes,omitempty"`
	Hits    int      `json:"hits"`
	// Alerts are the pages whose call ran again although they were resident.
	Alerts  []string `json:"alerts,omitempty"`
	Faults  []Fault  `json:"faults,omitempty"`
	Commits []Commit `json:"commits,omitempty"`
}

// Totals holds the counts of a run.
type Totals struct {
	paging.Counts
	Turns int
	// Insufficient counts the faults that no policy could have prevented.
	Insufficient int
	// Cold counts demands for pages that were never in the prompt. They are neither hits nor
	// faults.
	Cold, Commits, Rejected int
	// Tokens is the sum over all prompts.
	Tokens int64
}

// observe judges the prompt as assembled: it reports the pages that the model needed and did not
// find there.
func (e *engine) observe(s *session, t *Turn) {
	for _, short := range e.out.Short {
		if en := s.of[short.Page]; en.hard && en.level < en.floor {
			e.fault(s, en, paging.PinnedInvariantMiss)
		}
	}
	for _, en := range s.entries {
		if s.compacted && en.Type == pagevm.Bootstrap && !en.hard && !en.stale && en.level < en.floor {
			e.fault(s, en, paging.PostCompactionBootstrap)
		}
	}
	s.compacted = false
	for _, c := range t.Calls {
		if en := s.of[s.calls[c.Signature]]; en != nil {
			e.again(s, en)
		}
	}
	for _, id := range t.Demand {
		e.demand(s, id)
	}
}

// again judges a tool call that ran before: an alert if its result is resident, else a fault.
func (e *engine) again(s *session, en *entry) {
	if en.level < en.need && en.fault != e.seq {
		e.fault(s, en, paging.DuplicateTool)
		return
	}
	e.out.Alerts = append(e.out.Alerts, en.ID)
	e.totals.Alerts++
}

// demand judges a page that the call needs. A page that already faulted in this turn, or that
// only arrives in it, is neither a hit nor a fault.
func (e *engine) demand(s *session, id string) {
	en := s.of[id]
	switch {
	case en == nil:
		e.totals.Cold++
	case en.level >= en.need:
		e.out.Hits++
		e.totals.Hits++
	case en.fault != e.seq:
		e.fault(s, en, paging.Refetch)
	}
}

// fault notes a failure of the prompt just assembled.
func (e *engine) fault(s *session, en *entry, code paging.Code) {
	f := Fault{Code: code, Turn: e.turn, Session: s.name, Page: en.ID, Cause: en.lost, Decision: en.drop}
	if en.starved {
		f.Cause, f.Decision, f.BudgetInsufficient = paging.CauseBudget, e.seq, true
		e.totals.Insufficient++
	}
	if f.Cause == "" {
		f.Cause, f.Decision = paging.CauseSelection, e.seq
	}
	en.fault = e.seq
	e.note(f)
}

func (e *engine) note(f Fault) {
	e.out.Faults = append(e.out.Faults, f)
	e.totals.Faults[f.Code]++
}

// recall judges a lookup. It reports a denied or failed lookup with an empty result as a fault,
// since the model can't see the failure.
func (e *engine) recall(s *session, r Recall) {
	why := map[string]paging.Cause{RecallDenied: causeDenied, RecallError: causeBackend}[r.Outcome]
	if why != "" {
		e.note(Fault{Code: paging.SilentRecall, Turn: e.turn, Session: s.name, Query: r.Query, Cause: why, Decision: e.out.Decision})
	}
}

// markDirty marks a page as dirty: it was changed, and only the context holds the change.
func (e *engine) markDirty(s *session, p *tablePage) {
	p.version++
	if !slices.ContainsFunc(s.dirty, func(d dirt) bool { return d.page == p }) {
		s.dirty = append(s.dirty, dirt{page: p, base: p.committed})
	}
}

// strike applies an event to a session. What the kernel made durable has been settled before.
func (e *engine) strike(s *session, ev Event, p *prompt) {
	e.seq++
	k := &e.policy.Knobs
	commits := k.WritebackReset
	switch ev {
	case EventFlush: // destroys nothing, so nothing is lost without a commit
		if k.WritebackCompaction || k.WritebackReset {
			e.commitAll(s, ev)
		}
		return
	case EventCompaction:
		commits = k.WritebackCompaction
	}
	if commits && p == nil {
		e.commitAll(s, ev)
	}
	for _, d := range s.dirty {
		e.note(Fault{Code: paging.FlushMiss, Turn: e.turn, Session: s.name, Page: d.page.ID, Cause: paging.Cause(ev), Decision: e.seq})
	}
	s.dirty = nil
	e.destroy(s, ev)
}

// destroy takes everything out of the context except work in flight. After a reset the host loads
// the rules as at every start of a session. After a compaction it does not load them.
func (e *engine) destroy(s *session, ev Event) {
	s.compacted = ev == EventCompaction
	for _, en := range s.entries {
		en.loaded = ev != EventCompaction && en.Type == pagevm.Bootstrap
		if en.hold != pagevm.Gone {
			continue
		}
		if en.fleeting && !e.policy.Resolve {
			handle := pagevm.Gone
			if en.lowest == pagevm.Pointer {
				handle = pagevm.Pointer
			}
			en.limit = min(en.limit, handle)
		}
		en.level, en.drop, en.lost = pagevm.Gone, e.seq, paging.Cause(ev)
	}
}

// The commit points that are no events: a dirty page is lowered, or the kernel assembled the
// prompt.
const (
	atEviction Event = "eviction"
	atTurn     Event = "turn"
)

// settle commits the changes of a turn that the kernel had made durable at the turn's end.
func (e *engine) settle(s *session, p *prompt) {
	s.dirty = slices.DeleteFunc(s.dirty, func(d dirt) bool {
		if slices.Contains(p.lost, d.page.ID) {
			return false
		}
		e.commit(d, atTurn, slices.Contains(p.rejected, d.page.ID))
		return true
	})
}

// commitAll makes the changes of a session durable. A change is rejected if another session has
// committed the same page since the change was begun.
func (e *engine) commitAll(s *session, at Event) {
	for _, d := range s.dirty {
		e.commit(d, at, d.base != d.page.committed)
	}
	s.dirty = nil
}

// commitPage commits one page if it is dirty in the session.
func (e *engine) commitPage(s *session, p *tablePage) {
	s.dirty = slices.DeleteFunc(s.dirty, func(d dirt) bool {
		if d.page == p {
			e.commit(d, atEviction, d.base != p.committed)
		}
		return d.page == p
	})
}

func (e *engine) commit(d dirt, at Event, rejected bool) {
	c := Commit{Page: d.page.ID, At: at, Version: d.page.version}
	if rejected {
		c.Rejected = journal.CodeDestructive
		e.totals.Rejected++
	} else {
		d.page.committed = d.page.version
		e.totals.Commits++
	}
	e.out.Commits = append(e.out.Commits, c)
}
