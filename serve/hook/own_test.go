package hook

import (
	"strings"
	"testing"
)

// A log is a session's own only if nobody else, and no model, wrote into it.
func TestOnlyOf(t *testing.T) {
	const own = "# 2026-11-20\n\nSession claude:a, cp_001:\n- We freeze in December.\n<!-- mk:fl-1 -->\n\nSession claude:a, cp_002:\n- [open] who tests it?\n"
	for text, want := range map[string]bool{
		"":                                 false,
		"# 2026-11-20\n\n":                 false,
		own:                                true,
		own + "\nKim is away on Friday.\n": false,
		"Kim is away.\n\n" + own:           false,
		own + "\nSession claude:b, cp_001:\n- Ada tests.\n":           false,
		own + "\nSession claude:a, written down by its model:\n- x\n": false,
		own + "\n## Later\n": false,
	} {
		if _, _, got := entriesOf(text, "claude:a"); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// What a session's newest checkpoint wrote is told from what stands around it.
func TestNewestOf(t *testing.T) {
	const log = "# 2026-11-20\n\nSession claude:a, cp_001:\n- one\n<!-- mk:fl-1 -->\n\nSession claude:a, cp_002:\n- two\n  more\n<!-- mk:fl-2 -->\n\nKim is away.\n\nSession claude:b, cp_009:\n- other\n"
	for session, want := range map[string][2]int{"claude:a": {7, 10}, "claude:b": {14, 15}, "claude:c": {}, "claude": {}} {
		if first, last, _ := entriesOf(log, session); [2]int{first, last} != want {
			t.Errorf("%s: %d to %d, want %v", session, first, last, want)
		}
	}
	if first, last, _ := entriesOf(log[:strings.Index(log, "\nSession claude:a, cp_002")], "claude:a"); first != 1 || last != 5 {
		t.Errorf("the first of a day: %d to %d", first, last)
	}
}
