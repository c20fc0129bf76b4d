package meter

import (
	"testing"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/serve/proxy"
)

// TestDays is a proxy that is left on, stopped, killed and started again: each day has all its
// calls, in the zone of the workspace.
func TestDays(t *testing.T) {
	zone := time.FixedZone("east", 9*3600)
	keep := store.Files(t.TempDir())
	at := func(day, hour int) time.Time { return time.Date(2026, 11, day, hour, 0, 0, 0, zone).UTC() }
	start := func(now time.Time) *Meter { return New(cachelayout.DefaultBook(), keep, "", now.In(zone)) }
	call := func(m *Meter, when time.Time) {
		m.Take(proxy.Billed{Model: model, Usage: memkernel.Usage{InputTokens: 100, OutputTokens: 1}, Began: when})
	}
	m := start(at(20, 22))
	call(m, at(21, 1)) // that day is still the 20th in UTC
	call(m, at(21, 23))
	call(m, at(22, 0))
	call(m, at(21, 23)) // answered late: it is of the new day
	call(start(at(22, 12)), at(22, 13))
	call(start(at(22, 14)), at(22, 15))
	call(start(at(24, 9)), at(24, 10))
	m = start(at(25, 9))
	call(m, at(25, 10))
	if sum, err := m.Sum(); err != nil || sum.Calls != 1 {
		t.Errorf("this run has %d calls, %v", sum.Calls, err)
	}
	runs, err := Runs(keep, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	days, all := Days(runs, zone)
	if len(days) != 4 || all.Calls != 8 || days[1].Calls != 4 {
		t.Errorf("the records have %+v", days)
	}
}
