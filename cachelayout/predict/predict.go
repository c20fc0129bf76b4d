// Package predict computes the tokens that the provider's prompt cache should have read and
// written at every call of a recorded session, and the difference from the billed ones. It is the
// test of our picture of the cache against real bills.
//
//	messages ─► segments ─► prompt of call i ─► blocks ─► ledger ─► read, write
//	                                             ▲                     ▲
//	bills of calls before i ─► anchor, line, habits ───────────────────┘
//
// A prediction for a call sees the host's messages and their times up to that
// call, and nothing that was billed for it or later. Two things are taken from
// the bills as such: the lifetime, which is the one that the recorded writes name,
// and the size of tools and system prompt, unless it is given: that is inferred
// from the first billed call, which is then not judged.
//
// With calibration, the default, the bills of earlier calls teach more. The last one is the
// anchor: only the messages after it are counted. A line corrects that count, since hosts send
// things that no transcript shows, and a few habits of host and provider are learned, which
// [habits] lists. Plain leaves all that out.
//
// The host is assumed to behave as agent hosts do: it appends, with cache markers after the fixed
// part, at the previous tail and at the end of the request. A call that was cold though it came
// within the lifetime is not predicted by anything, and listed apart, as unexplained.
//
// Apart from [Segments], which reads the transcript it is given, the package is
// pure. It never bills, sends or guesses a price. Tokens are the provider's,
// errors are shares of the billed figure.
package predict

import (
	"time"

	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/cachelayout"
)

// coldShare is the share of the context before below which a read counts as
// cold: the bill's own way to distinguish a rewritten cache from a grown one.
const coldShare = 0.6

// Options are how a session is predicted. Nil means the defaults.
type Options struct {
	// Fixed is the size of tools and system prompt in tokens; 0 infers it from
	// the first billed call.
	Fixed int
	// TTL is the lifetime of the host's entries; 0 takes that of its writes.
	TTL time.Duration
	// Book is the price book that knows how models cache; nil is the default.
	Book *cachelayout.Book
	// Model is assumed for calls that name none.
	Model string
	// Counter counts text; nil takes the model's.
	Counter budget.Counter
	// Plain learns nothing from the bills of earlier calls.
	Plain bool
}

// Tokens holds the tokens that a call reads from the cache, those that it writes to it, its other
// input, and its whole prompt.
type Tokens struct {
	Read     int `json:"cache_read_tokens"`
	Write    int `json:"cache_write_tokens"`
	Uncached int `json:"uncached_tokens"`
	// Total is the whole prompt.
	Total int `json:"input_tokens"`
}

// Verdict is the outcome of a prediction that a call is warm or cold.
type Verdict string

const (
	// First is the call that gives the fixed part: it is not judged.
	First Verdict = "first"
	// Warm: as predicted.
	Warm Verdict = "warm"
	// Expired: cold as predicted, because the lifetime was over, thinking was dropped,
	// or the prompt before was too small to be cached.
	Expired Verdict = "expired"
	// Compacted: the host changed its past. Not judged for warm or cold.
	Compacted Verdict = "compacted"
	// Unexplained: cold though the lifetime was not over.
	Unexplained Verdict = "unexplained"
	// Missed: cold past the lifetime, and predicted warm.
	Missed Verdict = "missed"
	// Spared: warm, and predicted cold.
	Spared Verdict = "spared"
)

// Explained reports whether the prediction was right.
func (v Verdict) Explained() bool { return v == Warm || v == Expired || v == Compacted }

// Growth is the number of tokens that one call added to the prompt.
type Growth struct {
	// Billed is the difference of two bills.
	Billed int `json:"billed_tokens"`
	// Predicted is the prediction. Counted is the counter's figure alone. Quarter is the number
	// of bytes over four.
	Predicted int `json:"predicted_tokens"`
	Counted   int `json:"counted_tokens"`
	Quarter   int `json:"quarter_tokens"`
}

// Call is one billed call with its prediction.
type Call struct {
	// Index counts the session's calls from 0; Key is the answer's message.
	Index int       `json:"index"`
	Key   string    `json:"key"`
	Start time.Time `json:"start,omitzero"`
	Model string    `json:"model"`
	// GapSeconds is the time since the start of the call before.
	GapSeconds float64 `json:"gap_seconds"`

	Predicted Tokens `json:"predicted"`
	// Recorded is the bill.
	Recorded Tokens `json:"recorded"`
	// PredictedCold and RecordedCold report whether under 60 % of the context
	// before was read.
	PredictedCold bool    `json:"predicted_cold"`
	RecordedCold  bool    `json:"recorded_cold"`
	Verdict       Verdict `json:"verdict"`
	// PastTTL: the gap is the lifetime or more, by the clock alone.
	PastTTL bool `json:"past_ttl"`
	// Compacted marks the first call after the host changed its past; whether it
	// is cold is not judged.
	Compacted bool `json:"compacted"`
	// Judged is false for the first billed call, which gives the fixed part.
	Judged bool `json:"judged"`
	// ReadError and WriteError are relative to the billed tokens.
	ReadError  float64 `json:"read_error"`
	WriteError float64 `json:"write_error"`
	// Ratio and Overhead are the corrections of the counter that were known before the call.
	Ratio    float64 `json:"ratio"`
	Overhead float64 `json:"overhead_tokens"`
	// Growth is nil where the prompt did not follow another, or shrank.
	Growth *Growth `json:"growth"`
}

// Report is a session's calls and their sums.
type Report struct {
	// Calls are the billed ones, empty without usage.
	Calls []Call `json:"calls"`
	// NotCompared counts the calls whose prediction is not compared, by reason: "not_billed" are
	// those whose bill the transcript does not hold, "first" is the one that gives the fixed
	// part. They are in no sum and no error, but their text is in later prompts.
	NotCompared map[string]int `json:"not_compared"`
	// Calibrated reports whether the bills of earlier calls were used.
	Calibrated bool `json:"calibrated"`
	// FixedTokens is the size assumed for tools and system prompt; FixedFrom is
	// where it comes from: "given" or "first_call".
	FixedTokens int    `json:"fixed_tokens"`
	FixedFrom   string `json:"fixed_from"`
	// TTLSeconds is the lifetime assumed; TTLFrom is where it comes from:
	// "given", "recorded" or "book".
	TTLSeconds int    `json:"ttl_seconds"`
	TTLFrom    string `json:"ttl_from"`
	// Summary is over the judged calls.
	Summary Summary `json:"summary"`
}

// Why a call is compared with nothing.
const (
	NotBilled  = "not_billed"
	givesFixed = "first"
)

// The sources of the size of the fixed part and of the lifetime.
const (
	FixedGiven     = "given"
	FixedFirstCall = "first_call"
	ttlGiven       = "given"
	TTLRecorded    = "recorded"
	ttlBook        = "book"
)
