package pgstore_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/markdownstore/storetest"
	"github.com/memkernel/memkernel/service/internal/pgstore"
)

// place is a workspace in rows for tests of what keeps files, with a model beside the server if
// one is given.
func place(t *testing.T, m *pgstore.Model) *storetest.Place {
	o := fresh(t)
	o.Lease = time.Second
	open := func() *pgstore.Store {
		if m == nil {
			return open(t, o)
		}
		s, err := pgstore.OpenTwin(t, o, m)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
	s, human := open(), open()
	// From the second write on there is a row of the lock that nobody has.
	release, err := s.Lock(pgstore.WritersLock, store.Alone)
	if err != nil {
		t.Fatal(err)
	}
	release()
	p := &storetest.Place{Files: s.Workspace()}
	put := human.Workspace()
	p.Put = func(name, text string) {
		if err := put.PutAsAnother(name, text); err != nil {
			t.Fatal(err)
		}
	}
	p.Text = func(name string) (string, bool) {
		if _, err := put.Version(context.Background(), 0); err != nil {
			t.Fatal(err)
		}
		b, err := fs.ReadFile(put, name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		return string(b), err == nil
	}
	p.Restart = func() {
		// A process that was killed has its locks until they end: they are made to.
		if err := human.Exec(t.Context(), `UPDATE locks SET held='{}'`); err != nil {
			t.Fatal(err)
		}
		s = open()
		p.Files = s.Workspace()
	}
	p.Next = func(f storetest.Fault) {
		sent := 0
		s.SetFault(func(step pgstore.Step) error {
			switch {
			case sent > 1 && f.Lose:
				return io.ErrUnexpectedEOF // it is dead
			case step == pgstore.Send:
				sent++
			}
			switch {
			case step == pgstore.Send && sent == 1:
				if f.Meanwhile != nil {
					f.Meanwhile()
				}
				if f.Lose && f.Torn%2 == 0 {
					sent++
					return io.ErrUnexpectedEOF
				}
				if f.Refuse != nil {
					sent++
				}
				return f.Refuse
			case step == pgstore.Acked && sent == 1 && f.Lose:
				sent++
				return io.ErrUnexpectedEOF
			}
			return nil
		})
	}
	return p
}

func TestRowsKeepTheContract(t *testing.T) {
	t.Run("server", func(t *testing.T) {
		longOnly(t)
		storetest.Contract(t, func(t *testing.T) *storetest.Place { return place(t, nil) })
	})
	t.Run("both", func(t *testing.T) {
		storetest.Contract(t, func(t *testing.T) *storetest.Place { return place(t, pgstore.NewModel()) })
	})
}

// What another machine writes is seen with the next lock of a session, without another
// round trip, and otherwise within a moment; a look that finds nothing new is one statement.
func TestRowsAreSeenElsewhere(t *testing.T) {
	o := fresh(t)
	a := open(t, o)
	c := &pgstore.Counter{}
	o.Tracer = c
	b := open(t, o)
	one, two := markdownstore.New(a.Workspace(), &markdownstore.Options{Private: true}), markdownstore.New(b.Workspace(), &markdownstore.Options{Private: true})
	ctx := context.Background()
	for i := range 5 {
		if _, err := one.Append(ctx, "memory/t.md", fmt.Sprint("e", i), fmt.Sprint("entry ", i)); err != nil {
			t.Fatal(err)
		}
		release, err := b.Lock("sessions/x/lock", false)
		if err != nil {
			t.Fatal(err)
		}
		before := c.N
		l, err := two.ReadFile("memory/t.md")
		if err != nil || !strings.Contains(l.Text, fmt.Sprint("entry ", i)) || c.N != before {
			t.Errorf("%d: %q, %v; asked the server %d times", i, l.Text, err, c.N-before)
		}
		release()
	}
	version, err := markdownstore.Version(ctx, two, 0)
	if err != nil || version == 0 {
		t.Error(version, err)
	}
	before := c.N
	if again, err := markdownstore.Version(ctx, two, 0); again != version || err != nil || c.N != before+1 {
		t.Errorf("version %d, was %d, %v, %d statements", again, version, err, c.N-before)
	}
	h, err := one.ReadFile("memory/t.md")
	if err == nil {
		err = one.Remove(ctx, "memory/t.md", h.Hash)
	}
	if err != nil {
		t.Fatal(err)
	}
	if next, err := markdownstore.Version(ctx, two, 0); next <= version || err != nil {
		t.Error(next, err)
	}
	if _, err := two.ReadFile("memory/t.md"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is gone: %v", err)
	}
	if es, err := fs.ReadDir(b.Workspace(), "."); err != nil || len(es) != 0 {
		t.Errorf("%v, %v", es, err)
	}
}

// Machines that write to MEMORY.md at once lose no line of each other's, and have none twice,
// whatever connections die meanwhile. Who replaces a file, and whose answer was lost, looks whether it was done
// where others wrote since.
func TestTwoWritersOfOneFile(t *testing.T) {
	o := fresh(t)
	const machines, each = 3, 12
	var wg sync.WaitGroup
	for m := range machines {
		said := &lastSaid{}
		o.Tracer = said
		s := open(t, o)
		n := 0
		s.SetFault(func(step pgstore.Step) error {
			if step == pgstore.Acked && said.has("INSERT INTO workspace(") {
				if n++; n%3 == m {
					return io.ErrUnexpectedEOF // the answer is lost
				}
			}
			return nil
		})
		wg.Go(func() {
			w := markdownstore.New(s.Workspace(), &markdownstore.Options{Private: true})
			for i := range each {
				line := fmt.Sprintf("line %d of machine %d", i, m)
				for {
					var err error
					if i%2 == 0 {
						_, err = w.Append(context.Background(), "MEMORY.md", fmt.Sprintf("e%d-%d", m, i), line)
					} else {
						var l markdownstore.Loaded
						if l, err = w.ReadFile("MEMORY.md"); errors.Is(err, fs.ErrNotExist) {
							err = nil
						}
						if err == nil && !strings.Contains(l.Text, line+"\n") {
							_, err = w.Replace(context.Background(), "MEMORY.md", l.Hash, l.Text+line+"\n")
						}
					}
					if err == nil {
						break
					}
					if store.Again(err) { // it may have been done: what is there now counts
						_, err = s.Workspace().Version(context.Background(), 0)
					} else if errors.Is(err, markdownstore.ErrConflict) {
						err = nil
					}
					if err != nil {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	wg.Wait()
	w := markdownstore.New(open(t, o).Workspace(), &markdownstore.Options{Private: true})
	l, err := w.ReadFile("MEMORY.md")
	if err != nil {
		t.Fatal(err)
	}
	for m := range machines {
		for i := range each {
			if line := fmt.Sprintf("line %d of machine %d\n", i, m); strings.Count(l.Text, line) != 1 {
				t.Errorf("%q stands %d times", line, strings.Count(l.Text, line))
			}
		}
	}
}

// lastSaid has the statement that was sent last.
type lastSaid struct{ sql atomic.Value }

func (l *lastSaid) has(part string) bool {
	said, _ := l.sql.Load().(string)
	return strings.Contains(said, part)
}

func (l *lastSaid) TraceQueryStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceQueryStartData) context.Context {
	l.sql.Store(d.SQL)
	return ctx
}

func (l *lastSaid) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// A machine that writes while another has the lock of all writers waits for it, and a change that it
// was about to make is compared with what that one wrote.
func TestRowsWaitForTheLock(t *testing.T) {
	o := fresh(t)
	one, other := open(t, o), open(t, o)
	a, b := markdownstore.New(one.Workspace(), &markdownstore.Options{Private: true}), markdownstore.New(other.Workspace(), &markdownstore.Options{Private: true})
	if _, err := a.Append(t.Context(), "memory/t.md", "e1", "first"); err != nil {
		t.Fatal(err)
	}
	release, err := other.Lock(pgstore.WritersLock, store.Alone)
	if err != nil {
		t.Fatal(err)
	}
	var sent atomic.Int64
	one.SetFault(func(step pgstore.Step) error {
		if step == pgstore.Send {
			sent.Add(1)
		}
		return nil
	})
	done := make(chan error, 1)
	go func() {
		_, err := a.Append(context.Background(), "memory/t.md", "e3", "third")
		done <- err
	}()
	if err := other.Workspace().PutAsAnother("memory/t.md", "of the holder\n"); err != nil {
		t.Error(err)
	}
	for sent.Load() < 4 { // the change, and tries to have the lock
		select {
		case err := <-done:
			t.Fatalf("written beside the lock: %v", err)
		case <-time.After(time.Millisecond):
		}
	}
	release()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	now := func() {
		if _, err := other.Workspace().Version(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
	}
	now()
	f, err := b.ReadFile("memory/t.md")
	if err != nil || !strings.HasPrefix(f.Text, "of the holder\n\nthird") {
		t.Errorf("%q, %v", f.Text, err)
	}
	// Without it two write at once, and neither loses a line.
	var wg sync.WaitGroup
	for i, s := range []*markdownstore.Store{a, b} {
		wg.Go(func() {
			for n := range 20 {
				if _, err := s.Append(context.Background(), "memory/both.md", fmt.Sprint("x", i, ".", n), fmt.Sprintf("line %d of %d.", n, i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	now()
	f, err = b.ReadFile("memory/both.md")
	if err != nil || strings.Count(f.Text, "line ") != 40 {
		t.Errorf("%d of 40 lines, %v", strings.Count(f.Text, "line "), err)
	}
}

// A machine that was paused while it wrote, and lost the lock to another, writes nothing.
func TestRowsAreFenced(t *testing.T) {
	o := fresh(t)
	o.Lease = time.Hour // it is ended by hand
	paused, other := open(t, o), open(t, o)
	a, b := markdownstore.New(paused.Workspace(), &markdownstore.Options{Private: true}), markdownstore.New(other.Workspace(), &markdownstore.Options{Private: true})
	sent := 0
	paused.SetFault(func(step pgstore.Step) error {
		if step != pgstore.Send {
			return nil
		}
		if sent++; sent == 3 { // behind the lock, the machine stands still before it writes
			if err := other.Exec(t.Context(), `UPDATE locks SET held='{}'`); err != nil {
				t.Error(err)
			}
			if _, err := b.Append(t.Context(), "memory/other.md", "e1", "of the next holder"); err != nil {
				t.Error(err)
			}
		}
		return nil
	})
	if _, err := a.Append(t.Context(), "memory/t.md", "e1", "late"); err == nil {
		t.Error("written without the lock")
	}
	if _, err := b.ReadFile("memory/t.md"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is there: %v", err)
	}
}

// Names that no folder could have are refused, and so is a file where a folder is; what
// the file system of one machine would take for the same name are two files.
func TestHostileNames(t *testing.T) {
	o := fresh(t)
	w := open(t, o).Workspace()
	write := func(name, text string) error {
		return w.Write(t.Context(), func(to markdownstore.Writer) error { return to.Create(name, text) })
	}
	for _, name := range []string{"", ".", "..", "../x.md", "/etc/passwd", "memory/../../x.md", "memory//x.md", "memory/x\x00.md", "memory/\xff\xfe.md",
		"memory/" + strings.Repeat("n", 300) + ".md", strings.Repeat("d/", 600) + "x.md"} {
		if err := write(name, "x"); err == nil {
			t.Errorf("%.40q was written", name)
		}
		if _, err := w.Open(name); err == nil && name != "." {
			t.Errorf("%.40q was opened", name)
		}
		if _, err := w.Lstat(name); err == nil && name != "." {
			t.Errorf("%.40q is there", name)
		}
	}
	long := strings.Repeat("one line of many\n", 300_000)
	for name, text := range map[string]string{"memory/a.md": "lower\n", "memory/A.md": "upper\n", "memory/ä %_'\\.md": "it's\n", "memory/long.md": long, "memory/latin.md": "caf\xe9\n", "memory/empty.md": ""} {
		if err := write(name, text); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"memory", "memory/a.md/b.md"} {
		if err := write(name, "x"); err == nil {
			t.Errorf("%s was written where a folder is, or below a file", name)
		}
	}
	if err := write("memory/a.md", "again"); !errors.Is(err, markdownstore.ErrConflict) {
		t.Errorf("a file that is there: %v", err)
	}
	fresh := open(t, o).Workspace()
	for name, want := range map[string]string{"memory/a.md": "lower\n", "memory/A.md": "upper\n", "memory/ä %_'\\.md": "it's\n", "memory/long.md": long, "memory/latin.md": "caf\xe9\n", "memory/empty.md": ""} {
		if b, err := fs.ReadFile(fresh, name); err != nil || string(b) != want {
			t.Errorf("%s: %d bytes, %v", name, len(b), err)
		}
	}
	es, err := fs.ReadDir(fresh, "memory")
	var got []string
	for _, e := range es {
		got = append(got, e.Name())
	}
	if want := []string{"A.md", "a.md", "empty.md", "latin.md", "long.md", "ä %_'\\.md"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
	o.Root = "another"
	if es, err := fs.ReadDir(open(t, o).Workspace(), "."); err != nil || len(es) != 0 {
		t.Errorf("another root: %v, %v", es, err)
	}
}

// A place to which files are still being moved is read and written by nobody else.
func TestHalfAMove(t *testing.T) {
	o := fresh(t)
	mover, other := open(t, o).Workspace(), open(t, o).Workspace()
	if _, err := mover.Moving(t.Context(), "/home/me/shop"); err != nil {
		t.Fatal(err)
	}
	if err := mover.Write(t.Context(), func(w markdownstore.Writer) error { return w.Create("MEMORY.md", "x\n") }); err != nil {
		t.Fatal(err)
	}
	_, read := other.Open("MEMORY.md")
	_, look := other.Version(t.Context(), 0)
	wrote := other.Write(t.Context(), func(w markdownstore.Writer) error { return w.Create("USER.md", "x\n") })
	_, elsewhere := other.Moving(t.Context(), "/home/me/else")
	for what, err := range map[string]error{"read": read, "look": look, "write": wrote, "move": elsewhere} {
		if err == nil || !strings.Contains(err.Error(), "/home/me/shop") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := mover.Moving(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Version(t.Context(), 0); err != nil {
		t.Error(err)
	}
	if b, err := fs.ReadFile(other, "MEMORY.md"); err != nil || string(b) != "x\n" {
		t.Errorf("%q, %v", b, err)
	}
}
