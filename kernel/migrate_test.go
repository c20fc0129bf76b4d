package kernel_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel/embed/embedtest"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/indexing"
)

// old is a time at which files are no longer being written.
var old = time.Date(2026, 1, 1, 0, 0, 0, 1, time.UTC)

// moving is a workspace with an index and vectors, and a place to move it to.
func moving(t *testing.T) (k *kernel.Kernel, dir string, from, to indexing.Backend, chunks int64) {
	t.Helper()
	dir = t.TempDir()
	for path, text := range map[string]string{"MEMORY.md": "# Memory\n\nThe vault code is 4711.\n", "memory/2026-01-01.md": "# Day\n\n- Staging listens on port 8443.\n"} {
		os.MkdirAll(filepath.Dir(filepath.Join(dir, path)), 0o755)
		if err := os.WriteFile(filepath.Join(dir, path), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(filepath.Join(dir, path), old, old); err != nil {
			t.Fatal(err)
		}
	}
	k, err := kernel.Open(context.Background(), dir, &kernel.Options{Memory: kernel.MemoryOptions{Embedder: embedtest.Provider{}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.Close() })
	r, err := k.Reindex(context.Background(), nil)
	if err != nil || r.EmbedErr != nil {
		t.Fatal(err, r.EmbedErr)
	}
	return k, dir, indexing.SQLite(k.IndexPath()), indexing.SQLite(filepath.Join(dir, "elsewhere", "index.sqlite")), r.Stats.Chunks
}

func TestMigrateCopies(t *testing.T) {
	k, _, from, to, chunks := moving(t)
	ctx := context.Background()
	r, err := k.Migrate(ctx, indexing.MigrateOptions{From: from, To: to})
	if err != nil || r.Made != "" || r.Stats.Chunks != chunks || r.VectorsCopied == 0 || r.Stats.Vectors != chunks || r.Compared == 0 || r.Behind {
		t.Fatalf("%+v, %v", r, err)
	}
	copied := r.VectorsCopied
	if r, err = k.Migrate(ctx, indexing.MigrateOptions{From: from, To: to}); err != nil || r.VectorsCopied != 0 || r.VectorsThere != copied || r.Read != 0 {
		t.Errorf("once more: %+v, %v", r, err)
	}
	if _, err := k.Migrate(ctx, indexing.MigrateOptions{From: from, To: from}); err == nil {
		t.Error("an index moves onto itself")
	}
}

// Files that changed are told, and what the source no longer has goes.
func TestMigrateFollows(t *testing.T) {
	k, dir, from, to, _ := moving(t)
	ctx := context.Background()
	if _, err := k.Migrate(ctx, indexing.MigrateOptions{From: from, To: to}); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "memory/2026-01-01.md")); err != nil {
		t.Fatal(err)
	}
	if r, err := k.Migrate(ctx, indexing.MigrateOptions{From: from, To: to}); err != nil || !r.Behind || r.Stats.Files != 2 {
		t.Errorf("the copy is the index's: %+v, %v", r, err)
	}
	if _, err := k.Reindex(ctx, nil); err != nil {
		t.Fatal(err)
	}
	if r, err := k.Migrate(ctx, indexing.MigrateOptions{From: from, To: to}); err != nil || r.Behind || r.Stats.Files != 1 || r.Removed != 1 {
		t.Errorf("after a reindex: %+v, %v", r, err)
	}
}

// A file that was so young when it was read that it may have changed since is
// copied, and read again by whoever reindexes.
func TestMigrateYoung(t *testing.T) {
	k, dir, from, to, chunks := moving(t)
	ctx := context.Background()
	young := filepath.Join(dir, "memory/young.md")
	for range 100 { // until one is read within the clock's grain
		if err := os.WriteFile(young, []byte("# Young\n\n- "+time.Now().String()+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		r, err := k.Reindex(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		if r.Stats.Unread > 0 {
			break
		}
	}
	r, err := k.Migrate(ctx, indexing.MigrateOptions{From: from, To: to})
	if err != nil || r.Stats.Chunks != chunks+1 {
		t.Fatalf("%+v, %v", r, err)
	}
	k2, err := kernel.Open(ctx, dir, &kernel.Options{Memory: kernel.MemoryOptions{Backend: to}})
	if err != nil {
		t.Fatal(err)
	}
	defer k2.Close()
	again, err := k2.Reindex(ctx, nil)
	if err != nil || again.ChunksAdded+again.ChunksRemoved != 0 || r.Behind != (again.Read == 1) {
		t.Errorf("behind %v, then %+v, %v", r.Behind, again, err)
	}
}

// Without an index to copy, or with a spoilt one, the Markdown is the truth.
func TestMigrateFromMarkdown(t *testing.T) {
	for name, spoil := range map[string]func(path string) error{
		"missing": os.Remove,
		"damaged": func(path string) error {
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			copy(b[16:100], make([]byte, 84))
			return os.WriteFile(path, b, 0o600)
		},
	} {
		k, _, from, to, chunks := moving(t)
		if err := spoil(from.Place); err != nil {
			t.Fatal(err)
		}
		for _, end := range []string{"-wal", "-shm"} {
			os.Remove(from.Place + end)
		}
		r, err := k.Migrate(context.Background(), indexing.MigrateOptions{From: from, To: to})
		if err != nil || r.Stats.Chunks != chunks || r.Made == "" && r.Restored == "" {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}

// A target that is somebody else's file is left alone.
func TestMigrateToForeign(t *testing.T) {
	k, dir, from, _, _ := moving(t)
	other := filepath.Join(dir, "notes.sqlite")
	if err := os.WriteFile(other, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := k.Migrate(context.Background(), indexing.MigrateOptions{From: from, To: indexing.SQLite(other)})
	if b, _ := os.ReadFile(other); err == nil || !strings.Contains(err.Error(), "not an index of memkernel") || string(b) != "mine" {
		t.Errorf("%v", err)
	}
}
