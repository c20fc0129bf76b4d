//go:build unix

package kernel_test

import (
	"context"
	"errors"
	"os"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
)

// withDescriptors runs f while the system gives this process n descriptors more than it has.
func withDescriptors(t *testing.T, n int, f func()) {
	t.Helper()
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	// Numbers below the highest that is in use are taken, so that none is free but the last n.
	highest := 0
	var taken []*os.File
	for i := 0; i < 64; i++ {
		null, err := os.Open(os.DevNull)
		if err != nil {
			t.Fatal(err)
		}
		highest = max(highest, int(null.Fd()))
		taken = append(taken, null)
	}
	for i := range n {
		if err := taken[len(taken)-1-i].Close(); err != nil {
			t.Fatal(err)
		}
	}
	few := was
	few.Cur = uint64(highest) + 1
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few); err != nil {
		t.Fatal(err)
	}
	defer func() {
		err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was)
		for _, null := range taken[:len(taken)-n] {
			err = errors.Join(err, null.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
	}()
	f()
}

// A process that runs out of descriptors, sooner or later in a call, neither begins anything
// anew nor takes it for damaged: the call fails and says so, and goes well when it is made
// again.
func TestOutOfDescriptors(t *testing.T) {
	ctx, dir, began := context.Background(), t.TempDir(), t.TempDir()
	c := session(41, 1, 2, 9000)
	c.msgs[0].Parts = append(c.msgs[0].Parts, words("We decided to keep the port at 8099. Never touch the ledger."))
	turn := func(k *kernel.Kernel, msgs []memkernel.Message, call func(func() error)) {
		now := msgs[len(msgs)-1].Time
		call(func() error {
			_, err := k.ObserveTurn(ctx, api.Turn{SessionKey: "s", Model: model, Messages: msgs, Now: now})
			return err
		})
		call(func() error {
			_, err := k.Checkpoint(ctx, api.Boundary{SessionKey: "s", Now: now})
			return err
		})
	}
	// in runs f on a kernel whose state begins as it is in a folder.
	in := func(state string, f func(k *kernel.Kernel)) map[string]string {
		k, err := kernel.Open(ctx, dir, &kernel.Options{StateDir: state, Memory: kernel.MemoryOptions{Off: true}})
		if err != nil {
			t.Fatal(err)
		}
		f(k)
		found, err := k.Check(ctx)
		if err = errors.Join(err, k.Close()); err != nil || len(found) > 0 {
			t.Errorf("check: %v, %v", found, err)
		}
		return everything(t, store.Files(state))
	}
	must := func(call func() error) {
		if err := call(); err != nil {
			t.Error(err)
		}
	}
	in(began, func(k *kernel.Kernel) {
		c.say()
		turn(k, c.msgs, must)
	})
	c.user()
	c.loop(1, 6000)
	c.say()
	goesOn := func(call func(func() error)) map[string]string {
		state := t.TempDir()
		if err := os.CopyFS(state, os.DirFS(began)); err != nil {
			t.Fatal(err)
		}
		return in(state, func(k *kernel.Kernel) { turn(k, c.msgs, call) })
	}
	want := goesOn(must)
	if want["sessions/s/checkpoints/cp_002.yaml"] == "" || want["sessions/s/state/thread.json"] == "" {
		t.Fatal("the session has no working state")
	}
	enough := false
	for n := 0; !enough; n++ {
		if n > 40 {
			t.Fatal("a call takes more descriptors than that")
		}
		enough = true
		got := goesOn(func(call func() error) {
			var err error
			withDescriptors(t, n, func() { err = call() })
			if err == nil {
				return
			}
			if enough = false; !errors.Is(err, syscall.EMFILE) || !store.Again(err) {
				t.Errorf("with %d descriptors: %v", n, err)
			}
			must(call)
		})
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("with %d descriptors the session comes to something else:\n%.3000s", n, d)
		}
		if n == 0 && enough {
			t.Fatal("nothing needs a descriptor")
		}
	}
}
