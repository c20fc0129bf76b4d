package kernel

import (
	"time"

	"github.com/memkernel/memkernel/kernel/internal/plan"
)

// RuleNoProgress is the rule by which a cut is refused that would be one more for
// nothing; see [ProgressOptions].
const RuleNoProgress = plan.RuleNoProgress

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
	defaultMinReclaim    = 1_000
	defaultFutile        = 2
	defaultFutileTurns   = 10
	DefaultOverflowTries = 3
	defaultSpiralCuts    = 3
	defaultSpiralWithin  = 10 * time.Minute
)

func (o ProgressOptions) withDefaults() ProgressOptions {
	defaulted(&o.MinTokens, defaultMinReclaim)
	defaulted(&o.Futile, defaultFutile)
	defaulted(&o.Turns, defaultFutileTurns)
	defaulted(&o.OverflowTries, DefaultOverflowTries)
	defaulted(&o.SpiralCuts, defaultSpiralCuts)
	defaulted(&o.SpiralWithin, defaultSpiralWithin)
	return o
}

func defaulted[T int | time.Duration](v *T, def T) {
	if *v <= 0 {
		*v = def
	}
}
