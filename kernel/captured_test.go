package kernel_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel/api"
)

// TestDeletedStateIsNamed: whoever deletes what was captured of a session, one file of it or
// all, has check say so, until the session is mended or observed again.
func TestDeletedStateIsNamed(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	k := openKernel(t, dir)
	defer func() { k.Close() }()
	msgs := []memkernel.Message{
		{Role: memkernel.RoleUser, Parts: []memkernel.Part{{Kind: memkernel.PartText, Text: "We decided: the queue stays on NATS. Never deploy on a Friday.", Typed: true}}},
		{Role: memkernel.RoleAssistant, Parts: []memkernel.Part{{Kind: memkernel.PartText, Text: "Understood. TODO: write the migration for the queue. I will begin with the tests."}}},
	}
	observe(t, k, api.Turn{SessionKey: "s", Messages: msgs})
	found := func() (said []string) {
		t.Helper()
		f, err := k.Check(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range f {
			said = append(said, f.What)
		}
		return said
	}
	if said := found(); said != nil {
		t.Fatalf("nothing is deleted yet: %q", said)
	}
	state := filepath.Join(dir, ".memkernel", "sessions", "s", "state")
	files, err := os.ReadDir(state)
	if err != nil || len(files) < 2 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, f := range files {
		at := filepath.Join(state, f.Name())
		data, err := os.ReadFile(at)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(at); err != nil {
			t.Fatal(err)
		}
		if said := found(); len(said) != 1 || !strings.Contains(said[0], state) {
			t.Errorf("%s is gone, and check says %q", f.Name(), said)
		}
		if err := os.WriteFile(at, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.RemoveAll(state); err != nil {
		t.Fatal(err)
	}
	if said := found(); len(said) != 1 || !strings.Contains(said[0], state) {
		t.Errorf("all of it is gone, and check says %q", said)
	}
	k.Close()
	k = openKernel(t, dir)
	observe(t, k, api.Turn{SessionKey: "s", Messages: append(msgs,
		memkernel.Message{Role: memkernel.RoleUser, Parts: []memkernel.Part{{Kind: memkernel.PartText, Text: "Go on.", Typed: true}}},
		memkernel.Message{Role: memkernel.RoleAssistant, Parts: []memkernel.Part{{Kind: memkernel.PartText, Text: "The tests are written."}}})})
	if said := found(); said != nil {
		t.Errorf("observed again: %q", said)
	}
}
