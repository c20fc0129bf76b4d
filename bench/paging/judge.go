package paging

import (
	"slices"

	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/journal"
	"github.com/memkernel/memkernel/pagevm/paging"
)

// fault is one observed failure.
type fault struct {
	Code    paging.Code
	Turn    int
	Session string
	// Page is the page that was missing. It is "" for a silent recall.
	Page  string
	Cause paging.Cause
	// Decision is the number of the decision or boundary that caused the fault.
	Decision uint64
	// BudgetInsufficient marks a fault that no policy could have prevented: the
	// minimum set did not fit.
	BudgetInsufficient bool
}

// The causes of faults that the kernel does not have. Events such as a reset are causes, too.
const (
	causeDenied  paging.Cause = "DENIED"
	causeBackend paging.Cause = "BACKEND_ERROR"
)

// short is a pinned page that did not fit.
type short struct {
	Page   string
	Tokens int
}

// commit is a change that became durable, or was rejected.
type commit struct {
	Page string
	// At is the commit point: eviction, turn, or an event.
	At event
	// Rejected is the reason code of a change that was refused and kept.
	Rejected string
}

// outcome is the result of a turn.
type outcome struct {
	// Decision is the number of the assembly. The boundaries of the turn have the following
	// numbers.
	Decision uint64
	// Tokens is the size of the prompt.
	Tokens int
	// Minimum is the sum of the floors of all pages.
	Minimum int
	// Required is the sum of the floors of pinned pages.
	Required int
	// Over is the number of tokens that Required exceeds the budget by, 0 if it fits.
	Over int
	// Short lists the pages of Required that were left out. It is empty if Required fits.
	Short []short
	Hits  int
	// Alerts are the pages whose call ran again although they were resident.
	Alerts  []string
	Faults  []fault
	Commits []commit
}

// totals holds the counts of a run.
type totals struct {
	paging.Counts
	Turns int
	// Insufficient counts the faults that no policy could have prevented.
	Insufficient int
	// Cold counts demands for pages that were never in the prompt. They are neither hits nor
	// faults.
	Cold, Commits, Rejected int
	// Tokens is the sum of the sizes of all prompts.
	Tokens int64
}

// observe judges the prompt as assembled: it reports the pages that the model needed and did not
// find there.
func (e *engine) observe(s *session, t *turn) {
	for _, short := range e.out.Short {
		if en := s.of[short.Page]; en.hard && en.level < en.floor {
			e.fault(s, en, paging.PinnedInvariantMiss)
		}
	}
	for _, en := range s.entries {
		if s.compacted && en.Type == pagevm.Bootstrap && !en.hard && en.level < en.floor {
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

// again judges a repeated tool call. The call is an alert if its result is resident, and a fault
// otherwise.
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
	f := fault{Code: code, Turn: e.turn, Session: s.name, Page: en.ID, Cause: en.lost, Decision: en.drop}
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

func (e *engine) note(f fault) {
	e.out.Faults = append(e.out.Faults, f)
	e.totals.Faults[f.Code]++
}

// recall judges a lookup by its outcome. It reports a denied or failed lookup as a fault, since the
// model can't tell its empty result from that of a lookup without a match.
func (e *engine) recall(s *session, outcome string) {
	why := map[string]paging.Cause{recallDenied: causeDenied, recallError: causeBackend}[outcome]
	if why != "" {
		e.note(fault{Code: paging.SilentRecall, Turn: e.turn, Session: s.name, Cause: why, Decision: e.out.Decision})
	}
}

// markDirty marks a page as dirty: it was changed, and only the context holds the change.
func (e *engine) markDirty(s *session, p *tablePage) {
	p.version++
	if !slices.ContainsFunc(s.dirty, func(d dirt) bool { return d.page == p }) {
		s.dirty = append(s.dirty, dirt{page: p, base: p.committed})
	}
}

// strike applies an event to a session. If the kernel assembled the prompt, settle must have
// committed the durable changes before.
func (e *engine) strike(s *session, ev event, p *prompt) {
	e.seq++
	k := &e.policy.knobs
	commits := k.writebackReset
	switch ev {
	case eventFlush: // destroys nothing, so nothing is lost without a commit
		if k.writebackCompaction || k.writebackReset {
			e.commitAll(s, ev)
		}
		return
	case eventCompaction:
		commits = k.writebackCompaction
	}
	if commits && p == nil {
		e.commitAll(s, ev)
	}
	for _, d := range s.dirty {
		e.note(fault{Code: paging.FlushMiss, Turn: e.turn, Session: s.name, Page: d.page.ID, Cause: paging.Cause(ev), Decision: e.seq})
	}
	s.dirty = nil
	e.destroy(s, ev)
}

// destroy takes everything out of the context. After a reset the host loads the rules as at every
// start of a session. After a compaction it does not load them.
func (e *engine) destroy(s *session, ev event) {
	s.compacted = ev == eventCompaction
	for _, en := range s.entries {
		en.loaded = ev != eventCompaction && en.Type == pagevm.Bootstrap
		if en.fleeting && !e.policy.resolve {
			handle := pagevm.Gone
			if en.lowest == pagevm.Pointer {
				handle = pagevm.Pointer
			}
			en.limit = min(en.limit, handle)
		}
		en.level, en.drop, en.lost = pagevm.Gone, e.seq, paging.Cause(ev)
	}
}

// The commit points that are no events. atEviction is the lowering of a dirty page. atTurn is the
// end of a turn whose prompt the kernel assembled.
const (
	atEviction event = "eviction"
	atTurn     event = "turn"
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
func (e *engine) commitAll(s *session, at event) {
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

func (e *engine) commit(d dirt, at event, rejected bool) {
	c := commit{Page: d.page.ID, At: at}
	if rejected {
		c.Rejected = journal.CodeDestructive
		e.totals.Rejected++
	} else {
		d.page.committed = d.page.version
		e.totals.Commits++
	}
	e.out.Commits = append(e.out.Commits, c)
}
