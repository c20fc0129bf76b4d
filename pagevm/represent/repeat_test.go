package represent_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/memkernel/memkernel/pagevm/represent"
)

// What a text names stands in the earlier one between the two lines that it shows, so that
// nobody who has both misses a line.
func TestRepeatCanBeReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.Custom(func(t *rapid.T) string {
			return strings.Repeat(fmt.Sprintf("line %d ", rapid.IntRange(0, 40).Draw(t, "line")), 8)
		})
		old := rapid.SliceOfN(line, 1, 60).Draw(t, "old")
		now := append([]string(nil), old...)
		for range rapid.IntRange(1, 4).Draw(t, "changes") {
			now[rapid.IntRange(0, len(now)-1).Draw(t, "at")] = line.Draw(t, "new")
		}
		earlier, text := strings.Join(old, "\n"), strings.Join(now, "\n")
		got := represent.Repeat(earlier, text, "Read a.go")
		if got == "" {
			return
		}
		if !represent.Refers(got) || len(got) >= len(text)+80 {
			t.Fatalf("%d bytes of %d", len(got), len(text))
		}
		if earlier == text {
			return
		}
		shown := strings.Split(got, "\n")
		at := 0
		for i := 0; i < len(shown); i++ {
			var n int
			if _, err := fmt.Sscanf(shown[i], "[… as above: Read a.go, %d line", &n); err == nil {
				hidden := now[at : at+n]
				if !strings.Contains(earlier, strings.Join(append([]string{shown[i-1]}, append(hidden, shown[i+1])...), "\n")) {
					t.Fatalf("lines %d to %d do not stand in the earlier text", at, at+n)
				}
				at += n
				continue
			}
			if shown[i] != now[at] {
				t.Fatalf("line %d is %q, want %q", i, shown[i], now[at])
			}
			at++
		}
		if at != len(now) {
			t.Fatalf("%d lines of %d", at, len(now))
		}
	})
}

func TestRepeatLeavesSmallThingsAlone(t *testing.T) {
	for _, c := range [][2]string{{"a\nb\nc\n", "a\nb\nd\n"}, {"", "new"}, {strings.Repeat("x\n", 300), "nothing of it"}} {
		if got := represent.Repeat(c[0], c[1], "ls"); got != "" {
			t.Errorf("%q", got)
		}
	}
}
