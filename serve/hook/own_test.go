package hook

import "testing"

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
		if got := onlyOf(text, "claude:a"); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
