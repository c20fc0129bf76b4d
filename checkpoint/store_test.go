package checkpoint_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/internal/store/storetest"
	"github.com/memkernel/memkernel/internal/suite"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/internal/atomicfile"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func resume(t testing.TB, s checkpoint.Store, damaged int) checkpoint.Resumed {
	t.Helper()
	r, err := s.Resume()
	must(t, err)
	if len(r.Damaged) != damaged {
		t.Fatalf("%d damaged files, want %d: %v", len(r.Damaged), damaged, r.Damaged)
	}
	return r
}

func write(t testing.TB, s checkpoint.Store, st checkpoint.State, trigger checkpoint.Trigger, tokens int) checkpoint.Written {
	t.Helper()
	w, err := s.Checkpoint(st, input(trigger, tokens))
	must(t, err)
	return w
}

func list(t testing.TB, s checkpoint.Store) string {
	t.Helper()
	ids, err := s.List()
	must(t, err)
	return strings.Join(ids, " ")
}

func TestStateFiles(t *testing.T) {
	dir := t.TempDir()
	s := checkpoint.NewStore(store.Files(dir))
	if r := resume(t, s, 0); r.Latest != nil || r.State.Changed(nil) {
		t.Errorf("a session that begins: %+v", r)
	}
	st := captured(checkpoint.State{}, japan())
	must(t, s.SaveState(st))
	names, _ := filepath.Glob(filepath.Join(dir, "state", "*"))
	for i := range names {
		names[i] = filepath.Base(names[i])
	}
	if d := cmp.Diff([]string{"decisions.json", "resources.json", "thread.json"}, names); d != "" {
		t.Error(d)
	}
	for _, name := range names {
		var v struct{ Version int }
		data, err := os.ReadFile(filepath.Join(dir, "state", name))
		must(t, err)
		if json.Unmarshal(data, &v) != nil || v.Version != 2 {
			t.Errorf("%s has version %d", name, v.Version)
		}
	}
	if got, want := asJSON(t, resume(t, s, 0).State), asJSON(t, st); got != want {
		t.Errorf("read back:\n%s\nwant\n%s", got, want)
	}
	writes := 0
	defer atomicfile.SetHook(func(op, path string) error { writes++; return nil })()
	must(t, s.SaveState(st))
	if writes != 0 {
		t.Errorf("saving what stands took %d operations", writes)
	}
}

func TestDamagedState(t *testing.T) {
	for _, bad := range []string{"", "{", "null", "[]", `{"version":0}`, `{"version":1} x`, `{"version":1,"seen":"%"}`, "\x00\x00"} {
		s := checkpoint.NewStore(store.Files(t.TempDir()))
		must(t, s.SaveState(captured(checkpoint.State{}, japan())))
		path := filepath.Join(dirOf(s), "state", "thread.json")
		must(t, os.WriteFile(path, []byte(bad), 0o600))
		r := resume(t, s, 1)
		if d := r.Damaged[0]; d.File != path || d.Err == nil || !strings.Contains(d.String(), "begun anew") {
			t.Errorf("%q: %s", bad, d)
		}
		if len(r.State.Decisions.Items) != 1 || r.State.Thread.Captured != 0 {
			t.Errorf("%q: the other files are gone too", bad)
		}
		again := captured(r.State, japan())
		if got := decisions(checkpoint.Build(again, nil, input(checkpoint.TriggerManual, 1))); got != decisions(build(japan())) {
			t.Errorf("%q: delivered again: %q", bad, got)
		}
	}
}

func TestNewerStateIsLeftAlone(t *testing.T) {
	s := checkpoint.NewStore(store.Files(t.TempDir()))
	must(t, s.SaveState(captured(checkpoint.State{}, japan())))
	must(t, os.WriteFile(filepath.Join(dirOf(s), "state", "learnings.json"), []byte(`{"version":3}`), 0o600))
	if _, err := s.Resume(); err == nil || !strings.Contains(err.Error(), "learnings.json: version 3, this program knows 2") {
		t.Errorf("%v", err)
	}
}

// dirOf finds the folder of a store by one of its files.
func dirOf(s checkpoint.Store) string {
	_, err := s.Load("cp_999999")
	var p *fs.PathError
	errors.As(err, &p)
	return filepath.Dir(filepath.Dir(p.Path))
}

