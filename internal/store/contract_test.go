package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/memkernel/memkernel/internal/atomicfile"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/internal/store/storetest"
	"github.com/memkernel/memkernel/internal/suite"
)

var errDead = errors.New("dead")

var kinds = map[string]kind{
	"files": {
		Open: func(t *rapid.T) store.Disk {
			dir, err := os.MkdirTemp("", "store")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.RemoveAll(dir) })
			return store.Files(dir + "/state")
		},
		Kill: func(s store.Disk, n, part int, refused bool) (func() bool, func() store.Disk) {
			step := 0
			restore := atomicfile.SetHook(func(op, _ string) error {
				switch step++; {
				case step == n && op == "write":
					return &atomicfile.PartialWrite{N: part, Err: errDead}
				case step == n || step > n && !refused:
					return errDead
				}
				return nil
			})
			return func() bool { restore(); return step >= n }, func() store.Disk { return store.Files(s.Where("")) }
		},
	},
	"memory": {
		Open: func(*rapid.T) store.Disk { return storetest.New() },
		Kill: func(s store.Disk, n, part int, refused bool) (func() bool, func() store.Disk) {
			m, step, err := s.(*storetest.Store), 0, storetest.ErrCrash
			if refused {
				err = errDead
			}
			m.SetFault(func(op storetest.Op, _ string) error {
				switch step++; {
				case step == n && (op == storetest.Write || op == storetest.Patch):
					return &atomicfile.PartialWrite{N: part, Err: err}
				case step == n || step > n && !refused:
					return err
				}
				return nil
			})
			return func() bool { died := step >= n; m.SetFault(nil); return died }, func() store.Disk { return m.Restart(nil) }
		},
	},
}

func TestContract(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		t.Run(name, func(t *testing.T) { contract(t, kinds[name]) })
	}
}

func TestPowerCut(t *testing.T) {
	powerCut(t, func() store.Disk { return storetest.New() },
		func(s store.Disk, pick func(n int) int) store.Disk { return s.(*storetest.Store).Restart(pick) })
}

// kind has the functions that make a store under test, kill it at a step, and open it again.
type kind struct {
	Open func(t *rapid.T) store.Disk
	// Kill lets the process die at its nth write step from now on, after the first part bytes of
	// that write. died ends this mode and reports whether the process died. next returns the
	// store as the next process finds it. If refused is set, the process lives and only that step
	// fails.
	Kill func(s store.Disk, n, part int, refused bool) (died func() bool, next func() store.Disk)
}

// contract tests a kind of store.
func contract(t *testing.T, k kind) {
	for _, c := range []struct {
		name  string
		f     func(t *rapid.T, k kind, s store.Disk)
		draws bool // whether the steps are drawn at random
	}{{"whatever is done", whateverIsDone, true}, {"handles", handles, false}, {"locks", locks, true}, {"wait", wait, false}, {"refused", refused, true}, {"torn", torn, false}} {
		t.Run(c.name, func(t *testing.T) {
			n := 0
			rapid.Check(t, func(t *rapid.T) {
				if n++; c.draws || n <= 2 || suite.Long() {
					c.f(t, k, k.Open(t))
				}
			})
		})
	}
}

// model is the expected content by name.
type model map[string]string

// action is a change of a store. While it runs, each touched name must have one of its contents
// in may. After success the name must have the last of these contents.
type action struct {
	what string
	do   func(s store.Disk) error
	may  map[string][]string
}

// gone is the content of a missing name in a model.
const gone = "\x00gone"

func (m model) at(name string) string {
	if c, ok := m[name]; ok {
		return c
	}
	return gone
}

func (m model) set(name, content string) {
	if m[name] = content; content == gone {
		delete(m, name)
	}
}

var (
	docNames     = []string{"a", "in/b", "in/c", "in/deep/d"}
	journalNames = []string{"j", "in/j", "logs/k"}
)

