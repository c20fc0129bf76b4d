package kernel_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/internal/store/storetest"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
)

type inStore struct{ store.Store }

func (s inStore) State() store.Store { return s.Store }

// all is what a store holds, but for locks and what is the machine's.
func all(t *testing.T, s store.Store) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := store.Walk(s, func(name string, _ store.Entry) error {
		if strings.HasSuffix(name, "lock") || name == ".gitignore" || strings.HasPrefix(name, "index") || name == "sync.json" || strings.HasSuffix(name, "/trace.jsonl") {
			return nil
		}
		data, err := s.Get(name)
		out[name] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A move that dies at any step leaves the source as it was and a target that no kernel
// opens; the next one goes on, and then both are alike. Whoever holds a session keeps it
// from beginning.
func TestMoveState(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	c := session(41, 2, 3, 9000)
	p := mustPlan(t, k, request(c))
	c.say()
	if _, err := k.ObserveTurn(context.Background(), api.Turn{SessionKey: "s", Model: model, Messages: c.msgs, PlanID: p.ID, Now: c.now}); err != nil {
		t.Fatal(err)
	}
	k.Close()
	files := kernel.Files(filepath.Join(dir, ".memkernel"))
	before := all(t, files.State())
	for name := range before {
		if _, _, known := strings.Cut(name, "/"); !known && name != "habits.json" && name != "calibration.json" {
			t.Errorf("%s is kept, and nobody said whether it moves", name)
		}
	}

	release, err := files.State().Lock("sessions/s/lock", store.Alone)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := kernel.MoveState(context.Background(), files, inStore{storetest.New()}, kernel.MoveOptions{Wait: 1}); err == nil || !strings.Contains(err.Error(), "is in use") {
		t.Errorf("a session that is held: %v", err)
	}
	release()

	steps, mem := 0, storetest.New()
	mem.SetFault(func(storetest.Op, string) error { steps++; return nil })
	if _, err := kernel.MoveState(context.Background(), files, inStore{mem}, kernel.MoveOptions{}); err != nil {
		t.Fatal(err)
	}
	var at []int
	for n := range steps {
		at = append(at, n+1)
	}
	for _, n := range suite.Some(at, 6) {
		step, mem := 0, storetest.New()
		mem.SetFault(func(storetest.Op, string) error {
			if step++; step >= n {
				return storetest.ErrCrash
			}
			return nil
		})
		if _, err := kernel.MoveState(context.Background(), files, inStore{mem}, kernel.MoveOptions{RemoveSource: true}); err == nil {
			t.Fatalf("step %d: it did not die", n)
		}
		if now := all(t, files.State()); fmt.Sprint(now) != fmt.Sprint(before) {
			t.Fatalf("step %d: the source changed", n)
		}
		next := inStore{mem.Restart(nil)}
		if _, err := next.Stat("moving.json"); err == nil {
			if _, err := kernel.Open(context.Background(), dir, &kernel.Options{Store: next}); err == nil || !strings.Contains(err.Error(), "cut short") {
				t.Fatalf("step %d: a half was opened: %v", n, err)
			}
		}
		if _, err := kernel.MoveState(context.Background(), files, next, kernel.MoveOptions{}); err != nil {
			t.Fatalf("step %d: again: %v", n, err)
		}
		if got := all(t, next); fmt.Sprint(got) != fmt.Sprint(before) {
			t.Fatalf("step %d: the target differs", n)
		}
	}

	if _, err := kernel.MoveState(context.Background(), files, inStore{mem}, kernel.MoveOptions{RemoveSource: true}); err != nil {
		t.Fatal(err)
	}
	if store.Exists(files.State(), "sessions") {
		t.Error("the source still has sessions")
	}
	k2, err := kernel.Open(context.Background(), dir, &kernel.Options{Store: inStore{mem}})
	if err != nil {
		t.Fatal(err)
	}
	defer k2.Close()
	if found, err := k2.Check(context.Background()); err != nil || len(found) > 0 {
		t.Errorf("%+v, %v", found, err)
	}
	c.user()
	checkPlan(t, mustPlan(t, k2, request(c)), c.msgs)
}
