package cachelayout

import (
	"fmt"
	"time"
)

// minGaps is how many gaps between calls it takes to tell a habit from chance.
const minGaps = 8

// gapShare counts the gaps that fall between the model's two lifetimes, where
// the long one is a hit and the short one a rewrite, and those beyond both. A
// negative gap is a clock that went back and counts as none.
func gapShare(gaps []time.Duration, m Model) (between, beyond int) {
	for _, g := range gaps {
		switch {
		case g >= m.TTLs[1]:
			beyond++
		case g >= m.TTLs[0]:
			between++
		}
	}
	return between, beyond
}

// ChooseTTL picks the lifetime for the messages from the gaps between the
// starts of past calls, the size of the context and its growth per call, both
// in tokens. The long lifetime is worth its price if
//
//	P(gap between the lifetimes) > (w_long − w_short)·growth / ((w_short − r)·context)
//
// Without enough gaps, or without both prices, it is the short one. A session
// should change its lifetime only when the cache is cold: whether an entry
// marked with another lifetime is still a hit is not documented.
func ChooseTTL(gaps []time.Duration, m Model, contextTokens, growth int) (ttl time.Duration, why string) {
	short := m.TTL(0)
	if len(m.TTLs) < 2 || !m.Cache.marked() {
		return short, "the only lifetime on offer"
	}
	ws, wl := m.Ratios(contextTokens, m.TTLs[0]), m.Ratios(contextTokens, m.TTLs[1])
	if ws.Assumed || wl.Assumed {
		return short, "the price of the long lifetime is not known"
	}
	if len(gaps) < minGaps {
		return short, fmt.Sprintf("only %d gaps seen, %d needed to judge", len(gaps), minGaps)
	}
	if contextTokens <= 0 || ws.Write <= ws.Read {
		return short, "nothing would be rewritten"
	}
	between, _ := gapShare(gaps, m)
	share := float64(between) / float64(len(gaps))
	bar := (wl.Write - ws.Write) * float64(max(growth, 0)) / ((ws.Write - ws.Read) * float64(contextTokens))
	verdict := fmt.Sprintf("%.1f %% of gaps fall between %s and %s, break-even is %.1f %%",
		100*share, m.TTLs[0], m.TTLs[1], 100*bar)
	if share > bar {
		return m.TTLs[1], verdict
	}
	return short, verdict
}

// ChooseFixedTTL picks the lifetime for tools and system, which are written
// once and then only after an expiry: the long one if the rewrites that it
// saves are worth more than its dearer writes, at the start and after each gap
// beyond both lifetimes.
func ChooseFixedTTL(gaps []time.Duration, m Model, fixedTokens int) (ttl time.Duration, why string) {
	short := m.TTL(0)
	if len(m.TTLs) < 2 || !m.Cache.marked() {
		return short, "the only lifetime on offer"
	}
	ws, wl := m.Ratios(fixedTokens, m.TTLs[0]), m.Ratios(fixedTokens, m.TTLs[1])
	if ws.Assumed || wl.Assumed {
		return short, "the price of the long lifetime is not known"
	}
	between, beyond := gapShare(gaps, m)
	saves := float64(between) * (ws.Write - ws.Read)
	costs := float64(beyond+1) * (wl.Write - ws.Write)
	verdict := fmt.Sprintf("%d gaps between %s and %s, %d beyond", between, m.TTLs[0], m.TTLs[1], beyond)
	if saves > costs {
		return m.TTLs[1], verdict
	}
	return short, verdict
}

// RecordedTTL is the lifetime that a host evidently asks for, judged by the
// cache writes in its transcript; false if it wrote nothing.
func RecordedTTL(m Model, write5m, write1h int) (time.Duration, bool) {
	switch {
	case write5m <= 0 && write1h <= 0:
		return 0, false
	case write1h > write5m && len(m.TTLs) > 1:
		return m.TTLs[1], true
	}
	return m.TTL(0), true
}
