package pagevm

import (
	"cmp"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// ladder is a climber whose entries have their steps given, best first.
type ladder struct {
	steps  [][]Step
	at     []int
	barred map[int32]bool
	// fade halves the rank of an entry's next step once.
	fade  map[int32]bool
	taken []Step
}

func (l *ladder) Next(i int32, room int) (Step, bool) {
	for ; l.at[i] < len(l.steps[i]); l.at[i]++ {
		if s := l.steps[i][l.at[i]]; s.Cost <= room {
			return s, true
		}
	}
	return Step{}, false
}

func (l *ladder) Take(s Step) Taken {
	switch {
	case l.barred[s.Entry]:
		return Barred
	case l.fade[s.Entry]:
		delete(l.fade, s.Entry)
		l.steps[s.Entry][l.at[s.Entry]].Rank /= 2
		return Faded
	}
	l.at[s.Entry]++
	l.taken = append(l.taken, s)
	return Made
}

func drawLadder(t *rapid.T) *ladder {
	l := &ladder{barred: map[int32]bool{}, fade: map[int32]bool{}}
	for i := range int32(rapid.IntRange(0, 8).Draw(t, "entries")) {
		var steps []Step
		rank := 64.0
		for to := range Level(rapid.IntRange(0, 3).Draw(t, "steps")) {
			rank /= float64(rapid.IntRange(1, 3).Draw(t, "drop"))
			steps = append(steps, Step{Rank: rank, Cost: rapid.IntRange(0, 9).Draw(t, "cost"), Entry: i, To: to})
		}
		l.steps, l.at = append(l.steps, steps), append(l.at, 0)
		l.barred[i] = rapid.IntRange(0, 9).Draw(t, "barred") == 0
	}
	return l
}

// Without a bar the steps are those of a walk through all of them in sorted order,
// each taken if it still fits. Costs of one make that walk exact.
func TestClimbIsTheSortedWalk(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLadder(t)
		var all []Step
		for i := range l.steps {
			for j := range l.steps[i] {
				l.steps[i][j].Cost = 1
			}
			if !l.barred[int32(i)] {
				all = append(all, l.steps[i]...)
			}
		}
		slices.SortStableFunc(all, func(a, b Step) int {
			return cmp.Or(cmp.Compare(b.Rank, a.Rank), cmp.Compare(a.Entry, b.Entry), cmp.Compare(a.To, b.To))
		})
		room := rapid.IntRange(0, 12).Draw(t, "room")
		left, _ := Climb(l, len(l.steps), room, nil)
		want := all[:min(room, len(all))]
		if diff := gocmp.Diff(append([]Step{}, want...), append([]Step{}, l.taken...)); diff != "" {
			t.Fatalf("taken:\n%s", diff)
		}
		if left != room-len(want) {
			t.Fatalf("left %d of %d after %d steps", left, room, len(want))
		}
	})
}

// Whatever the costs: no more is spent than there was, and what is left fits no
// further step.
func TestClimbSpendsTheRoom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLadder(t)
		room := rapid.IntRange(0, 40).Draw(t, "room")
		left, _ := Climb(l, len(l.steps), room, nil)
		spent := 0
		for _, s := range l.taken {
			spent += s.Cost
		}
		if left != room-spent || left < 0 {
			t.Fatalf("spent %d of %d, %d left", spent, room, left)
		}
		for i := range l.steps {
			if s, ok := l.Next(int32(i), left); ok && !l.barred[int32(i)] {
				t.Fatalf("%+v fits in the %d that are left", s, left)
			}
		}
	})
}

// A step that has faded waits for its new turn.
func TestClimbRanksAnew(t *testing.T) {
	l := &ladder{at: make([]int, 2), fade: map[int32]bool{0: true},
		steps: [][]Step{{{Rank: 3, Cost: 1}}, {{Rank: 2, Cost: 1, Entry: 1}}}}
	Climb(l, 2, 5, nil)
	if len(l.taken) != 2 || l.taken[0].Entry != 1 || l.taken[1].Rank != 1.5 {
		t.Errorf("taken %+v, want entry 1 first", l.taken)
	}
}

func TestClimbKeepsItsBuffer(t *testing.T) {
	l := &ladder{at: make([]int, 3), steps: [][]Step{{{Rank: 1}}, {{Rank: 1, Entry: 1}}, {{Rank: 1, Entry: 2}}}}
	_, buf := Climb(l, 3, 5, nil)
	if allocs := testing.AllocsPerRun(10, func() {
		clear(l.at)
		l.taken = l.taken[:0]
		_, buf = Climb(l, 3, 5, buf)
	}); allocs > 0 {
		t.Errorf("%v allocations", allocs)
	}
}
