package checkpoint_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/internal/store"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/internal/atomicfile"
)

// story is a session with something for every file, in deliveries.
func story() [][]memkernel.Message {
	msgs := append(japan(),
		answers("3", "none for 90 days", false),
		bash("4", "go test ./a"), answers("4", "Exit code 1\n--- FAIL: TestA", true),
		edit("5", "/r/a.go"), answers("5", "ok", false),
		bash("6", "go test ./a"), answers("6", "ok", false),
		says(long+" Shall I book?"), user("book it"), says("Booked. Anything else?"))
	msgs = talk(msgs...)
	var out [][]memkernel.Message
	for len(msgs) > 0 {
		n := min(7, len(msgs))
		out, msgs = append(out, msgs[:n]), msgs[n:]
	}
	return out
}

// tell runs the story on a store as a host does: save after each delivery, a
// checkpoint after every second. It says what was acknowledged.
func tell(s checkpoint.Store, ack func(...string)) error {
	r, err := s.Resume()
	if err != nil {
		return err
	}
	if len(r.Damaged) > 0 {
		return errors.New(r.Damaged[0].String())
	}
	st := r.State
	for i, msgs := range story() {
		st = checkpoint.Update(st, msgs)
		if err := s.SaveState(st); err != nil {
			return err
		}
		ack("SAVED", msgs[len(msgs)-1].Key)
		if i%2 == 1 {
			w, err := s.Checkpoint(st, input(checkpoint.TriggerCompaction, 1000))
			if err != nil {
				return err
			}
			ack("CHECKPOINT", string(w.Checkpoint.Meta.CheckpointID))
			st = w.State
		}
	}
	_, err = s.Checkpoint(st, input(checkpoint.TriggerSessionEnd, 1000))
	return err
}

// ending is what the last checkpoint of a told story says, but for its number.
func ending(t *testing.T, s checkpoint.Store) *checkpoint.Checkpoint {
	t.Helper()
	c, bad, err := s.Latest()
	must(t, err)
	if c == nil || len(bad) > 0 {
		t.Fatalf("no ending: %v", bad)
	}
	return c
}

var sameContent = cmp.Options{cmpopts.IgnoreFields(checkpoint.Checkpoint{}, "Meta"), cmpopts.EquateEmpty()}

// after looks at what a break left, tells the story again over it, and compares
// the ending with that of a story without a break.
func after(t *testing.T, s checkpoint.Store, what string, acked string, want *checkpoint.Checkpoint) {
	t.Helper()
	r, err := s.Resume()
	if err != nil || len(r.Damaged) > 0 {
		t.Fatalf("%s: %v %v", what, err, r.Damaged)
	}
	for sc := bufio.NewScanner(strings.NewReader(acked)); sc.Scan(); {
		kind, id, _ := strings.Cut(sc.Text(), " ")
		if kind == "CHECKPOINT" && (r.Latest == nil || number(string(r.Latest.Meta.CheckpointID)) < number(id)) {
			t.Fatalf("%s: checkpoint %s was acknowledged and is not there", what, id)
		}
		if kind == "SAVED" && r.State.Thread.LastKey < id {
			t.Fatalf("%s: message %s was acknowledged, and the state ends at %q", what, id, r.State.Thread.LastKey)
		}
	}
	must(t, tell(s, func(...string) {}))
	if d := cmp.Diff(want, ending(t, s), sameContent); d != "" {
		t.Fatalf("%s, and told again (- without a break, + with): %s", what, d)
	}
	if ids := list(t, s); strings.Count(ids, "cp_") > checkpoint.Kept {
		t.Fatalf("%s: kept %s", what, ids)
	}
}

func unbroken(t *testing.T) *checkpoint.Checkpoint {
	t.Helper()
	s := checkpoint.NewStore(store.Files(t.TempDir()))
	must(t, tell(s, func(...string) {}))
	c := ending(t, s)
	if len(c.Decisions) != 2 || len(c.Learnings) != 1 || len(c.OpenItems) != 1 || len(c.Resources.FilesModified) != 2 {
		t.Fatalf("the story has an empty section: %+v", c)
	}
	return c
}

// trace is what the story does to the disk, operation by operation.
func trace(t *testing.T) []string {
	t.Helper()
	var ops []string
	defer atomicfile.SetHook(func(op, path string) error { ops = append(ops, op); return nil })()
	must(t, tell(checkpoint.NewStore(store.Files(t.TempDir())), func(...string) {}))
	if len(ops) < 60 {
		t.Fatalf("only %d write operations were seen", len(ops))
	}
	return ops
}

// failAt runs f with its operation n failing, at a write with half of it done.
func failAt(n int, half bool, f func() error) error {
	ops := 0
	defer atomicfile.SetHook(func(op, path string) error {
		if ops++; ops != n {
			return nil
		}
		if half && op == atomicfile.OpWrite {
			return &atomicfile.PartialWrite{N: 40, Err: errFull}
		}
		return errFull
	})()
	return f()
}

var errFull = errors.New("no space left")

// TestFailAnywhere fails each write operation of the story in its turn, once by
// refusing it, and the writes once more by a disk that is full halfway. What fails
// says so, and leaves nothing half-written.
func TestFailAnywhere(t *testing.T) {
	want := unbroken(t)
	for i, op := range trace(t) {
		for _, half := range []bool{false, true} {
			if half && op != atomicfile.OpWrite {
				continue
			}
			what := fmt.Sprintf("operation %d (%s) failed", i+1, op)
			s := checkpoint.NewStore(store.Files(t.TempDir()))
			var acked bytes.Buffer
			err := failAt(i+1, half, func() error {
				return tell(s, func(words ...string) { acked.WriteString(strings.Join(words, " ") + "\n") })
			})
			if !errors.Is(err, errFull) {
				t.Fatalf("%s and nobody said so: %v", what, err)
			}
			if temps, _ := filepath.Glob(filepath.Join(dirOf(s), "*", ".mk~*")); len(temps) > 0 {
				t.Fatalf("%s: left %v", what, temps)
			}
			after(t, s, what, acked.String(), want)
		}
	}
}

// TestRetry: after a failed checkpoint the same call may simply be made again,
// where five stand already too.
func TestRetry(t *testing.T) {
	five := checkpoint.NewStore(store.Files(t.TempDir()))
	st := checkpoint.Update(checkpoint.State{}, japan())
	for range checkpoint.Kept {
		st = write(t, five, st, checkpoint.TriggerCompaction, 1000).State
	}
	st = checkpoint.Update(st, talk(append(japan(), user("and now?"))...))
	for n := 1; ; n++ {
		dir := t.TempDir()
		must(t, os.CopyFS(dir, os.DirFS(dirOf(five))))
		s := checkpoint.NewStore(store.Files(dir))
		err := failAt(n, false, func() error {
			_, err := s.Checkpoint(st, input(checkpoint.TriggerCompaction, 1000))
			return err
		})
		if err == nil {
			if n < 12 {
				t.Fatalf("only %d write operations were seen", n)
			}
			return
		}
		w := write(t, s, st, checkpoint.TriggerCompaction, 1000)
		if decisions(w.Checkpoint) != decisions(build(japan())) || w.Checkpoint.Working.Topic != "and now?" || strings.Count(list(t, s), "cp_") != checkpoint.Kept {
			t.Fatalf("operation %d, %v: %+v, kept %s", n, err, w.Checkpoint, list(t, s))
		}
	}
}
