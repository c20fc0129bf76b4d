// Package predict says what the provider's prompt cache should have read and
// written at every call of a recorded session, and how far that is from what
// was billed. It is the test of our picture of the cache against real bills.
//
// A prediction for a call sees the host's messages and their times up to that
// call, and nothing that was billed for it or later. What was billed before it
// trains one line, tokens = ratio × counted + overhead per call, since hosts
// send things that no transcript shows. The size of tools and system prompt is
// given, or inferred once from the first billed call, which is then not judged.
// The lifetime is the one that the host's recorded writes name.
//
//	messages ─► segments ─► prompt of call i ─► blocks ─► ledger ─► read, write
//	                                             ▲
//	billed sizes of calls before i ─► ratio ─────┘
//
// The host is assumed to do what agent hosts do: append, with cache markers
// behind the fixed part, at the previous tail and at the end of the request.
//
// Apart from [Segments], which reads the transcript it is given, the package is
// pure. It never bills, sends or guesses a price. Tokens are the provider's,
// errors are shares of the billed figure.
package predict

import (
	"slices"
	"time"

	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/cachelayout"
)

// coldShare is the share of the context before below which a read counts as
// cold: the bill's own way to tell a rewritten cache from a grown one.
const coldShare = 0.6

// Options say how a session is predicted. Nil means the defaults.
type Options struct {
	// Fixed is the size of tools and system prompt in tokens; 0 infers it from
	// the first billed call.
	Fixed int
	// TTL is the lifetime of the host's entries; 0 takes that of its writes.
	TTL time.Duration
	// Book is the price book that knows how models cache; nil is the default.
	Book *cachelayout.Book
	// Model stands for calls that name none.
	Model string
	// Counter counts text; nil takes the model's.
	Counter budget.Counter
}

// Tokens is what a call reads from and writes to the cache, and its whole prompt.
type Tokens struct {
	Read  int `json:"cache_read_tokens"`
	Write int `json:"cache_write_tokens"`
	Total int `json:"input_tokens"`
}

// Call is one billed call beside its prediction.
type Call struct {
	// Index counts the session's calls from 0; Key is the answer's message.
	Index int       `json:"index"`
	Key   string    `json:"key"`
	Start time.Time `json:"start,omitzero"`
	Model string    `json:"model"`

	Predicted Tokens `json:"predicted"`
	Recorded  Tokens `json:"recorded"`
	// PredictedCold and RecordedCold tell that under 60 % of the context before
	// was read.
	PredictedCold bool `json:"predicted_cold"`
	RecordedCold  bool `json:"recorded_cold"`
	// Compacted marks the first call after the host changed its past; whether it
	// is cold is not judged.
	Compacted bool `json:"compacted"`
	// Judged is false for the first billed call, which gives the fixed part.
	Judged bool `json:"judged"`
	// ReadError and WriteError are relative to what was billed.
	ReadError  float64 `json:"read_error"`
	WriteError float64 `json:"write_error"`
	// Ratio and Overhead are what was known of the counter before the call.
	Ratio    float64 `json:"ratio"`
	Overhead float64 `json:"overhead_tokens"`
}

// Report is a session's calls and their sums.
type Report struct {
	Calls []Call `json:"calls"`
	// FixedTokens is the size assumed for tools and system prompt; FixedFrom says
	// where it comes from: "given" or "first_call".
	FixedTokens int    `json:"fixed_tokens"`
	FixedFrom   string `json:"fixed_from"`
	// TTLSeconds is the lifetime assumed.
	TTLSeconds int     `json:"ttl_seconds"`
	Summary    Summary `json:"summary"`
}

// Where the size of the fixed part comes from.
const (
	FixedGiven     = "given"
	FixedFirstCall = "first_call"
)

// Summary condenses a report.
type Summary struct {
	// Calls were judged, Temperate of them for cold or warm.
	Calls     int `json:"calls"`
	Temperate int `json:"warm_cold_calls"`
	// RightShare is the share of those whose warm or cold was predicted; Cold
	// were billed as cold, Foreseen of these predicted so.
	RightShare float64 `json:"right_share"`
	Cold       int     `json:"cold_calls"`
	Foreseen   int     `json:"cold_foreseen"`
	// Medians and 90th percentiles of the relative errors.
	ReadMedian  float64 `json:"read_error_median"`
	ReadP90     float64 `json:"read_error_p90"`
	WriteMedian float64 `json:"write_error_median"`
	WriteP90    float64 `json:"write_error_p90"`
	// Predicted and Recorded are sums over the judged calls.
	Predicted Tokens `json:"predicted"`
	Recorded  Tokens `json:"recorded"`
}

// summarize sums the calls up.
func summarize(calls []Call) Summary {
	var s Summary
	var reads, writes []float64
	right := 0
	for i := range calls {
		c := &calls[i]
		if !c.Judged {
			continue
		}
		s.Calls++
		s.Predicted.add(c.Predicted)
		s.Recorded.add(c.Recorded)
		reads, writes = append(reads, c.ReadError), append(writes, c.WriteError)
		if c.Compacted {
			continue
		}
		s.Temperate++
		if c.PredictedCold == c.RecordedCold {
			right++
		}
		if c.RecordedCold {
			s.Cold++
			if c.PredictedCold {
				s.Foreseen++
			}
		}
	}
	if s.Temperate > 0 {
		s.RightShare = float64(right) / float64(s.Temperate)
	}
	s.ReadMedian, s.ReadP90 = quantiles(reads)
	s.WriteMedian, s.WriteP90 = quantiles(writes)
	return s
}

func (t *Tokens) add(u Tokens) {
	t.Read += u.Read
	t.Write += u.Write
	t.Total += u.Total
}

// quantiles are the median and the 90th percentile by nearest rank, 0 if there
// is nothing.
func quantiles(v []float64) (median, p90 float64) {
	if len(v) == 0 {
		return 0, 0
	}
	slices.Sort(v)
	return v[(len(v)-1)/2], v[(len(v)*9+9)/10-1]
}

// relative is |got − want| / want. Where nothing was billed, any prediction but
// nothing is wrong by its whole.
func relative(got, want int) float64 {
	switch {
	case got == want:
		return 0
	case want == 0:
		return 1
	}
	d := got - want
	if d < 0 {
		d = -d
	}
	return float64(d) / float64(want)
}
