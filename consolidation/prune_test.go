package consolidation_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"pgregory.net/rapid"

	"github.com/memkernel/memkernel/consolidation"
)

func prune(t testing.TB, fsys fstest.MapFS, change func(*consolidation.PruneOptions)) *consolidation.Pruning {
	t.Helper()
	o := consolidation.PruneOptions{Day: "2026-03-09", MemoryLines: 20, OwnerChars: 18_000, Include: []string{"MEMORY.md", "memory/observations.md"}}
	if change != nil {
		change(&o)
	}
	s, err := consolidation.Read(t.Context(), fsys, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s.Prune(o)
}

func became(p *consolidation.Pruning, path string) string {
	for i := range p.Changes {
		if c := &p.Changes[i]; c.Path == path {
			return c.Text + c.Add
		}
	}
	return ""
}

const crowded = "# MEMORY.md\n\n## Infrastructure\n\n" +
	"- The sweeper listens on port 9100.\n- The gateway is restarted by hand, and by nobody else.\n\n" +
	"## Tasks\n\n- [x] Renew the certificate of the sweeper\n- [ ] Ask the harbour for a new key\n- ~~The parcels go out on Mondays.~~\n- The gateway is restarted by hand, and by nobody else.\n\n" +
	"## About the user\n\n- Prefers short answers, and tea in the morning.\n\n" +
	"## 2026-02-01\n\n- [human] The user wants every report as a table. <!-- from memory/2026-02-01.md#L3 -->\n- [lesson] The crane needs two pulls before it starts. <!-- from memory/2026-02-01.md#L4 -->\n<!-- mk:up-1 -->\n\n" +
	"## 2026-03-09\n\n- [lesson] Fresh things of this very day stay in sight. <!-- from memory/2026-03-09.md#L4 -->\n<!-- mk:up-2 -->\n"

// Of a file that is named, what no longer holds goes to the archive, what is least to the file that owns it, a
// repetition nowhere; the fresh stays, byte for byte.
func TestPrune(t *testing.T) {
	p := prune(t, with(map[string]string{"MEMORY.md": crowded}), func(o *consolidation.PruneOptions) { o.MemoryLines = 8 })
	got := map[string]bool{}
	for _, m := range p.Moves {
		got[m.Text+" -> "+m.To+" "+string(m.Why)] = true
	}
	for text, want := range map[string]string{
		"- [x] Renew the certificate of the sweeper":                                                   "memory/archive/2026-03-09.md done",
		"- ~~The parcels go out on Mondays.~~":                                                         "memory/archive/2026-03-09.md superseded",
		"- The gateway is restarted by hand, and by nobody else.":                                      " duplicate",
		"- The sweeper listens on port 9100.":                                                          "TOOLS.md room",
		"- Prefers short answers, and tea in the morning.":                                             "USER.md room",
		"- [lesson] The crane needs two pulls before it starts. <!-- from memory/2026-02-01.md#L4 -->": "memory/lessons.md room",
	} {
		if !got[text+" -> "+want] {
			t.Errorf("%q does not go to %q: %v", text, want, p.Moves)
		}
	}
	memory := became(p, "MEMORY.md")
	if n := strings.Count(memory, "\n"); n > 16 {
		t.Errorf("MEMORY.md keeps %d lines:\n%s", n, memory)
	}
	for _, stays := range []string{"# MEMORY.md\n", "## 2026-03-09\n\n- [lesson] Fresh things of this very day stay in sight. <!-- from memory/2026-03-09.md#L4 -->\n<!-- mk:up-2 -->\n", "[human] The user wants every report", "More memory: [TOOLS](TOOLS.md)"} {
		if !strings.Contains(memory, stays) {
			t.Errorf("%q is not in\n%s", stays, memory)
		}
	}
	if tools := became(p, "TOOLS.md"); !strings.Contains(tools, "## Infrastructure\n\n") || !strings.Contains(tools, "port 9100. <!-- from MEMORY.md -->") {
		t.Errorf("TOOLS.md gets %q", tools)
	}
	if p := prune(t, with(map[string]string{"MEMORY.md": crowded}), func(o *consolidation.PruneOptions) { o.MemoryLines = 50 }); len(p.Moves) > 0 {
		t.Errorf("below the limit %v moved", p.Moves)
	}
	p = prune(t, with(map[string]string{"MEMORY.md": crowded}), func(o *consolidation.PruneOptions) {
		o.MemoryLines, o.Young = 5, func(string, string) bool { return true }
	})
	if len(p.Moves) != 2 || len(p.Over) != 1 {
		t.Errorf("undated young blocks moved: %v, %q", p.Moves, p.Over)
	}
}

// Observations lose what is old and has no tag, oldest first; an old log's decisions
// that memory doesn't have are brought into a topic file, once.
func TestPruneObservationsAndLogs(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Observations\n\n")
	for i := range 110 {
		switch {
		case i%20 == 0:
			fmt.Fprintf(&b, "- 2026-01-%02d [surprise] The boat number %d came back without its mast.\n", i%28+1, i)
		case i > 100:
			fmt.Fprintf(&b, "- 2026-03-08 The boat number %d left the harbour in the evening.\n", i)
		default:
			fmt.Fprintf(&b, "- 2026-01-%02d The boat number %d left the harbour in the evening.\n", i%28+1, i)
		}
	}
	fsys := with(map[string]string{"memory/observations.md": b.String(),
		"memory/2026-01-05.md": "# 2026-01-05\n\n- 10:00 [decision] The ferry calls at the north quay during winter.\n- 11:00 Nothing of note happened on this long day.\n"})
	p := prune(t, fsys, nil)
	rest := became(p, "memory/observations.md")
	if n := strings.Count(rest, "\n"); n != 60 || strings.Count(rest, "[surprise]") != 6 || strings.Count(rest, "2026-03-08") != 9 {
		t.Errorf("%d lines stay:\n%s", n, rest)
	}
	topic := became(p, "memory/decisions.md")
	if !strings.Contains(topic, "The ferry calls at the north quay during winter. <!-- from memory/2026-01-05.md#L3 -->") {
		t.Errorf("decisions.md gets %q", topic)
	}
	fsys["memory/decisions.md"] = &fstest.MapFile{Data: []byte(topic), ModTime: now}
	if again := became(prune(t, fsys, nil), "memory/decisions.md"); again != "" {
		t.Errorf("a second time it gets %q", again)
	}
}

// Whatever MEMORY.md is, no line of it is lost: each is in what a file becomes or
// gets, or has no content of its own, or leaves as a repetition; and what stays keeps
// its order.
func TestPruneLosesNothing(t *testing.T) {
	line := rapid.SampledFrom([]string{"# One", "## Two", "### Three 2026-03-09", "## 2026-01-02", "- an item that says something", "  - nested below it, and long enough", "1. numbered item with words", "plain words of a paragraph",
		"> a quote of somebody", "| a | table |", "|---|---|", "```", "code in a block", "---", "", "<!-- mk:x-1 -->", "- [x] a task that was done by all", "- [ ] a task that is open for all", "- [human] the user wants this very much", "- ~~gone and forgotten things~~", "* another bullet\r"})
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOfN(line, 1, 60).Draw(rt, "lines"), "\n")
		p := prune(t, with(map[string]string{"MEMORY.md": text}), func(o *consolidation.PruneOptions) { o.MemoryLines = 10 })
		var all strings.Builder
		for i := range p.Changes {
			all.WriteString(p.Changes[i].Text + "\n" + p.Changes[i].Add + "\n")
		}
		if len(p.Changes) == 0 {
			return
		}
		headings := map[string]bool{}
		for l := range strings.SplitSeq(text, "\n") {
			if strings.HasPrefix(l, "#") {
				headings[consolidation.LineKey(l)] = true // goes with the last block below it
			}
		}
		// A heading of two lines is moved as one of one.
		stands := func(key string) bool { return headings[key] || strings.Contains(all.String(), key) }
		loss := consolidation.FindLoss("MEMORY.md", text, all.String(), stands)
		for _, m := range p.Moves {
			if m.To == "" {
				loss = consolidation.FindLoss("MEMORY.md", text, all.String()+m.Text, stands)
			}
		}
		if len(loss.Lost) > 0 {
			rt.Fatalf("lost %v of\n%s\nbecame\n%s", loss.Lost, text, all.String())
		}
	})
}

func TestFindLoss(t *testing.T) {
	before := "# M\n\n- one thing\n- two things <!-- from a.md#L1 -->\n- three things\n- four things\n"
	loss := consolidation.FindLoss("MEMORY.md", before, "# M\n\n* two things\n- four things\n", func(key string) bool { return key == "one thing" })
	if loss.Refused || loss.Lines != 5 || len(loss.Lost) != 1 || loss.Lost[0] != (consolidation.LostLine{Line: 5, Text: "- three things"}) {
		t.Errorf("%+v", loss)
	}
	if loss := consolidation.FindLoss("MEMORY.md", before, "# M\n", nil); !loss.Refused || len(loss.Lost) != 4 {
		t.Errorf("%+v", loss)
	}
}
