package cachelayout

import (
	"fmt"
	"time"
)

// Cold reports whether a request at now would find nothing of the last request's messages in the
// cache, and why or why not. It judges by our own clock and the requested lifetimes. It does not
// use reported usage, which arrives too late and does not distinguish expiry from eviction. If
// the clock went back, the cache counts as warm. If nothing was sent yet, the cache is cold.
//
// A cache that holds only the fixed part is not warm, since a cut after the fixed part would cost
// nothing.
func (l *Ledger) Cold(m Model, id Identity, now time.Time) (cold bool, why string) {
	if len(l.Chain) == 0 {
		return true, "nothing was sent yet"
	}
	if field, was, is, level := l.Identity.Broken(id); level != levelNone && !l.warmMark(id, now) {
		return true, fmt.Sprintf("%s changed from %q to %q", field, was, is)
	}
	age := now.Sub(l.LastStart)
	if len(l.Marks) > 0 && m.Cache.marked() {
		if l.warmMark(id, now) {
			return false, fmt.Sprintf("last request started %s ago", round(age))
		}
		return true, fmt.Sprintf("last request started %s ago, its entries lived %s", round(age), l.furthest().TTL)
	}
	ttl := m.TTL(0)
	if age < ttl {
		return false, fmt.Sprintf("last request started %s ago", round(age))
	}
	return true, fmt.Sprintf("last request started %s ago, entries live %s", round(age), ttl)
}

// warmMark reports whether an entry after the fixed part and the carry block is live and can be
// read under id. If no such entry was written, warmMark judges the furthest entry.
func (l *Ledger) warmMark(id Identity, now time.Time) bool {
	for i := range l.Marks {
		m := &l.Marks[i]
		if m.live(now) && m.readable(id, l.level(m.Index)) &&
			(m.Index == l.furthest().Index || l.level(m.Index) == levelMessages && l.Chain[m.Index].Region != RegionCarry) {
			return true
		}
	}
	return false
}

// furthest returns the furthest entry. There must be one.
func (l *Ledger) furthest() *cacheMark { return &l.Marks[len(l.Marks)-1] }

// level returns the level of a block of the last request.
func (l *Ledger) level(i int) cacheLevel {
	if i < 0 || i >= len(l.Chain) {
		return levelMessages
	}
	return levelOf(l.Chain[i].Region)
}

// ColdEvent names the cold event that a request under id would meet: the gap after the last
// request, and the setting whose change made it cold. The name stays the same until a request is
// sent, so that at most one cut uses the event. The name is "" if the cache is warm.
func (l *Ledger) ColdEvent(m Model, id Identity, now time.Time) string {
	cold, _ := l.Cold(m, id, now)
	if !cold {
		return ""
	}
	if len(l.Chain) == 0 {
		return "first"
	}
	event := "after " + l.LastStart.UTC().Format(time.RFC3339Nano)
	if field, _, _, level := l.Identity.Broken(id); level != levelNone {
		event += " " + field
	}
	return event
}

// round shortens a duration for people.
func round(d time.Duration) time.Duration {
	if d > time.Minute || d < -time.Minute {
		return d.Round(time.Second)
	}
	return d.Round(time.Millisecond)
}
