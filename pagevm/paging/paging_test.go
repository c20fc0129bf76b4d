package paging

import (
	"maps"
	"testing"
)

// A sum has the counts of both, and shares nothing with them.
func TestPlus(t *testing.T) {
	a := Counts{Faults: map[Code]int{Refetch: 1, FlushMiss: 2}, Alerts: 1, Hits: 3}
	b := Counts{Faults: map[Code]int{Refetch: 4, PinnedInvariantMiss: 5}, Alerts: 2, Hits: 1}
	sum := a.Plus(b)
	if want := map[Code]int{Refetch: 5, FlushMiss: 2, PinnedInvariantMiss: 5}; !maps.Equal(sum.Faults, want) || sum.Alerts != 3 || sum.Hits != 4 {
		t.Errorf("%+v", sum)
	}
	sum.Faults[Refetch] = 9
	if a.Faults[Refetch] != 1 || b.Faults[Refetch] != 4 {
		t.Error("the sum shares its map")
	}
	if got := (Counts{}).Plus(b); !maps.Equal(got.Faults, b.Faults) {
		t.Errorf("%+v", got)
	}
}

// A report counts all codes, and all but pinned misses as explicit.
func TestReport(t *testing.T) {
	faults := map[Code]int{}
	for i, code := range Codes() {
		faults[code] = i + 1
	}
	r := Counts{Faults: faults, Alerts: 2, Hits: 7}.Report()
	if explicit := 1 + 2 + 4 + 5 + 6; r.ExplicitFaults != explicit || r.Thrash != float64(explicit+2)/8 || !maps.Equal(r.Faults, faults) {
		t.Errorf("%+v", r)
	}
	if r := (Counts{Faults: map[Code]int{Refetch: 0}}).Report(); r.Faults == nil || len(r.Faults) > 0 || r.Thrash != 0 {
		t.Errorf("%+v", r)
	}
}
