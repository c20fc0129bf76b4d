package store

import (
	"fmt"
	"strings"
	"testing"
)

// SetMostOpen bounds the journals' files that are open, until the function it returns is called.
func SetMostOpen(n int) (back func()) {
	was := mostOpen
	mostOpen = n
	return func() { mostOpen = was }
}

// TestOpenFiles: of many journals a few files are open. A journal whose file was shut goes on in the
// same file, and notices another one in its place, even one of the same number and size.
func TestOpenFiles(t *testing.T) {
	defer SetMostOpen(8)()
	s := Files(t.TempDir())
	var all []Journal
	line := strings.Repeat("x", 100)
	for i := range 40 {
		j := s.Journal(fmt.Sprint("j", i))
		all = append(all, j)
		if _, err := j.Append(0, []byte(line), i%2 == 0); err != nil {
			t.Fatal(err)
		}
		if n := len(opened.all); n > 8 {
			t.Fatalf("%d files are open", n)
		}
	}
	other := func(i int, off int64, text string) {
		j := s.Journal(fmt.Sprint("j", i))
		defer j.Close()
		if _, err := j.Append(off, []byte(text), false); err != nil {
			t.Fatal(err)
		}
	}
	for i, j := range all[:20] {
		switch i % 4 {
		case 1:
			if _, err := s.Put(Unsynced, Doc{Name: fmt.Sprint("j", i), Data: []byte(line)}); err != nil {
				t.Fatal(err)
			}
		case 2: // the next file may get its number
			if _, err := s.Remove(Unsynced, fmt.Sprint("j", i)); err != nil {
				t.Fatal(err)
			}
			other(i, 0, line[1:]+"y")
		case 3: // somebody else appends
			other(i, 100, line)
		}
		size, err := j.Size()
		if is, cerr := j.Current(); err != nil || cerr != nil || is != (i%4 == 0 || i%4 == 3) {
			t.Errorf("journal %d: current %v, %v, %v", i, is, err, cerr)
		}
		if _, err := j.Append(size, []byte("more"), true); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Get(fmt.Sprint("j", i)); err != nil || int64(len(got)) != size+4 || !strings.HasSuffix(string(got), "more") {
			t.Errorf("journal %d: %q, %v", i, got, err)
		}
	}
	for _, j := range all {
		j.Close()
	}
	if n := len(opened.all); n != 0 {
		t.Errorf("%d files are open after all were closed", n)
	}
}
