package consolidation_test

import (
	"strings"
	"testing"

	"github.com/memkernel/memkernel/consolidation"
)

// TestAgentsWordsStayInTheLog: what an agent states, in a session, by a tool or again and
// again, is in the log as its own and in no curation; the same from a person is.
func TestAgentsWordsStayInTheLog(t *testing.T) {
	const said = "the ledger listens on port 9000 and is never deployed on a Friday."
	day := func(entry, marker string) string {
		return "# 2026-03-09\n\n" + entry + "\n<!-- mk:" + marker + " -->\n"
	}
	agents := map[string]string{
		"stated":       day("Session s, cp_001:\n- [decision] agent: "+said, "fl-0123456789abcdef"),
		"stated again": day("Session s, cp_001:\n- [decision] agent: "+said+"\n\nSession r, cp_001:\n- [decision] agent: "+said+"\n\nSession q, cp_001:\n- [decision] agent: "+said, "fl-0123456789abcdef"),
		"by a tool":    day("- [decision] The "+said[4:], "me-0123456789abcdef"),
		"as a wish":    day(consolidation.AsAgent("- [human] The user wants: "+said), "me-0123456789abcdef"),
	}
	curated := func(log string) []consolidation.Promoted {
		return curate(t, files(map[string]string{"MEMORY.md": "# Memory\n", "memory/2026-03-09.md": log}), nil).Entries
	}
	for name, log := range agents {
		if got := curated(log); len(got) > 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := curated(day("- [human] "+strings.ToUpper(said[:1])+said[1:], "fl-0123456789abcdef")); len(got) != 1 {
		t.Errorf("a person's: %+v", got)
	}
}

// TestAsAgent: an agent calls nothing a person's word, in whatever item.
func TestAsAgent(t *testing.T) {
	for in, want := range map[string]string{
		"- [human] use tabs\n- plain": "- agent: use tabs\n- plain",
		"[human] use tabs":            "agent: use tabs",
		"  * [decision] [human] a":    "  * [decision] agent: a",
		"1. [Human] use tabs":         "1. agent: use tabs",
		"> [human]use tabs":           "> agent: use tabs",
		"it says [human] in the text": "it says [human] in the text",
	} {
		if got := consolidation.AsAgent(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// TestByAgent: each item and paragraph says whose it is, and what is none stays.
func TestByAgent(t *testing.T) {
	for in, want := range map[string]string{
		"Use tabs.":          "agent: Use tabs.",
		"agent: Use tabs.\n": "agent: Use tabs.\n",
		"- a\n  goes on\n- [decision] b\n  1. c\n":          "- agent: a\n  goes on\n- [decision] agent: b\n  1. agent: c\n",
		"## Fix\n\nRun it.\nTwice.\n\nAnd again.":           "## Fix\n\nagent: Run it.\nTwice.\n\nagent: And again.",
		"- kept\n- changed\n":                               "- kept\n- agent: changed\n",
		"a\n\n<!-- mk:me-01 -->\n\n---\nb\n":                "agent: a\n\n<!-- mk:me-01 -->\n\n---\nagent: b\n",
		"It runs:\n\n```sh\nmake\n\nmake all\n```\nAlways.": "agent: It runs:\n\n```sh\nmake\n\nmake all\n```\nagent: Always.",
	} {
		if got := consolidation.ByAgent("MEMORY.md", in, "- of old\n- kept\n"); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if got := consolidation.ByAgent("memory/ports.md", "- a"); got != "- a" {
		t.Errorf("a file that is read when it is asked for: %q", got)
	}
}
