package api

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
