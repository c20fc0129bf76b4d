package plan

import (
	"slices"
	"testing"

	"github.com/memkernel/memkernel/pagevm"
	"pgregory.net/rapid"
)

func TestFitLevelsLowersTheLastFirst(t *testing.T) {
	page := func(floor pagevm.Level, tokens ...int) costs {
		f := costs{Floor: floor}
		copy(f.Tokens[pagevm.Pointer:], tokens)
		return f
	}
	pages := []costs{page(pagevm.Structured, 0, 40, 0, 100), page(pagevm.Pointer, 5, 20, 35, 100)}
	for _, c := range []struct {
		room, over int
		want       []pagevm.Level
	}{
		{200, 0, []pagevm.Level{pagevm.Full, pagevm.Full}},
		{140, 0, []pagevm.Level{pagevm.Full, pagevm.Compressed}},
		{105, 0, []pagevm.Level{pagevm.Full, pagevm.Pointer}},
		{104, 0, []pagevm.Level{pagevm.Structured, pagevm.Pointer}},
		{45, 0, []pagevm.Level{pagevm.Structured, pagevm.Pointer}},
		{40, 5, []pagevm.Level{pagevm.Structured, pagevm.Pointer}},
	} {
		got, over := fitLevels(pages, c.room)
		if !slices.Equal(got, c.want) || over != c.over {
			t.Errorf("room %d: %v, over %d; want %v, over %d", c.room, got, over, c.want, c.over)
		}
	}
}

func TestFitLevelsHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pages := make([]costs, rapid.IntRange(0, 6).Draw(t, "n"))
		for i := range pages {
			pages[i].Floor = rapid.SampledFrom([]pagevm.Level{pagevm.Pointer, pagevm.Structured, pagevm.Full}).Draw(t, "floor")
			for l := pagevm.Pointer; l <= pagevm.Full; l++ {
				pages[i].Tokens[l] = rapid.IntRange(0, 500).Draw(t, "tokens")
			}
			pages[i].Tokens[pagevm.Full]++
		}
		room := rapid.IntRange(0, 2000).Draw(t, "room")
		levels, over := fitLevels(pages, room)
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
