package paging

import (
	"fmt"
	"slices"

	"github.com/memkernel/memkernel/pagevm"
)

// Event is something that happens to a session's context.
type Event string

// The events. A compaction or reset destroys the content of the context; a flush only commits.
const (
	EventFlush      Event = "flush"
	EventCompaction Event = "compaction"
	EventReset      Event = "reset"
	EventSessionEnd Event = "session_end"
)

// Call is a tool call by its canonical signature, with the page of its result ("" if the call
// makes no page).
type Call struct {
	Signature string `json:"signature"`
	Page      string `json:"page"`
}

// Outcomes of a lookup in memory, as its backend reports them.
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

// Future gives an oracle how often a page will be demanded within its horizon.
type Future struct {
	Page    string `json:"page"`
	Demands int    `json:"demands"`
}

// maxTurn is the highest number of a turn.
const maxTurn = 1 << 30

// Turn is one model call of one session with all events until the next.
type Turn struct {
	// Turn numbers the model calls of all sessions. It must never decrease.
	Turn    int    `json:"turn"`
	Session string `json:"session"`
	// Demand names the pages that the call needs.
	Demand []string `json:"demand,omitempty"`
	Calls  []Call   `json:"tool_calls,omitempty"`
	// Arrive are the new pages, which follow the assembled prompt in full. Calls, Dirty and Begin
	// of the same turn may name these pages.
	Arrive []Page `json:"arrive,omitempty"`
	// Dirty names the pages that the call changed.
	Dirty []string `json:"dirty,omitempty"`
	// Begin names the pages with which work begins. Until End names them, these pages are neither
	// evicted nor lowered.
	Begin []string `json:"begin,omitempty"`
	// End names the pages with which work ends.
	End    []string `json:"end,omitempty"`
	Events []Event  `json:"events,omitempty"`
	Recall []Recall `json:"recall,omitempty"`
	// Future is for oracles only.
	Future []Future `json:"future,omitempty"`
}

// Step runs one turn under the engine's policy. After an error nothing has changed. The next Step
// reuses the outcome, so callers must copy the parts that they keep.
func (e *Engine) Step(t *Turn) (*Outcome, error) {
	if e.cfg.Policy.Upgrade == UpgradeOutside {
		return nil, fmt.Errorf("paging: turn %d: policy %q assembles its prompts itself: let Observe judge them", t.Turn, e.cfg.Policy.Name)
	}
	s, err := e.open(t)
	if err != nil {
		return nil, err
	}
	if e.cfg.Policy.Prefetch {
		e.touch(s, t.Demand)
	}
	if e.cfg.Policy.Upgrade == UpgradeOracle {
		e.foresee(s, t.Future)
	}
	e.assemble(s, t.Demand)
	return e.close(s, t), nil
}

// Prompt is a prompt that somebody else assembled, for [Engine.Observe].
type Prompt struct {
	// Levels is the level of each page. A page without an entry is not in the prompt.
	Levels map[string]pagevm.Level
	// Tokens is the size of the prompt, including the fixed region.
	Tokens int
	// Lost are the pages whose changes were not durable when an event of the turn destroyed the
	// context. Rejected are the pages whose changes were refused. All other changes of the turn
	// are durable at its end.
	Lost, Rejected []string
}

// Observe runs one turn with the prompt that p describes in place of the policy's choice. Page
// table and faults are kept as in [Engine.Step]. After an error nothing has changed. The next
// turn reuses the outcome, so callers must copy the parts that they keep.
func (e *Engine) Observe(t *Turn, p Prompt) (*Outcome, error) {
	s, err := e.open(t)
	if err != nil {
		return nil, err
	}
	e.adopt(s, p)
	e.close(s, t)
	e.outside = nil
	return &e.out, nil
}

// open checks a turn and begins it.
func (e *Engine) open(t *Turn) (*session, error) {
	if err := e.check(t); err != nil {
		return nil, fmt.Errorf("paging: turn %d: %w", t.Turn, err)
	}
	e.turn = t.Turn
	e.begin()
	return e.session(t.Session), nil
}

// close judges the current prompt and applies the rest of the turn.
func (e *Engine) close(s *session, t *Turn) *Outcome {
	e.observe(s, t)
	e.arrive(s, t)
	for _, id := range t.Dirty {
		e.markDirty(s, id)
	}
	if e.outside != nil {
		e.settle(s, e.outside)
	}
	for _, ev := range t.Events {
		e.strike(s, ev)
	}
	for _, r := range t.Recall {
		e.recall(s, r)
	}
	e.totals.Turns++
	e.totals.Tokens += int64(e.out.Tokens)
	return &e.out
}

// begin empties the outcome and keeps its buffers.
func (e *Engine) begin() {
	o := &e.out
	*o = Outcome{Short: o.Short[:0], Changes: o.Changes[:0], Pointed: o.Pointed[:0], Alerts: o.Alerts[:0], Faults: o.Faults[:0], Commits: o.Commits[:0]}
}

// check refuses a turn that can't be run, before anything changes.
func (e *Engine) check(t *Turn) error {
	if t.Turn < e.turn {
		return fmt.Errorf("%w: turn %d was run before it", errOrder, e.turn)
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
			return fmt.Errorf("page %q of session %q: %w", p.ID, p.Session, errScope)
		}
		if slices.ContainsFunc(t.Arrive[:i], func(q Page) bool { return q.ID == p.ID }) {
			return fmt.Errorf("page %q arrives twice: %w", p.ID, errPageExists)
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

// foresee gives the oracle the future that it may know.
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

// arrive adds the turn's results: new pages, pages whose call ran again and pages that had to be
// fetched. All of these pages follow the prompt in full.
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

// show adds a page to the prompt in full.
func (e *Engine) show(en *entry) {
	en.level, en.limit, en.last, en.loaded = pagevm.Full, pagevm.Full, int32(e.turn), true
}
