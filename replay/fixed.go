package replay

import (
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/transcript"
)

// infer fills in the options that can be read from the recorded messages: model, lifetime and
// fixed part. It also computes the window if the options set the room above the fixed part.
func (o *Options) infer(msgs []memkernel.Message) {
	recorded := ""
	var ttl time.Duration
	for i := range msgs {
		if u := msgs[i].Usage; u != nil && u.CacheWrite1hTokens > 0 {
			ttl = time.Hour
		} else if u != nil && u.CacheWrite5mTokens > 0 && ttl == 0 {
			ttl = 5 * time.Minute
		}
		if recorded == "" && msgs[i].Origin == memkernel.OriginHost {
			recorded = msgs[i].Model
		}
	}
	if o.Model == "" {
		o.Model = recorded
	}
	if o.ownTTL = o.TTL == 0; o.ownTTL {
		o.TTL = ttl
	}
	if o.FixedAuto {
		if counter, err := o.counter(recorded); err == nil {
			o.FixedTokens = counter.Fixed(msgs, nil, nil)
		}
	}
	if o.RoomTokens > 0 {
		o.ContextWindow = o.FixedTokens + o.RoomTokens
	}
}

// counter returns the counts of a model as the price book describes it.
func (o *Options) counter(model string) (budget.Model, error) {
	m, _ := o.Prices.Lookup(model, time.Time{})
	return budget.NewModel(m.Tokenizer, model, nil)
}

// Recorded is the provider's bill to the host for the session, as far as the transcript holds it.
type Recorded struct {
	// Calls counts the calls with recorded usage.
	Calls            int `json:"calls"`
	InputTokens      int `json:"input_tokens"`
	CacheReadTokens  int `json:"cache_read_tokens"`
	CacheWriteTokens int `json:"cache_write_tokens"`
	UncachedTokens   int `json:"uncached_tokens"`
	// CostUSD is the cost of the input side at the price book's prices of the day. It is nil if a
	// price is unknown or no usage is recorded.
	CostUSD *float64 `json:"cost_usd"`
	// Compactions counts the host's own compactions.
	Compactions int `json:"compactions"`
}

// Bill sums the recorded usage of a session's main line.
func Bill(s *transcript.Session, prices *cachelayout.Book) Recorded {
	if prices == nil {
		prices = cachelayout.DefaultBook()
	}
	msgs := s.View(transcript.Full)
	r := Recorded{Compactions: len(s.Compactions())}
	cost := new(float64)
	for _, c := range transcript.Calls(msgs) {
		u := msgs[c.Index].Usage
		if u == nil || u.InputTotal() == 0 {
			continue
		}
		r.Calls++
		r.InputTokens += u.InputTotal()
		r.CacheReadTokens += u.CacheReadTokens
		r.CacheWriteTokens += u.CacheWrite5mTokens + u.CacheWrite1hTokens
		r.UncachedTokens += u.InputTokens
		m, _ := prices.Lookup(msgs[c.Index].Model, c.Start)
		cost = add(cost, m.Cost(u.CacheReadTokens, u.CacheWrite5mTokens, u.CacheWrite1hTokens, u.InputTokens, 0))
	}
	if r.Calls > 0 {
		r.CostUSD = cost
	}
	return r
}

// add sums two costs. If one is unknown, the sum is unknown.
func add(a, b *float64) *float64 {
	if a == nil || b == nil {
		return nil
	}
	s := *a + *b
	return &s
}
