package cachelayout

import (
	"math"
	"time"
)

// Pace is how a session's calls follow each other: how many there were, and which
// gaps between their starts were long enough to matter to a cache. A value is
// never changed once made.
type Pace struct {
	Calls int `json:"calls"`
	// Idle are the gaps of a minute and more, oldest first.
	Idle []time.Duration `json:"idle,omitempty"`
}

const (
	// minIdle is shorter than any provider's cache lives.
	minIdle = time.Minute
	// maxIdle bounds what is remembered; beyond it the older half is forgotten.
	maxIdle = 128

	// Before a session has shown its own habits it is treated as a common one.
	// Ten recorded sessions of coding agents (1,978 calls) held 69 gaps over five
	// minutes and 12 over an hour: the chance of a gap falls with its length to
	// the power of 0.7. The prior weighs as much as half of such a session.
	priorIdleRate  = 69.0 / 1978
	priorIdlePower = 0.7
	priorIdleAt    = 5 * time.Minute
	priorIdleCalls = 100
)

// Add returns the pace after one more call, that started gap after the one
// before. A clock that went back adds no gap.
func (p Pace) Add(gap time.Duration) Pace {
	p.Calls++
	if gap < minIdle {
		return p
	}
	p.Idle = append(p.Idle[:len(p.Idle):len(p.Idle)], gap)
	if len(p.Idle) > maxIdle {
		p.Calls -= p.Calls / 2
		p.Idle = p.Idle[len(p.Idle)/2:]
	}
	return p
}

// Rate returns the chance that a call comes at least gap after the one before, by
// what the session showed and, while that is little, by what sessions commonly
// show.
func (p Pace) Rate(gap time.Duration) float64 {
	n := 0
	for _, g := range p.Idle {
		if g >= gap {
			n++
		}
	}
	return (float64(n) + priorIdleCalls*priorRate(gap)) / (float64(p.Calls) + priorIdleCalls)
}

// priorRate is Rate of a session that nothing is known of.
func priorRate(gap time.Duration) float64 {
	return math.Min(1, priorIdleRate*math.Pow(float64(max(gap, minIdle))/float64(priorIdleAt), -priorIdlePower))
}