// draw makes up an action that fits the store's content.
func (m model) draw(t *rapid.T) action {
	content := func(label string) string { return rapid.StringN(0, 12, 40).Draw(t, label) }
	doc := rapid.SampledFrom(docNames).Draw(t, "name")
	log := rapid.SampledFrom(journalNames).Draw(t, "journal")
	how := rapid.SampledFrom([]store.Durability{store.Synced, store.Unsynced}).Draw(t, "how")
	sync, old := rapid.Bool().Draw(t, "sync"), m[log]
	journal := func(what string, do func(j store.Journal) error, may ...string) action {
		return action{what + " " + log, func(s store.Disk) error {
			j, err := s.Journal(log)
			if err != nil {
				return err
			}
			defer j.Close()
			return do(j)
		}, map[string][]string{log: append([]string{m.at(log), old}, may...)}}
	}
	switch op := rapid.SampledFrom([]string{"put", "put", "put many", "once", "remove", "remove all", "move", "append", "append", "append", "cut", "patch", "replace"}).Draw(t, "op"); op {
	case "put":
		c := content("content")
		return action{fmt.Sprint("put ", doc, how), func(s store.Disk) error { _, err := s.Put(how, store.Doc{Name: doc, Data: []byte(c)}); return err },
			map[string][]string{doc: {m.at(doc), c}}}
	case "put many":
		may, docs := map[string][]string{}, []store.Doc(nil)
		for _, d := range docNames[1:] {
			c := content(d)
			docs, may[d] = append(docs, store.Doc{Name: d, Data: []byte(c)}), []string{m.at(d), c}
		}
		return action{fmt.Sprint("put many", how), func(s store.Disk) error { _, err := s.Put(how, docs...); return err }, may}
	case "once":
		c := "named by its content"
		return action{"put once", func(s store.Disk) error {
			_, err := s.Put(store.Once, store.Doc{Name: "once/x", Data: []byte(c)}, store.Doc{Name: "once/y", Data: []byte(c)})
			return err
		}, map[string][]string{"once/x": {m.at("once/x"), c}, "once/y": {m.at("once/y"), c}}}
	case "remove":
		return action{fmt.Sprint("remove ", doc, how), func(s store.Disk) error { _, err := s.Remove(how, doc); return err }, map[string][]string{doc: {m.at(doc), gone}}}
	case "remove all":
		may := map[string][]string{}
		for n := range m {
			if strings.HasPrefix(n, "in/") {
				may[n] = []string{m.at(n), gone}
			}
		}
		return action{fmt.Sprint("remove in", how), func(s store.Disk) error { _, err := s.Remove(how, "in"); return err }, may}
	case "move":
		if m.at(doc) == gone {
			return m.draw(t)
		}
		return action{"move " + doc, func(s store.Disk) error { return s.Move(how, doc, "moved/to") },
			map[string][]string{doc: {m.at(doc), gone}, "moved/to": {m.at("moved/to"), m.at(doc)}}}
	case "append":
		c := content("appended")
		a := journal("append", func(j store.Journal) error { _, err := j.Append(int64(len(old)), []byte(c), sync); return err })
		for i := range len(c) + 1 {
			a.may[log] = append(a.may[log], old+c[:i])
		}
		return a
	case "cut":
		size := rapid.IntRange(0, len(old)).Draw(t, "size")
		return journal("cut", func(j store.Journal) error { return j.Cut(int64(size)) }, old[:size])
	case "patch":
		if old == "" {
			return m.draw(t)
		}
		off := rapid.IntRange(0, len(old)-1).Draw(t, "off")
		c := strings.Repeat("#", rapid.IntRange(1, len(old)-off).Draw(t, "bytes"))
		a := action{"patch " + log, func(s store.Disk) error { return s.Patch(log, int64(off), []byte(c), sync) },
			map[string][]string{log: {m.at(log), old}}}
		for i := range len(c) + 1 {
			a.may[log] = append(a.may[log], old[:off]+c[:i]+old[off+i:])
		}
		return a
	default: // a journal is replaced, as a compaction does
		c := content("compacted")
		return action{"replace " + log, func(s store.Disk) error {
			_, err := s.Put(store.Synced, store.Doc{Name: log, Data: []byte(c)})
			return err
		},
			map[string][]string{log: {m.at(log), c}}}
	}
}

