package rows_test

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"path"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/service/internal/rows"
)

// Whatever machines do, a server and the model of it give the same answers.
func TestModelIsTheServer(t *testing.T) {
	for seed := range uint64(suite.Pick(3, 100)) {
		rng := rand.New(rand.NewPCG(seed, 45))
		o, m, asks := fresh(t), rows.NewModel(), new(sync.Mutex)
		var machines []*twinMachine
		for i := range 3 {
			if o.Lease = time.Hour; i == 2 {
				o.Lease = time.Nanosecond // its locks have ended when they are taken
			}
			mc := &twinMachine{rng: rng, s: open(t, o).WithTwin(t, m, asks), logs: map[string]store.Log{}}
			var moments atomic.Int64
			mc.s.SetFault(func(string, bool) error {
				if moments.Add(1)%23 == 0 {
					return io.ErrUnexpectedEOF // before a statement, or before its answer
				}
				return nil
			})
			machines = append(machines, mc)
		}
		for i, mc := range machines {
			mc.other = machines[(i+1)%3]
		}
		for range 300 {
			machines[rng.IntN(len(machines))].step()
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// twinMachine does anything at random. What comes of it is the twin's to judge.
type twinMachine struct {
	rng     *rand.Rand
	s       *rows.Store
	unit    store.Unit
	folder  string
	logs    map[string]store.Log
	release []func()
	other   *twinMachine // which does something in the middle of a write
}

func (mc *twinMachine) pick(names ...string) string { return names[mc.rng.IntN(len(names))] }

func (mc *twinMachine) name() string {
	return mc.pick("calibration.json", "past/a/b", "past/a/c", "past/ab", "project/p", mc.pick("sessions/x/", "sessions/y/", "ended/x/")+mc.pick("session.json", "state/goal.json", "state/a/b", "statelier"))
}

func (mc *twinMachine) place() string {
	return mc.pick("", "blobs", "past", "past/a", "sessions", "sessions/x", "sessions/y", "ended", "ended/x", "ended/y", "sessions/x/state", "project", "none", "sessions/x/journal.jsonl", "sessions/y/usage.jsonl", mc.name(), mc.hash())
}

func (mc *twinMachine) hash() string {
	h := store.Sum([]byte(fmt.Sprint(mc.rng.IntN(4))))
	return "blobs/" + h[:2] + "/" + h
}

func (mc *twinMachine) data() []byte {
	if mc.rng.IntN(20) == 0 {
		return make([]byte, 40_000)
	}
	return []byte(fmt.Sprint(mc.rng.IntN(1000)))
}

func (mc *twinMachine) step() {
	s, ctx := mc.s, context.Background()
	if len(mc.release) > 0 && mc.rng.IntN(3) == 0 {
		mc.release[0]()
		mc.release = mc.release[1:]
	}
	how := []store.Durability{store.Synced, store.Unsynced, store.Once}[mc.rng.IntN(3)]
	switch n := mc.rng.IntN(20); {
	case n < 3 && mc.unit == nil:
		mc.folder = mc.pick("sessions/x", "sessions/x", "sessions/y", "project", "")
		mc.unit, _ = s.Begin(ctx, mc.folder, mc.rng.IntN(2) == 0)
	case n < 3:
		if mc.rng.IntN(3) == 0 {
			_ = mc.unit.Sync()
			return
		}
		_ = mc.unit.End()
		mc.unit = nil
	case n < 8:
		name := path.Join(mc.folder, mc.pick("journal", "journal", "projection", "usage", "ended")+".jsonl")
		l := mc.logs[name]
		if l == nil || mc.rng.IntN(9) == 0 {
			var err error
			if l, err = s.OpenLog(name, store.LogOptions{}); err != nil {
				return
			}
			mc.logs[name] = l
		}
		if _, err := read(l); err != nil {
			delete(mc.logs, name)
		}
		r := store.Record{Op: "committed", ID: fmt.Sprint("turn:", mc.rng.IntN(1000)), Time: time.Unix(int64(mc.rng.IntN(1e9)), 0), Body: mc.data()}
		if len(r.Body) > 1000 {
			r.Body, r.Time = nil, time.Time{}
		}
		switch mc.rng.IntN(8) {
		case 0:
			_ = l.Replace(seq(r, rec("x")))
		case 1:
			_ = l.Sync(l.Len())
		default:
			_, _ = l.Append(mc.rng.IntN(2) == 0, r)
		}
	case n < 12:
		docs := []store.Doc{{Name: mc.name(), Data: mc.data()}, {Name: mc.name(), Data: mc.data()}, {Name: mc.hash(), Data: []byte(mc.hash())}}
		_, _ = s.Put(how, docs[:1+mc.rng.IntN(3)]...)
		if mc.unit != nil {
			_, _ = mc.unit.State().Put(how, docs[mc.rng.IntN(3)])
		}
	case n == 12:
		_, _ = s.Remove(how, mc.pick(mc.name(), mc.name(), mc.hash(), mc.hash(), "blobs", mc.hash()[:8], "past", "ended", "ended/x", "sessions/y", "sessions/x/state"), mc.pick(mc.name(), mc.hash()))
	case n == 13 && mc.rng.IntN(2) == 0:
		_ = s.Move(how, mc.name(), mc.name())
	case n == 13:
		_ = s.Move(how, mc.pick("sessions/x", "sessions/y", "ended/x"), mc.pick("sessions/y", "ended/x", "ended/y"))
	case n == 14:
		if release, err := s.Lock(mc.pick("nightly.lock", store.BlobsLock), store.Share(mc.rng.IntN(2) == 0)); err == nil {
			mc.release = append(mc.release, release)
		}
		s.Renew()
	case n < 17:
		_, _ = s.Stat(mc.place())
		_, _ = s.List(mc.place())
		_, _ = s.Get(mc.place())
	default:
		mc.file(mc.other)
	}
}

// file does something with a file of the workspace. Another machine, if there is one, does so in
// the middle of it.
func (mc *twinMachine) file(other *twinMachine) {
	w, ctx := mc.s.Workspace(), context.Background()
	name, text := mc.pick("MEMORY.md", "memory", "memory/a.md", "memory/b/c.md"), string(mc.data())
	_, _ = fs.ReadFile(w, name)
	if mc.rng.IntN(40) == 0 {
		_, _ = w.Moving(ctx, mc.pick("", "elsewhere"))
	}
	_ = w.Write(ctx, func(w markdownstore.Writer) (err error) {
		switch mc.rng.IntN(4) {
		case 0:
			err = w.Create(name, text)
		case 1:
			_, _, err = w.Append(name, func(string) (string, error) {
				if other != nil && mc.rng.IntN(2) == 0 {
					other.file(nil)
				}
				return text, nil
			})
		case 2:
			err = w.Swap(name, func(fs.FileInfo, string) (string, error) { return text, nil })
		default:
			err = w.Remove(name, func(fs.FileInfo, string) error { return nil })
		}
		return err
	})
}
