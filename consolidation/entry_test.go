package consolidation_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/memkernel/memkernel/consolidation"
)

func TestCutTags(t *testing.T) {
	tests := []struct{ in, text, tags string }{
		{"[decision] Use Go", "Use Go", "[decision]"},
		{"[LESSON][Decision] Use Go", "Use Go", "[decision] [lesson]"},
		{"**[human]** Use Go", "Use Go", "[human]"},
		{"[decision, surprise]: Use Go", "Use Go", "[decision] [surprise]"},
		{"Use Go [identity]", "Use Go", "[identity]"},
		{"[human] Use Go [lesson] [lesson].", "Use Go", "[human] [lesson]"},
		{"We tag with [decision] when it matters", "We tag with [decision] when it matters", ""},
		{"[decision](log.md) was made", "[decision](log.md) was made", ""},
		{"[decisions] Use Go", "[decisions] Use Go", ""},
		{"no tags", "no tags", ""},
	}
	for _, tt := range tests {
		if text, tags := consolidation.CutTags(tt.in); text != tt.text || tags.String() != tt.tags {
			t.Errorf("%q: %q %q", tt.in, text, tags)
		}
	}
}

func TestTagEntry(t *testing.T) {
	tags := consolidation.MakeTags(consolidation.Lesson, consolidation.Decision, "none")
	tests := []struct{ in, want string }{
		{"Use Go", "[decision] [lesson] Use Go"},
		{"- [human] Use Go", "- [decision] [human] [lesson] Use Go"},
		{"- a\n  - b\n- [x] c\n", "- [decision] [lesson] a\n  - b\n- [x] [decision] [lesson] c\n"},
		{"\nfirst\nsecond", "\n[decision] [lesson] first\nsecond"},
	}
	for _, tt := range tests {
		if got := consolidation.TagEntry(tt.in, tags); got != tt.want {
			t.Errorf("%q: %q", tt.in, got)
		}
		if got := consolidation.TagEntry(tt.in, nil); got != tt.in {
			t.Errorf("%q without tags: %q", tt.in, got)
		}
	}
}

func TestEntries(t *testing.T) {
	text := "---\ntitle: x\n---\n# 2026-03-09\n\n- 14:05 **[decision]** [human] Ports move. <!-- from memory/2026-03-01.md#L3 -->\n  more of it\n" +
		"- [x] Tell Jo [lesson]\n\n## Later [surprise]\n\nA paragraph\nof two lines.\n\n```\n- [ ] no entry\n```\n\n~~gone~~\n\nSession a:\n- one\n- two <!-- supersedes me-1, me-2 -->\n<!-- mk:fl-0123 -->\n\n2026-02-01: older\n"
	var got []string
	for _, e := range entries(text) {
		got = append(got, fmt.Sprintf("%d-%d %s|%s|%s|%s|%s|%v|%v", e.StartLine, e.EndLine, e.Plain, e.Date, e.Tags, e.State, e.ID, e.From, e.Supersedes))
	}
	want := []string{
		"6-7 Ports move. more of it|2026-03-09|[decision] [human]|||[memory/2026-03-01.md#L3]|[]",
		"8-8 Tell Jo|2026-03-09|[lesson]|done||[]|[]",
		"12-13 A paragraph of two lines.|2026-03-09|[surprise]|||[]|[]",
		"19-19 ~~gone~~|2026-03-09|[surprise]|superseded||[]|[]",
		"21-21 Session a:|2026-03-09|[surprise]||fl-0123|[]|[]",
		"22-22 one|2026-03-09|[surprise]||fl-0123|[]|[]",
		"23-23 two|2026-03-09|[surprise]||fl-0123|[]|[me-1 me-2]",
		"26-26 2026-02-01: older|2026-02-01|[surprise]|||[]|[]",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestMarksAreReadBack(t *testing.T) {
	refs := []string{"memory/2026-03-01.md#L3-L5", "me-0123456789abcdef"}
	got := entries("- a fact " + "<!-- from " + strings.Join(refs, ", ") + " --> <!-- supersedes " + refs[1] + " -->\n")
	if len(got) != 1 || got[0].Plain != "a fact" || !slices.Equal(got[0].From, refs) || !slices.Equal(got[0].Supersedes, refs[1:]) {
		t.Errorf("%+v", got)
	}
}

// Whatever a file holds: entries lie in order, don't overlap, and are their lines.
func TestEntriesAreTheirLines(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		line := rapid.SampledFrom([]string{"", "# H", "- a", "  - b [lesson]", "- [ ] t", "text", "```", "<!-- mk:a -->", "> q", "| a |", "---", "Label: 5", "\xff", "<!--", "-->", "~~x~~"})
		text := strings.Join(rapid.SliceOfN(line, 0, 20).Draw(rt, "lines"), rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(rt, "end"))
		at := 0
		for _, e := range consolidation.Entries("MEMORY.md", text) {
			if e.Start < at || e.End > len(text) || text[e.Start:e.End] != e.Text || e.Text == "" {
				rt.Fatalf("%q: entry %+v behind %d", text, e, at)
			}
			if n := 1 + strings.Count(text[:e.Start], "\n"); n != e.StartLine || e.EndLine != n+strings.Count(e.Text, "\n") {
				rt.Fatalf("%q: entry %+v is on line %d", text, e, n)
			}
			at = e.End
		}
	})
}

func TestImportant(t *testing.T) {
	for _, s := range []string{"Never do that again", "das ist mir wichtig", "esto es importante", "c'est essentiel", "以后都用 Go", "это важно", "必ず", "중요해", "I really want tabs"} {
		if !consolidation.Important(s) {
			t.Errorf("%q matters to somebody", s)
		}
	}
	for _, s := range []string{"", "ok, looks good", "ja, mach das", "the import failed", "unimportant", "hola", "好的"} {
		if consolidation.Important(s) {
			t.Errorf("%q matters to nobody", s)
		}
	}
}

func TestDaysOf(t *testing.T) {
	s, err := consolidation.Read(t.Context(), healthy(), 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	if n := s.DaysOf()[consolidation.Key("Heartbeat, all green, nothing to be done about the sender.")]; n != 2 {
		t.Errorf("said on %d days, want 2", n)
	}
}
