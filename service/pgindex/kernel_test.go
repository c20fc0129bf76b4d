//go:build unix

package pgindex

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/retrieval"
)

func backend(o Options) api.Backend {
	some := func(ix *Index, err error) (api.MemoryIndex, error) {
		if err != nil {
			return nil, err
		}
		return ix, nil
	}
	return api.Backend{Name: "postgres", Place: o.Place(),
		Open: func(ctx context.Context, i *index.Options) (api.MemoryIndex, error) { return some(Open(ctx, o, i)) },
		Rebuild: func(ctx context.Context, i *index.Options) (api.MemoryIndex, error) {
			return some(Rebuild(ctx, o, i))
		}}
}

func workspace(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "memory"), 0o755); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{
		"MEMORY.md":            "# Memory\n\n## Vault\n\nThe vault code is 4711.\n",
		"memory/2026-01-01.md": "# 2026-01-01\n\n## Deploys\n\n- We deploy on Friday from staging.\n- Staging listens on port 8443.\n",
		"memory/2026-01-02.md": "# 2026-01-02\n\nThe database migration failed.\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, path), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func openKernel(t testing.TB, dir string, m kernel.MemoryOptions) *kernel.Kernel {
	t.Helper()
	k, err := kernel.Open(context.Background(), dir, &kernel.Options{Memory: m})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.Close() })
	return k
}

func ask(t testing.TB, k *kernel.Kernel, q string, private bool) *retrieval.Result {
	t.Helper()
	r, err := k.Search(context.Background(), api.SearchRequest{Query: q, Private: private, Wait: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestKernelOnPostgres: a kernel indexes, searches, checks and reports its status
// on this backend as it does on a file; others' notes come in, private ones don't.
func TestKernelOnPostgres(t *testing.T) {
	o := freshSchema(t)
	o.Private = func(path string) bool { c, ok := markdownstore.Classify(path); return !ok || c.Private }
	k := openKernel(t, workspace(t), kernel.MemoryOptions{Backend: backend(o)})
	if r := ask(t, k, "staging port", true); r.Reason != retrieval.OK || len(r.Hits) == 0 {
		t.Errorf("the first search makes the index: %s %s", r.Reason, r.Detail)
	}
	if _, err := k.Reindex(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	r := ask(t, k, "which port does staging use?", true)
	if r.Reason != retrieval.OK || len(r.Hits) == 0 || r.Hits[0].Citation != "memory/2026-01-01.md#L6" {
		t.Errorf("%s %s %+v", r.Reason, r.Detail, r.Hits)
	}
	if r := ask(t, k, "vault code", false); len(r.Hits) != 0 {
		t.Errorf("a shared session sees %+v", r.Hits)
	}
	bob := o
	bob.Agent = "bob"
	kb := openKernel(t, workspace(t), kernel.MemoryOptions{Backend: backend(bob)})
	fill(t, open(t, bob), files{"memory/bob.md": "Bob keeps a walrus.", "USER.md": "walrus secrets"}, day)
	for _, private := range []bool{true, false} {
		r = ask(t, k, "walrus", private)
		if len(r.Hits) != 1 || r.Hits[0].Path != "@bob/memory/bob.md" {
			t.Errorf("private %v: %+v", private, r.Hits)
		}
	}
	if found, err := k.Check(context.Background()); err != nil || len(found) != 0 {
		t.Errorf("check: %v, %v", found, err)
	}
	st, err := kb.Status(context.Background(), nil)
	if err != nil || st.Memory.Index.State != api.IndexOK || st.Memory.Index.Backend != "postgres" || st.Memory.Index.Files != 2 {
		t.Errorf("status %+v, %v", st.Memory.Index, err)
	}
}
