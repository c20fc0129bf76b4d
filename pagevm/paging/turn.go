package paging

import (
	"fmt"
	"slices"

	"github.com/memkernel/memkernel/pagevm"
)

// Event is something that happens to a session's context.
type Event string

// The events. A compaction or reset destroys what stands in the context; a flush
// only commits.
const (
	EventFlush      Event = "flush"
	EventCompaction Event = "compaction"
	EventReset      Event = "reset"
	EventSessionEnd Event = "session_end"
)

// Call is a tool call by its canonical signature, with the page of its result ("" if
// it makes none).
type Call struct {
	Signature string `json:"signature"`
	Page      string `json:"page"`
}

// Outcomes of a lookup in memory, as its backend knows them.
const (
	RecallOK      = "ok"
	RecallNoMatch = "no_match"
	RecallDenied  = "denied"
	RecallError   = "error"
)

// Recall is a lookup in memory.
type Recall struct {
	Query   string `json:"query"`
	Outcome string `json:"outcome"`
}

// Future tells an oracle how often a page will be demanded within its horizon.
type Future struct {
	Page    string `json:"page"`
	Demands int    `json:"demands"`
}

// maxTurn is the highest number of a turn.
const maxTurn = 1 << 30

// Turn is one model call of one session with all that happens until the next.
type Turn struct {
	// Turn numbers the calls of all sessions; it never falls.
	Turn    int    `json:"turn"`
	Session string `json:"session"`
	// Demand are the pages that the call needs.
	Demand []string `json:"demand,omitempty"`
	Calls  []Call   `json:"tool_calls,omitempty"`
	// Arrive are pages that are new: they stand in full behind the prompt that was
	// assembled. Calls, Dirty and Begin of the same turn may name them.
	Arrive []Page `json:"arrive,omitempty"`
	// Dirty are pages that the call changed.
	Dirty []string `json:"dirty,omitempty"`
	// Begin and End name pages of work in flight: from one to the other they are
	// neither evicted nor lowered.
	Begin  []string `json:"begin,omitempty"`
	End    []string `json:"end,omitempty"`
	Events []Event  `json:"events,omitempty"`
	Recall []Recall `json:"recall,omitempty"`
	// Future is for oracles only.
	Future []Future `json:"future,omitempty"`
}

// Step runs one turn. After an error nothing has changed. The outcome is reused by
// the next Step.
func (e *Engine) Step(t *Turn) (*Outcome, error) {
	if err := e.check(t); err != nil {
		return nil, fmt.Errorf("paging: turn %d: %w", t.Turn, err)
	}
	e.turn = t.Turn
	e.begin()
	s := e.session(t.Session)
	if e.cfg.Policy.Prefetch {
		e.touch(s, t.Demand)
	}
	if e.cfg.Policy.Upgrade == UpgradeOracle {
		e.foresee(s, t.Future)
	}
	e.assemble(s, t.Demand)
	e.observe(s, t)
	e.arrive(s, t)
	for _, id := range t.Dirty {
		e.soil(s, id)
	}
	for _, ev := range t.Events {
		e.strike(s, ev)
	}
	for _, r := range t.Recall {
		e.recall(s, r)
	}
	e.totals.Turns++
	e.totals.Tokens += int64(e.out.Tokens)
	return &e.out, nil
}

// begin empties the outcome and keeps its buffers.
func (e *Engine) begin() {
	o := &e.out
	*o = Outcome{Short: o.Short[:0], Changes: o.Changes[:0], Pointed: o.Pointed[:0], Alerts: o.Alerts[:0], Faults: o.Faults[:0], Commits: o.Commits[:0]}
}

// check refuses a turn that can't be run, before anything changes.
func (e *Engine) check(t *Turn) error {
	if t.Turn < e.turn {
		return fmt.Errorf("%w: turn %d was run before it", ErrOrder, e.turn)
	}
	if t.Turn > maxTurn {
		return fmt.Errorf("turns are numbered up to %d", maxTurn)
	}
	if t.Session == "" {
		return fmt.Errorf("no session: name the one that makes the call")
	}
	for i := range t.Arrive {
		p := &t.Arrive[i]
		if err := e.admit(p, t.Arrive); err != nil {
			return err
		}
		if !p.visible(t.Session) {
			return fmt.Errorf("page %q of session %q: %w", p.ID, p.Session, ErrScope)
		}
		if slices.ContainsFunc(t.Arrive[:i], func(q Page) bool { return q.ID == p.ID }) {
			return fmt.Errorf("page %q arrives twice: %w", p.ID, ErrPageExists)
		}
	}
	return e.checkNames(t)
}

func (e *Engine) checkNames(t *Turn) error {
	for _, list := range [...][]string{t.Demand, t.Dirty, t.Begin, t.End} {
		for _, id := range list {
			if err := e.known(t, id); err != nil {
				return err
			}
		}
	}
	for _, c := range t.Calls {
		if c.Signature == "" {
			return fmt.Errorf("a tool call without signature")
		}
		if c.Page != "" {
			if err := e.known(t, c.Page); err != nil {
				return err
			}
		}
	}
	for _, ev := range t.Events {
		if ev != EventFlush && ev != EventCompaction && ev != EventReset && ev != EventSessionEnd {
			return fmt.Errorf("unknown event %q, use flush, compaction, reset or session_end", ev)
		}
	}
	for _, r := range t.Recall {
		if r.Outcome != RecallOK && r.Outcome != RecallNoMatch && r.Outcome != RecallDenied && r.Outcome != RecallError {
			return fmt.Errorf("unknown recall outcome %q, use ok, no_match, denied or error", r.Outcome)
		}
	}
	return nil
}

