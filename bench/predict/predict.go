// Package predict computes the tokens that the provider's prompt cache should have read and
// written at every call of a recorded session, and the difference from the billed ones. It is the
// test of our picture of the cache against real bills.
//
//	messages ─► segments ─► prompt of call i ─► blocks ─► ledger ─► read, write
//	                                             ▲                     ▲
//	bills of calls before i ─► anchor, line, habits ───────────────────┘
//
// A prediction for a call sees the host's messages and their times up to that call, and nothing
// that was billed for it or later. The lifetime is taken from the recorded writes. The size of
// tools and system prompt is inferred from the first billed call unless it is given. If it is
// inferred, the first billed call is not judged.
//
// With calibration, the default, a prediction also learns from the bills of earlier calls. The last
// billed prompt is the anchor: only the messages after it are counted. A fitted line corrects that
// count, since hosts send content that no transcript shows. The bills also show a few habits of host
// and provider. With the option Plain none of this is learned.
//
// The host is assumed to behave as agent hosts do: it appends, with cache markers after the fixed
// part, at the previous tail and at the end of the request. A call that was cold although it came
// within the lifetime can't be predicted. It is listed separately as unexplained.
//
// The verb predict of mkbench reads the transcripts and prints the comparison (verb.go). The rest of
// the package does no I/O. Tokens are the provider's. Errors are shares of the billed figure.
package predict

import (
	"time"

	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/cachelayout"
)

// coldShare is a share of the previous context. A call that reads less than this share counts as
// cold. This distinguishes a rewritten cache from a grown one in the bills.
const coldShare = 0.6

// options are the options of a prediction. Nil means the defaults.
type options struct {
	// Fixed is the size of tools and system prompt in tokens. If it is 0, Run infers it from the
	// first billed call.
	Fixed int
	// Book is the price book that describes how models cache. Nil means the default book.
	Book *cachelayout.Book
	// Counter counts text. Nil means the model's counter.
	Counter budget.Counter
	// Plain learns nothing from the bills of earlier calls.
	Plain bool
}

// tokens holds the number of tokens that a call reads from the cache, the number that it writes
// to the cache, its other input, and its whole prompt.
type tokens struct {
	Read     int `json:"cache_read_tokens"`
	Write    int `json:"cache_write_tokens"`
	Uncached int `json:"uncached_tokens"`
	// Total is the size of the whole prompt.
	Total int `json:"input_tokens"`
}

// verdict says whether the prediction that a call is warm or cold was right.
type verdict string

const (
	// first: the call gives the size of the fixed part. It is not judged.
	first verdict = "first"
	// warm: the call was warm, as predicted.
	warm verdict = "warm"
	// expired: the call was cold, as predicted. The lifetime was over, thinking was dropped, or
	// the previous prompt was too small to be cached.
	expired verdict = "expired"
	// compacted: the host changed its past. The call is not judged for warm or cold.
	compacted verdict = "compacted"
	// unexplained: the call was cold although the lifetime was not over.
	unexplained verdict = "unexplained"
	// missed: the call was cold after the lifetime, but predicted warm.
	missed verdict = "missed"
	// spared: the call was warm, but predicted cold.
	spared verdict = "spared"
)

// Explained reports whether the prediction was right, or the host changed its past.
func (v verdict) Explained() bool { return v == warm || v == expired || v == compacted }

// growth is the number of tokens that one call added to the prompt.
type growth struct {
	// Billed is the difference between the bills of this call and the previous one.
	Billed int `json:"billed_tokens"`
	// Predicted is the predicted growth. Counted is the counter's figure alone. Quarter is a
	// quarter of the number of bytes.
	Predicted int `json:"predicted_tokens"`
	Counted   int `json:"counted_tokens"`
	Quarter   int `json:"quarter_tokens"`
}

// call is one billed call with its prediction.
type call struct {
	// Index is the number of the call in the session, counted from 0.
	Index int       `json:"index"`
	Start time.Time `json:"start,omitzero"`
	// GapSeconds is the time since the start of the previous call.
	GapSeconds float64 `json:"gap_seconds"`

	Predicted tokens `json:"predicted"`
	// Recorded is the bill.
	Recorded tokens `json:"recorded"`
	// PredictedCold reports whether less than 60 % of the previous context is predicted to be
	// read.
	PredictedCold bool    `json:"predicted_cold"`
	Verdict       verdict `json:"verdict"`
	// PastTTL reports whether the time since the previous call is at least the cache's lifetime.
	PastTTL bool `json:"past_ttl"`
	// Compacted marks the first call after the host changed its past. The call is not judged for
	// warm or cold.
	Compacted bool `json:"compacted"`
	// Judged is false for the first billed call if it gives the size of the fixed part.
	Judged bool `json:"judged"`
	// ReadError and WriteError are relative to the billed tokens.
	ReadError  float64 `json:"read_error"`
	WriteError float64 `json:"write_error"`
	// Growth is nil if the prompt did not follow another prompt, or shrank.
	Growth *growth `json:"growth"`
}

// report is a session's calls and their sums.
type report struct {
	// Calls are the billed calls. It is empty for a session without usage.
	Calls []call `json:"calls"`
	// NotCompared counts the calls whose prediction is not compared, by reason: "not_billed"
	// counts calls whose bill the transcript does not hold, and "first" counts the call that
	// gives the size of the fixed part. No sum and no error includes these calls, but their text
	// is in later prompts.
	NotCompared map[string]int `json:"not_compared"`
	// FixedTokens is the assumed size of tools and system prompt.
	FixedTokens int `json:"fixed_tokens"`
	// TTLSeconds is the assumed lifetime.
	TTLSeconds int `json:"ttl_seconds"`
	// TTLFrom is the source of TTLSeconds: "recorded" or "book".
	TTLFrom string `json:"ttl_from"`
	// Summary sums up the judged calls.
	Summary summary `json:"summary"`
}

// The reasons why a call is not compared.
const (
	notBilled  = "not_billed"
	givesFixed = "first"
)

// The sources of the lifetime.
const (
	ttlRecorded = "recorded"
	ttlBook     = "book"
)