// found returns the whole content of a store without temps. It reads the content in every
// available way.
func found(t *rapid.T, s store.Store) model {
	m := model{}
	err := store.Walk(s, func(name string, e store.Entry) error {
		if atomicfile.IsTemp(path.Base(name)) {
			return nil
		}
		data, err := s.Get(name)
		if err != nil {
			return err
		}
		info, err := s.Stat(name)
		if err != nil || info.Folder || info.Size != int64(len(data)) {
			return fmt.Errorf("stat %s: %+v, %v", name, info, err)
		}
		r, err := s.Open(name)
		if err != nil {
			return err
		}
		defer r.Close()
		size, err := r.Size()
		again, rerr := io.ReadAll(io.NewSectionReader(r, 0, size))
		if err != nil || rerr != nil || !bytes.Equal(again, data) {
			return fmt.Errorf("open %s: %q and %q, %v, %v", name, again, data, err, rerr)
		}
		m[name] = string(data)
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return m
}

func (m model) compare(t *rapid.T, got model, what string) {
	t.Helper()
	if !maps.Equal(m, got) {
		t.Fatalf("after %s:\nwant %q\ngot  %q", what, m, got)
	}
}

// Reads must return the written content. After the process dies at any step, all finished steps
// must be there, and the unfinished step may be there only as far as the contract allows.
func whateverIsDone(t *rapid.T, k kind, s store.Disk) {
	m := model{}
	for range rapid.IntRange(1, 12).Draw(t, "actions") {
		a := m.draw(t)
		if rapid.IntRange(0, 2).Draw(t, "dies") > 0 {
			if err := a.do(s); err != nil {
				t.Fatalf("%s: %v", a.what, err)
			}
			for n, may := range a.may {
				m.set(n, may[len(may)-1])
			}
			m.compare(t, found(t, s), a.what)
			continue
		}
		died, next := k.Kill(s, rapid.IntRange(1, 9).Draw(t, "step"), rapid.IntRange(0, 20).Draw(t, "part"), false)
		err := a.do(s)
		if dead := died(); dead != (err != nil) {
			t.Fatalf("%s: died %v, error %v", a.what, dead, err)
		}
		s = next()
		got := found(t, s)
		for n, may := range a.may {
			if err == nil {
				may = may[len(may)-1:]
			}
			if !slices.Contains(may, got.at(n)) {
				t.Fatalf("killed in %s: %s holds %q, and may hold %q", a.what, n, got.at(n), may)
			}
			m.set(n, got.at(n))
		}
		m.compare(t, got, "a kill in "+a.what)
	}
}

// powerCut tests that a power cut leaves all synced content under its names: whole documents, and
// journals up to their last sync.
//
// cut returns the store as the next process finds it. pick(n) chooses one of n outcomes.
func powerCut(t *testing.T, open func() store.Disk, cut func(s store.Disk, pick func(n int) int) store.Disk) {
	rapid.Check(t, func(t *rapid.T) {
		s, pick := open(), func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "outcome") }
		docs, logs, size := model{}, model{}, map[string]int64{} // synced content; current size
		loose := map[string]bool{}                               // names that an unsynced write may have changed
		for range rapid.IntRange(1, 12).Draw(t, "actions") {
			doc := rapid.SampledFrom(docNames).Draw(t, "name")
			log := rapid.SampledFrom(journalNames).Draw(t, "journal")
			c := rapid.StringN(1, 12, 40).Draw(t, "content")
			sync := rapid.Bool().Draw(t, "sync")
			how := store.Unsynced
			if sync {
				how = store.Synced
			}
			var err error
			switch rapid.IntRange(0, 2).Draw(t, "op") {
			case 0:
				_, err = s.Put(how, store.Doc{Name: doc, Data: []byte(c)})
				docs.set(doc, c)
				loose[doc] = !sync
			case 1:
				if loose[doc] || docs.at(doc) == gone {
					continue
				}
				_, err = s.Remove(how, doc)
				docs.set(doc, gone)
				loose[doc] = !sync
			case 2:
				var j store.Journal
				if j, err = s.Journal(log); err == nil {
					_, err = j.Append(size[log], []byte(c), sync)
					j.Close()
				}
				if size[log] += int64(len(c)); sync {
					all, _ := s.Get(log)
					logs[log] = string(all)
				}
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		got := found(t, cut(s, pick))
		for _, d := range docNames {
			if !loose[d] && got.at(d) != docs.at(d) {
				t.Fatalf("%s holds %q, and %q was synced", d, got.at(d), docs.at(d))
			}
		}
		for l, synced := range logs {
			if !strings.HasPrefix(got.at(l), synced) {
				t.Fatalf("%s holds %q, and %q was synced", l, got.at(l), synced)
			}
		}
	})
}

// A reader must keep reading the content that it opened.
// A patch must not make a journal.
func handles(t *rapid.T, _ kind, s store.Disk) {
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	in := s.In("x/y").(store.Disk)
	if err := in.Patch("j", 0, []byte("p"), true); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("patch of nothing: %v", err)
	}
	j, err := in.Journal("j")
	must(err)
	defer j.Close()
	_, err = j.Append(0, []byte("old"), true)
	must(err)
	r, err := s.Open("x/y/j")
	must(err)
	defer r.Close()
	other, err := s.Journal("x/y/j")
	must(err)
	_, err = other.Append(3, []byte("er"), false)
	must(err)
	must(other.Close())
	if n, err := j.Size(); n != 5 || err != nil {
		t.Fatalf("another appended, and the size is %d, %v", n, err)
	}
	must(s.Move(store.Unsynced, "x", "z"))
	_, err = s.In("z").Put(store.Synced, store.Doc{Name: "y/j", Data: []byte("new")})
	must(err)
	b := make([]byte, 5)
	if _, err := r.ReadAt(b, 0); string(b) != "older" {
		t.Fatalf("what was opened reads %q, %v", b, err)
	}
	if _, err := r.ReadAt(b, 3); err != io.EOF {
		t.Fatalf("read past the end: %v", err)
	}
	for _, name := range []string{"none", "z/none", "none/none"} {
		_, gerr := s.Get(name)
		_, oerr := s.Open(name)
		_, serr := s.Stat(name)
		_, lerr := s.List(name)
		merr := s.Move(store.Unsynced, name, "to")
		for what, err := range map[string]error{"get": gerr, "open": oerr, "stat": serr, "list": lerr, "move": merr} {
			if !errors.Is(err, fs.ErrNotExist) {
				t.Fatalf("%s %s: %v", what, name, err)
			}
		}
	}
	if _, err := s.Get("z/y"); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("get of a folder: %v", err)
	}
	if i, err := s.Stat("z/y"); err != nil || !i.Folder {
		t.Fatalf("stat of a folder: %+v, %v", i, err)
	}
	for _, want := range []string{"z/y/j.damaged-1", "z/y/j.damaged-2", ""} {
		if aside, err := store.PutAside(s, "z/y/j"); err != nil || aside != want || want != "" && !store.IsAside(aside) {
			t.Fatalf("put aside as %q, %v, want %q", aside, err, want)
		}
		if want == "z/y/j.damaged-1" {
			_, err = s.Put(store.Synced, store.Doc{Name: "z/y/j", Data: []byte("again")})
			must(err)
		}
	}
}

