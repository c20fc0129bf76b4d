package retrieval

import (
	"math"
	"time"
)

// decay is what age does to a score: it falls from 1 towards a floor, half of
// the way in each half-life. Exponential decay alone would reach 10⁻⁷ after two
// years, and order old notes by nothing but their date.
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

// presentFloor is the floor for questions about how things stand now.
const presentFloor = 0.5

// decay returns what age does to the answers of this question: nothing where it
// asks for a time or names one, more than usual where it asks about the
// present.
func (s *search) decay() decay {
	d := decay{s.opts.HalfLife, s.opts.Floor}
	switch {
	case s.when.named() || s.intent.when:
		d.halfLife = 0
	case s.intent.present:
		d.floor = min(d.floor, presentFloor)
	}
	return d
}
