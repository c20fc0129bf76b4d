package kernel_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/internal/hostile"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/health"
)

// A file whose name acts where it is shown is left out of the index and of what is
// audited, and told with its reason; so are media.
func TestNamesThatCannotBeShown(t *testing.T) {
	dir := sickbed(t, map[string]string{"memory/fine.md": "the heron nests\n"})
	want := map[string]bool{}
	for _, name := range hostile.Names() {
		media := "assets/" + strings.TrimSuffix(name, ".md") + ".png"
		for _, p := range []string{"memory/" + name, "memory/sub" + name + "/x.md", media} {
			full := filepath.Join(dir, filepath.FromSlash(p))
			if os.MkdirAll(filepath.Dir(full), 0o700) != nil || os.WriteFile(full, []byte("the heron is hostile\n"), 0o600) != nil {
				continue // the file system has no such name
			}
			want[strings.TrimSuffix(p, "/x.md")] = true
		}
	}
	k, err := kernel.Open(context.Background(), dir, &kernel.Options{Memory: kernel.MemoryOptions{MediaPaths: []string{"assets"}}})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	r, err := k.Reindex(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]bool{}
	for _, s := range r.Skipped {
		if told[s.Path] = true; !want[s.Path] || !strings.Contains(s.Reason, "can't be shown; rename it") {
			t.Errorf("%q: %s", s.Path, s.Reason)
		}
	}
	if len(told) != len(want) {
		t.Errorf("%d are told, want %d", len(told), len(want))
	}
	res, err := k.Search(context.Background(), api.SearchRequest{Query: "heron", Private: true})
	if err != nil || len(res.Hits) != 1 || res.Hits[0].Path != "memory/fine.md" {
		t.Errorf("%v %+v", err, res)
	}
	found := 0
	for _, f := range audited(t, dir, api.AuditOptions{Only: []health.Code{health.Files}}).Findings {
		if want[f.Path] && strings.Contains(f.What, "can't be shown") {
			found++
		}
	}
	if found == 0 && len(want) > 0 {
		t.Error("the audit says nothing of them")
	}
}
