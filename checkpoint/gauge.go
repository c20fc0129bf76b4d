package checkpoint

import (
	"fmt"
	"math"
	"strconv"
)

// Level is how far a context has filled up. Each level includes those below it.
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

// DefaultThresholds are 70 % and 80 % of the window, and compaction where a
// reserve of 20,000 tokens begins in a window of 200,000.
func DefaultThresholds() Thresholds { return Thresholds{Show: 0.70, Checkpoint: 0.80, Compact: 0.90} }

// CompactionPoint returns the share of a window at which its reserve begins, both in
// tokens. A reserve that leaves nothing gives 0, which no Thresholds accept.
func CompactionPoint(window, reserve int) float64 {
	if window <= 0 || reserve >= window {
		return 0
	}
	return float64(window-max(0, reserve)) / float64(window)
}

// Check refuses thresholds that are no share of a window.
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

// Level returns the highest level that a reading has reached. A host that compacts below another
// threshold has reached that one too: its action has to happen before the compaction.
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

// Cross compares a reading with the level of the one before it. It returns the level that now
// holds, to be handed in next time, and every level crossed on the way, lowest first: a single
// huge result crosses several at once and passes none by. A reading below a level re-arms it. A
// host that reads nothing right after a cut must pass LevelNone after it.
func (t Thresholds) Cross(last Level, r Reading) (now Level, crossed []Level) {
	now = t.Level(r)
	for l := last + 1; l <= now; l++ {
		crossed = append(crossed, l)
	}
	return now, crossed
}

// Reading is the size of the next call before any cut, in a window. Both are in tokens.
type Reading struct {
	Tokens, Window int
	// Estimated reports whether no host's usage is in it.
	Estimated bool
}

// Utilization returns the filled share of the window; above 1 where it overflows.
func (r Reading) Utilization() float64 {
	if r.Window <= 0 {
		return 0
	}
	return float64(r.Tokens) / float64(r.Window)
}

// Advice is below the gauge from [LevelCheckpoint] on.
const Advice = "Older context will be compacted soon: finish the step at hand, and write down what must outlive it."

// Line returns the gauge as the model sees it at a level, "" below LevelShow. saved
// reports whether a checkpoint of this state exists. From LevelCheckpoint on the
// advice is on a second line. Percent and thousands are rounded down, so that
// a threshold never shows before it is reached.
func (r Reading) Line(l Level, saved bool) string {
	if l < LevelShow {
		return ""
	}
	s := r.head("", saved)
	if l >= LevelCheckpoint {
		s += "\n" + Advice
	}
	return s
}

// head is the first line, with something more in it.
func (r Reading) head(more string, saved bool) string {
	s := fmt.Sprintf("[Context: %d%% | %s/%s tokens", int(math.Floor(100*r.Utilization()+1e-9)), thousands(r.Tokens), thousands(r.Window)) + more
	if saved {
		s += " | Checkpoint saved"
	}
	return s + "]"
}

// NextCut tells when older parts will leave a prompt, and how a model can prepare for it.
type NextCut struct {
	// Low is the size of the prompt after the last cut, or the one expected. High is the size
	// above which it will be cut. Both are in tokens of the whole prompt. High is 0 where no cut
	// is in sight.
	Low, High int
	// InLoop reports whether a run of tool calls is open, which no cut for money breaks.
	InLoop bool
	// Tool is the tool by which the model writes memory, "" if it has none.
	Tool string
	// Maybe reports that it is unknown whether the model has the tool.
	Maybe bool
	// Resolver is the tool by which it fetches text that has left, "" if it has none.
	Resolver string
	// Told reports whether the advice was given since the last cut.
	Told bool
}

// Way is how far a prompt has come from the last cut to the next, as a reading for
// [Thresholds]: 0 right after the one, 1 at the other.
func (c NextCut) Way(tokens int) Reading {
	return Reading{Tokens: max(0, tokens-c.Low), Window: max(0, c.High-c.Low)}
}

// Line is [Reading.Line] plus the point at which older parts will leave, and the advice until
// then, as far as the model can follow it.
func (c NextCut) Line(r Reading, l Level, saved bool) string {
	if l < LevelShow {
		return ""
	}
	when := ""
	switch left := c.High - r.Tokens; {
	case c.High <= 0:
		return r.Line(l, saved)
	case left >= 1000:
		when = " | older parts leave in about " + thousands(left) + " tokens"
	case c.InLoop:
		when = " | older parts leave when this run of tool calls ends"
	default:
		when = " | older parts leave next"
	}
	s := r.head(when, saved)
	switch {
	case l < LevelCheckpoint:
		return s
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
