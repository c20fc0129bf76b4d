package pagevm

import (
	"slices"
	"strings"
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

func TestChange(t *testing.T) {
	old := "# Rules\n\n- Never push to main.\n\n## Style\n\nTabs.\n\n## Old\n\nGone soon.\n"
	now := "# Rules\n\n- Never push to main.\n\n## Style\n\nSpaces.\n\n## New\n\n- Run the linter.\n"
	got := RepresentChange("AGENTS.md", old, now, 4000)
	for _, want := range []string{"AGENTS.md changed", "Spaces.", "Run the linter.", "no longer there: Old"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in:\n%s", want, got)
		}
	}
	for _, no := range []string{"Tabs.", "Never push", "Gone soon"} {
		if strings.Contains(got, no) {
			t.Errorf("%q stands in:\n%s", no, got)
		}
	}
	if got := RepresentChange("AGENTS.md", "", now, 4000); !strings.Contains(got, "is new") || !strings.Contains(got, "Never push") {
		t.Errorf("a new file: %s", got)
	}
	if got := RepresentChange("AGENTS.md", old, "", 4000); !strings.Contains(got, "no longer exists") {
		t.Errorf("a removed file: %s", got)
	}
	long := "# Long\n\n" + strings.Repeat("Some prose that says nothing.\n", 400) + "- Never delete the ledger.\n"
	if got := RepresentChange("AGENTS.md", old, long, 1000); len(got) > 1600 || !strings.Contains(got, "Never delete the ledger.") {
		t.Errorf("a long change, %d bytes: %s", len(got), got)
	}
}

func TestSectionsTile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"# A\n", "## B ##\n", "```\n", "# in code?\n", "text\n", "\n", "#nope\n", "tail"})).Draw(t, "lines"), "")
		var b strings.Builder
		for _, s := range Sections(text) {
			b.WriteString(s.Text)
		}
		if b.String() != text {
			t.Fatalf("sections of %q make %q", text, b.String())
		}
		RepresentChange("x", text, text+"# C\nmore\n", 40)
	})
}
