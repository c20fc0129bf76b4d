package relevance

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memkernel/memkernel/retrieval"
)

func TestHeadings(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"MEMORY.md":            "---\ntitle: x\n---\n# Harbour\n\nintro\n\n## Pilots\n\n- Torunn\n- Bo\n\n## Cranes\n\nbroken\n\n# ---\n",
		"memory/2026-03-01.md": "# Day\n\n## Notes\n\nthe ferry is late\n",
		"memory/2026-03-02.md": "# Day\n\n## Notes\n\nthe ferry is early\n",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	set, err := Headings(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, q := range set.Questions {
		got[q.ID] = q.Category + "|" + q.Text
	}
	want := map[string]string{
		"MEMORY.md:4": "level 1|Harbour", "MEMORY.md:8": "level 2|Harbour Pilots", "MEMORY.md:13": "level 2|Harbour Cranes",
		"memory/2026-03-01.md:1": "repeated|Day", "memory/2026-03-01.md:3": "repeated|Day Notes",
		"memory/2026-03-02.md:1": "repeated|Day", "memory/2026-03-02.md:3": "repeated|Day Notes",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Fatal(d)
	}
	for _, q := range set.Questions {
		if e := q.Evidence[0]; q.ID == "MEMORY.md:8" && (e.Line != 8 || e.EndLine < 11 || e.EndLine > 12) {
			t.Errorf("the section of Pilots is %+v", e)
		}
	}
	b, err := Open(t.Context(), set)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if r := run(t, b, retrieval.Options{}); r.Categories["level 2"].RecallAt1 != 1 {
		t.Errorf("headings do not find their sections: %+v", r.Categories)
	}
	if _, err := Headings(t.Context(), t.TempDir()); err == nil {
		t.Error("a folder without headings gives no error")
	}
}
