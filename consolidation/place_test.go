package consolidation_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/consolidation"
)

// Where an entry of a section leaves that stays, one line of the section says where to,
// over all prunings; it goes with the section. What somebody wrote in its manner stays.
func TestPruneTellsPlaces(t *testing.T) {
	for _, eol := range []string{"\n", "\r\n"} {
		memory := strings.ReplaceAll("# Memory\n\n## Gates\n\n- ~~the north gate is opened by key seven~~\n- ~~the south gate is opened by key nine~~\n- [ ] ask who holds the other keys\n\n<!-- moved to the long shed -->\n\n## Lamps\n\n- ~~the lamps want oil of the better sort~~\n- the lamps are lit at dusk by Ingrid\n\nWords behind the list.\n\n## Nets\n\n- [ ] mend the nets of the harbour\n", "\n", eol)
		var lines []string // memkernel's
		prune := func(memory string, limit int, include ...string) (string, *consolidation.Pruning) {
			t.Helper()
			p := prune(t, with(map[string]string{"MEMORY.md": memory, "memory/archive/2026-03-09.md": "# Archive\n", "memory/gates.md": "# Gates\n"}), func(o *consolidation.PruneOptions) {
				o.MemoryLines, o.Include = limit, include
				o.Wrote = func(path, marker, text string) bool { return slices.Contains(lines, strings.TrimRight(text, "\r\n")) }
			})
			if what := p.Reshaped(); len(what) > 0 {
				t.Fatalf("%v", what)
			}
			after := became(p, "MEMORY.md")
			for l := range strings.SplitSeq(strings.ReplaceAll(after, eol, "\n"), "\n") {
				if !strings.Contains(strings.ReplaceAll(memory, eol, "\n"), l) {
					lines = append(lines, l)
				}
			}
			return strings.ReplaceAll(after, eol, "\n"), p
		}
		second := func(text, section string) string {
			_, text, _ = strings.Cut(text, "## "+section+"\n\n")
			text, _, _ = strings.Cut(text, "\n## ")
			return text
		}
		bare := strings.ReplaceAll(memory, "<!-- moved to the long shed -->"+eol+eol, "")
		names := func(memory string) (out []string) {
			_, p := prune(memory, 4)
			for _, s := range p.Suggestions {
				out = append(out, s.Include)
			}
			return out
		}
		first, _ := prune(bare, 14, names(bare)[0])
		if got := second(first, "Gates"); got != "- ~~the south gate is opened by key nine~~\n- [ ] ask who holds the other keys\n<!-- moved to memory/archive/2026-03-09.md -->\n" {
			t.Fatalf("the section is\n%s", got)
		}
		first = strings.ReplaceAll(first, "\n", eol)
		next, _ := prune(first, 14, names(first)[0])
		if got := second(next, "Gates"); got != "- [ ] ask who holds the other keys\n<!-- moved to memory/archive/2026-03-09.md -->\n" {
			t.Fatalf("then the section is\n%s", got)
		}
		next = strings.ReplaceAll(next, "\n", eol)
		if last, _ := prune(next, 4, "Gates", "Nets"); strings.Contains(last, "## Gates") || strings.Contains(last, "<!-- moved to ") {
			t.Errorf("what stays of\n%s\nis\n%s", next, last)
		}
		// A comment of somebody's stays, and keeps what it may speak of whole.
		if got, p := prune(memory, 4, "Lamps"); len(p.Moves) != 1 || !strings.Contains(got, "<!-- moved to the long shed -->") || strings.Contains(got, "## Lamps") {
			t.Errorf("%+v\n%s", p.Moves, got)
		}
	}
}
