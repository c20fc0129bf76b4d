package checkpoint_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/memkernel/memkernel/checkpoint"
)

// readBack writes lines as a file has them and reads them again.
func readBack(t interface{ Fatalf(string, ...any) }, lines []checkpoint.Line) *checkpoint.Checkpoint {
	var got checkpoint.Record
	for _, l := range lines {
		r, ok := checkpoint.ParseLine(l.String() + "\r\n")
		if !ok || r != l {
			t.Fatalf("%q is read as %v %v", l.String(), r, ok)
		}
		got = append(got, r)
	}
	return got.Checkpoint("", 0, time.Time{})
}

// A checkpoint written as lines and read back is the same checkpoint.
func TestLinesRoundTrip(t *testing.T) {
	c := sample(4)
	c.Constraints = []checkpoint.Text{"Never push to main.", "Keep it under 100 lines."}
	c.Working.Goal, c.Working.Step, c.Working.Status = "ship the release", "write the notes", checkpoint.StatusWaiting
	back := readBack(t, checkpoint.RecordOf(c, 1<<20))
	for name, pair := range map[string][2]any{
		"constraints": {c.Constraints, back.Constraints}, "open items": {c.OpenItems, back.OpenItems}, "learnings": {c.Learnings, back.Learnings},
		"modified": {c.Resources.FilesModified, back.Resources.FilesModified}, "read": {c.Resources.FilesRead, back.Resources.FilesRead},
		"goal": {c.Working.Goal, back.Working.Goal}, "task": {c.Working.Topic, back.Working.Topic}, "step": {c.Working.Step, back.Working.Step},
		"next": {c.Working.NextAction, back.Working.NextAction}, "status": {c.Working.Status, back.Working.Status},
	} {
		if d := cmp.Diff(pair[0], pair[1]); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	for i := range c.Decisions {
		if c.Decisions[i].What != back.Decisions[i].What || !c.Decisions[i].When.Equal(back.Decisions[i].When.Time) {
			t.Errorf("decision %v is read as %v", c.Decisions[i], back.Decisions[i])
		}
	}
}

// Too much is left out from the oldest of the longest list on, and counted; what is
// left out is never the goal.
func TestLinesAreBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := sample(rapid.IntRange(0, 40).Draw(t, "entries"))
		c.Working.Goal = "ship the release"
		limit := rapid.IntRange(500, 6000).Draw(t, "limit")
		lines := checkpoint.RecordOf(c, limit)
		size, most := 0, 0
		for _, l := range lines {
			size += len(l.String()) + 1
		}
		if strings.HasPrefix(lines[len(lines)-1].Text, "left out: ") {
			most = len(lines[len(lines)-1].String()) + 1
		}
		if size-most > limit || !slices.Contains(lines, checkpoint.Line{Tag: "goal", Text: "ship the release"}) {
			t.Fatalf("%d bytes at %d: %v", size, limit, lines)
		}
		back := readBack(t, lines)
		if n := len(back.Decisions); n > 0 && back.Decisions[n-1].What != c.Decisions[len(c.Decisions)-1].What {
			t.Fatalf("the newest decision is not there: %v", back.Decisions)
		}
		if n := len(back.OpenItems); n > 0 && back.OpenItems[0] != c.OpenItems[0] {
			t.Fatalf("the most pressing item is not there: %v", back.OpenItems)
		}
	})
}

// No text can pass for another line, or for two.
func TestLinesOfHostileText(t *testing.T) {
	c := sample(0)
	for _, s := range hostile {
		c.Decisions = append(c.Decisions, checkpoint.Decision{What: checkpoint.Text(s)})
		c.OpenItems = append(c.OpenItems, checkpoint.Text(s))
	}
	for _, l := range checkpoint.RecordOf(c, 1<<20) {
		if strings.ContainsAny(l.String(), "\n\r") {
			t.Errorf("a line break stands in %q", l.String())
		}
	}
	for _, s := range []string{"", "- decision", "- [x y] z", "[goal] x", "- [goal]", "* [goal] x", "- [GOAL] x"} {
		if l, ok := checkpoint.ParseLine(s); ok {
			t.Errorf("%q is read as %v", s, l)
		}
	}
}

// Two records of one session are joined: the newer has what is now, neither loses
// what was settled.
func TestThen(t *testing.T) {
	say := func(texts ...string) checkpoint.Record {
		var lines checkpoint.Record
		for _, s := range texts {
			l, ok := checkpoint.ParseLine("- " + s)
			if !ok {
				t.Fatalf("%q is no line", s)
			}
			lines = append(lines, l)
		}
		return lines
	}
	old := say("[goal] G", "[task] T", "[step] S", "[constraint] C1", "[decision] D1 (2026-01-02T03:04:05Z)", "[open] O1", "[modified] a", "[modified] b")
	newer := say("[step] S2", "[constraint] C2", "[constraint] C1", "[decision] D1 (2026-01-02T03:04:05Z)", "[decision] D2", "[open] O2", "[modified] a")
	m := old.Then(newer).Checkpoint("", 0, time.Time{})
	if m.Working.Goal != "G" || m.Working.Topic != "T" || m.Working.Step != "S2" || len(m.Constraints) != 2 || len(m.Decisions) != 2 ||
		!slices.Equal(m.OpenItems, []checkpoint.Text{"O2"}) || !slices.Equal(m.Resources.FilesModified, []checkpoint.Name{"b", "a"}) {
		t.Errorf("%+v", m)
	}
}
