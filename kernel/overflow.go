package kernel

import (
	"errors"
	"fmt"
	"math"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/transcript"
)

// Overflow is a provider's refusal of a request as too long.
type Overflow struct {
	// Text is what the provider said, in any form; see [budget.ParseOverflow]. Without
	// one, or without figures in it, the request is taken to be larger than the window.
	Text string
	// Input and Limit are the figures where the host knows them better, in tokens.
	Input, Limit int
	// PlanID is the plan that was refused; "" is the newest. A refusal that is
	// delivered again, after the plan that answers it, teaches nothing.
	PlanID string
}

// OverflowError is returned where a request was refused again and again although
// each plan was smaller, or where nothing that was refused can be made smaller.
type OverflowError struct {
	// Tries were made; Planned is how large the last plan was by our count, Window
	// what the provider is known to take, both in tokens.
	Tries, Planned, Window int
	// Largest is what takes most of it.
	Largest []LargeItem
}

func (e *OverflowError) Error() string {
	what := ""
	for i, it := range e.Largest {
		if i > 0 {
			what += ", "
		}
		what += fmt.Sprintf("%s %d", it.Name, it.Tokens)
	}
	return fmt.Sprintf("the provider refused %d requests in a row as too long, the last of about %d tokens for a window of %d (largest: %s); shorten what is largest, name the window that the provider really has (ContextWindow, --context-window), or begin a new session",
		e.Tries, e.Planned, e.Window, what)
}

// ErrNoOverflow is returned for a text that is no refusal of a request as too long.
var ErrNoOverflow = errors.New("this is no refusal of a request as too long: hand it in for what it is, or without its text")

// maxRefusedRatio is the ratio of real to counted tokens above which a refusal is
// about something that we were not shown rather than about our count.
const maxRefusedRatio = 2

// overflowed tells whether this plan answers a refusal.
func (w *work) overflowed() bool { return w.refused }

// learnRefusal takes what a refusal teaches, before the plan is measured by it.
func (w *work) learnRefusal() error {
	o := w.req.Overflow
	if o == nil {
		w.next.Overflow.Tries = 0
		return nil
	}
	figures, err := o.figures()
	if err != nil {
		return err
	}
	w.refusal = figures
	if w.answered(o, figures) {
		return nil
	}
	w.refused, w.learned, w.refusedProj = true, true, w.prev.Proj
	st := &w.next.Overflow
	if st.Tries++; st.Tries > w.s.lifeOpt.Progress.withDefaults().OverflowTries {
		w.proj = w.prev.Proj
		return &OverflowError{Tries: st.Tries - 1, Planned: w.unanchored(w.prev.Proj), Window: w.window, Largest: w.largest()}
	}
	w.learnSizes(figures)
	return nil
}

// answered tells whether what stands was planned for the refusal already.
func (w *work) answered(o *Overflow, f *budget.Overflow) bool {
	switch st := &w.prev.Overflow; {
	case w.prev.Plan == "":
		return false
	case o.PlanID != "":
		return o.PlanID != w.prev.Plan
	case f.Input > 0 && f.Input == st.Last:
		return true
	}
	return w.prev.Unsent && w.prev.Overflow.Tries > 0
}

// figures are those of the text, and the host's own over them.
func (o *Overflow) figures() (*budget.Overflow, error) {
	f, ok := budget.ParseOverflow(o.Text)
	if !ok && o.Text != "" {
		return nil, ErrNoOverflow
	}
	setIf(&f.Input, o.Input)
	setIf(&f.Limit, o.Limit)
	return &f, nil
}

