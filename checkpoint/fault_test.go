package checkpoint_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/internal/store/storetest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/checkpoint"
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

// runStory runs the story on a store as a host does: save after each delivery, a
// checkpoint after every second. It returns what was acknowledged.
func runStory(s checkpoint.Store, ack func(...string)) error {
	r, err := s.Resume()
	if err != nil {
		return err
	}
	if len(r.Damaged) > 0 {
		return errors.New(r.Damaged[0].String())
	}
	st := r.State
	for i, msgs := range story() {
		st = captured(st, msgs)
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

// ending returns the last checkpoint of a story, but for its number.
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

// after looks at what a break left, runs the story again over it, and compares
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
	must(t, runStory(s, func(...string) {}))
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
	must(t, runStory(s, func(...string) {}))
	c := ending(t, s)
	if len(c.Decisions) != 2 || len(c.Learnings) != 1 || len(c.OpenItems) != 1 || len(c.Resources.FilesModified) != 2 {
		t.Fatalf("the story has an empty section: %+v", c)
	}
	return c
}

// steps counts what the story does to its store, step by step.
func steps(t *testing.T) int {
	t.Helper()
	n, mem := 0, storetest.New()
	mem.SetFault(func(storetest.Op, string) error { n++; return nil })
	must(t, runStory(checkpoint.NewStore(mem), func(...string) {}))
	if n < 48 {
		t.Fatalf("only %d steps were seen", n)
	}
	return n
}

// failAt fails step n of a store once, with an error that may be the end.
func failAt(mem *storetest.Store, n int, err error) {
	step := 0
	mem.SetFault(func(storetest.Op, string) error {
		if step++; step < n || step > n && !errors.Is(err, storetest.ErrCrash) {
			return nil
		}
		return err
	})
}

var errFull = errors.New("no space left")

// TestFailAnywhere refuses each step of the story in its turn. What fails reports it, and
// leaves nothing half-written.
func TestFailAnywhere(t *testing.T) {
	want := unbroken(t)
	for n := range steps(t) {
		what := fmt.Sprintf("step %d failed", n+1)
		mem := storetest.New()
		s := checkpoint.NewStore(mem)
		var acked bytes.Buffer
		failAt(mem, n+1, errFull)
		err := runStory(s, func(words ...string) { acked.WriteString(strings.Join(words, " ") + "\n") })
		if !errors.Is(err, errFull) {
			t.Fatalf("%s and nobody said so: %v", what, err)
		}
		mem.SetFault(nil)
		after(t, s, what, acked.String(), want)
	}
}

// TestPowerCutAnywhere cuts the power at each step of the story. Checkpoints that were
// acknowledged are there; captured state, which is not synced, may be older or damaged,
// and is then made again; the story run once more ends in a checkpoint.
func TestPowerCutAnywhere(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 11))
	for n := range steps(t) {
		mem := storetest.New()
		newest := 0
		failAt(mem, n+1, storetest.ErrCrash)
		err := runStory(checkpoint.NewStore(mem), func(words ...string) {
			if words[0] == "CHECKPOINT" {
				newest = number(words[1])
			}
		})
		if !errors.Is(err, storetest.ErrCrash) {
			t.Fatalf("the power went at step %d and nobody said so: %v", n+1, err)
		}
		s := checkpoint.NewStore(mem.Restart(rng.IntN))
		r, err := s.Resume()
		must(t, err)
		if newest > 0 && (r.Latest == nil || number(string(r.Latest.Meta.CheckpointID)) < newest) {
			t.Fatalf("the power went at step %d: checkpoint %d was acknowledged and is not there", n+1, newest)
		}
		for _, d := range r.Damaged {
			if strings.Contains(d.File, ".yaml") {
				t.Fatalf("the power went at step %d: %s", n+1, d)
			}
		}
		w, err := s.Checkpoint(r.State, input(checkpoint.TriggerSessionEnd, 1000))
		must(t, err)
		if w.Checkpoint == nil || number(string(w.Checkpoint.Meta.CheckpointID)) < newest {
			t.Fatalf("the power went at step %d: it goes on with %+v behind %d", n+1, w.Checkpoint, newest)
		}
	}
}

// TestRetry: after a failed checkpoint the same call may simply be made again,
// where five are already too.
func TestRetry(t *testing.T) {
	mem := storetest.New()
	five := checkpoint.NewStore(mem)
	st := captured(checkpoint.State{}, japan())
	for range checkpoint.Kept {
		st = write(t, five, st, checkpoint.TriggerCompaction, 1000).State
	}
	st = captured(st, talk(append(japan(), user("and now?"))...))
	for n := 1; ; n++ {
		mem := mem.Restart(nil)
		s := checkpoint.NewStore(mem)
		failAt(mem, n, errFull)
		_, err := s.Checkpoint(st, input(checkpoint.TriggerCompaction, 1000))
		mem.SetFault(nil)
		if err == nil {
			if n < 11 {
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
