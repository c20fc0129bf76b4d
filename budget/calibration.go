package budget

import (
	"encoding/json"
	"fmt"
	"math"
	"time"
)

const (
	// calibrationVersion is the version of Calibration's JSON.
	//
	//	1: ratio and framing
	calibrationVersion = 1
	// minSamples is the number of observations from which on a calibration is used.
	minSamples = 5
	// minObserved is the smallest count that is worth comparing, in tokens. In smaller counts
	// framing and rounding weigh more than the text.
	minObserved = 200
	// maxRatio bounds actual/estimated and estimated/actual. A pair beyond it compares two
	// different prompts.
	maxRatio = 3
	// memory is the least weight of a new observation. A model's ratio changes with the kind of
	// work.
	memory = 0.08
	// A value is an outlier if it differs from the mean by more than surprise deviations and by
	// more than minSurprise, as a logarithm. After patience outliers in a row, values like them
	// are accepted.
	surprise, minSurprise, patience = 4.0, 0.4, 4
	// minDeviation keeps the margin honest after a few equal observations.
	minDeviation = 0.02
	// maxMargin bounds the margin as a factor. The margin is 2 standard deviations.
	maxMargin = 1.5
	// maxFraming bounds the framing of one message, in tokens.
	maxFraming = 200
)

// Calibration learns for one model how its real token counts compare with ours. The zero value
// has learnt nothing. It has no locks, so callers that share it must guard it. To keep a
// calibration, store its JSON.
//
// For estimates it learns the ratio actual/estimated. Exact counts of texts need no correction.
// For exact counters it learns the tokens that the provider adds to each message.
type Calibration struct {
	// Version is the version of the format.
	Version int `json:"version"`
	// Ratio holds the mean and variance of log(actual/estimated). In the logarithm, half and double
	// weigh the same.
	Ratio moments `json:"log_ratio"`
	// Framing holds the mean and variance of the tokens that the provider adds per message.
	Framing moments `json:"framing"`
	// Window is the model's context window in tokens if no price book has it, 0 if unknown.
	Window int `json:"window,omitempty"`
	// WindowFrom is the source of Window.
	WindowFrom string `json:"window_from,omitempty"`
	// Binding is the observed way in which the provider binds the model's thinking to its prefix.
	// It is "" if the price book applies.
	Binding string `json:"binding,omitempty"`
	// Unfit is the newest request whose system prompt and tools alone did not fit. It becomes nil
	// once another request fits.
	Unfit *Unfit `json:"unfit,omitempty"`
}

// Unfit is a request whose system prompt and tools alone don't fit the window, in tokens.
type Unfit struct {
	At      time.Time `json:"at"`
	System  int       `json:"system"`
	Tools   int       `json:"tools"`
	Window  int       `json:"window"`
	Reserve int       `json:"reserve"`
}

// moments is an exponentially weighted mean and variance.
type moments struct {
	Mean     float64 `json:"mean"`
	Variance float64 `json:"variance"`
	// Samples is the number of accepted values.
	Samples int `json:"samples"`
	// Outliers is the number of values refused since the last accepted one.
	Outliers int `json:"outliers"`
}

// Observe records the actual size of a prompt that was estimated, in tokens. messages is the
// number of the prompt's messages, 0 if unknown. estimated must be the raw count of the counter.
// Observe reports whether it accepted the pair. Callers must not pass a pair with a cut or a
// rewrite by the host in between, since such a pair compares two prompts. Observe refuses such
// pairs as outliers unless they persist.
func (c *Calibration) Observe(estimated Count, messages, actual int) bool {
	c.Version = calibrationVersion
	if estimated.Tokens < minObserved || actual < minObserved {
		return false
	}
	if estimated.Kind == Exact {
		if messages <= 0 {
			return false
		}
		each := float64(actual-estimated.Tokens) / float64(messages)
		if each < 0 || each > maxFraming {
			return false
		}
		return c.Framing.add(each, 1, 8)
	}
	x := math.Log(float64(actual) / float64(estimated.Tokens))
	if math.Abs(x) > math.Log(maxRatio) {
		return false
	}
	// Small pairs count less, since framing is a larger part of them.
	weight := float64(estimated.Tokens) / float64(estimated.Tokens+1000)
	return c.Ratio.add(x, weight, minSurprise)
}

// add adds x with a weight of at most 1, unless x is an outlier that differs from the mean by more
// than least. It reports whether it added x.
func (m *moments) add(x, weight, least float64) bool {
	d := x - m.Mean
	if m.Samples >= minSamples && math.Abs(d) > max(surprise*math.Sqrt(m.Variance), least) {
		if m.Outliers++; m.Outliers < patience {
			return false
		}
		*m = moments{}
		d = x
	}
	m.Outliers = 0
	m.Samples++
	alpha := max(1/float64(m.Samples), memory*weight)
	m.Mean += alpha * d
	m.Variance = (1 - alpha) * (m.Variance + alpha*d*d)
	return true
}

// Trusted reports whether enough was observed to correct estimates.
func (c *Calibration) Trusted() bool { return c.Ratio.Samples >= minSamples }

// Factor returns the expected actual/estimated as ratio. margin, at least 1, is the factor
// between the bound and the expected number. Both are 1 until the calibration is trusted.
func (c *Calibration) Factor() (ratio, margin float64) {
	if !c.Trusted() {
		return 1, 1
	}
	deviation := max(math.Sqrt(c.Ratio.Variance), minDeviation)
	return math.Exp(c.Ratio.Mean), min(math.Exp(2*deviation), maxMargin)
}

// UnmarshalJSON refuses calibrations of a newer version, and values that no observation can produce.
func (c *Calibration) UnmarshalJSON(data []byte) error {
	type plain Calibration // without this method
	var p plain
	if err := json.Unmarshal(data, &p); err != nil {
		return fmt.Errorf("read calibration: %w", err)
	}
	if p.Version > calibrationVersion {
		return fmt.Errorf("read calibration: version %d is newer than %d; update the program or start a new calibration", p.Version, calibrationVersion)
	}
	if !p.Ratio.sane(math.Log(maxRatio)) || !p.Framing.sane(maxFraming) || p.Window < 0 {
		return fmt.Errorf("read calibration: values out of range: %s", data)
	}
	*c = Calibration(p)
	return nil
}

// sane reports whether m can come from observations of at most limit.
func (m moments) sane(limit float64) bool {
	return math.Abs(m.Mean) <= limit && m.Variance >= 0 && m.Variance <= 4*limit*limit && m.Samples >= 0 && m.Outliers >= 0
}
