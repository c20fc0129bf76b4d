package plan

import (
	"fmt"
	"time"

	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/pagevm"
)

// The limits that keep a session from being compacted again and again without effect.
const (
	// minReclaim is the number of tokens that a cut must reclaim to count as progress. In small
	// windows a twentieth of the window is enough.
	minReclaim = 1_000
	// MaxFutile is the number of cuts in a row that may reclaim less than minReclaim before
	// further cuts are refused. Cuts are refused until the prompt has grown by minReclaim or
	// futileTurns user turns have passed. A cut that a prompt needs to fit is always made, and
	// goes deeper.
	MaxFutile, futileTurns = 2, 10
	// overflowTries is the number of refusals in a row that are answered by a new plan.
	overflowTries = 3
	// spiralCuts is the number of compactions within spiralWithin that causes a warning.
	spiralCuts   = 3
	spiralWithin = 10 * time.Minute
)

// MinReclaim returns the least reclaimed size that counts as progress.
func (l *limits) MinReclaim() int {
	return min(minReclaim, max(1, l.Window/20))
}

// stalled reports whether a cut of p would be one more futile cut. It is false for a cut that a
// prompt needs to fit.
func stalled(c *call, l *limits, p *pagevm.Projection) bool {
	b := c.Prev.Breaker
	return b.Futile >= MaxFutile && l.Conversation(p) < b.Size+l.MinReclaim() && c.turnsSoFar()-b.Turn <= futileTurns
}

// judge returns the breaker after the plan's cut, if any. It raises an alert for a session that is
// cut again and again.
func judge(c *call, l *limits, d *decision) branch.Breaker {
	made := &d.Chosen
	if made.Made.Cut == nil || made.Made.Cut.Event != "" {
		return c.prior.Before.Breaker // a cold cache makes cuts free
	}
	b := branch.Breaker{Size: l.Conversation(made.Proj), Turn: c.turnsSoFar()}
	if l.Conversation(d.Grown)-b.Size < l.MinReclaim() {
		if b.Futile = 1; b.Turn-c.Prev.Breaker.Turn <= futileTurns {
			b.Futile += c.Prev.Breaker.Futile
		}
	}
	if text := Spiral(c.prior.Compacted, made.Proj, c.Request.Now); text != "" {
		c.log.alert(fault.Fault{Code: "death_spiral", Detail: text})
	}
	return b
}

// Spiral returns a warning if there were too many compactions within a short time, "" otherwise. It
// counts the host's compactions and the cuts of a projection, except for cuts that a cold cache
// made free.
func Spiral(compacted []time.Time, p *pagevm.Projection, now time.Time) string {
	at := map[time.Time]bool{}
	recent := func(t time.Time) bool { return !t.IsZero() && now.Sub(t) >= 0 && now.Sub(t) <= spiralWithin }
	for _, t := range compacted {
		if recent(t) {
			at[t.UTC()] = true
		}
	}
	for _, c := range p.Cuts {
		if c.Event == "" && recent(c.Time) {
			at[c.Time.UTC()] = true
		}
	}
	if len(at) < spiralCuts {
		return ""
	}
	return fmt.Sprintf("%d compactions within %v: what fills the prompt comes back as fast as it goes; begin a new session, or use smaller steps", len(at), spiralWithin)
}
