package cachelayout

import (
	"math"
	"time"
)

// Advice lists the actions that a host can take in the time between two calls. Times are by the
// clock that planned the call. Costs are in base input tokens.
type Advice struct {
	// ExpiresAt is the time at which the messages of this request leave the cache, unless another
	// request starts before it. It is zero if none of the messages is cached.
	ExpiresAt time.Time `json:"expires_at,omitzero"`
	// SummariseBy is the latest time at which a model that writes a summary can still read the
	// prompt from the cache. It is zero if the next call in a cold cache would cut nothing.
	SummariseBy time.Time `json:"summarise_by,omitzero"`
	// SummaryWarm is the cost of the summary's input until SummariseBy. It does not include the
	// answer.
	SummaryWarm float64 `json:"summary_warm"`
	// SummaryCold is the cost of the summary's input after SummariseBy. It does not include the
	// answer.
	SummaryCold float64 `json:"summary_cold"`
	// KeepAlive reports whether repeating the request is expected to cost less than letting the
	// messages expire. The host should then repeat it without requesting an answer, every
	// KeepAliveSeconds until KeepAliveUntil.
	KeepAlive        bool      `json:"keep_alive"`
	KeepAliveSeconds int       `json:"keep_alive_seconds"`
	KeepAliveUntil   time.Time `json:"keep_alive_until,omitzero"`
	// Ping is the price of one repetition.
	Ping float64 `json:"ping"`
	// Expiry is the price of letting the messages expire if the session continues.
	Expiry float64 `json:"expiry"`
}

const (
	// adviceMargin is kept between advice and expiry, for hosts to act.
	adviceMargin = 30 * time.Second
	// maxPings bounds the advised number of pings.
	maxPings = 24
)

// Advise looks ahead from a request of total tokens that starts at now, after which the ledger
// must hold the entries that it wrote.
func (l *Ledger) Advise(m Model, p Pace, c Cut, total int, now time.Time) Advice {
	_, ttl := l.Lifetimes(now)
	f := &c.Figures
	if ttl == 0 || total < m.MinCacheTokens {
		return Advice{}
	}
	a := Advice{ExpiresAt: now.Add(ttl)}
	if c.Economy.thrift().enough(total - f.ColdLowWater) {
		a.SummariseBy = a.ExpiresAt.Add(-adviceMargin)
		a.SummaryWarm, a.SummaryCold = f.ReadRatio*float64(total), float64(total)
	}
	a.keepAlive(p, f, total, ttl, now)
	return a
}

// keepAlive weighs pings against the expiry. Right after a cut a warm cache is worth the extra
// cost of writing the low-water conversation instead of reading it. At the high-water mark it is
// worth nothing, because the next call cuts and writes the conversation anyway. keepAlive chooses
// the number of pings with the best expected gain, given the lengths of the session's gaps.
func (a *Advice) keepAlive(p Pace, f *Figures, total int, ttl time.Duration, now time.Time) {
	a.Ping = f.ReadRatio * float64(total)
	full := 1.0
	if batch := f.HighWater - f.LowWater; batch > 0 {
		full = math.Min(1, math.Max(0, float64(total-f.LowWater)/float64(batch)))
	}
	a.Expiry = (f.WriteRatio - f.ReadRatio) * float64(max(f.Rewritten, 0)) * (1 - full)
	every := ttl - adviceMargin
	out := p.Rate(ttl) // the chance that the gap outlives the entry at all
	gain, best, pings := 0.0, 0.0, 0.0
	for k := 1; k <= maxPings; k++ {
		still := p.Rate(every * time.Duration(k))
		pings += still * a.Ping
		back := out - p.Rate(every*time.Duration(k)+ttl)
		if gain = back*a.Expiry - pings; gain > best {
			best, a.KeepAlive = gain, true
			a.KeepAliveUntil = now.Add(every * time.Duration(k))
		}
	}
	if a.KeepAlive {
		a.KeepAliveSeconds = int(every / time.Second)
	}
}
