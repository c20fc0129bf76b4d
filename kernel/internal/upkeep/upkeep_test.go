package upkeep_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/internal/upkeep"
	"github.com/memkernel/memkernel/markdownstore"
)

var night = time.Date(2026, 3, 10, 3, 0, 0, 0, time.UTC)

// ledger is a project's journal in memory, which fails at its nth append from now on.
type ledger struct {
	entries []upkeep.Entry
	fails   int
}

var errFull = errors.New("the disk is full")

func (l *ledger) Open(context.Context, bool) (upkeep.Journal, func(), error) {
	return l, func() {}, nil
}
func (l *ledger) Entries() []upkeep.Entry { return l.entries }
func (l *ledger) Append(e upkeep.Entry, _ time.Time) error {
	if l.fails--; l.fails == 0 {
		return errFull
	}
	l.entries = append(l.entries, e)
	return nil
}
func (l *ledger) Unfinished() error { return nil }
func (l *ledger) Stands() error     { return nil }
func (l *ledger) Forget()           {}

// keeper keeps a workspace with a day's log in it.
func keeper(t *testing.T) (k *upkeep.Keeper, l *ledger, dir string) {
	t.Helper()
	dir, l = t.TempDir(), &ledger{}
	put(t, dir, "MEMORY.md", "# Memory\n\n- The boats are in the long shed.\n")
	put(t, dir, "memory/2026-03-10.md", "# 2026-03-10\n\n- 10:00 [decision] We decided to keep the nets in the short shed because the long one leaks.\n- 11:00 [lesson] On 2026-03-10 the crane only starts after the valve was opened twice.\n")
	files, err := markdownstore.Open(dir, &markdownstore.Options{Private: true, Timezone: time.UTC})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { files.Close() })
	state := store.Files(filepath.Join(dir, ".memkernel"))
	return &upkeep.Keeper{Files: files, Backups: store.BlobsIn(state.In(upkeep.BackupsFolder)), State: state, Project: l, Changed: func() {}, Now: func() time.Time { return night }}, l, dir
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func memoryOf(t *testing.T, dir string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "MEMORY.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func curate(k *upkeep.Keeper) (*api.Curated, error) {
	return k.Curate(context.Background(), api.CurateRequest{Apply: true, Now: night})
}

// TestPromisesAreRedone: a promise that could not be written leaves the file alone; one
// whose end could not be is done again, to the same bytes, until the journal says so.
func TestPromisesAreRedone(t *testing.T) {
	k, l, dir := keeper(t)
	before := memoryOf(t, dir)
	l.fails = 1
	if _, err := curate(k); !errors.Is(err, errFull) || memoryOf(t, dir) != before {
		t.Fatalf("%v, and the file is\n%s", err, memoryOf(t, dir))
	}
	l.fails = 2
	if _, err := curate(k); !errors.Is(err, errFull) {
		t.Fatalf("the end was not written, and the error is %v", err)
	}
	after := memoryOf(t, dir)
	if !strings.Contains(after, "nets in the short shed") || !strings.HasPrefix(after, before) {
		t.Fatalf("the file is\n%s", after)
	}
	for i := range 2 {
		if err := k.Redo(context.Background(), l); err != nil || len(l.entries) != 2 || memoryOf(t, dir) != after {
			t.Fatalf("time %d: %v, %d entries, and the file is\n%s", i, err, len(l.entries), memoryOf(t, dir))
		}
	}
	if c, err := curate(k); err != nil || c.Run != "" || memoryOf(t, dir) != after {
		t.Errorf("again: run %q, %v", c.Run, err)
	}
}

// TestLosses: what is neither backed up nor elsewhere may not leave MEMORY.md, and Guard
// tells what left since it was last seen.
func TestLosses(t *testing.T) {
	k, _, dir := keeper(t)
	before := memoryOf(t, dir)
	var loss *api.LossError
	if err := k.RefuseLoss("MEMORY.md", before, "# Memory\n"); !errors.As(err, &loss) || len(loss.Lost) != 1 {
		t.Errorf("%v", err)
	}
	if err := k.Seen(context.Background(), night); err != nil {
		t.Fatal(err)
	}
	if err := k.RefuseLoss("MEMORY.md", before, "# Memory\n"); err != nil {
		t.Errorf("it is backed up: %v", err)
	}
	put(t, dir, "MEMORY.md", "# Memory\n")
	if loss, err := k.Guard(context.Background(), api.GuardRequest{}); err != nil || !loss.Refused {
		t.Errorf("%+v, %v", loss, err)
	}
}

// TestJobs: a job is skipped behind one that failed, and the record says how each went
// that was run.
func TestJobs(t *testing.T) {
	k, _, _ := keeper(t)
	ran := 0
	ok := func() error { ran++; return nil }
	bad := func() error { ran++; return errors.New("two\nlines") }
	came, err := k.RunJobs([]string{"a", "b", "c"}, ok, bad, ok)
	if err != nil || ran != 2 || len(came) != 3 || came[0].Outcome != "ok" || came[1].Outcome != "failed" || came[2].Error != "b failed" {
		t.Errorf("%+v, %v", came, err)
	}
	record, err := k.State.Get(api.JobsFile)
	if err != nil || strings.Count(string(record), "\n") != 2 || !strings.Contains(string(record), `"two lines"`) {
		t.Errorf("the record is %q, %v", record, err)
	}
}

// TestStructureIsGuarded: where what is written would be read as part of something that
// stands there, nothing is written, and the error names the line.
func TestStructureIsGuarded(t *testing.T) {
	for _, open := range []string{"```\nnever closed\n", "<!-- never closed\n", "<script>\nnever closed\n"} {
		k, l, dir := keeper(t)
		before := "# Memory\n\n- The boats are in the long shed.\n\n" + open
		put(t, dir, "MEMORY.md", before)
		if _, err := curate(k); err == nil || !strings.Contains(err.Error(), "MEMORY.md would not be read as it is") || !strings.Contains(err.Error(), "line ") {
			t.Errorf("%q: %v", open, err)
		}
		if got := memoryOf(t, dir); got != before || len(l.entries) != 0 {
			t.Errorf("%q: %d entries were promised, and the file is\n%s", open, len(l.entries), got)
		}
	}
}
