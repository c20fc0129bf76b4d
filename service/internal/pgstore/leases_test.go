package pgstore_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/service/internal/pgstore"
)

// What leases promise, on a server, on the model of one, and on both: nobody has a lock
// alone beside another; one whose lease ended keeps it until another takes it, and writes
// nothing in its folder from then on; what is above, beside and below is not touched; and of
// two who append behind the same byte one is told so.
func TestLeases(t *testing.T) {
	onAll(t, true, func(t *testing.T, open opener) {
		n, resumed := 0, 0
		defer func() { t.Logf("%d locks were resumed", resumed) }()
		rapid.Check(t, func(t *rapid.T) {
			n++
			root := fmt.Sprint("leases ", n)
			r := &leaseRun{t: t, content: map[string]string{}, locks: map[string]*leaseLock{}, rested: map[[2]any]bool{}, resumed: &resumed}
			for range 3 {
				s := open(root, time.Hour) // ends only where the test says so
				defer s.Close()
				s.ResumeAfter(0)
				r.machines = append(r.machines, s)
			}
			for range rapid.IntRange(1, 25).Draw(t, "actions") {
				r.step()
			}
			fresh := open(root, time.Hour)
			defer fresh.Close()
			for folder, want := range r.content {
				if got, err := fresh.Get(folder + "/log"); err != nil || string(got) != want {
					t.Fatalf("%s holds %q, %v, want %q", folder, got, err, want)
				}
			}
			for _, l := range r.locks {
				for _, h := range l.held {
					h.release()
				}
			}
		})
	})
}

