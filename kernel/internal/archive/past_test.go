package archive

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"testing"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/sessions"
)

// far is a state directory that is not on this machine, and counts what is read of logs.
type far struct {
	store.Store
	opened *int
}

func (f far) In(name string) store.Store { return far{f.Store.In(name), f.opened} }
func (f far) OpenLog(name string, o store.LogOptions) (store.Log, error) {
	*f.opened++
	return f.Store.OpenLog(name, o)
}
func (f far) Open(string) (store.Reader, error) { return nil, errors.New("it is far away") }

// said is a record of a page that a person said.
func said(id, text string) store.Record {
	return store.Record{Op: "ingest", ID: id, Body: fmt.Appendf(nil, `{"pages":[{"id":%q,"type":"conversation","role":"assistant"}],"content":{%q:%q}}`, id, id, text)}
}

// A journal that is far away is read once, on from where the last reading ended, and from its
// beginning if a record of before is another: also where there are as many as before, or less.
func TestFarJournal(t *testing.T) {
	files, opened := store.Files(t.TempDir()), 0
	in := folder.In(files, "s")
	write := func(f func(l store.Log) error) {
		t.Helper()
		u, err := files.Begin(t.Context(), folder.Path("s"), false)
		if err != nil {
			t.Fatal(err)
		}
		l, err := in.OpenLog(folder.JournalFile, store.LogOptions{})
		if err == nil {
			err = l.Read(func(store.Record) error { return nil })
		}
		if err == nil {
			err = f(l)
		}
		if err := errors.Join(err, u.End()); err != nil {
			t.Fatal(err)
		}
	}
	appends := func(recs ...store.Record) {
		t.Helper()
		write(func(l store.Log) error { _, err := l.Append(true, recs...); return err })
	}
	replaces := func(recs ...store.Record) {
		t.Helper()
		var all iter.Seq2[store.Record, error] = func(yield func(store.Record, error) bool) {
			for _, r := range recs {
				if !yield(r, nil) {
					return
				}
			}
		}
		write(func(l store.Log) error { return l.Replace(all) })
	}
	read := func(from sessions.Position) (at sessions.Position, heard []string, err error) {
		t.Helper()
		opened = 0
		m, n := Journals{far{files, &opened}}, 0
		m.List(t.Context(), func(c sessions.Conversation) bool {
			n++
			at, err = c.Read(t.Context(), &c, from, func(t sessions.Turn) error { heard = append(heard, t.Text); return nil })
			return true
		}, func(path string, err error) { t.Errorf("%s: %v", path, err) })
		if n != 1 || opened != 1 {
			t.Errorf("%d conversations, and %d logs were opened", n, opened)
		}
		return at, heard, err
	}
	hears := func(from sessions.Position, want ...string) sessions.Position {
		t.Helper()
		at, heard, err := read(from)
		if err != nil || !slices.Equal(heard, want) {
			t.Fatalf("heard %q, want %q; %v", heard, want, err)
		}
		return at
	}
	appends(said("a", "one"), said("b", "two"))
	two := hears(sessions.Position{}, "one", "two")
	appends(said("c", "three"))
	three := hears(two, "three")
	if at := hears(three); at != three {
		t.Errorf("nothing is new, and the position %+v becomes %+v", three, at)
	}
	for name, recs := range map[string][]store.Record{
		"one more":        {said("a", "one"), said("b", "TWO"), said("c", "three"), said("d", "four")},
		"as many":         {said("a", "one"), said("b", "TWO"), said("c", "three")},
		"less":            {said("a", "one"), said("b", "two")},
		"another is last": {said("a", "one"), said("b", "two"), said("c", "THREE")},
	} {
		replaces(recs...)
		if _, heard, err := read(three); !errors.Is(err, sessions.ErrRewritten) || len(heard) > 0 {
			t.Errorf("%s: heard %q, %v", name, heard, err)
		}
	}
	three.Sum = "" // as an earlier version wrote it
	replaces(said("a", "one"), said("b", "two"), said("c", "three"))
	if _, _, err := read(three); !errors.Is(err, sessions.ErrRewritten) {
		t.Errorf("without a sum: %v", err)
	}
}
