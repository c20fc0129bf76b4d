package checkpoint

import (
	"fmt"
	"math"
	"strconv"
)

// Level is how far a context has filled up. Each level includes the lower levels.
type Level int

// The levels, lowest first.
const (
	// LevelNone is below every threshold: nothing is shown.
	LevelNone Level = iota
	// LevelShow shows the gauge.
	LevelShow
	// LevelCheckpoint writes a checkpoint and advises to wrap up.
	LevelCheckpoint
	// LevelCompact is the level at which the host, or the kernel's own cut, compacts.
	LevelCompact
)

// Thresholds are shares of the window, above 0 and at most 1.
type Thresholds struct {
	Show       float64
	Checkpoint float64
	// Compact is the host's compaction point. [CompactionPoint] computes it from a reserve.
	Compact float64
}

// DefaultThresholds returns 70 % for showing the gauge, 80 % for a checkpoint, and 90 % for
// compaction. 90 % is where a reserve of 20,000 tokens begins in a window of 200,000.
func DefaultThresholds() Thresholds { return Thresholds{Show: 0.70, Checkpoint: 0.80, Compact: 0.90} }

// CompactionPoint returns the share of a window at which its reserve begins. Both arguments are
// in tokens. If the reserve takes the whole window, the result is 0, which [Thresholds.Check]
// refuses.
func CompactionPoint(window, reserve int) float64 {
	if window <= 0 || reserve >= window {
		return 0
	}
	return float64(window-max(0, reserve)) / float64(window)
}

// Check returns an error if a threshold is not a share of a window.
func (t Thresholds) Check() error {
	for _, v := range [...]struct {
		name  string
		share float64
	}{{"show", t.Show}, {"checkpoint", t.Checkpoint}, {"compact", t.Compact}} {
		if !(v.share > 0 && v.share <= 1) {
			return fmt.Errorf("check thresholds: %s is %v: give a share of the window above 0 and at most 1", v.name, v.share)
		}
	}
	return nil
}

// Level returns the highest level that a reading has reached. If a host compacts below another
// threshold, a reading at its compaction point also reaches that threshold, since the threshold's
// action has to happen before the compaction.
func (t Thresholds) Level(r Reading) Level {
	switch u := r.Utilization(); {
	case u >= t.Compact:
		return LevelCompact
	case u >= t.Checkpoint:
		return LevelCheckpoint
	case u >= t.Show:
		return LevelShow
	}
	return LevelNone
}

// Cross compares a reading with the level of the previous reading. It returns the current level,
// which the caller must pass as last in the next call, and every level crossed since, lowest
// first. A single huge result can cross several levels at once. A reading below a level re-arms
// that level. A host that takes no reading right after a cut must pass LevelNone in the first
// call after the cut.
func (t Thresholds) Cross(last Level, r Reading) (now Level, crossed []Level) {
	now = t.Level(r)
	for l := last + 1; l <= now; l++ {
		crossed = append(crossed, l)
	}
	return now, crossed
}

// Reading is the size of the next call before any cut, and the size of its window, both in
// tokens.
type Reading struct{ Tokens, Window int }

// Utilization returns the filled share of the window. It is above 1 if the window overflows.
func (r Reading) Utilization() float64 {
	if r.Window <= 0 {
		return 0
	}
	return float64(r.Tokens) / float64(r.Window)
}

// advice is below the gauge from [LevelCheckpoint] on, if no cut is in sight.
const advice = "Older context will be compacted soon: finish the step at hand, and write down what must outlive it."

// NextCut describes the next cut of a prompt, and how a model can prepare for it.
type NextCut struct {
	// Low is the actual or expected size of the prompt after the last cut. High is the size above
	// which the prompt will be cut, 0 if no cut is in sight. Both are in tokens of the whole
	// prompt.
	Low, High int
	// InLoop reports whether a run of tool calls is open. A cut that only saves money does not
	// break such a run.
	InLoop bool
	// Tool is the tool by which the model writes memory, "" if it has none.
	Tool string
	// Maybe reports that it is unknown whether the model has the tool.
	Maybe bool
	// Resolver is the tool by which the model fetches text that left the prompt, "" if the model
	// has none.
	Resolver string
	// Told reports whether the advice was given since the last cut.
	Told bool
}

// Way returns how far a prompt has grown from the last cut to the next, as a reading for
// [Thresholds]. Its utilization is 0 right after the last cut and 1 at the next.
func (c NextCut) Way(tokens int) Reading {
	return Reading{Tokens: max(0, tokens-c.Low), Window: max(0, c.High-c.Low)}
}

// Line returns the gauge as the model sees it at a level, "" below LevelShow, with the point at
// which older parts will leave the prompt. saved must report whether a checkpoint of this state
// exists. From LevelCheckpoint on, the advice that the model can follow until then is on a second
// line. Percent and thousands are rounded down, so that a threshold never shows before it is
// reached.
func (c NextCut) Line(r Reading, l Level, saved bool) string {
	if l < LevelShow {
		return ""
	}
	s := fmt.Sprintf("[Context: %d%% | %s/%s tokens", int(math.Floor(100*r.Utilization()+1e-9)), thousands(r.Tokens), thousands(r.Window))
	switch left := c.High - r.Tokens; {
	case c.High <= 0:
	case left >= 1000:
		s += " | older parts leave in about " + thousands(left) + " tokens"
	case c.InLoop:
		s += " | older parts leave when this run of tool calls ends"
	default:
		s += " | older parts leave next"
	}
	if saved {
		s += " | Checkpoint saved"
	}
	s += "]"
	switch {
	case l < LevelCheckpoint:
		return s
	case c.High <= 0:
		return s + "\n" + advice
	case c.Told:
		return s + "\nWhat was not repeated or written down by then is shown shortened, or not at all."
	}
	s += "\nIn the message that answers this one, and in no later one, repeat briefly what of them you still need: decisions, open points, exact names and numbers."
	switch {
	case c.Tool == "":
	case c.Maybe:
		s += " What must outlive the session belongs in memory: call " + c.Tool + ", if you have it."
	default:
		s += " What must outlive the session belongs in memory: call " + c.Tool + "."
	}
	if c.Resolver != "" {
		s += " What has left can be fetched with " + c.Resolver + "."
	}
	return s
}

func thousands(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return strconv.Itoa(n/1000) + "k"
}