// A lock that is resumed is this machine's if nobody took it since, which is asked before anything is
// done that others could see, and at the latest when it is let go.
func TestResume(t *testing.T) {
	onAll(t, false, func(t *testing.T, open opener) {
		a, b := open("resume", time.Hour), open("resume", time.Hour)
		defer a.Close()
		defer b.Close()
		a.ResumeAfter(0)
		lock := func(s *pgstore.Store) func() {
			t.Helper()
			release, err := s.Lock("s/lock", store.Alone)
			if err != nil {
				t.Fatal(err)
			}
			return release
		}
		put := func(s *pgstore.Store, name, text string) error {
			_, err := s.Put(store.Synced, store.Doc{Name: name, Data: []byte(text)})
			return err
		}
		was := func(name, want string) {
			t.Helper()
			if got, err := b.Get(name); string(got) != want {
				t.Errorf("%s is %q, %v, and not %q", name, got, err, want)
			}
		}
		resume := func() func() {
			t.Helper()
			lock(a)()
			release := store.Resume(a, "s/lock")
			if release == nil {
				t.Fatal("it is not resumed")
			}
			return release
		}
		isLost := func(err error, want bool, what string) {
			t.Helper()
			if lost := (*store.LostError)(nil); errors.As(err, &lost) != want || !want && err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
		isBusy := func(what string) {
			t.Helper()
			release, err := b.Lock("s/lock", store.Alone)
			if busy := (*store.LockedError)(nil); !errors.As(err, &busy) {
				t.Errorf("%s, and another gets the lock: %v", what, err)
				release()
			}
		}
		if err := put(a, "s/doc", "first"); err != nil {
			t.Fatal(err)
		}
		if _, err := a.Get("habits"); err == nil {
			t.Fatal("there is one")
		}

		release := resume()
		if _, err := a.Lock("s/lock", store.Alone); err == nil {
			t.Error("two in one process have it")
		}
		release()
		isLost(store.Unwritten(a, "s/lock"), false, "nothing was done")
		if release = store.Resume(a, "s/lock"); release == nil {
			t.Fatal("it is not resumed twice")
		}
		store.Defer(a, "s/lock")
		if err := put(a, "s/doc", "second"); err != nil {
			t.Fatal(err)
		}
		was("s/doc", "first") // it is held back
		release()
		isLost(store.Unwritten(a, "s/lock"), false, "a document was put")
		was("s/doc", "second")

		release = resume()
		lock(b)()
		release()
		isLost(store.Unwritten(a, "s/lock"), true, "another had it, and nothing was written")
		if store.Resume(a, "s/lock") != nil {
			t.Error("it is resumed though another had it")
		}

		release = resume()
		store.Defer(a, "s/lock")
		if err := put(a, "s/doc", "third"); err != nil {
			t.Fatal(err)
		}
		free := lock(b)
		if err := put(b, "s/doc", "other"); err != nil {
			t.Error(err)
		}
		free()
		release()
		isLost(store.Unwritten(a, "s/lock"), true, "another had it, and a document was put")
		was("s/doc", "other")

		release = resume()
		if err := put(a, "s/doc", "fourth"); err != nil {
			t.Error(err)
		}
		isBusy("something was written at once")
		release()
		isLost(store.Unwritten(a, "s/lock"), false, "something was written at once")

		release = resume()
		sync := store.Defer(a, "s/lock")
		if err := sync(); err != nil {
			t.Error(err)
		}
		isBusy("it was synced")
		release()
		isLost(store.Unwritten(a, "s/lock"), false, "it was synced")

		release = resume()
		sync = store.Defer(a, "s/lock")
		lock(b)()
		isLost(sync(), true, "synced when another had it")
		isLost(put(a, "s/doc", "late"), true, "put behind that")
		release()
		isLost(store.Unwritten(a, "s/lock"), true, "synced when another had it")

		for what, do := range map[string]func() error{
			"put":    func() error { return put(a, "s/doc", "late") },
			"move":   func() error { return a.Move(store.Synced, "s/doc", "s/late") },
			"remove": func() error { _, err := a.Remove(store.Synced, "s/doc"); return err },
			"append": func() error { _, err := a.Journal("s/log").Append(0, []byte("late"), true); return err },
		} {
			release = resume()
			lock(b)()
			isLost(do(), true, what)
			release()
			isLost(store.Unwritten(a, "s/lock"), true, what)
			was("s/doc", "fourth")
		}

		release = resume()
		isLost(a.Move(store.Synced, "s/doc", "s/moved"), false, "moved")
		isBusy("a document was moved")
		release()
		isLost(store.Unwritten(a, "s/lock"), false, "moved")
		was("s/moved", "fourth")

		for what, do := range map[string]func() error{
			"put":    func() error { return put(a, "s/deep/doc", "x") },
			"move":   func() error { return errors.Join(a.Move(store.Synced, "s", "t"), a.Move(store.Synced, "t", "s")) },
			"remove": func() error { _, err := a.Remove(store.Synced, "s/deep"); return err },
		} {
			resume()()
			if err := do(); err != nil {
				t.Fatal(err)
			}
			if store.Resume(a, "s/lock") != nil {
				t.Errorf("it is resumed behind a %s without it", what)
			}
		}

		if err := put(a, "outer/s/doc", "x"); err != nil {
			t.Fatal(err)
		}
		if free, err := a.Lock("outer/s/lock", store.Alone); err != nil {
			t.Fatal(err)
		} else if free(); a.Move(store.Synced, "outer", "other") != nil || store.Resume(a, "outer/s/lock") != nil {
			t.Error("it is resumed though the folder around it was moved")
		}

		lock(a)()
		free = lock(a)
		if _, err := a.Get("habits"); err == nil { // it is looked up with the next lock
			t.Fatal("there is one")
		}
		free()
		release = resume()
		if err := put(b, "habits", "new"); err != nil {
			t.Fatal(err)
		}
		release()
		isLost(store.Unwritten(a, "s/lock"), true, "a document beside the folder was put")

		lock(a)()
		if err := put(b, "habits", "newer"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * pgstore.BesideFor)
		if release = store.Resume(a, "s/lock"); release == nil {
			t.Fatal("it is not resumed")
		}
		if got, err := a.Get("habits"); string(got) != "newer" {
			t.Errorf("beside a lock that was resumed late stands %q, %v", got, err)
		}
		release()
		isLost(store.Unwritten(a, "s/lock"), false, "what is beside was asked for")
	})
}

type leaseRun struct {
	t        *rapid.T
	machines []*pgstore.Store
	content  map[string]string // of the log in each folder
	locks    map[string]*leaseLock
	resumed  *int
	rested   map[[2]any]bool // by machine and folder: it let go of the lock last, as far as it knows
}

// leaseLock is a folder's lock as it should be.
type leaseLock struct {
	held []*leaseHold
	last int // the machine that may resume it, -1 if none may
}

type leaseHold struct {
	machine int
	alone   bool
	resumed bool // and not used for anything yet
	ended   bool // another may take it
	lost    bool // another has taken it
	release func()
}

func (r *leaseRun) step() {
	t := r.t
	m := rapid.IntRange(0, len(r.machines)-1).Draw(t, "machine")
	folder := rapid.SampledFrom([]string{"s/x", "s/y"}).Draw(t, "folder")
	s, l := r.machines[m], r.locks[folder]
	if l == nil {
		l = &leaseLock{last: -1}
		r.locks[folder] = l
	}
	switch rapid.SampledFrom([]string{"take", "take", "take", "resume", "resume", "release", "release", "write", "write", "end", "renew"}).Draw(t, "what") {
	case "take":
		// Locks that are shared go with their last use some time later: that is not drawn here.
		free := true
		for _, h := range l.held {
			free = free && h.lost || free && h.ended
			if h.machine == m && (!h.lost || h.resumed) {
				return // it has it: it would be told so, or fenced by itself
			}
		}
		release, err := s.Lock(folder+"/lock", store.Alone)
		if locked := (*store.LockedError)(nil); free != (err == nil) || err != nil && !errors.As(err, &locked) {
			t.Fatalf("machine %d takes %s, which is free: %v; %v", m, folder, free, err)
		}
		if err == nil {
			for _, h := range l.held {
				h.lost = true
			}
			l.held, l.last = append(l.held, &leaseHold{machine: m, alone: true, release: release}), -1
		}
	case "resume":
		if l.last >= 0 && rapid.IntRange(0, 3).Draw(t, "another") > 0 {
			m, s = l.last, r.machines[l.last]
		}
		for _, h := range l.held {
			if h.machine == m {
				return
			}
		}
		if release := store.Resume(s, folder+"/lock"); (release != nil) && l.last < 0 && !r.rested[[2]any{m, folder}] {
			t.Fatalf("machine %d resumes %s, which it did not have", m, folder)
		} else if release != nil {
			l.held = append(l.held, &leaseHold{machine: m, alone: true, resumed: true, ended: true, lost: l.last != m, release: release})
			delete(r.rested, [2]any{m, folder})
			*r.resumed++
		}
	case "release":
		for i, h := range l.held {
			if h.machine == m {
				h.release()
				lost := (*store.LostError)(nil)
				if err := store.Unwritten(s, folder+"/lock"); h.resumed && h.lost != errors.As(err, &lost) || !h.resumed && !h.lost && err != nil {
					t.Fatalf("machine %d lets go of %s, which it resumed and another took: %v, %v; %v", m, folder, h.resumed, h.lost, err)
				}
				if !h.lost {
					l.last, r.rested[[2]any{m, folder}] = m, true
				}
				l.held = append(l.held[:i:i], l.held[i+1:]...)
				return
			}
		}
	case "write":
		want, fenced, has := r.content[folder], false, false
		for _, h := range l.held {
			has = has || h.machine == m
			fenced = fenced || h.machine == m && h.lost
			if h.machine == m && h.resumed && !h.lost { // from here on others wait for it
				h.resumed, h.ended = false, false
			}
		}
		if !has {
			return // whoever writes has, or believes to have, the lock
		}
		off := len(want)
		if rapid.IntRange(0, 4).Draw(t, "behind") == 0 && off > 0 {
			off--
		}
		line := rapid.StringMatching(`[a-z]{1,8}`).Draw(t, "line")
		_, err := s.Journal(folder+"/log").Append(int64(off), []byte(line), true)
		lost := (*store.LostError)(nil)
		switch {
		case fenced && !errors.As(err, &lost), !fenced && errors.As(err, &lost):
			t.Fatalf("machine %d writes in %s, whose lock it lost: %v; %v", m, folder, fenced, err)
		case !fenced && off != len(want) && !errors.Is(err, store.ErrOvertaken):
			t.Fatalf("an append at byte %d of %d: %v", off, len(want), err)
		case err == nil:
			r.content[folder] = want + line
		case !fenced && off == len(want):
			t.Fatal(err)
		}
	case "end":
		if err := s.Exec(t.Context(), pgstore.EndLeases); err != nil {
			t.Fatal(err)
		}
		for _, l := range r.locks {
			for _, h := range l.held {
				h.ended = true
			}
		}
	case "renew":
		s.Renew()
		for _, l := range r.locks {
			for _, h := range l.held {
				h.ended = h.ended && h.machine != m // one that was resumed as well
			}
		}
	}
}

// A server that fails forgets locks and the tokens that it gave: who had one is fenced all the
// same when another has it.
func TestForgottenTokens(t *testing.T) {
	m := pgstore.NewModel()
	a, b := pgstore.OnModel(m, nil, 1, "a", time.Hour), pgstore.OnModel(m, nil, 1, "b", time.Hour)
	defer a.Close()
	defer b.Close()
	releaseA, err := a.Lock("s/lock", store.Alone)
	if err != nil {
		t.Fatal(err)
	}
	defer releaseA()
	m.Fail(m.Tail())
	releaseB, err := b.Lock("s/lock", store.Alone)
	if err != nil {
		t.Fatal(err)
	}
	defer releaseB()
	lost := (*store.LostError)(nil)
	if _, err := a.Put(store.Synced, store.Doc{Name: "s/doc", Data: []byte("late")}); !errors.As(err, &lost) {
		t.Errorf("the first writes beside the second: %v", err)
	}
	if _, err := b.Put(store.Synced, store.Doc{Name: "s/doc", Data: []byte("right")}); err != nil {
		t.Error(err)
	}
}

// What was held back under a lock and could not be written is not read in place of what
// another wrote there since.
func TestHeldBackAndRefused(t *testing.T) {
	m, refuse := pgstore.NewModel(), false
	a := pgstore.OnModel(m, func(st pgstore.Statement) error {
		if refuse && st.Name == "flush" {
			return errFull
		}
		return st.Do()
	}, 1, "a", time.Hour)
	b := pgstore.OnModel(m, nil, 1, "b", time.Hour)
	defer a.Close()
	defer b.Close()
	under := func(s *pgstore.Store, do func(j store.Journal) error) {
		t.Helper()
		release, err := s.Lock("s/lock", store.Alone)
		if err != nil {
			t.Fatal(err)
		}
		j := s.Journal("s/log")
		if err := do(j); err != nil {
			t.Error(err)
		}
		j.Close()
		release()
	}
	add := func(off int64, line string) func(j store.Journal) error {
		return func(j store.Journal) error { _, err := j.Append(off, []byte(line), false); return err }
	}
	under(a, add(0, "first "))
	refuse = true
	under(a, add(6, "lost"))
	if err := store.Unwritten(a, "s/lock"); !errors.Is(err, pgstore.ErrFull) {
		t.Errorf("what could not be written: %v", err)
	}
	if err := store.Unwritten(a, "s/lock"); err != nil {
		t.Errorf("it is told twice: %v", err)
	}
	refuse = false
	under(b, add(6, "kept"))
	under(a, func(j store.Journal) error {
		p := make([]byte, 4) // what is new, as who knows the rest reads it
		if _, err := j.ReadAt(p, 6); err != nil || string(p) != "kept" {
			return fmt.Errorf("the log holds %q, %w", p, err)
		}
		return nil
	})
}

// What another machine wrote comes with the lock: a document that it put anew, and what it
// appended, of which nothing is read again that was there. What is larger is asked for.
func TestWhatComesWithALock(t *testing.T) {
	o := fresh(t)
	a := open(t, o)
	c := &pgstore.Counter{}
	o.Tracer = c
	b := open(t, o)
	under := func(s *pgstore.Store, do func() error) {
		t.Helper()
		release, err := s.Lock("s/lock", store.Alone)
		if err == nil {
			err = do()
			release()
		}
		if err := errors.Join(err, store.Unwritten(s, "s/lock")); err != nil {
			t.Fatal(err)
		}
	}
	var doc, log []byte
	write := func(s *pgstore.Store, n, more int) {
		t.Helper()
		under(s, func() error {
			doc = bytes.Repeat([]byte{'a' + byte(len(log)%26)}, n)
			line := append(bytes.Repeat([]byte{'A' + byte(len(log)%26)}, more-1), '\n')
			_, err := s.Put(store.Unsynced, store.Doc{Name: "s/doc", Data: doc})
			j := s.Journal("s/log")
			if _, e := j.Append(int64(len(log)), line, false); err == nil {
				err = e
			}
			log = append(log, line...)
			return errors.Join(err, j.Close())
		})
	}
	for i, tc := range []struct{ doc, more, asks int }{{100, 9000, 2}, {30_000, 100, 0}, {200, 100_000, 0}, {32_768, 120_000, 0}, {32_769, 100, 1}, {200, 200_000, 1}, {300, 50, 0}} {
		from := len(log)
		write(a, tc.doc, tc.more)
		under(b, func() error {
			before := c.N
			got, err := b.Get("s/doc")
			if err != nil {
				return err
			}
			j := b.Journal("s/log")
			defer j.Close()
			tail := make([]byte, len(log)-from)
			if _, err := j.ReadAt(tail, int64(from)); err != nil {
				return err
			}
			if !bytes.Equal(got, doc) || !bytes.Equal(tail, log[from:]) {
				t.Errorf("%d: read a document of %d bytes and %d bytes of the log, and they are others", i, len(got), len(tail))
			}
			if asked := c.N - before; asked != tc.asks {
				t.Errorf("%d: asked the server %d times, want %d", i, asked, tc.asks)
			}
			return nil
		})
		write(b, 10, 30) // as it is known from
	}
}

// Who reads a long content from its beginning asks for more at once as it goes on; who reads
// in it here and there does not.
func TestReadOn(t *testing.T) {
	o := fresh(t)
	c := &pgstore.Counter{}
	o.Tracer = c
	s := open(t, o)
	text := bytes.Repeat([]byte("0123456789abcdef"), 1_000_000/16)
	if _, err := s.Put(store.Unsynced, store.Doc{Name: "long", Data: text}); err != nil {
		t.Fatal(err)
	}
	read := func(off, step int64, times int) (asked int) {
		t.Helper()
		r, err := s.Open("long")
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		before := c.N
		p := make([]byte, 50_000)
		for range times {
			if n, err := r.ReadAt(p, off); err != nil || !bytes.Equal(p, text[off:off+int64(n)]) {
				t.Fatalf("at %d: %d bytes, %v", off, n, err)
			}
			off += step
		}
		return c.N - before
	}
	if n := read(0, 50_000, 20); n > 6 {
		t.Errorf("reading it whole asked %d times", n)
	}
	if n := read(900_000, -100_000, 9); n != 9 {
		t.Errorf("reading 9 parts of it asked %d times", n)
	}
}

// What waits for the end of a call is there whole or not at all: a process that dies before leaves
// nothing of it, and where the lock was lost nothing is written, which whoever let it go is told,
// also if an earlier sync found it.
func TestDeferred(t *testing.T) {
	m, step := pgstore.NewModel(), func(name string) error { return nil }
	var said []string
	a := pgstore.OnModel(m, func(s pgstore.Statement) error {
		if err := step(s.Name); err != nil {
			return err
		}
		said = append(said, s.Name)
		return s.Do()
	}, 1, "a", time.Hour)
	b := pgstore.OnModel(m, nil, 1, "b", time.Hour)
	defer a.Close()
	defer b.Close()
	begin := func() (write, release func(), sync func() error) {
		t.Helper()
		release, err := a.Lock("s/lock", store.Alone)
		if err != nil {
			t.Fatal(err)
		}
		sync = store.Defer(a, "s/lock")
		return func() {
			t.Helper()
			j := a.Journal("s/log")
			defer j.Close()
			size, err := j.Size()
			if err == nil {
				_, err = j.Append(size, []byte("line\n"), true)
			}
			if err == nil {
				_, err = a.Put(store.Synced, store.Doc{Name: "s/doc", Data: []byte(fmt.Sprint(size))}, store.Doc{Name: "s/other", Data: []byte("x")})
			}
			if err != nil {
				t.Fatal(err)
			}
		}, release, sync
	}
	want := func(what, log, doc string) {
		t.Helper()
		l, _ := b.Get("s/log")
		d, _ := b.Get("s/doc")
		if string(l) != log || string(d) != doc {
			t.Errorf("%s: the log is %q and the document %q, want %q and %q", what, l, d, log, doc)
		}
	}
	write, release, sync := begin()
	write()
	want("before the end", "", "")
	said = nil
	release()
	if err := store.Unwritten(a, "s/lock"); err != nil || !slices.Equal(said, []string{"flush"}) {
		t.Errorf("release sent %q, %v", said, err)
	}
	want("at the end", "line\n", "0")

	write, release, sync = begin()
	write()
	if err := sync(); err != nil {
		t.Error(err)
	}
	want("synced", "line\nline\n", "5")
	m.Fail(m.Tail())
	want("synced, and the server failed", "line\nline\n", "5")
	release()

	// It dies: nothing that it sends comes through any more.
	write, release, _ = begin()
	write()
	dead := errors.New("dead")
	step = func(string) error { return dead }
	release()
	if err := store.Unwritten(a, "s/lock"); !errors.Is(err, dead) {
		t.Errorf("nothing came through: %v", err)
	}
	step = func(string) error { return nil }
	want("a death", "line\nline\n", "5")
	if err := b.Exec(t.Context(), pgstore.EndLeases); err != nil { // as its lease does by itself
		t.Fatal(err)
	}

	for _, early := range []bool{false, true} {
		write, release, sync = begin()
		write()
		if err := b.Exec(t.Context(), pgstore.EndLeases); err != nil {
			t.Fatal(err)
		}
		releaseB, err := b.Lock("s/lock", store.Alone)
		if err != nil {
			t.Fatal(err)
		}
		lost := (*store.LostError)(nil)
		if early {
			if err := sync(); !errors.As(err, &lost) {
				t.Errorf("sync without the lock: %v", err)
			}
		}
		release()
		if err := store.Unwritten(a, "s/lock"); !errors.As(err, &lost) {
			t.Errorf("the lock was lost: %v", err)
		}
		releaseB()
		want("a lost lock", "line\nline\n", "5")
	}
}