// learnSizes sets the window, and how the refused prompt really compares with our
// count of it.
func (w *work) learnSizes(f *budget.Overflow) {
	st := &w.next.Overflow
	st.Last = f.Input
	if f.Limit > 0 && f.Limit < w.window {
		st.Window = f.Limit
	}
	st.Reserve = max(st.Reserve, f.Answer)
	if w.prev.Unsent {
		return // what was refused is from before the compaction that stands
	}
	fixed, counted := w.prev.FixedTokens(), w.prev.Proj.Tokens()
	if w.prev.Plan == "" { // what was refused is the host's own prompt
		fixed, counted = w.fixed, 0
		for i := range w.Hosts {
			counted += w.Hosts[i].Tokens()
		}
	}
	actual := f.Input
	if actual == 0 {
		actual = max(f.Limit, w.window) + 1
	}
	if counted <= 0 || actual <= fixed {
		return
	}
	w.refusedCount, w.refusedActual = counted, actual-fixed
	switch ratio := float64(actual-fixed) / float64(counted); {
	case ratio <= maxRefusedRatio:
		st.Ratio = math.Max(st.Ratio, ratio)
	case f.Input > 0:
		st.Hidden += actual - fixed - int(float64(counted)*math.Max(1, w.ratio))
	default:
		st.Ratio = maxRefusedRatio // no figures: the count can hardly be worse
	}
}

// applyRefusals measures the plan by what refusals have taught.
func (w *work) applyRefusals() {
	st := w.next.Overflow
	if st.Window > 0 && st.Window < w.window {
		w.window = st.Window
		if w.req.Reserve == 0 || w.reserve >= w.window {
			w.reserve = budget.DefaultReserve(w.window)
		}
	}
	if st.Reserve < w.window/2 {
		w.reserve = max(w.reserve, st.Reserve)
	}
	w.ratio = math.Max(w.ratio, st.Ratio)
}

// overflowCut asks for the cut that a refusal needs: no rule but the floors stands
// against it.
func (w *work) overflowCut() {
	if !w.cut.Do || w.cut.Reason != string(pagevm.CutCold) {
		w.cut.Reason = string(pagevm.CutForced)
	}
	w.cut.Do, w.cut.Force = true, true
	w.cut.TargetTokens = min(w.cut.Figures.LowWater, w.hard)
	if w.refusal.Input == 0 {
		w.cut.TargetTokens = min(w.cut.TargetTokens, w.fixed+int(blindly*float64(w.conversation(w.refusedProj))))
	}
}

// blindly is how much of a refused conversation is kept where the provider named no
// figures.
const blindly = 0.75

// stuck tells of a refused prompt that can't be made any smaller: sending it again
// would be refused again.
func (w *work) stuck() error {
	if !w.refused || w.prev.Unsent || len(w.refusedProj.Seen) == 0 || w.conversation(w.proj) < w.conversation(w.refusedProj) {
		return nil
	}
	return &OverflowError{Tries: w.next.Overflow.Tries, Planned: w.unanchored(w.proj), Window: w.window, Largest: w.largest()}
}

// takeBackRefused makes the results that the refused request showed for the first
// time new again: nobody has seen them, so they may be shown shorter.
func (w *work) takeBackRefused() {
	at := len(w.Hosts)
	for at > 0 && transcript.HasResults(w.Msgs[at-1]) {
		at--
	}
	if !w.refused || at == len(w.Hosts) || at >= len(w.prev.Proj.Seen) || w.align.Rewrite != pagevm.RewriteNone {
		return
	}
	prev := *w.prev
	prev.Proj = w.prev.Proj.TakeBack(w.Hosts[:at])
	w.prev = &prev
	w.align = pagevm.Align(prev.Proj, w.Hosts)
}

// learnForGood trains the model's calibration on a refusal that named figures.
func (s *session) learnForGood(w *work) {
	if !w.learned || w.refusal == nil || w.refusal.Input == 0 || w.refusedCount == 0 {
		return
	}
	cal := s.calib.of(w.req.Model)
	if !cal.Observe(budget.Count{Tokens: w.refusedCount, Kind: budget.Estimated}, len(w.Msgs), w.refusedActual) {
		return
	}
	if err := s.calib.set(w.req.Model, cal); err != nil {
		w.faults = append(w.faults, Fault{Code: FaultNotRecorded, Detail: err.Error()})
	}
}

// plainUser tells whether a message is a user's words.
func plainUser(m *memkernel.Message) bool { return transcript.PlainUser(*m) }