func TestCheckpointFiles(t *testing.T) {
	s := checkpoint.NewStore(store.Files(t.TempDir()))
	st := captured(checkpoint.State{}, japan())
	w := write(t, s, st, checkpoint.TriggerAuto, 162_431)
	if !w.New || w.Checkpoint.Meta.CheckpointID != "cp_001" || w.State.Changed(w.Checkpoint) {
		t.Errorf("first: %+v", w)
	}
	first, err := os.ReadFile(filepath.Join(dirOf(s), "checkpoints", "cp_001.yaml"))
	must(t, err)
	var p checkpoint.Pointer
	data, err := os.ReadFile(filepath.Join(dirOf(s), "checkpoints", "_latest.json"))
	must(t, err)
	must(t, json.Unmarshal(data, &p))
	if want := (checkpoint.Pointer{Version: 1, CheckpointID: "cp_001", Path: "cp_001.yaml", CreatedAt: "2026-03-09T12:00:00Z"}); p != want {
		t.Errorf("pointer %+v", p)
	}
	if again := write(t, s, w.State, checkpoint.TriggerAuto, 165_000); again.New || again.Checkpoint.Meta.CheckpointID != "cp_001" {
		t.Errorf("under 5 %%: %+v", again.Checkpoint.Meta)
	}
	for n := 2; n <= 8; n++ {
		w = write(t, s, w.State, checkpoint.TriggerCompaction, 162_431)
		if prev := w.Checkpoint.Meta.PreviousCheckpoint; number(string(prev)) != n-1 {
			t.Errorf("%s stands behind %s", w.Checkpoint.Meta.CheckpointID, prev)
		}
		if n == 5 {
			now, err := os.ReadFile(filepath.Join(dirOf(s), "checkpoints", "cp_001.yaml"))
			if must(t, err); string(now) != string(first) {
				t.Error("a checkpoint that stands was changed")
			}
		}
	}
	if got := list(t, s); got != "cp_008 cp_007 cp_006 cp_005 cp_004" {
		t.Errorf("kept: %s", got)
	}
	if decisions(w.Checkpoint) != decisions(build(japan())) {
		t.Errorf("after eight checkpoints: %q", decisions(w.Checkpoint))
	}
	if _, err := s.Load("cp_001"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a removed one: %v", err)
	}
	if _, err := s.Load("../x"); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no id: %v", err)
	}
}

// TestStateBehind: a state that does not know of the newest checkpoint gives its
// messages numbers that are taken.
func TestStateBehind(t *testing.T) {
	s := checkpoint.NewStore(store.Files(t.TempDir()))
	write(t, s, captured(checkpoint.State{}, japan()), checkpoint.TriggerManual, 1000)
	st := captured(checkpoint.State{}, talk(user("a new generation"), says("A or B?"), user("B")))
	if _, err := s.Checkpoint(st, input(checkpoint.TriggerManual, 1000)); err == nil || !strings.Contains(err.Error(), "a state of 3 messages behind cp_001, which holds 10: use the state that Resume or Begin gives") {
		t.Errorf("%v", err)
	}
	st = captured(checkpoint.Begin(checkpoint.State{}, resume(t, s, 0).Latest), talk(user("a new generation"), says("A or B?"), user("B")))
	c := write(t, s, st, checkpoint.TriggerManual, 1000).Checkpoint
	if !strings.HasSuffix(decisions(c), "Looks good | A or B? → B") || c.Meta.Captured != 13 {
		t.Errorf("%q %d", decisions(c), c.Meta.Captured)
	}
}

func number(id string) (n int) {
	for _, c := range strings.TrimPrefix(id, "cp_") {
		n = 10*n + int(c-'0')
	}
	return n
}

// TestNewSession: a process ends without a word; the next one finds what it had
// captured since the last checkpoint, and nothing that the checkpoint holds.
func TestNewSession(t *testing.T) {
	s := checkpoint.NewStore(store.Files(t.TempDir()))
	msgs := japan()
	w := write(t, s, captured(checkpoint.State{}, msgs[:6]), checkpoint.TriggerAuto, 160_000)
	must(t, s.SaveState(captured(w.State, msgs[6:])))

	r := resume(t, s, 0)
	if r.Latest == nil || len(r.State.Decisions.Items) != 0 || len(r.State.Resources.Modified) != 1 {
		t.Errorf("%+v", r.State)
	}
	got := write(t, s, r.State, checkpoint.TriggerAuto, 20_000).Checkpoint
	whole := build(msgs)
	opt := cmp.Options{cmpopts.IgnoreFields(checkpoint.Checkpoint{}, "Meta")}
	if d := cmp.Diff(whole, got, opt); d != "" {
		t.Errorf("the next session's first checkpoint (- without a break, + with): %s", d)
	}
	stale := captured(checkpoint.State{}, msgs[:6]) // what was before the checkpoint was written
	must(t, s.SaveState(stale))
	if st := resume(t, s, 0).State; len(st.Decisions.Items)+len(st.Resources.Tools) != 0 {
		t.Errorf("older than the latest, and not discarded: %+v", st)
	}
}

