package moving_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/internal/store/storetest"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/service/internal/moving"
	"github.com/memkernel/memkernel/service/internal/pgtest"
	"github.com/memkernel/memkernel/service/internal/rows"
	"github.com/memkernel/memkernel/transcript"
)

// server is what the tests of this package share.
var server pgtest.Shared

func TestMain(m *testing.M) {
	code := m.Run()
	server.Close()
	os.Exit(code)
}

var schemas atomic.Int64

// fresh opens an empty store of rows, and returns how it is opened again.
func fresh(t *testing.T) (*rows.Store, func() *rows.Store) {
	t.Helper()
	o := rows.Options{DSN: server.DSN(t), Schema: fmt.Sprintf("mkm_%d_%d", os.Getpid(), schemas.Add(1)), Root: "shop"}
	again := func() *rows.Store {
		s, err := rows.Open(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
	return again(), again
}

// harbour copies a state with every kind of file, and its workspace.
func harbour(t *testing.T) (dir string, state store.Disk) {
	t.Helper()
	dir = t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../../testdata/state/2026-11-29")); err != nil {
		t.Fatal(err)
	}
	return dir, store.Files(filepath.Join(dir, "state"))
}

func options() moving.Options {
	return moving.Options{Names: append(kernel.Stored.Names(), "tokens"), Wait: time.Minute, Progress: func(string, int, int) {}}
}

// here are names of a state directory that no move takes.
var here = []string{".gitignore", "hook", "import", "left_out.json", "lock", "nightly.lock", "sessions.lock", "blobs.lock", "sync.json", "tmp", "transcripts", "index.sqlite"}

// contents is what a store has: documents, and the records of logs.
func contents(t *testing.T, s store.Store) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := store.Walk(s, func(name string, _ store.Entry) error {
		first, _, _ := strings.Cut(name, "/")
		for _, n := range here {
			if n == first || n == path.Base(name) || path.Dir(name) == n {
				return nil
			}
		}
		switch base := path.Base(name); base {
		case "journal.head", "ended.head":
			return nil
		case "journal.jsonl", "projection.jsonl", "usage.jsonl", "ended.jsonl":
			l, err := s.OpenLog(name, store.LogOptions{ReadOnly: true, Derived: base == "projection.jsonl" || base == "usage.jsonl"})
			if err != nil {
				return err
			}
			return l.Read(func(r store.Record) error {
				b, err := json.Marshal(r)
				out[name] += string(b) + "\n"
				return err
			})
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

func same(t *testing.T, what string, got, want map[string]string) {
	t.Helper()
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("%s: %s is %.300q, want %.300q", what, name, got[name], want[name])
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s: %s is there", what, name)
		}
	}
}

type kept struct{ store.Store }

func (k kept) State() store.Store { return k.Store }

// plans returns what sessions of the harbour send next.
func plans(t *testing.T, dir string, s store.Store) (out []string) {
	t.Helper()
	workspace := t.TempDir()
	if err := os.CopyFS(workspace, os.DirFS(filepath.Join(dir, "workspace"))); err != nil {
		t.Fatal(err)
	}
	k, err := kernel.Open(context.Background(), workspace, &kernel.Options{Store: kept{s}, StateDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	if found, err := k.Check(context.Background()); err != nil || len(found) > 0 {
		t.Errorf("%s: %+v, %v", s.Where(""), found, err)
	}
	for _, key := range []string{"morning", "crane", "lamp"} {
		c, err := transcript.LoadFile(filepath.Join(dir, "conversations", key+".jsonl"), nil)
		if err != nil {
			t.Fatal(err)
		}
		msgs := c.View(transcript.Full)
		msgs = append(msgs, memkernel.Message{Key: "next", Role: memkernel.RoleUser, Time: msgs[len(msgs)-1].Time.Add(time.Minute), Parts: []memkernel.Part{{Kind: memkernel.PartText, Text: "What is next at berth 56?", Typed: true}}})
		p, err := k.PlanContext(context.Background(), api.PlanRequest{SessionKey: key, Model: "claude-opus-4-5-20251101", ContextWindow: 20_000, Messages: msgs, Now: msgs[len(msgs)-1].Time.Add(time.Minute), Private: key == "morning", Resolver: "memory_get"})
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(p.Messages)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(b))
	}
	return out
}

// A state goes from files into rows and back with every document and record, and all three plan
// the same prompts.
func TestThereAndBack(t *testing.T) {
	dir, from := harbour(t)
	db, again := fresh(t)
	back := store.Files(t.TempDir())
	want := contents(t, from)
	for name := range want {
		if first, _, _ := strings.Cut(name, "/"); !strings.Contains(" "+strings.Join(kernel.Stored.Names(), " ")+" ", " "+first+" ") {
			t.Errorf("%s is kept, and nobody said whether it moves", name)
		}
	}
	r, err := moving.Move(t.Context(), from, db, options())
	if err != nil || r.Documents < len(want) || r.Copied != r.Documents {
		t.Fatalf("%+v, %v", r, err)
	}
	same(t, "rows", contents(t, again()), want)
	o := options()
	if r, err = moving.Move(t.Context(), from, again(), o); err != nil || r.Copied > 1 { // a log without records
		t.Errorf("again: %+v, %v", r, err)
	}
	if _, err = moving.Move(t.Context(), again(), back, o); err != nil {
		t.Fatal(err)
	}
	same(t, "back", contents(t, back), want)
	sent := plans(t, dir, from)
	for what, s := range map[string]store.Store{"rows": again(), "back": back} {
		if got := plans(t, dir, s); fmt.Sprint(got) != fmt.Sprint(sent) {
			t.Errorf("%s: other prompts:\n%.2000s\n--\n%.2000s", what, got, sent)
		}
	}
	o.RemoveSource = true
	empty := again()
	if r, err := moving.Move(t.Context(), empty, storetest.New(), o); err != nil || !r.Removed {
		t.Fatalf("%+v, %v", r, err)
	}
	if got := contents(t, again()); len(got) > 0 {
		t.Errorf("the source still has %v", slices.Sorted(maps.Keys(got)))
	}
	if _, err := moving.Move(t.Context(), from, from, o); err == nil || !strings.Contains(err.Error(), "to itself") {
		t.Errorf("to itself: %v", err)
	}
	if _, err := moving.Move(t.Context(), from, storetest.New(), o); err != nil {
		t.Fatal(err)
	}
	for _, name := range o.Names {
		if store.Exists(from, name) {
			t.Errorf("the source still has %s", name)
		}
	}
}

// A move into files that is killed at any step leaves the source as it was, and a target that no
// kernel opens. The next one goes on. Whoever holds a session keeps a move from beginning.
func TestKilled(t *testing.T) {
	dir, from := harbour(t)
	want := contents(t, from)
	release, err := from.Lock("sessions/crane/lock", store.Alone)
	if err != nil {
		t.Fatal(err)
	}
	o := options()
	o.Wait = 1
	if _, err := moving.Move(t.Context(), from, storetest.New(), o); err == nil || !strings.Contains(err.Error(), "is in use") {
		t.Errorf("a session that is held: %v", err)
	}
	release()

	steps, mem := 0, storetest.New()
	mem.SetFault(func(storetest.Op, string) error { steps++; return nil })
	if _, err := moving.Move(t.Context(), from, mem, options()); err != nil {
		t.Fatal(err)
	}
	var at []int
	for n := range steps {
		at = append(at, n+1)
	}
	for _, n := range suite.Some(at, 12) {
		for _, pick := range []func(int) int{nil, func(n int) int { return n / 2 }} { // a kill, a power cut
			step, mem := 0, storetest.New()
			mem.SetFault(func(storetest.Op, string) error {
				if step++; step >= n {
					return storetest.ErrCrash
				}
				return nil
			})
			o := options()
			o.RemoveSource = true
			if _, err := moving.Move(t.Context(), from, mem, o); err == nil {
				t.Fatalf("step %d: it did not die", n)
			}
			same(t, fmt.Sprintf("step %d: the source", n), contents(t, from), want)
			next := mem.Restart(pick)
			if store.Exists(next, "moving.json") {
				halfOpens(t, dir, next)
			}
			if _, err := moving.Move(t.Context(), from, next, options()); err != nil {
				t.Fatalf("step %d: again: %v", n, err)
			}
			same(t, fmt.Sprintf("step %d", n), contents(t, next), want)
		}
	}
}

// halfOpens checks that no kernel opens the target of a move that was cut short.
func halfOpens(t *testing.T, dir string, s store.Store) {
	t.Helper()
	if _, err := kernel.Open(context.Background(), filepath.Join(dir, "workspace"), &kernel.Options{Store: kept{s}, StateDir: t.TempDir()}); err == nil || !strings.Contains(err.Error(), "cut short") {
		t.Fatalf("a half was opened: %v", err)
	}
}

// A move into rows is cut short at any document, and goes on.
func TestCutShort(t *testing.T) {
	dir, from := harbour(t)
	want := contents(t, from)
	var at []int
	for n := range 2 * len(want) {
		at = append(at, n)
	}
	for _, n := range suite.Some(at, 8) {
		db, again := fresh(t)
		ctx, cancel := context.WithCancel(t.Context())
		calls := 0
		o := options()
		o.Progress = func(string, int, int) {
			if calls++; calls > n {
				cancel()
			}
		}
		if _, err := moving.Move(ctx, from, db, o); !errors.Is(err, context.Canceled) {
			t.Fatalf("document %d: %v", n, err)
		}
		halfOpens(t, dir, again())
		other := storetest.New()
		if _, err := moving.Move(t.Context(), other, again(), options()); err == nil || !strings.Contains(err.Error(), "move that first") {
			t.Errorf("document %d: from another source: %v", n, err)
		}
		if _, err := moving.Move(t.Context(), from, again(), options()); err != nil {
			t.Fatalf("document %d: %v", n, err)
		}
		same(t, fmt.Sprintf("document %d", n), contents(t, again()), want)
	}
}

// log appends records to a log.
func log(t *testing.T, s store.Store, name string, ids ...string) {
	t.Helper()
	l, err := s.OpenLog(name, store.LogOptions{})
	if err == nil {
		err = l.Read(func(store.Record) error { return nil })
	}
	for _, id := range ids {
		if err == nil {
			_, err = l.Append(true, store.Record{Op: "note", ID: id})
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// What the source forgot since a move was cut short is not in the target. A target that has other
// records is refused.
func TestSourceChanges(t *testing.T) {
	from := storetest.New()
	log(t, from, "sessions/a/journal.jsonl", "one", "two")
	log(t, from, "sessions/b/journal.jsonl", "one")
	if _, err := from.Put(store.Synced, store.Doc{Name: "sessions/a/state/thread.json", Data: []byte("old")}); err != nil {
		t.Fatal(err)
	}
	db, again := fresh(t)
	ctx, cancel := context.WithCancel(t.Context())
	o := options()
	o.Progress = func(what string, _, _ int) {
		if what == "comparing" {
			cancel()
		}
	}
	if _, err := moving.Move(ctx, from, db, o); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if _, err := from.Remove(store.Synced, "sessions/a/journal.jsonl", "sessions/a/journal.head", "sessions/a/state"); err != nil {
		t.Fatal(err)
	}
	log(t, from, "sessions/a/journal.jsonl", "two", "three")
	log(t, from, "sessions/b/journal.jsonl", "two")
	if r, err := moving.Move(t.Context(), from, again(), options()); err != nil || r.Copied != 2 {
		t.Fatalf("%+v, %v", r, err)
	}
	same(t, "the target", contents(t, again()), contents(t, from))
	if _, err := again().Stat("sessions/a/state/thread.json"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a removed document: %v", err)
	}

	log(t, from, "sessions/b/journal.jsonl", "three") // a target without a mark goes on, too
	if r, err := moving.Move(t.Context(), from, again(), options()); err != nil || r.Copied != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	other := store.Files(t.TempDir())
	log(t, other, "sessions/b/journal.jsonl", "one", "other")
	before := contents(t, other)
	if _, err := moving.Move(t.Context(), from, other, options()); err == nil || !strings.Contains(err.Error(), "has state of its own, as sessions/b/journal.jsonl") {
		t.Errorf("a target with records of its own: %v", err)
	}
	same(t, "the refused target", contents(t, other), before)
}

// liar is a store that does not keep what was written to one name.
type liar struct {
	store.Disk
	name string
}

func (l liar) Get(name string) ([]byte, error) {
	data, err := l.Disk.Get(name)
	if name == l.name && len(data) > 0 {
		data[len(data)/2] ^= 1
	}
	return data, err
}

func (l liar) OpenLog(name string, o store.LogOptions) (store.Log, error) {
	if name == l.name && o.ReadOnly {
		name = "elsewhere.jsonl"
	}
	return l.Disk.OpenLog(name, o)
}

// A target that does not have what was copied is found, and the source stays. So is a source that
// can't be read.
func TestCompared(t *testing.T) {
	dir, from := harbour(t)
	want := contents(t, from)
	o := options()
	o.RemoveSource = true
	for _, name := range []string{"calibration.json", "sessions/crane/journal.jsonl", "ended.jsonl"} {
		to := liar{storetest.New(), name}
		if _, err := moving.Move(t.Context(), from, to, o); err == nil || !strings.Contains(err.Error(), name+" is not what") {
			t.Errorf("%s: %v", name, err)
		}
		halfOpens(t, dir, to.Disk)
	}
	same(t, "the source", contents(t, from), want)

	at := filepath.Join(dir, "state", "sessions/crane/journal.jsonl")
	data, err := os.ReadFile(at)
	if err == nil {
		data[len(data)/2] ^= 1
		err = os.WriteFile(at, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := moving.Move(t.Context(), from, storetest.New(), o); err == nil || !strings.Contains(err.Error(), "memkernel salvage") {
		t.Errorf("a damaged journal: %v", err)
	}
}
