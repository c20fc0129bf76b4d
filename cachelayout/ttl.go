package cachelayout

import (
	"fmt"
	"math"
	"time"
)

// SessionCalls is how many calls a session of an agent is expected to make when
// nothing else is known of it: 39 recorded sessions made 182 each on average, and
// they were not picked among the short ones.
const SessionCalls = 100

// ChooseTTL picks the lifetime for the messages: the one with which an average
// call of the session is cheapest, given that a cold cache is used for a cut. It
// is the short one unless all prices are known and the long one is cheaper. c
// gives growth, fixed part and room; ratios and cold rate are filled in for each
// lifetime. low is the conversation that a cut keeps.
//
// A session should change its lifetime only when the cache is cold: whether an
// entry marked with another lifetime is still a hit is not documented.
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
	return cheaper(p, m, cost(m.TTLs[0]), cost(m.TTLs[1]))
}

// ChooseFixedTTL picks the lifetime for tools and system where their entry is written
// anew. The long one costs more at once, and earns that back only if the next pause that
// the short one does not survive is one that the long one does; with the short one the
// entry is written once more then, for long. So it goes by how such pauses followed
// each other, in this session and in earlier ones of the same agent: a session that pauses
// for days pays the long price once, and not again after each of them. calls is how many
// calls there will be: the session may end before the next pause.
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
	for _, t := range m.TTLs[:2] {
		if m.Ratios(0, t).Assumed {
			return ttl, "the price of the long lifetime is not known", false
		}
	}
	return ttl, "", true
}

// cheaper picks between a model's first two lifetimes by the cost of a call with each, in base
// input tokens.
func cheaper(p Pace, m Model, short, long float64) (ttl time.Duration, why string) {
	why = fmt.Sprintf("%.1f %% of calls are expected after %s, %.1f %% after %s: a call costs %.0f base tokens with the short lifetime, %.0f with the long",
		100*p.Rate(m.TTLs[0]), m.TTLs[0], 100*p.Rate(m.TTLs[1]), m.TTLs[1], short, long)
	if long < short {
		return m.TTLs[1], why
	}
	return m.TTLs[0], why
}

// Lifetimes returns the lifetimes of the entries that live at now, of the furthest one in tools
// and system and of the furthest one in the messages; 0 if none lives.
func (l *Ledger) Lifetimes(now time.Time) (fixed, messages time.Duration) {
	for i := range l.Marks {
		m := &l.Marks[i]
		switch {
		case !m.live(now):
		case l.level(m.Index) != LevelMessages:
			fixed = m.TTL
		default:
			messages = m.TTL
		}
	}
	return fixed, messages
}

// RecordedTTL returns the lifetime that a host evidently asks for, judged by
// the cache writes in its transcript; false if it wrote nothing.
func RecordedTTL(m Model, write5m, write1h int) (time.Duration, bool) {
	switch {
	case write5m <= 0 && write1h <= 0:
		return 0, false
	case write1h > write5m && len(m.TTLs) > 1:
		return m.TTLs[1], true
	}
	return m.TTL(0), true
}
