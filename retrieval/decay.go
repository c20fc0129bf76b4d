package retrieval

import (
	"math"
	"time"
)

// decay is the factor by which age reduces a score. It falls from 1 towards a floor, by half of
// the distance in each half-life. Exponential decay without a floor would reach 10⁻⁷ after two
// years, and would order old notes only by their dates.
type decay struct {
	halfLife time.Duration // 0 or less: nothing decays
	floor    float64
}

func (d decay) factor(age time.Duration) float64 {
	if d.halfLife <= 0 || age <= 0 {
		return 1
	}
	return d.floor + (1-d.floor)*math.Exp2(-float64(age)/float64(d.halfLife))
}

// presentFloor is the floor for questions about the present state.
const presentFloor = 0.5

// decay returns the decay for the answers to this question. Age has no effect if the question
// asks for a time or names a time. Age has more effect than usual if the question is about the
// present.
func (q *question) decay() decay {
	d := decay{q.opts.HalfLife, q.opts.Floor}
	switch {
	case q.when.named() || q.intent.when:
		d.halfLife = 0
	case q.intent.present:
		d.floor = min(d.floor, presentFloor)
	}
	return d
}
