package kernel_test

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/internal/store/storetest"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/fault"
)

// everything is what a store has, without what says how plans were decided, what was billed and
// how often the journal was synced.
func everything(t fataler, s store.Store) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := store.Walk(s, func(name string, _ store.Entry) error {
		if slices.Contains([]string{"lock", "trace.jsonl", "usage.jsonl", "journal.head"}, path.Base(name)) {
			return nil
		}
		data, err := s.Get(name)
		out[name] = string(data)
		return err
	})
	if err != nil {
		t.Fatalf("read everything: %v", err)
	}
	return out
}

// errNotRecorded is what a plan says that could be made and not written down.
var errNotRecorded = errors.New("the plan is not recorded")

// TestUnreadAtAnyTime refuses each reading of what a session is kept in, one at a time, as a
// system does for a moment: what the session comes to is the same, since the call fails and
// nothing is taken for damaged, or begun anew.
func TestUnreadAtAnyTime(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	began := storetest.New()
	c := session(41, 1, 2, 9000)
	c.msgs[0].Parts = append(c.msgs[0].Parts, words("We decided to keep the port at 8099. Never touch the ledger."))
	turn := func(k *kernel.Kernel, asked, answered []memkernel.Message, call func(func() error)) {
		var p *api.ContextPlan
		call(func() (err error) {
			req := request(c)
			req.Messages, req.Now = asked, asked[len(asked)-1].Time
			if p, err = k.PlanContext(ctx, req); err == nil && hasFault(p, fault.NotRecorded) {
				err = errNotRecorded
			}
			return err
		})
		now := answered[len(answered)-1].Time
		call(func() error {
			_, err := k.ObserveTurn(ctx, api.Turn{SessionKey: "s", Model: model, Messages: answered, PlanID: p.ID, Now: now})
			return err
		})
		call(func() error {
			_, err := k.Checkpoint(ctx, api.Boundary{SessionKey: "s", Now: now})
			return err
		})
	}
	must := func(call func() error) {
		if err := call(); err != nil {
			t.Fatal(err)
		}
	}
	grown := func() (asked, answered []memkernel.Message) {
		asked = slices.Clip(c.msgs)
		c.say()
		answered = slices.Clip(c.msgs)
		c.user()
		c.loop(1, 6000)
		return asked, answered
	}
	k := keptIn(t, dir, began)
	for range 2 {
		asked, answered := grown()
		turn(k, asked, answered, must)
	}
	k.Close()
	asked, answered := grown()

	// goesOn does a turn more in another process.
	goesOn := func(call func(*storetest.Store, func() error)) map[string]string {
		mem := began.Restart(nil)
		k := keptIn(t, dir, mem)
		defer k.Close()
		turn(k, asked, answered, func(f func() error) { call(mem, f) })
		return everything(t, mem)
	}
	reads := 0
	want := goesOn(func(mem *storetest.Store, call func() error) {
		mem.SetUnread(func(string) error { reads++; return nil })
		must(call)
		mem.SetUnread(nil)
	})
	points := 0
	for name := range want {
		if strings.Contains(name, "/checkpoints/cp_") {
			points++
		}
	}
	if reads < 60 || points < 3 {
		t.Fatalf("%d readings, %d checkpoints: the session does not say enough", reads, points)
	}
	all := make([]int, reads)
	for n := range all {
		all[n] = n + 1
	}
	for i, at := range suite.Some(all, 15) {
		why := []error{syscall.EMFILE, syscall.EIO, syscall.EACCES, syscall.ENOMEM, store.ErrOutOfReach}[i%5]
		n, of, over := 0, "", false
		var refused []string // the names that were not read
		got := goesOn(func(mem *storetest.Store, call func() error) {
			mem.SetUnread(func(name string) error {
				if n++; n == at {
					of = name
				}
				// Rights are missing for one name, and descriptors for all.
				if n == at || n > at && !over && (why == syscall.EMFILE || why == syscall.EACCES && name == of) {
					refused = append(refused, name)
					return why
				}
				return nil
			})
			err := call()
			mem.SetUnread(nil)
			over = n >= at
			if err == nil {
				return
			}
			if err != errNotRecorded && (!store.OutOfReach(err) || !slices.ContainsFunc(refused, func(name string) bool { return strings.Contains(err.Error(), name) })) {
				t.Fatalf("reading %d, of %s: %v", at, of, err)
			}
			must(call)
		})
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("without reading %d, of %s (%v), the session comes to something else:\n%s", at, of, why, fmt.Sprintf("%.3000s", d))
		}
	}
}

// Salvage puts nothing aside that it could not read, and says so.
func TestSalvageLeavesTheUnread(t *testing.T) {
	ctx, mem := context.Background(), storetest.New()
	k := keptIn(t, t.TempDir(), mem)
	defer k.Close()
	c := session(41, 1, 2, 9000)
	p := mustPlan(t, k, request(c))
	c.say()
	if _, err := k.ObserveTurn(ctx, api.Turn{SessionKey: "s", Model: model, Messages: c.msgs, PlanID: p.ID, Now: c.now}); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Checkpoint(ctx, api.Boundary{SessionKey: "s", Now: c.now}); err != nil {
		t.Fatal(err)
	}
	before := everything(t, mem)
	for _, name := range []string{"session.json", "journal.jsonl", "journal.head", "projection.jsonl", "state/thread.json", "checkpoints/cp_001.yaml", "checkpoints/_latest.json"} {
		mem.SetUnread(func(at string) error {
			if strings.HasSuffix(at, "/s/"+name) {
				return syscall.EACCES
			}
			return nil
		})
		_, err := k.Salvage(ctx, api.SalvageRequest{SessionKey: "s", Apply: true})
		found, cerr := k.Check(ctx)
		mem.SetUnread(nil)
		if !errors.Is(err, syscall.EACCES) {
			t.Errorf("%s: %v", name, err)
		}
		if cerr != nil || len(found) != 1 || !strings.Contains(found[0].Hint, "nothing is known to be damaged") {
			t.Errorf("%s: check says %+v, %v", name, found, cerr)
		}
	}
	if d := cmp.Diff(before, everything(t, mem)); d != "" {
		t.Error(d)
	}
}
