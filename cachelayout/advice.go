package cachelayout

import (
	"math"
	"time"
)

// Advice lists the actions that a host can take in the time between two calls. Times are by the
// clock that planned the call; costs are in base input tokens.
type Advice struct {
	// ExpiresAt is when the messages of this request leave the cache, unless
	// another request has started before; zero where none of them is cached.
	ExpiresAt time.Time `json:"expires_at,omitzero"`
	// SummariseBy is the latest time at which a model that writes a summary can still read the
	// prompt from the cache; zero if the next call in a cold cache would cut nothing. SummaryWarm
	// and SummaryCold are the cost in base tokens of its input before and after that time,
	// without its answer.
	SummariseBy time.Time `json:"summarise_by,omitzero"`
	SummaryWarm float64   `json:"summary_warm"`
	SummaryCold float64   `json:"summary_cold"`
	// KeepAlive reports whether repeating the request with no answer asked for, every
	// KeepAliveSeconds and not after KeepAliveUntil, is expected to cost less than letting the
	// messages expire. Ping is the price of one repetition. Expiry is the price of expiry if the
	// session continues.
	KeepAlive        bool      `json:"keep_alive"`
	KeepAliveSeconds int       `json:"keep_alive_seconds"`
	KeepAliveUntil   time.Time `json:"keep_alive_until,omitzero"`
	Ping             float64   `json:"ping"`
	Expiry           float64   `json:"expiry"`
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
// cost of writing the low-water conversation instead of reading it; it is worth nothing at the
// high-water mark, where it would be written anyway. The number of pings is the one with the best
// expected gain, given how long the session's gaps were.
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
