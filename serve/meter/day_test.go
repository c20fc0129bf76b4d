package meter

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/serve/proxy"
)

// TestDays is a proxy that is left on, stopped, killed and started again: each day is told
// of once when it is over, with all its calls, in the zone of the workspace.
func TestDays(t *testing.T) {
	zone := time.FixedZone("east", 9*3600)
	keep := store.Files(t.TempDir())
	at := func(day, hour int) time.Time { return time.Date(2026, 11, day, hour, 0, 0, 0, zone).UTC() }
	var told []string
	start := func(now time.Time) *Meter {
		m := New(cachelayout.DefaultBook(), keep, "", now.In(zone))
		m.Day = func(d Day, soFar bool) {
			told = append(told, fmt.Sprintf("%s %d %d %v", d.Name, d.Calls, d.KeptOutTokens, soFar))
		}
		return m
	}
	call := func(m *Meter, when time.Time) {
		m.Take(proxy.Billed{Model: model, Usage: memkernel.Usage{InputTokens: 100, OutputTokens: 1}, WholeTokens: 130, Began: when})
	}
	expect := func(where string, want ...string) {
		t.Helper()
		if !slices.Equal(told, want) {
			t.Errorf("%s: told %q, want %q", where, told, want)
		}
		told = nil
	}
	end := func(m *Meter) {
		t.Helper()
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}

	m := start(at(20, 22))
	end(m)
	expect("no call")
	m = start(at(20, 22))
	call(m, at(21, 1)) // that day is still the 20th in UTC
	call(m, at(21, 23))
	expect("the first day")
	call(m, at(22, 0))
	call(m, at(21, 23)) // answered late: it is of the new day
	expect("the second day", "2026-11-21 2 60 false")
	end(m)
	expect("stopped", "2026-11-22 2 60 true")

	m = start(at(22, 12))
	call(m, at(22, 13)) // and killed
	expect("started again")
	m = start(at(22, 14))
	call(m, at(22, 15)) // and killed
	m = start(at(24, 9))
	call(m, at(24, 10))
	expect("after a kill", "2026-11-22 4 120 false")
	end(m)
	expect("stopped", "2026-11-24 1 30 true")

	m = start(at(25, 9))
	call(m, at(25, 10))
	expect("the day before was told of as it is")
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
