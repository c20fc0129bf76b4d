package tools_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/serve/tools"
)

// A result is a place, and memory_get returns the lines of each of its snippets as they
// are shown and cited. With lines each passage is a result.
func TestPlaces(t *testing.T) {
	b := open(t, nil)
	if err := os.CopyFS(b.dir, os.DirFS("../../testdata/workspace")); err != nil {
		t.Fatal(err)
	}
	b.put("memory/hafen.md", "# Hafen\n\n## Fähren\n\n  - Die Fähre fährt um neun.\t\n\n"+strings.Repeat("Möwe 海鸥. ", 12)+"\n\n- Die Fähre ist alt:\n\n      neun Meter\n\n| Fähre | Meter |\n|---|---|\n| alt | 9 |\n")
	b.reindex()
	more := 0
	for _, q := range []string{"deploy staging window", "Mika red lines preferences", "Fähre", "holds of bookings", "what did Ragnhild pay", "2026-01-20", "postgres index"} {
		found := b.call(tools.Options{Private: true, Citations: "on"}, "memory_search", map[string]any{"query": q})
		sections := map[string]bool{}
		for _, r := range found.Results {
			check := func(from, to int, snippet, citation string) {
				got := b.call(tools.Options{Private: true}, "memory_get", map[string]any{"path": r.Path, "from": from, "lines": to - from + 1})
				if plain(got.Text) != plain(snippet) || snippet == "" {
					t.Errorf("%s: %s shows %q, and %q is read", q, citation, snippet, got.Text)
				}
				want := fmt.Sprintf("%s#L%d-L%d", r.Path, from, to)
				if from == to {
					want = fmt.Sprintf("%s#L%d", r.Path, from)
				}
				if citation != want {
					t.Errorf("%s: cited as %s, want %s", q, citation, want)
				}
			}
			check(r.StartLine, r.EndLine, r.Snippet, r.Citation)
			for _, m := range r.More {
				check(m.StartLine, m.EndLine, m.Snippet, m.Citation)
				more++
			}
			if key := r.Path + strings.Join(r.Trail, "\n"); sections[key] {
				t.Errorf("%s: %s has two results", q, key)
			} else {
				sections[key] = true
			}
		}
		for _, r := range b.call(tools.Options{Private: true}, "memory_search", map[string]any{"query": q, "lines": true}).Results {
			if len(r.More) > 0 {
				t.Errorf("%s: with lines %s has more", q, filepath.Base(r.Path))
			}
		}
	}
	if more < 10 {
		t.Errorf("%d runs of lines beside the best ones", more)
	}
}

// plain is a text without the blanks that its lines end with.
func plain(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \t")
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}
