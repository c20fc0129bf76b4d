package folder

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/internal/store/storetest"
)

// session makes the folder of a key as a kernel does: the owner first, then the journal.
func session(t *testing.T, state store.Store, key string) (name string) {
	t.Helper()
	name = Of(key)
	var o Owner
	if _, err := o.Identify(state, name, key, key); err != nil {
		t.Fatal(err)
	}
	dir := In(state, name)
	if err := o.Sign(dir, key); err != nil {
		t.Fatal(err)
	}
	if _, err := dir.Put(store.Synced, store.Doc{Name: JournalFile, Data: []byte("{}\n")}); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestKeysAndFolders(t *testing.T) {
	state := storetest.New()
	keys := []string{"main", "Main", "agent:bob:chat/7", "日本語", "a b", "..", "con", "\xff\xfe", "x" + string(make([]byte, 300))}
	seen := map[string]string{}
	for _, key := range keys {
		name := session(t, state, key)
		if other, twice := seen[name]; twice {
			t.Errorf("%q and %q share the folder %s", key, other, name)
		}
		seen[name] = key
		if got, err := KeyIn(state, name); err != nil || got != key {
			t.Errorf("%s is of %q, %v; want %q", name, got, err, key)
		}
		var o Owner
		if _, err := o.Identify(state, name, "", "somebody else"); err == nil {
			t.Errorf("%s is given to another key than %q", name, key)
		}
		if found, err := Find(state, key); err != nil || found != name {
			t.Errorf("%q is found in %s, %v; want %s", key, found, err, name)
		}
	}
	if all, err := Keys(state); err != nil || len(all) != len(keys) {
		t.Errorf("%d keys, %v; want %d", len(all), err, len(keys))
	}
	if near, err := Near(state, "mian"); err != nil || near[0] != "main" && near[0] != "Main" {
		t.Errorf("the nearest to mian are %q, %v", near[:2], err)
	}
}

// A session that ends is there whole, or it ended and has a tombstone, at whatever step
// the process dies, with the power or without; what is left of it goes later.
func TestEndSurvivesDeath(t *testing.T) {
	ctx, rng := context.Background(), rand.New(rand.NewPCG(1, 2))
	old := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	end := func(state store.Store, name string) (bool, error) {
		far := time.Now().Add(time.Hour) // whatever was written is older
		return End(ctx, state, name, Tombstone{Key: "main", Last: old, Reason: "retention"}, far, far.Add(time.Hour))
	}
	steps, whole := 0, storetest.New()
	name := session(t, whole, "main")
	whole.SetFault(func(storetest.Op, string) error { steps++; return nil })
	if done, err := end(whole, name); err != nil || !done || steps < 4 {
		t.Fatalf("%d steps: %v, %v", steps, done, err)
	}
	for at := 1; at <= steps; at++ {
		for _, power := range []func(int) int{nil, rng.IntN} {
			what := fmt.Sprintf("death at step %d, power cut: %v", at, power != nil)
			state := storetest.New()
			name, other := session(t, state, "main"), session(t, state, "other")
			step := 0
			state.SetFault(func(storetest.Op, string) error {
				if step++; step == at {
					return storetest.ErrCrash
				}
				return nil
			})
			done, _ := end(state, name)
			next := state.Restart(power)
			folders, err := All(next)
			if err != nil || !slices.Contains(folders, other) {
				t.Fatalf("%s: the other session: %q, %v", what, folders, err)
			}
			there := slices.Contains(folders, name)
			stone, _, err := EndOf(next, "main")
			if err != nil || !there && (stone == nil || stone.Reason != "retention" || !stone.Last.Equal(old)) {
				t.Fatalf("%s: it is gone, and the tombstone is %+v, %v", what, stone, err)
			}
			if done && there {
				t.Errorf("%s: it is acknowledged and there", what)
			}
			if there {
				key, err := KeyIn(next, name)
				if size, serr := size(In(next, name), JournalFile); err != nil || serr != nil || key != "main" || size == 0 {
					t.Errorf("%s: what is there is of %q and %d bytes, %v, %v", what, key, size, err, serr)
				}
				if done, err := end(next, name); err != nil || !done {
					t.Errorf("%s: it does not end again: %v, %v", what, done, err)
				}
			}
			if err := FinishEnded(ctx, next); err != nil {
				t.Errorf("%s: %v", what, err)
			}
			if left, err := next.List(endedFolder); err == nil && len(left) > 0 {
				t.Errorf("%s: %d folders are left", what, len(left))
			}
		}
	}
}

// A trace that can't be read now is told as that, wherever the session is kept.
func TestTraceUnread(t *testing.T) {
	state, local := storetest.New(), storetest.New()
	if _, err := local.Put(store.Unsynced, store.Doc{Name: "s/trace.jsonl", Data: []byte("no trace\n")}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []error{syscall.EACCES, store.ErrNoTrace} {
		local.SetUnread(func(string) error {
			if want == syscall.EACCES {
				return want
			}
			return nil
		})
		got := Damaged(state.In("s"), local.In("s"), Project)
		if len(got) == 0 || got[0].Name != "trace.jsonl" || got[0].In.Where("") != "memory:s" || !errors.Is(got[0].Err, want) || store.OutOfReach(got[0].Err) != (want == syscall.EACCES) {
			t.Errorf("%v: %+v", want, got)
		}
	}
}
