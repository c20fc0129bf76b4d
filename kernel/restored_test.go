package kernel_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
)

// A backup is put back while a process runs that has read, and not written, what came after
// it: the process goes on from what stands there, and names nothing else.
func TestBackupPutBackUnderAReader(t *testing.T) {
	workspace, state := t.TempDir(), filepath.Join(t.TempDir(), "state")
	open := func() *kernel.Kernel {
		k, err := kernel.Open(t.Context(), workspace, &kernel.Options{StateDir: state})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { k.Close() })
		return k
	}
	reader, writer := open(), open()
	c := session(61, 2, 2, 900)
	mustPlan(t, writer, request(c))
	backup := filepath.Join(t.TempDir(), "backup")
	if err := os.CopyFS(backup, os.DirFS(filepath.Join(state, "sessions"))); err != nil {
		t.Fatal(err)
	}
	c.user()
	c.loop(2, 900)
	mustPlan(t, writer, request(c))
	c.user()
	if _, err := reader.Peek(context.Background(), request(c)); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(state, "sessions")); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(state, "sessions"), os.DirFS(backup)); err != nil {
		t.Fatal(err)
	}
	p := mustPlan(t, reader, request(c))
	again := open()
	asked := 0
	for _, page := range p.Debug.Included {
		if page.Kind != "conversation" && page.Kind != "evidence" {
			continue
		}
		asked++
		if got, err := again.Get(context.Background(), p.SessionKey, page.ID); err != nil || got.Reason != api.GetOK {
			t.Errorf("page %s is shown by the plan, and is not kept: %s, %v", page.ID, got.Reason, err)
		}
	}
	if asked < 10 {
		t.Errorf("%d pages are shown", asked)
	}
	found, err := again.Check(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		t.Errorf("check: %s: %s", f.Session, f.What)
	}
}
