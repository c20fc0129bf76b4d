package markdownstore

import (
	"slices"
	"testing"
)

func TestClassify(t *testing.T) {
	for _, tt := range []struct {
		path, kind, tier, page, date string
		flags                        string // p private, m memory, i indexed
	}{
		{"MEMORY.md", "memory", "evergreen", "preference", "", "pmi"},
		{"memory.md", "memory", "evergreen", "preference", "", "pmi"},
		{"USER.md", "user", "evergreen", "preference", "", "pmi"},
		{"AGENTS.md", "instructions", "", "bootstrap", "", ""},
		{"SOUL.md", "instructions", "", "bootstrap", "", ""},
		{"TOOLS.md", "instructions", "", "bootstrap", "", ""},
		{"IDENTITY.md", "instructions", "", "bootstrap", "", ""},
		{"HEARTBEAT.md", "routine", "", "", "", ""},
		{"SESSION-STATE.md", "state", "", "plan", "", ""},
		{"memory/SESSION-STATE.md", "state", "", "plan", "", ""},
		{"memory/working-buffer.md", "buffer", "", "", "", "pm"},
		{"working-buffer.md", "buffer", "", "", "", "pm"},
		{"memory/observations.md", "observations", "recent", "preference", "", "mi"},
		{"memory/2026-03-21.md", "daily", "dated", "preference", "2026-03-21", "mi"},
		{"memory/2026-03-21-a-talk.md", "note", "dated", "preference", "2026-03-21", "mi"},
		{"memory/report-2026-03-21.md", "note", "dated", "preference", "2026-03-21", "mi"},
		{"memory/check-2026-03-21-0200.md", "note", "dated", "preference", "2026-03-21", "mi"},
		{"memory/2026-03-01-to-2026-03-07.md", "note", "dated", "preference", "2026-03-07", "mi"},
		{"memory/2026_03_21.md", "note", "dated", "preference", "2026-03-21", "mi"},
		{"memory/20260321-talk.md", "note", "dated", "preference", "2026-03-21", "mi"},
		{"memory/logs/2026-03-21.md", "note", "dated", "preference", "2026-03-21", "mi"},
		{"memory/2026/03/21.md", "note", "dated", "preference", "2026-03-21", "mi"},
		{"memory/2026-03/21.md", "note", "dated", "preference", "2026-03-21", "mi"},
		{"memory/2026-03-21/talk.md", "topic", "evergreen", "preference", "", "mi"},
		{"memory/projects.md", "topic", "evergreen", "preference", "", "mi"},
		{"memory/a/b/c.MD", "topic", "evergreen", "preference", "", "mi"},
		{"memory/2026-02-30.md", "topic", "evergreen", "preference", "", "mi"},
		{"memory/2026-13-01.md", "topic", "evergreen", "preference", "", "mi"},
		{"memory/12026-03-01.md", "topic", "evergreen", "preference", "", "mi"},
		{"memory/2026-03.md", "topic", "evergreen", "preference", "", "mi"},
		{"memory/ticket-20260321.md", "topic", "evergreen", "preference", "", "mi"},
		{"memory/version-1.2.md", "topic", "evergreen", "preference", "", "mi"},
	} {
		c, ok := Classify(tt.path)
		flags := ""
		for _, f := range []struct {
			on   bool
			name string
		}{{c.Private, "p"}, {c.Memory, "m"}, {c.Indexed, "i"}} {
			if f.on {
				flags += f.name
			}
		}
		if !ok || string(c.Kind) != tt.kind || string(c.Tier) != tt.tier || string(c.PageType) != tt.page || c.Date != tt.date || flags != tt.flags {
			t.Errorf("%s: %+v (%s), want %+v", tt.path, c, flags, tt)
		}
	}
}

func TestClassifyRefuses(t *testing.T) {
	for _, p := range []string{
		"", ".", "README.md", "src/main.go", "config/MEMORY.md", "memory", "memory/x.txt", "memory/.md", "memory/.hidden.md",
		"memory/.git/x.md", "memory/node_modules/x.md", "Memory/x.md", "memory/heartbeat-state.json", ".memkernel/config.yaml", "agents.md",
	} {
		if c, ok := Classify(p); ok {
			t.Errorf("%q is %+v, want nothing", p, c)
		}
	}
}

func TestRootNamesAreKnownAndInOrder(t *testing.T) {
	for _, n := range rootNames {
		if _, ok := Classify(n); !ok {
			t.Errorf("%s is not known", n)
		}
	}
	if !slices.IsSorted(rootNames) {
		t.Error("not in byte order")
	}
}
