package markdownstore

import (
	"strings"
	"testing"
)

// TestLogOfSeveralSessions: the log of a day that two sessions and a person wrote to. What
// an agent decided or left open names its session and is left out of what the project
// shares; all else stays on its line.
func TestLogOfSeveralSessions(t *testing.T) {
	lines := []string{"# 2026-11-03", "",
		"Session claude:one, cp_002:", "- [decision] agent: I take the small pump.", "- [decision] Which hose? → the green one", "- [open] the valve leaks", "<!-- mk:fl-1 -->", "",
		"Kim watered the ferns.", "- agent: a word of Kim's list", "",
		"Session two, cp_001:", "- [open] [human] ask Bo", "<!-- mk:fl-2 -->", "",
		"Session two, rules told in it:", "- [rule] Never on Sundays."}
	log := strings.Join(lines, "\n") + "\n"
	left := strings.Split(ProjectLog(log, ""), "\n")
	for i, want := range map[int]string{4: "claude:one", 6: "claude:one", 13: "two"} {
		if got := SessionOf(log, i); got != want || left[i-1] != "" {
			t.Errorf("line %d is of %q, and %q is shared", i, got, left[i-1])
		}
	}
	for i, l := range lines {
		switch i + 1 {
		case 4, 6, 13, 12:
		default:
			if left[i] != l || SessionOf(log, i+1) != "" {
				t.Errorf("line %d is %q, want %q", i+1, left[i], l)
			}
		}
	}
	if left[11] != "" {
		t.Errorf("a block of which nothing is left keeps %q", left[11])
	}
	for i, l := range strings.Split(ProjectLog(log, "two"), "\n") {
		if own := i == 11 || i == 12; own && l != lines[i] || !own && l != left[i] {
			t.Errorf("session two is shown %q in line %d", l, i+1)
		}
	}
}