func TestDamagedCheckpoints(t *testing.T) {
	for _, c := range []struct {
		name   string
		harm   func(dir string) error
		latest string
		says   []string
	}{
		{"cut short", func(dir string) error { return os.Truncate(dir+"/cp_003.yaml", 300) }, "cp_002", []string{"cp_003.yaml: load checkpoint", "its end is missing; went back to cp_002"}},
		{"two of them", func(dir string) error {
			return errors.Join(os.WriteFile(dir+"/cp_003.yaml", nil, 0o600), os.WriteFile(dir+"/cp_002.yaml", []byte("x"), 0o600))
		}, "cp_001", []string{"cp_003.yaml", "cp_002.yaml", "went back to cp_001"}},
		{"gone", func(dir string) error { return os.Remove(dir + "/cp_003.yaml") }, "cp_002", []string{"cp_003.yaml: is gone, though _latest.json names it; went back to cp_002"}},
		{"under another name", func(dir string) error { return os.Rename(dir+"/cp_002.yaml", dir+"/cp_004.yaml") }, "cp_003", []string{"it calls itself cp_002; went back to cp_003"}},
		{"pointer damaged", func(dir string) error { return os.WriteFile(dir+"/_latest.json", []byte("{"), 0o600) }, "cp_003", []string{"_latest.json: ", "listed the files"}},
		{"pointer gone", func(dir string) error { return os.Remove(dir + "/_latest.json") }, "cp_003", nil},
		{"a folder in the way", func(dir string) error {
			return errors.Join(os.Remove(dir+"/cp_003.yaml"), os.Mkdir(dir+"/cp_003.yaml", 0o700))
		}, "cp_002", []string{"cp_003.yaml", "went back to cp_002"}},
		{"all of them", func(dir string) error {
			return errors.Join(os.Truncate(dir+"/cp_003.yaml", 9), os.Truncate(dir+"/cp_002.yaml", 9), os.Truncate(dir+"/cp_001.yaml", 9))
		}, "", []string{"no checkpoint before it can be read"}},
	} {
		s := checkpoint.NewStore(store.Files(t.TempDir()))
		st := captured(checkpoint.State{}, japan())
		for range 3 {
			st = write(t, s, st, checkpoint.TriggerCompaction, 1000).State
		}
		must(t, c.harm(filepath.Join(dirOf(s), "checkpoints")))
		got, bad, err := s.Latest()
		must(t, err)
		var said []string
		for _, d := range bad {
			said = append(said, d.String())
		}
		id := ""
		if got != nil {
			id = string(got.Meta.CheckpointID)
		}
		all := strings.Join(said, "\n")
		if id != c.latest || slices.ContainsFunc(c.says, func(w string) bool { return !strings.Contains(all, w) }) || (c.says == nil) != (len(bad) == 0) {
			t.Errorf("%s: went on from %q and said %q", c.name, id, said)
		}
		w := write(t, s, st, checkpoint.TriggerCompaction, 1000)
		if n := number(string(w.Checkpoint.Meta.CheckpointID)); n < 4 || string(w.Checkpoint.Meta.PreviousCheckpoint) != c.latest || len(w.Damaged) != len(bad) {
			t.Errorf("%s: the next is %+v, with damage %v", c.name, w.Checkpoint.Meta, w.Damaged)
		}
	}
}

