package rows_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/markdownstore/storetest"
	"github.com/memkernel/memkernel/service/internal/rows"
)

// place is a workspace in rows for tests of what keeps files.
func place(t *testing.T) *storetest.Place {
	o := fresh(t)
	s, human := open(t, o), open(t, o)
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
		s = open(t, o)
		p.Files = s.Workspace()
	}
	p.Next = func(f storetest.Fault) {
		sent := 0
		s.SetFault(func(name string, answered bool) error {
			send := name != "read" && !answered
			switch {
			case sent > 1 && f.Lose:
				return io.ErrUnexpectedEOF // it is dead
			case send:
				sent++
			}
			switch {
			case send && sent == 1:
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
			case name != "read" && answered && sent == 1 && f.Lose:
				sent++
				return io.ErrUnexpectedEOF
			}
			return nil
		})
	}
	return p
}

func TestFilesKeepTheContract(t *testing.T) { storetest.Contract(t, place) }

// What another machine writes is seen by who asks for news, in one statement, and otherwise
// within a moment; a look that finds nothing new is one statement.
func TestFilesAreSeenElsewhere(t *testing.T) {
	o := fresh(t)
	a := open(t, o)
	c := &rows.Counter{}
	o.Tracer = c
	b := open(t, o)
	one, two := markdownstore.New(a.Workspace(), &markdownstore.Options{Private: true}), markdownstore.New(b.Workspace(), &markdownstore.Options{Private: true})
	ctx := context.Background()
	for i := range 5 {
		if _, err := one.Append(ctx, "memory/t.md", fmt.Sprint("e", i), fmt.Sprint("entry ", i)); err != nil {
			t.Fatal(err)
		}
		if _, err := two.Version(ctx, 0); err != nil {
			t.Fatal(err)
		}
		before := c.N
		l, err := two.ReadFile("memory/t.md")
		if err != nil || !strings.Contains(l.Text, fmt.Sprint("entry ", i)) || c.N != before {
			t.Errorf("%d: %q, %v; asked the server %d times", i, l.Text, err, c.N-before)
		}
	}
	version, err := two.Version(ctx, 0)
	if err != nil || version == 0 {
		t.Error(version, err)
	}
	before := c.N
	if again, err := two.Version(ctx, 0); again != version || err != nil || c.N != before+1 {
		t.Errorf("version %d, was %d, %v, %d statements", again, version, err, c.N-before)
	}
	h, err := one.ReadFile("memory/t.md")
	if err == nil {
		err = one.Remove(ctx, "memory/t.md", h.Hash)
	}
	if err != nil {
		t.Fatal(err)
	}
	if next, err := two.Version(ctx, 0); next <= version || err != nil {
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
		s := open(t, o)
		n := 0
		s.SetFault(func(name string, answered bool) error {
			if name == "write" && answered {
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

// Writers of one process lose no line of each other's, and a reader sees whole files meanwhile.
func TestWritersOfOneProcess(t *testing.T) {
	w := open(t, fresh(t)).Workspace()
	const writers, each = 6, 15
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			for n := range each {
				line := fmt.Sprintf("line %d of writer %d\n", n, i)
				err := w.Write(t.Context(), func(to markdownstore.Writer) error {
					_, settled, err := to.Append("MEMORY.md", func(string) (string, error) { return line, nil })
					if err == nil && !settled {
						err = errors.New("another program wrote")
					}
					return err
				})
				b, _ := fs.ReadFile(w, "MEMORY.md")
				if err != nil || !strings.Contains(string(b), line) || !strings.HasSuffix(string(b), "\n") {
					t.Errorf("%v: %q is missing in %q", err, line, b)
				}
			}
		})
	}
	wg.Wait()
	if b, err := fs.ReadFile(w, "MEMORY.md"); err != nil || strings.Count(string(b), "\n") != writers*each {
		t.Errorf("%d lines, %v", strings.Count(string(b), "\n"), err)
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
	for name, text := range map[string]string{"memory/a.md": "lower\n", "memory/A.md": "upper\n", "memory/ä %_'\\.md": "it's\n", "memory/long.md": long, "memory/latin.md": "caf\xe9\n", "memory/empty.md": "", ".github/x.md": "hidden\n"} {
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
	if es, err := fs.ReadDir(fresh, ".github"); err != nil || len(es) != 1 || es[0].Name() != "x.md" || es[0].IsDir() {
		t.Errorf(".github has %v, %v", es, err)
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
