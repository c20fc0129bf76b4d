package pagevm

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestFitLevelsLowersTheLastFirst(t *testing.T) {
	page := func(floor Level, tokens ...int) Fit {
		f := Fit{Floor: floor}
		copy(f.Tokens[Pointer:], tokens)
		return f
	}
	pages := []Fit{page(Structured, 0, 40, 0, 100), page(Pointer, 5, 20, 35, 100)}
	for _, c := range []struct {
		room, over int
		want       []Level
	}{
		{200, 0, []Level{Full, Full}},
		{140, 0, []Level{Full, Compressed}},
		{105, 0, []Level{Full, Pointer}},
		{104, 0, []Level{Structured, Pointer}},
		{45, 0, []Level{Structured, Pointer}},
		{40, 5, []Level{Structured, Pointer}},
	} {
		got, over := FitLevels(pages, c.room)
		if !slices.Equal(got, c.want) || over != c.over {
			t.Errorf("room %d: %v, over %d; want %v, over %d", c.room, got, over, c.want, c.over)
		}
	}
}

func TestFitLevelsHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pages := make([]Fit, rapid.IntRange(0, 6).Draw(t, "n"))
		for i := range pages {
			pages[i].Floor = rapid.SampledFrom([]Level{Pointer, Structured, Full}).Draw(t, "floor")
			for l := Pointer; l <= Full; l++ {
				pages[i].Tokens[l] = rapid.IntRange(0, 500).Draw(t, "tokens")
			}
			pages[i].Tokens[Full]++
		}
		room := rapid.IntRange(0, 2000).Draw(t, "room")
		levels, over := FitLevels(pages, room)
		sum := 0
		for i, l := range levels {
			sum += pages[i].Tokens[l]
			if l < pages[i].Floor || pages[i].Tokens[l] == 0 {
				t.Fatalf("page %d at %v: floor %v, %v", i, l, pages[i].Floor, pages[i].Tokens)
			}
		}
		if over != max(sum-room, 0) {
			t.Fatalf("over %d, sum %d, room %d", over, sum, room)
		}
	})
}