// Locks must exclude other holders until they are released.
func locks(t *rapid.T, _ kind, s store.Disk) {
	type hold struct {
		share   store.Share
		release func()
	}
	held := map[string][]hold{}
	for range rapid.IntRange(1, 15).Draw(t, "actions") {
		name := rapid.SampledFrom([]string{"lock", "in/lock"}).Draw(t, "name")
		hs := held[name]
		if len(hs) > 0 && rapid.Bool().Draw(t, "release") {
			hs[0].release()
			held[name] = hs[1:]
			continue
		}
		share := store.Share(rapid.Bool().Draw(t, "shared"))
		free := len(hs) == 0 || share == store.Shared && hs[0].share == store.Shared
		release, err := s.In(path.Dir(name)).Lock(path.Base(name), share)
		if locked := (*store.LockedError)(nil); free != (err == nil) || !free && !errors.As(err, &locked) {
			t.Fatalf("lock %s, which %d hold: %v", name, len(hs), err)
		}
		if err == nil {
			held[name] = append(hs, hold{share, release})
		}
	}
	for _, hs := range held {
		for _, h := range hs {
			h.release()
		}
	}
}

// A waiting caller must get a lock when its holder releases it, and must stop waiting when its
// context ends.
func wait(t *rapid.T, _ kind, s store.Disk) {
	release, err := store.Wait(context.Background(), s, "lock", store.Shared)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	got := make(chan error)
	go func() { _, err := store.Wait(ctx, s, "lock", store.Alone); got <- err }()
	cancel()
	if err := <-got; !errors.Is(err, context.Canceled) {
		t.Fatalf("the context ended: %v", err)
	}
	go func() {
		mine, err := store.Wait(context.Background(), s, "lock", store.Alone)
		if err == nil {
			mine()
		}
		got <- err
	}()
	release()
	if err := <-got; err != nil {
		t.Fatal(err)
	}
	if _, err := store.Wait(ctx, s, "lock", store.Alone); !errors.Is(err, context.Canceled) {
		t.Fatalf("a context that has ended: %v", err)
	}
}