// Every bit of every file counts: one that is flipped is reported by the file's name,
// and so is a file that was cut, zeroed or filled with another's content.
func TestVerify(t *testing.T) {
	dir := t.TempDir()
	s := checkpoint.NewStore(store.Files(dir))
	st := captured(checkpoint.State{}, japan())
	st = write(t, s, st, checkpoint.TriggerManual, 10).State
	st = captured(st, talk(append(japan(), user("and now?"))...))
	st = write(t, s, st, checkpoint.TriggerManual, 10).State
	must(t, s.SaveState(captured(st, talk(append(japan(), user("and now?"), user("and then?"))...))))
	if bad, err := s.Verify(); err != nil || len(bad) > 0 {
		t.Fatalf("%v, %v", bad, err)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*", "*"))
	if len(files) < 4 {
		t.Fatalf("%d files: %v", len(files), files)
	}
	for _, f := range files {
		good, err := os.ReadFile(f)
		must(t, err)
		told := func(what string, content []byte) {
			t.Helper()
			must(t, os.WriteFile(f, content, 0o600))
			bad, err := s.Verify()
			if err != nil && strings.Contains(err.Error(), f) {
				return // it calls itself newer
			}
			if len(bad) == 0 || !slices.ContainsFunc(bad, func(d checkpoint.Damage) bool { return strings.Contains(d.String(), filepath.Base(f)) }) {
				t.Fatalf("%s, %s: %v, %v", filepath.Base(f), what, bad, err)
			}
		}
		for bit := 0; bit < len(good)*8; bit += suite.Pick(61, 1) {
			b := bytes.Clone(good)
			b[bit/8] ^= 1 << (bit % 8)
			told(fmt.Sprint("bit ", bit), b)
		}
		told("empty", nil)
		told("cut", good[:len(good)/2])
		told("cut by a byte", good[:len(good)-1])
		told("zeroed", make([]byte, len(good)))
		told("doubled", append(bytes.Clone(good), good...))
		must(t, os.WriteFile(f, good, 0o600))
	}
}

// TestNothingToSay: a file that would be empty is not begun, and the state comes back
// as it was; one that holds nothing any more is emptied.
func TestNothingToSay(t *testing.T) {
	dir := t.TempDir()
	s := checkpoint.NewStore(store.Files(dir))
	st := checkpoint.State{Thread: checkpoint.ThreadState{Captured: 2, Topic: "tides"}}
	must(t, s.SaveState(st))
	files, err := os.ReadDir(filepath.Join(dir, "state"))
	if must(t, err); len(files) != 1 {
		t.Fatalf("%v", files)
	}
	if got := resume(t, s, 0); got.State.Thread.Topic != "tides" {
		t.Errorf("%+v", got.State)
	}
	st.Resources.Read = []checkpoint.Use{{Name: "a.md", Seq: 1}}
	for _, want := range []int{1, 0} {
		must(t, s.SaveState(st))
		if got := resume(t, s, 0); len(got.State.Resources.Read) != want {
			t.Errorf("%+v, want %d", got.State.Resources, want)
		}
		st.Resources = checkpoint.ResourceState{}
	}
}

// What can't be read now is not taken for damaged: nothing is begun anew, and no number is given
// twice.
func TestOutOfReachIsNoDamage(t *testing.T) {
	mem := storetest.New()
	s := checkpoint.NewStore(mem)
	st := captured(checkpoint.State{}, japan())
	must(t, s.SaveState(st))
	first, err := s.Checkpoint(st, input(checkpoint.TriggerManual, 1))
	must(t, err)
	resumes := func() error { _, err := s.Resume(); return err }
	writes := func() error { _, err := s.Checkpoint(first.State, input(checkpoint.TriggerManual, 2)); return err }
	verifies := func() error { _, err := s.Verify(); return err }
	saves := func() error { return s.SaveState(captured(st, japan())) }
	for _, why := range []error{syscall.EMFILE, syscall.EIO, syscall.EACCES, syscall.ENOMEM, store.ErrOutOfReach} {
		for _, c := range []struct {
			name string
			call func() error
		}{{"cp_001.yaml", resumes}, {"decisions.json", resumes}, {"thread.json", resumes}, {"_latest.json", resumes}, {"checkpoints", resumes},
			{"cp_001.yaml", writes}, {"_latest.json", writes}, {"checkpoints", writes},
			{"cp_001.yaml", verifies}, {"_latest.json", verifies}, {"decisions.json", verifies}, {"decisions.json", saves}} {
			mem.SetUnread(func(name string) error {
				if strings.HasSuffix(name, c.name) {
					return why
				}
				return nil
			})
			if err := c.call(); !errors.Is(err, why) || !store.OutOfReach(err) {
				t.Errorf("without %s (%v): %v", c.name, why, err)
			}
		}
	}
	mem.SetUnread(nil)
	all, err := s.List()
	if err != nil || len(all) != 1 {
		t.Errorf("checkpoints: %v, %v", all, err)
	}
}
