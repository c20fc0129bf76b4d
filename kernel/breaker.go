package kernel

import (
	"fmt"
	"time"

	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/pagevm"
)

// RuleNoProgress is the rule by which a cut is refused that would be one more for
// nothing; see [ProgressOptions].
const RuleNoProgress = "no_progress"

// ProgressOptions keep a session from being compacted again and again for nothing.
// Zero values take the defaults.
type ProgressOptions struct {
	// MinTokens is the least that a cut must reclaim to count as progress, at most
	// 5 % of the window. Default: 1,000.
	MinTokens int
	// Futile is how many cuts in a row may reclaim less before more are refused,
	// until the prompt has grown by that least or so many user turns have passed; one
	// that a prompt needs to fit is made, and goes deeper. Defaults: 2 and 10.
	Futile, Turns int
	// OverflowTries is how often in a row a refused request is planned anew.
	// Default: 3.
	OverflowTries int
	// SpiralCuts compactions within SpiralWithin are a warning. Defaults: 3 and 10
	// minutes.
	SpiralCuts   int
	SpiralWithin time.Duration
}

// The defaults of [ProgressOptions].
const (
	DefaultMinReclaim    = 1_000
	DefaultFutile        = 2
	DefaultFutileTurns   = 10
	DefaultOverflowTries = 3
	DefaultSpiralCuts    = 3
	DefaultSpiralWithin  = 10 * time.Minute
)

func (o ProgressOptions) withDefaults() ProgressOptions {
	defaulted(&o.MinTokens, DefaultMinReclaim)
	defaulted(&o.Futile, DefaultFutile)
	defaulted(&o.Turns, DefaultFutileTurns)
	defaulted(&o.OverflowTries, DefaultOverflowTries)
	defaulted(&o.SpiralCuts, DefaultSpiralCuts)
	defaulted(&o.SpiralWithin, DefaultSpiralWithin)
	return o
}

func defaulted[T int | time.Duration](v *T, def T) {
	if *v <= 0 {
		*v = def
	}
}

// AlertSpiral tells of a session that was compacted often within a short time: what
// fills it comes back as fast as it goes.
const AlertSpiral = "death_spiral"

// minReclaim is the least that counts as progress.
func (w *work) minReclaim() int {
	return min(w.s.lifeOpt.Progress.withDefaults().MinTokens, max(1, w.window/20))
}

// stalled tells whether a cut of p would be one more for nothing. It never keeps
// one from being made that a prompt needs to fit.
func (w *work) stalled(p *pagevm.Projection) bool {
	o, b := w.s.lifeOpt.Progress.withDefaults(), w.prev.Breaker
	return b.Futile >= o.Futile && w.conversation(p) < b.Size+w.minReclaim() && w.turnsSoFar()-b.Turn <= o.Turns
}

// judge takes note of what a cut came to, and tells of a session that is cut again
// and again.
func (w *work) judge(grown *pagevm.Projection) {
	if w.decision.Cut == nil || w.decision.Cut.Event != "" {
		return // a cold cache makes cuts free
	}
	b := branch.Breaker{Size: w.conversation(w.proj), Turn: w.turnsSoFar()}
	if w.conversation(grown)-b.Size < w.minReclaim() {
		if b.Futile = 1; b.Turn-w.prev.Breaker.Turn <= w.s.lifeOpt.Progress.withDefaults().Turns {
			b.Futile += w.prev.Breaker.Futile
		}
	}
	w.next.Breaker = b
	if text := w.s.spiral(&branch.State{Branch: w.req.Branch, Proj: w.proj}, w.req.Now); text != "" {
		w.alerts = append(w.alerts, Fault{Code: AlertSpiral, Detail: text})
	}
}

// turnsSoFar counts the user's turns of the conversation.
func (w *work) turnsSoFar() int {
	n := 0
	for i := range w.Hosts {
		if plainUser(&w.Msgs[i]) {
			n++
		}
	}
	return n
}

// spiral warns of too many compactions within a short time: the host's and the cuts
// of a line, "" if there are few. Cuts that a cold cache made free count for none.
func (s *session) spiral(l *branch.State, now time.Time) string {
	o := s.lifeOpt.Progress.withDefaults()
	at := map[time.Time]bool{}
	recent := func(t time.Time) bool { return !t.IsZero() && now.Sub(t) >= 0 && now.Sub(t) <= o.SpiralWithin }
	for _, t := range s.account.compacted {
		if recent(t) {
			at[t.UTC()] = true
		}
	}
	for _, c := range l.Proj.Cuts {
		if c.Event == "" && recent(c.Time) {
			at[c.Time.UTC()] = true
		}
	}
	if len(at) < o.SpiralCuts {
		return ""
	}
	return fmt.Sprintf("%d compactions within %v: what fills the prompt comes back as fast as it goes; begin a new session, or use smaller steps", len(at), o.SpiralWithin)
}
