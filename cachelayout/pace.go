package cachelayout

import (
	"math"
	"slices"
	"time"
)

// Pace records the number of a session's calls, and the gaps between their starts that were long
// enough to matter to a cache. A value is never changed once made.
type Pace struct {
	Calls int `json:"calls"`
	// Idle are the gaps of a minute and more, oldest first.
	Idle []time.Duration `json:"idle,omitempty"`
}

const (
	// minIdle is the shortest remembered pause. It is shorter than the lifetime of any provider's
	// cache.
	minIdle = time.Minute
	// maxIdle bounds the number of remembered pauses. If there are more, the older half is
	// forgotten.
	maxIdle = 128

	// Before a session has shown its own habits it is treated as a common session. Ten recorded
	// sessions of coding agents (1,978 calls) held 69 gaps over five minutes and 12 over an hour:
	// the chance of a gap falls with its length to the power of 0.7. The prior weighs as much as
	// half of such a session.
	priorIdleRate  = 69.0 / 1978
	priorIdlePower = 0.7
	priorIdleAt    = 5 * time.Minute
	priorIdleCalls = 100

	// The forecast of the next pause is a weighted mean of the seen pauses. The common pause of all
	// sessions weighs as much as one pause of this session. All pauses of earlier sessions together
	// weigh as much as three.
	priorPauses   = 1
	earlierPauses = 3
)

// Add returns the pace after one more call, which started gap after the previous call. A clock
// that went back adds no gap.
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

// Rate returns the chance that a call starts at least gap after the previous call. It judges by
// the session's own pauses and, while these are few, by the common pauses of sessions.
func (p Pace) Rate(gap time.Duration) float64 {
	n := 0
	for _, g := range p.Idle {
		if g >= gap {
			n++
		}
	}
	return (float64(n) + priorIdleCalls*priorRate(gap)) / (float64(p.Calls) + priorIdleCalls)
}

// priorRate returns the Rate of a session without known pauses.
func priorRate(gap time.Duration) float64 {
	return math.Min(1, priorIdleRate*math.Pow(float64(max(gap, minIdle))/float64(priorIdleAt), -priorIdlePower))
}

// survives returns the chance that an entry with the long lifetime survives the next pause of at
// least the short lifetime. It counts only pauses that followed a pause of the same kind as the
// newest one. There are two kinds: pauses of at least the long lifetime, and shorter ones. The
// beginning of a session counts as a pause of the first kind.
func (p Pace) survives(earlier []Pace, short, long time.Duration) float64 {
	beyond := p.newestBeyond(short, long)
	n, of := p.followed(beyond, short, long)
	var before, all float64
	for _, e := range earlier {
		x, y := e.followed(beyond, short, long)
		before, all = before+x, all+y
	}
	if all > earlierPauses {
		before, all = before*earlierPauses/all, earlierPauses
	}
	common := 1 - priorRate(long)/priorRate(short)
	return (priorPauses*common + before + n) / (priorPauses + all + of)
}

// newestBeyond reports whether the newest pause outlived both lifetimes. The beginning of a
// session counts as such a pause.
func (p Pace) newestBeyond(short, long time.Duration) bool {
	for _, g := range slices.Backward(p.Idle) {
		if g >= short {
			return g >= long
		}
	}
	return true
}

// followed counts the pauses that came next after a pause of one kind, and how many of the
// counted pauses the long lifetime survives.
func (p Pace) followed(beyond bool, short, long time.Duration) (survived, of float64) {
	was := true
	for _, g := range p.Idle {
		if g < short {
			continue
		}
		if was == beyond {
			of++
			if g < long {
				survived++
			}
		}
		was = g >= long
	}
	return survived, of
}
