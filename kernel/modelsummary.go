package kernel

import (
	"time"

	"github.com/memkernel/memkernel/summary"
)

// SummaryOptions say whether a model makes notes of sessions, and when.
type SummaryOptions struct {
	// Model is asked. Nil, the default, asks nobody.
	Model summary.Model
	// Tokens is the size of a delta from which it is asked about; After is the age
	// of its oldest message from which a smaller one is. Defaults: 4,000 and
	// 15 minutes.
	Tokens int
	After  time.Duration
	// DeltaTokens bounds how much of a delta is sent in one request, about; what
	// is left goes with the next. Default: 24,000.
	DeltaTokens int
	// Timeout bounds one request. Default: a minute.
	Timeout time.Duration
	// CloseWait is how long Close waits for a request before it is cancelled.
	// Default: 2 seconds; negative does not wait.
	CloseWait time.Duration
	// NoFacts keeps what a model proposes to remember out of the daily log, and asks it for no
	// facts of the log when a flush has written to it.
	NoFacts bool
}

// flushFactLines is how many lines of a log that say something are worth a request for facts at
// a flush; fewer wait for the next, or for a night's upkeep.
const flushFactLines = 8

// The defaults of [SummaryOptions]. Four thousand tokens are a few tool calls: a
// request per handful of turns, of which the prompt's own text is a sixth.
const (
	DefaultSummaryTokens    = 4_000
	DefaultSummaryAfter     = 15 * time.Minute
	DefaultSummaryDelta     = 24_000
	DefaultSummaryTimeout   = time.Minute
	DefaultSummaryCloseWait = 2 * time.Second
)

func (o SummaryOptions) filled() SummaryOptions {
	if o.Tokens == 0 {
		o.Tokens = DefaultSummaryTokens
	}
	if o.After == 0 {
		o.After = DefaultSummaryAfter
	}
	if o.DeltaTokens == 0 {
		o.DeltaTokens = DefaultSummaryDelta
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultSummaryTimeout
	}
	if o.CloseWait == 0 {
		o.CloseWait = DefaultSummaryCloseWait
	}
	return o
}
