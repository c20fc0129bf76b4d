//go:build unix

package postgres

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel/embed"
	"github.com/memkernel/memkernel/embed/embedtest"
	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/indexing"
	"github.com/memkernel/memkernel/kernel/status"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/retrieval"
)

func backend(o Options) indexing.Backend {
	some := func(ix *Index, err error) (indexing.Index, error) {
		if err != nil {
			return nil, err
		}
		return ix, nil
	}
	return indexing.Backend{Name: "postgres", Place: o.Place(),
		Open: func(ctx context.Context, i *index.Options) (indexing.Index, error) { return some(Open(ctx, o, i)) },
		Rebuild: func(ctx context.Context, i *index.Options) (indexing.Index, error) {
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
	r, err := k.Search(context.Background(), kernel.SearchRequest{Query: q, Private: private, Wait: time.Minute})
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
	if err != nil || st.Memory.Index.State != status.IndexOK || st.Memory.Index.Backend != "postgres" || st.Memory.Index.Files != 2 {
		t.Errorf("status %+v, %v", st.Memory.Index, err)
	}
}

// paying counts the texts that were embedded.
type paying struct {
	embedtest.Provider
	texts int
}

func (p *paying) EmbedDocuments(ctx context.Context, texts []string) (embed.Result, error) {
	p.texts += len(texts)
	return p.Provider.EmbedDocuments(ctx, texts)
}

// TestMigrate: there and back again, with vectors that nobody pays for twice.
func TestMigrate(t *testing.T) {
	o := freshSchema(t)
	probe := open(t, o)
	withVectors(t, probe)
	dir, ctx := workspace(t), context.Background()
	model := &paying{}
	file := indexing.SQLite(filepath.Join(dir, ".memkernel", "index.sqlite"))
	k := openKernel(t, dir, kernel.MemoryOptions{Embedder: model})
	first, err := k.Reindex(ctx, nil)
	if err != nil || first.EmbedErr != nil || first.Stats.Vectors == 0 {
		t.Fatal(err, first.EmbedErr)
	}
	r, err := k.Migrate(ctx, indexing.MigrateOptions{From: file, To: backend(o)})
	if err != nil || r.Made != "" || r.VectorsCopied != int(first.Stats.Cached) || r.Stats.Chunks != first.Stats.Chunks || r.Behind || r.Compared == 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	if r, err = k.Migrate(ctx, indexing.MigrateOptions{From: file, To: backend(o)}); err != nil || r.VectorsCopied != 0 || r.Read != 0 {
		t.Errorf("once more: %+v, %v", r, err)
	}
	paid := model.texts
	shared := openKernel(t, dir, kernel.MemoryOptions{Embedder: model, Backend: backend(o)})
	second, err := shared.Reindex(ctx, nil)
	if err != nil || second.EmbedErr != nil || second.Embedded.Embedded != 0 || second.Read != 0 || model.texts != paid {
		t.Errorf("reindex after the move: %+v, %v", second, err)
	}
	if r := ask(t, shared, "staging port", true); r.Mode != retrieval.Hybrid || len(r.Hits) == 0 {
		t.Errorf("%s %s", r.Mode, r.Detail)
	}
	back := indexing.SQLite(filepath.Join(t.TempDir(), "x", "index.sqlite"))
	if r, err = shared.Migrate(ctx, indexing.MigrateOptions{From: backend(o), To: back}); err != nil || r.VectorsCopied != int(first.Stats.Cached) {
		t.Errorf("back: %+v, %v", r, err)
	}
}

// A migration that breaks off goes on where it was.
func TestMigrationGoesOn(t *testing.T) {
	server.Owned(t)
	o := freshSchema(t)
	dir, ctx := workspace(t), context.Background()
	k := openKernel(t, dir, kernel.MemoryOptions{})
	if _, err := k.Reindex(ctx, nil); err != nil {
		t.Fatal(err)
	}
	file := indexing.SQLite(filepath.Join(dir, ".memkernel", "index.sqlite"))
	cut := backend(o)
	open := cut.Open
	cut.Open = func(ctx context.Context, i *index.Options) (indexing.Index, error) {
		ix, err := open(ctx, i)
		if err == nil {
			killAll(t) // the pool's connections die under it
		}
		return ix, err
	}
	_, err := k.Migrate(ctx, indexing.MigrateOptions{From: file, To: cut})
	if err != nil && !errors.Is(err, ErrUnreachable) || err != nil && strings.Contains(err.Error(), "password") {
		t.Errorf("%v", err)
	}
	r, err := k.Migrate(ctx, indexing.MigrateOptions{From: file, To: backend(o)})
	if err != nil || r.Stats.Files != 3 {
		t.Errorf("%+v, %v", r, err)
	}
}
