package cachelayout

import (
	"fmt"
	"math"
	"time"
)

// SessionCalls is the expected number of calls in an agent's session when nothing else is known
// about it. 39 recorded sessions made 182 calls each on average, but short sessions are
// underrepresented among them.
const SessionCalls = 100

// ChooseTTL picks the lifetime for the messages with which an average call of the session is
// cheapest. It assumes that a cold cache is used for a cut. The result is the short lifetime
// unless all prices are known and the long lifetime is cheaper. c gives growth, fixed part and
// room. ChooseTTL fills in ratios and cold rate for each lifetime. low is the size of the
// conversation that a cut keeps.
//
// A session should change its lifetime only when the cache is cold. Providers do not document
// whether an entry that is marked with another lifetime is still a hit.
func ChooseTTL(p Pace, m Model, c Cycle, low int) (ttl time.Duration, why string) {
	ttl, why, several := choosable(m)
	if !several {
		return ttl, why
	}
	tokens := int(c.Fixed) + low
	cost := func(t time.Duration) float64 {
		c.ColdRate, c.Ratios = p.Rate(t), m.Ratios(tokens, t)
		call, _ := c.Cost(float64(low))
		return call
	}
	short, long := cost(m.TTLs[0]), cost(m.TTLs[1])
	why = fmt.Sprintf("%.1f %% of calls are expected after %s, %.1f %% after %s: a call costs %.0f base tokens with the short lifetime, %.0f with the long",
		100*p.Rate(m.TTLs[0]), m.TTLs[0], 100*p.Rate(m.TTLs[1]), m.TTLs[1], short, long)
	if long < short {
		ttl = m.TTLs[1]
	}
	return ttl, why
}

// ChooseFixedTTL picks the lifetime for tools and system when their entry is written again. The
// long lifetime costs more at once. It saves money only if it survives the next pause that the
// short lifetime does not survive, because the entry must otherwise be written again after that
// pause. ChooseFixedTTL therefore judges by how such pauses followed each other, in this session
// and in earlier sessions of the same agent. calls is the expected number of calls, since the
// session may end before the next pause.
func ChooseFixedTTL(p Pace, earlier []Pace, m Model, fixedTokens int, calls float64) (ttl time.Duration, why string) {
	ttl, why, several := choosable(m)
	if !several {
		return ttl, why
	}
	short, long := m.TTLs[0], m.TTLs[1]
	pause, end := p.Rate(short), 1/math.Max(calls, 1)
	survives := p.survives(earlier, short, long) * pause / (pause + end)
	brief, lasting := m.Ratios(fixedTokens, short), m.Ratios(fixedTokens, long)
	costShort := float64(fixedTokens) * (brief.Write + survives*lasting.Write)
	costLong := float64(fixedTokens) * (lasting.Write + survives*lasting.Read)
	why = fmt.Sprintf("the next pause is expected to be one from %s to %s with %.0f %%: written and read behind it, tools and system cost %.0f base tokens with the short lifetime, %.0f with the long",
		short, long, 100*survives, costShort, costLong)
	if costLong < costShort {
		return long, why
	}
	return short, why
}

// choosable reports whether there is a choice, and if not, which lifetime
// applies and why.
func choosable(m Model) (ttl time.Duration, why string, several bool) {
	ttl = m.TTL(0)
	if len(m.TTLs) < 2 || !m.Cache.marked() {
		return ttl, "the only lifetime on offer", false
	}
	if m.Ratios(0, m.TTLs[0]).Assumed || m.Ratios(0, m.TTLs[1]).Assumed {
		return ttl, "the price of the long lifetime is not known", false
	}
	return ttl, "", true
}

// Lifetimes returns the lifetime of the furthest live entry in tools and system, and that of the
// furthest live entry in the messages. A lifetime is 0 if no entry lives at now.
func (l *Ledger) Lifetimes(now time.Time) (fixed, messages time.Duration) {
	for i := range l.Marks {
		m := &l.Marks[i]
		switch {
		case !m.live(now):
		case l.level(m.Index) != levelMessages:
			fixed = m.TTL
		default:
			messages = m.TTL
		}
	}
	return fixed, messages
}
