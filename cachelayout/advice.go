package cachelayout

import (
	"math"
	"time"
)

// Advice is what a host can do in the time between two calls. Times are by the
// clock that planned the call; costs are in base input tokens.
type Advice struct {
	// ExpiresAt is when the messages of this request leave the cache, unless
	// another request has started before; zero where nothing of them is cached.
	ExpiresAt time.Time
	// SummariseBy is the latest time at which a model that writes a summary can
	// still read the prompt from the cache; zero if the next call in a cold cache
	// would cut nothing. SummaryWarm and SummaryCold are what it reads before and
	// after, without its answer.
	SummariseBy              time.Time
	SummaryWarm, SummaryCold float64
	// KeepAlive reports whether repeating the request with no answer asked for,
	// every KeepAliveEvery and not after KeepAliveUntil, is expected to cost less
	// than letting the messages expire. Ping is the price of one, Expiry what it
	// would save if the session goes on.
	KeepAlive      bool
	KeepAliveEvery time.Duration
	KeepAliveUntil time.Time
	Ping, Expiry   float64
}

const (
	// adviceMargin is kept between advice and expiry, for hosts to act.
	adviceMargin = 30 * time.Second
	// maxPings bounds what is advised.
	maxPings = 24
)

// Advise looks ahead from a request of total tokens that starts at now, after
// which the ledger holds what it wrote.
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

// keepAlive weighs pings against the expiry. A warm cache is worth what writing
// the low-water conversation costs more than reading it, right after a cut; it is
// worth nothing at the high-water mark, where it would be written anyway. The
// number of pings is the one with the best expected gain, given how long the
// session's gaps were.
func (a *Advice) keepAlive(p Pace, f *Figures, total int, ttl time.Duration, now time.Time) {
	a.Ping = f.ReadRatio * float64(total)
	full := 1.0
	if batch := f.HighWater - f.LowWater; batch > 0 {
		full = math.Min(1, math.Max(0, float64(total-f.LowWater)/float64(batch)))
	}
	a.Expiry = (f.WriteRatio - f.ReadRatio) * float64(max(f.Rewritten, 0)) * (1 - full)
	a.KeepAliveEvery = ttl - adviceMargin
	out := p.Rate(ttl) // the chance that the gap outlives the entry at all
	gain, best, pings := 0.0, 0.0, 0.0
	for k := 1; k <= maxPings; k++ {
		still := p.Rate(a.KeepAliveEvery * time.Duration(k))
		pings += still * a.Ping
		back := out - p.Rate(a.KeepAliveEvery*time.Duration(k)+ttl)
		if gain = back*a.Expiry - pings; gain > best {
			best, a.KeepAlive = gain, true
			a.KeepAliveUntil = now.Add(a.KeepAliveEvery * time.Duration(k))
		}
	}
	if !a.KeepAlive {
		a.KeepAliveEvery = 0
	}
}
