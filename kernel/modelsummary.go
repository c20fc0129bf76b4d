package kernel

import (
	"time"

	"github.com/memkernel/memkernel/summary"
)

// SummaryOptions set whether a model makes notes of sessions, and when.
type SummaryOptions struct {
	// Model makes the notes. With nil, the default, no model is asked.
	Model summary.Model
	// Tokens is the size from which a delta is sent to the model. Default: 4,000.
	Tokens int
	// After is the age of a delta's oldest message from which a smaller delta is sent. Default:
	// 15 minutes.
	After time.Duration
	// DeltaTokens is the approximate size of the part of a delta that one request sends. The rest
	// goes into the next request. Default: 24,000.
	DeltaTokens int
	// Timeout limits one request. Default: a minute.
	Timeout time.Duration
	// CloseWait is how long Close waits for a request before it is cancelled.
	// Default: 2 seconds; negative does not wait.
	CloseWait time.Duration
}

// flushFactLines is the number of lines with content from which a log is sent in a request for
// facts at a flush. Fewer lines wait for the next flush or for a night's upkeep.
const flushFactLines = 8

// The defaults of [SummaryOptions]. Four thousand tokens are a few tool calls: a
// request per handful of turns, of which the prompt's own text is a sixth.
const (
	defaultSummaryTokens    = 4_000
	defaultSummaryAfter     = 15 * time.Minute
	defaultSummaryDelta     = 24_000
	defaultSummaryTimeout   = time.Minute
	defaultSummaryCloseWait = 2 * time.Second
)

func (o SummaryOptions) filled() SummaryOptions {
	if o.Tokens == 0 {
		o.Tokens = defaultSummaryTokens
	}
	if o.After == 0 {
		o.After = defaultSummaryAfter
	}
	if o.DeltaTokens == 0 {
		o.DeltaTokens = defaultSummaryDelta
	}
	if o.Timeout == 0 {
		o.Timeout = defaultSummaryTimeout
	}
	if o.CloseWait == 0 {
		o.CloseWait = defaultSummaryCloseWait
	}
	return o
}
