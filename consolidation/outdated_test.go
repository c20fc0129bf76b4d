package consolidation_test

import (
	"strings"
	"testing"

	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/kernel/health"
)

// Once a newer entry names what it replaces, the old one is neither a contradiction
// nor a duplicate of anything, in whichever form it is named.
func TestSupersededIsSettled(t *testing.T) {
	only := func(o *consolidation.Options) {
		o.Only = []health.Code{health.Contradictions, health.Duplicates}
	}
	old := "# M\n\n## Facts\n\n- Postgres runs on port 5432.\n"
	tools := "# T\n\n- Postgres runs on port 5433.\n"
	told := func(memory string) []health.Finding {
		return audit(t, files(map[string]string{"MEMORY.md": memory, "TOOLS.md": tools}), only).Findings
	}
	if len(told(old)) != 1 {
		t.Fatal("a plain contradiction is not told")
	}
	for _, by := range []string{
		"- Postgres now runs on port 5433 instead of 5432.",
		"- Postgres runs on port 5433 (was: 5432).",
		"- Postgres port: 5432 → 5433",
		"- The port of Postgres is ~~5432~~ 5433.",
		"- Postgres läuft auf port 5433 statt 5432.",
		"- Postgres port est 5433 au lieu de 5432.",
		"- Postgres port 现在是 5433，不再是 5432",
		"- Something else altogether. <!-- supersedes MEMORY.md#L5 -->",
	} {
		if f := told(old + by + "\n"); len(f) > 0 {
			t.Errorf("beside %q it is told that %+v", by, f)
		}
	}
	for _, by := range []string{"- ~~Postgres runs on port 5432.~~", "- Postgres runs on port 5432. (superseded by TOOLS.md)", "- SUPERSEDED: Postgres runs on port 5432."} {
		if f := told("# M\n\n" + by + "\n"); len(f) > 0 {
			t.Errorf("of %q it is told that %+v", by, f)
		}
	}
	for _, by := range []string{"- Redis runs on port 5433 instead of 5432.", "- Postgres was installed instead of MySQL.", "- Postgres runs well."} {
		if f := told(old + by + "\n"); len(f) != 1 {
			t.Errorf("beside %q the contradiction is gone", by)
		}
	}
	if f := told("# M\n\n- Postgres runs on port 5433 instead of 5432.\n\n## Later\n\n- Postgres runs on port 5432.\n"); len(f) != 1 {
		t.Errorf("what came back later counts as superseded")
	}
	dated := audit(t, files(map[string]string{"MEMORY.md": "# M\n\n## 2026-01-02\n\n- Postgres runs on port 5432.\n", "memory/db.md": "# DB\n\n## 2026-02-02\n\n- Postgres runs on port 5433.\n"}), only).Findings
	if len(dated) != 1 || dated[0].Severity != health.Note || dated[0].Path != "MEMORY.md" || !strings.Contains(dated[0].What, "superseded by memory/db.md:5 of 2026-02-02") {
		t.Errorf("of two dates it is told that %+v", dated)
	}
}
