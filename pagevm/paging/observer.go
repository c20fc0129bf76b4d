package paging

import (
	"slices"

	"github.com/memkernel/memkernel/pagevm"
)

// observer looks at prompts as they were assembled, and reports the pages that the model needed
// and did not find there. In the table it changes only the decision at which a page faulted.
type observer struct {
	table  *Table
	seq    uint64 // the last decision
	out    Outcome
	totals Totals
}

// observe judges the prompt as assembled.
func (o *observer) observe(s *session, t *Turn) {
	for i := range o.out.Short {
		if en := o.table.entry(s, o.out.Short[i].Page); o.table.rows[en.row].hard && en.level < o.table.rows[en.row].floor {
			o.fault(s, en, PinnedInvariantMiss)
		}
	}
	if s.compacted {
		s.compacted = false
		o.bootstraps(s)
	}
	for _, c := range t.Calls {
		o.call(s, c)
	}
	for _, id := range t.Demand {
		o.demand(s, id)
	}
}

// bootstraps looks for bootstrap pages that a compaction removed and that were not loaded again.
func (o *observer) bootstraps(s *session) {
	for i := range s.entries {
		en := &s.entries[i]
		r := &o.table.rows[en.row]
		if r.page.Type == pagevm.Bootstrap && !r.hard && !r.stale && en.level < r.floor {
			o.fault(s, en, PostCompactionBootstrap)
		}
	}
}

// call judges a tool call that ran before: an alert if its result is resident, else
// a fault.
func (o *observer) call(s *session, c Call) {
	before, again := s.calls[c.Signature]
	if !again {
		return
	}
	en := o.table.entry(s, before)
	switch {
	case en == nil: // its page was removed
	case en.level >= o.table.rows[en.row].need || en.fault == o.seq:
		o.out.Alerts = append(o.out.Alerts, before)
		o.totals.Alerts++
	default:
		o.fault(s, en, DuplicateTool)
	}
}

// demand judges a page that the call needs. A page that already faulted in this turn, or that
// only arrives in it, is neither a hit nor a fault.
func (o *observer) demand(s *session, id string) {
	en := o.table.entry(s, id)
	switch {
	case en == nil:
		o.totals.Cold++
	case en.level >= o.table.rows[en.row].need:
		o.out.Hits++
		o.totals.Hits++
		if en.level == pagevm.Pointer {
			o.out.Pointed = append(o.out.Pointed, id)
		}
	case en.fault != o.seq:
		o.fault(s, en, Refetch)
	}
}

// fault notes a failure of the prompt just assembled.
func (o *observer) fault(s *session, en *entry, code Code) {
	f := Fault{Code: code, Turn: o.table.turn, Session: s.name, Page: o.table.rows[en.row].page.ID, Cause: en.lost, Decision: en.drop}
	if en.starved {
		f.Cause, f.Decision, f.BudgetInsufficient = CauseBudget, o.seq, true
	}
	if f.Cause == "" {
		f.Cause, f.Decision = CauseSelection, o.seq
	}
	en.fault = o.seq
	o.note(f)
}

func (o *observer) note(f Fault) {
	o.out.Faults = append(o.out.Faults, f)
	o.totals.Faults[slices.Index(codes[:], f.Code)]++
	if f.BudgetInsufficient {
		o.totals.Insufficient++
	}
}

// recall judges a lookup. It reports a denied or failed lookup with an empty result as a fault,
// since the model can't see the failure.
func (o *observer) recall(s *session, r Recall) {
	why := CauseDenied
	switch r.Outcome {
	case RecallError:
		why = CauseBackend
	case RecallDenied:
	default:
		return
	}
	o.note(Fault{Code: SilentRecall, Turn: o.table.turn, Session: s.name, Query: r.Query, Cause: why, Decision: o.out.Decision})
}