// known tells whether a session may name a page.
func (e *Engine) known(t *Turn, id string) error {
	if i, ok := e.ids[id]; ok {
		if p := e.rows[i].page; !p.visible(t.Session) {
			return fmt.Errorf("page %q of session %q: %w", id, p.Session, ErrScope)
		}
		return nil
	}
	for i := range t.Arrive {
		if t.Arrive[i].ID == id {
			return nil
		}
	}
	return fmt.Errorf("page %q: %w; add it, or let it arrive", id, ErrUnknownPage)
}

func (e *Engine) touch(s *session, ids []string) {
	for _, id := range ids {
		if en := e.entry(s, id); en != nil {
			en.last = int32(e.turn)
		}
	}
}

// foresee hands the oracle what it may know.
func (e *Engine) foresee(s *session, future []Future) {
	for i := range s.entries {
		s.entries[i].future = 0
	}
	for _, f := range future {
		if en := e.entry(s, f.Page); en != nil {
			en.future = int32(f.Demands)
		}
	}
}

// observe judges the prompt as assembled.
func (e *Engine) observe(s *session, t *Turn) {
	for i := range e.out.Short {
		if en := e.entry(s, e.out.Short[i].Page); e.rows[en.row].hard && en.level < e.rows[en.row].floor {
			e.fault(s, en, PinnedInvariantMiss)
		}
	}
	if s.compacted {
		s.compacted = false
		e.bootstraps(s)
	}
	for _, c := range t.Calls {
		e.call(s, c)
	}
	for _, id := range t.Demand {
		e.demand(s, id)
	}
}

// bootstraps looks for bootstrap pages that a compaction took and nobody brought
// back.
func (e *Engine) bootstraps(s *session) {
	for i := range s.entries {
		en := &s.entries[i]
		r := &e.rows[en.row]
		if r.page.Type == pagevm.Bootstrap && !r.hard && !r.stale && en.level < r.floor {
			e.fault(s, en, PostCompactionBootstrap)
		}
	}
}

// call judges a tool call that ran before: an alert if its result is resident, else
// a fault.
func (e *Engine) call(s *session, c Call) {
	before, again := s.calls[c.Signature]
	if !again {
		return
	}
	en := e.entry(s, before)
	switch {
	case en == nil: // its page was removed
	case en.level >= e.rows[en.row].need || en.fault == e.seq:
		e.out.Alerts = append(e.out.Alerts, before)
		e.totals.Alerts++
	default:
		e.fault(s, en, DuplicateTool)
	}
}

// demand judges a page that the call needs. A page that faulted already in this
// turn, or that only arrives, is neither hit nor fault.
func (e *Engine) demand(s *session, id string) {
	en := e.entry(s, id)
	switch {
	case en == nil:
		e.totals.Cold++
	case en.level >= e.rows[en.row].need:
		e.out.Hits++
		e.totals.Hits++
		if en.level == pagevm.Pointer {
			e.out.Pointed = append(e.out.Pointed, id)
		}
	case en.fault != e.seq:
		e.fault(s, en, Refetch)
	}
}

// fault notes a failure of the prompt just assembled.
func (e *Engine) fault(s *session, en *entry, code Code) {
	f := Fault{Code: code, Turn: e.turn, Session: s.name, Page: e.rows[en.row].page.ID, Cause: en.lost, Decision: en.drop}
	if en.starved {
		f.Cause, f.Decision, f.BudgetInsufficient = CauseBudget, e.seq, true
	}
	if f.Cause == "" {
		f.Cause, f.Decision = CauseSelection, e.seq
	}
	en.fault = e.seq
	e.note(f)
}

func (e *Engine) note(f Fault) {
	e.out.Faults = append(e.out.Faults, f)
	e.totals.Faults[slices.Index(codes[:], f.Code)]++
	if f.BudgetInsufficient {
		e.totals.Insufficient++
	}
}

// arrive takes in the turn's results: new pages, pages that ran again or had to be
// fetched. All of them stand in full behind the prompt.
func (e *Engine) arrive(s *session, t *Turn) {
	for i := range t.Arrive {
		e.insert(t.Arrive[i], pagevm.Gone)
		e.show(e.entry(s, t.Arrive[i].ID))
	}
	for _, c := range t.Calls {
		if c.Page != "" {
			s.calls[c.Signature] = c.Page
			e.show(e.entry(s, c.Page))
		}
	}
	for _, id := range t.Demand {
		if en := e.entry(s, id); en.fault == e.seq {
			e.show(en)
		} else {
			en.last = int32(e.turn)
		}
	}
	for _, id := range t.Begin {
		en := e.entry(s, id)
		en.hold = max(en.level, e.rows[en.row].lowest)
	}
	for _, id := range t.End {
		e.entry(s, id).hold = pagevm.Gone
	}
}

// show makes a page stand as it came.
func (e *Engine) show(en *entry) {
	en.level, en.limit, en.last, en.loaded = pagevm.Full, pagevm.Full, int32(e.turn), true
}
