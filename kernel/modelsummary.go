package kernel

import (
	"cmp"
	"time"

	"github.com/memkernel/memkernel/kernel/api"
)

// flushFactLines is the number of lines with content from which a log is sent in a request for
// facts at a flush. Fewer lines wait for the next flush or for a night's upkeep.
const flushFactLines = 8

// The defaults of [api.SummaryOptions]. Four thousand tokens are a few tool calls: a
// request per handful of turns, of which the prompt's own text is a sixth.
const (
	defaultSummaryTokens    = 4_000
	defaultSummaryAfter     = 15 * time.Minute
	defaultSummaryDelta     = 24_000
	defaultSummaryTimeout   = time.Minute
	defaultSummaryCloseWait = 2 * time.Second
)

// filledSummary returns the options with the defaults.
func filledSummary(o api.SummaryOptions) api.SummaryOptions {
	o.Tokens = cmp.Or(o.Tokens, defaultSummaryTokens)
	o.After = cmp.Or(o.After, defaultSummaryAfter)
	o.DeltaTokens = cmp.Or(o.DeltaTokens, defaultSummaryDelta)
	o.Timeout = cmp.Or(o.Timeout, defaultSummaryTimeout)
	o.CloseWait = cmp.Or(o.CloseWait, defaultSummaryCloseWait)
	return o
}