// A step that fails without a crash must leave either the old content or the new content. The
// store takes back the steps that it can.
func refused(t *rapid.T, k kind, s store.Disk) {
	m := model{}
	for range rapid.IntRange(1, 8).Draw(t, "actions") {
		a := m.draw(t)
		died, _ := k.Kill(s, rapid.IntRange(1, 12).Draw(t, "step"), rapid.IntRange(0, 20).Draw(t, "part"), true)
		err := a.do(s)
		if refused := died(); err != nil && !refused || err == nil && refused && strings.HasPrefix(a.what, "put") {
			t.Fatalf("%s: a step was refused: %v; error %v", a.what, refused, err)
		}
		got := found(t, s)
		for n, may := range a.may {
			switch {
			case err == nil:
				may = may[len(may)-1:]
			case strings.HasPrefix(a.what, "append"):
				may = may[:2] // the content is unchanged, or the journal is empty and new
			}
			if !slices.Contains(may, got.at(n)) {
				t.Fatalf("refused in %s: %s holds %q, and may hold %q", a.what, n, got.at(n), may)
			}
			m.set(n, got.at(n))
		}
		m.compare(t, got, "a refusal in "+a.what)
		if err := store.Walk(s, func(name string, _ store.Entry) error {
			if atomicfile.IsTemp(path.Base(name)) {
				return fmt.Errorf("%s: left %s", a.what, name)
			}
			return nil
		}); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
}

// An append that fails and can't be taken back must return ErrTorn.
func torn(t *rapid.T, k kind, s store.Disk) {
	j, err := s.Journal("j")
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if _, err := j.Append(0, []byte("old"), true); err != nil {
		t.Fatal(err)
	}
	died, _ := k.Kill(s, 1, 2, false)
	_, err = j.Append(3, []byte("lost"), true)
	if died(); !errors.Is(err, atomicfile.ErrTorn) {
		t.Fatalf("an append failed and could not be taken back: %v", err)
	}
	if err := j.Cut(3); err != nil {
		t.Fatal(err)
	}
	model{"j": "old"}.compare(t, found(t, s), "a torn append")
}
