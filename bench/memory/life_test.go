package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/internal/suite"
)

// TestLive lives through a few nights with the bundled session: what people wrote stays
// as it was, something is curated, and what is asked is answered by what is kept.
func TestLive(t *testing.T) {
	t.Chdir("../..")
	for _, name := range suite.Pick(workspaceNames[2:3], workspaceNames) {
		r, err := load(bundled)
		if err != nil {
			t.Fatal(err)
		}
		l, err := live(t.Context(), name, t.TempDir(), []*recorded{r}, suite.Pick(3, nightsOfLife))
		if err != nil {
			t.Fatal(err)
		}
		if len(l.left) > 0 || len(l.changed) > 0 {
			t.Errorf("%s: of what people wrote %q left and %q is rendered differently", name, l.left, l.changed)
		}
		if l.content < 3 || l.some < 2 || len(l.curated) == 0 || l.notes == 0 || l.noted > l.notes {
			t.Errorf("%s: %+v", name, l)
		}
		if !l.sessions["sample"] || len(l.asked.memory) == 0 || len(l.asked.topics) < len(l.asked.memory) || len(l.asked.all) <= len(l.asked.topics) {
			t.Errorf("%s: held %v, %d entries of MEMORY.md, %d with topics, %d in all", name, l.sessions, len(l.asked.memory), len(l.asked.topics), len(l.asked.all))
		}
		t.Logf("%s: %d curated on %d of %d days", name, len(l.curated), l.some, l.content)
	}
}

// TestSessions holds sessions beside the repository against the questions: the gold of
// each is in what was said or done.
func TestSessions(t *testing.T) {
	t.Chdir("../..")
	found, _ := filepath.Glob("../shared/data/transcripts/*/*.jsonl")
	if len(found) == 0 {
		t.Skip("no ../shared/data/transcripts beside the repository")
	}
	said := map[string]string{}
	for _, p := range append(suite.Some(found, 2), bundled) {
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(p)
		if p == bundled {
			name = "sample"
		}
		said[name] = strings.ToLower(string(b))
	}
	for _, sealed := range []bool{false, true} {
		qs, err := questions(sealed)
		if err != nil {
			t.Fatal(err)
		}
		for i, q := range qs {
			if text, ok := said[q.Session]; ok && !holds(text, q.Gold) {
				t.Errorf("sealed %v, question %d: its gold is not in %s", sealed, i+1, q.Session)
			}
		}
	}
}

func TestChangedBlocks(t *testing.T) {
	const before = "# A\n\n- one\n- two\n\nwords\n\n1. first\n2. second\n"
	for after, want := range map[string]int{
		before:                         0,
		before + "\n- [lesson] more\n": 0,
		strings.Replace(before, "- one\n", "", 1):                         0, // it left
		strings.Replace(before, "- one\n- two", "- one\n\n- two", 1):      2, // loose
		strings.Replace(before, "words", "- words", 1):                    3, // an item of a loose list
		strings.Replace(before, "1. first\n2. second", "first second", 1): 2,
		strings.Replace(before, "- one\n- two", "- two\n- one", 1):        1,
		strings.Replace(before, "\nwords", "words", 1):                    2, // a lazy line of the item above
	} {
		if got := changedBlocks(before, after); len(got) != want {
			t.Errorf("%q: %q, want %d", after, got, want)
		}
	}
	if got := gone("a\nb\nb\n\n", "b\nc\na\n"); !slices.Equal(got, []string{"b"}) {
		t.Errorf("gone: %q", got)
	}
}

func TestCounts(t *testing.T) {
	entry := func(workspace, text, from string) curated {
		return curated{workspace, "2026-03-02", consolidation.Promoted{Text: text, From: from}}
	}
	all := []curated{entry("a", "It rains.", "memory/2026-03-02.md#L3"), entry("a", "It rains. (at noon)", "x"), entry("b", "It rains.", "x"), entry("a", "It pours.", "x")}
	people := map[string]string{"memory/2026-03-02.md": "# D\n\n- It rains.\n- It pours.\n"}
	if n := noted([]dated{{"memory/2026-03-02.md", "It rains."}, {"memory/2026-03-02.md", "It pours."}}, people, all); n != 1 {
		t.Errorf("%d noted, want 1", n)
	}
	one, again := draw(all, 3), draw(slices.Concat(all[2:], all[:2]), 3)
	if len(one) != 3 || one[0].entry.Text != again[0].entry.Text {
		t.Errorf("drawn %v, then %v", one, again)
	}
}

func TestVerdicts(t *testing.T) {
	vs, err := verdicts()
	if err != nil || len(vs) < 50 {
		t.Fatalf("%d verdicts, %v", len(vs), err)
	}
	for k, v := range vs {
		if len(k) != 32 || len(v.Reason) < 10 {
			t.Errorf("%+v", v)
		}
	}
}
