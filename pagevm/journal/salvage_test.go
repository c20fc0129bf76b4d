package journal

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/internal/store"
)

// A journal damaged anywhere is salvaged: what it holds then opens, every line that
// was not touched is in it but for what built on a lost one, and the damaged bytes
// are beside it.
func TestSalvage(t *testing.T) {
	rules := testRules(t)
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	j := openTestJournal(t, path)
	for _, x := range crashScript() {
		j.Append(true, store.Record{Op: "ingest", ID: "page of " + x.Key, Body: []byte(`{"pages":[]}`)})
		mustWriteback(t, j, rules, x)
	}
	whole, _ := os.ReadFile(path)
	head, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "journal.head"))
	r := rand.New(rand.NewPCG(7, 7))
	for n := range 300 {
		bad := bytes.Clone(whole)
		what := ""
		switch at := r.IntN(len(bad)); n % 4 {
		case 0:
			bad[at] ^= 1 << r.IntN(8)
			what = fmt.Sprint("flip at ", at)
		case 1:
			to := min(len(bad), at+1+r.IntN(200))
			clear(bad[at:to])
			what = fmt.Sprint("zeroed ", at, " to ", to)
		case 2:
			bad = bad[:at]
			what = fmt.Sprint("cut at ", at)
		case 3:
			lines := bytes.SplitAfter(bad, []byte("\n"))
			gone := r.IntN(len(lines) - 1)
			bad = bytes.Join(append(lines[:gone:gone], lines[gone+1:]...), nil)
			what = fmt.Sprint("line gone ", gone+1)
		}
		p := filepath.Join(t.TempDir(), "journal.jsonl")
		os.WriteFile(p, bad, 0o600)
		os.WriteFile(filepath.Join(filepath.Dir(p), "journal.head"), head, 0o600)
		if _, err := openPath(p, nil); err == nil {
			t.Fatalf("%s: it opens", what)
		}
		s, err := Recover(context.Background(), store.Files(filepath.Dir(p)), "journal.jsonl")
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if s.Sound() {
			t.Fatalf("%s: it is called sound", what)
		}
		if now, _ := os.ReadFile(p); !bytes.Equal(now, bad) {
			t.Fatalf("%s: looking changed the file", what)
		}
		aside, err := s.Apply()
		if err != nil || len(aside) == 0 {
			t.Fatalf("%s: %v", what, err)
		}
		if kept, _ := os.ReadFile(aside[0]); !bytes.Equal(kept, bad) {
			t.Fatalf("%s: the damaged bytes are gone", what)
		}
		again := openTestJournal(t, p)
		want := 0
		for _, line := range bytes.SplitAfter(whole, []byte("\n")) {
			if bytes.Contains(line, []byte("page of ")) && (bytes.HasPrefix(bad, line) || bytes.Contains(bad, append([]byte("\n"), line...))) {
				want++
			}
		}
		if n := strings.Count(fmt.Sprint(readAll(t, again)), "page of "); n < want {
			t.Fatalf("%s: %d pages are left of %d that were not touched, lost: %+v", what, n, want, s.Lost)
		}
		// What is delivered again is taken.
		for _, x := range crashScript() {
			if _, err := again.Writeback(x, rules); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
		}
		if s, err := Recover(context.Background(), store.Files(filepath.Dir(p)), "journal.jsonl"); err != nil || !s.Sound() {
			t.Fatalf("%s: salvaged twice: %v, %+v", what, err, s)
		}
	}
}

// The last value that was written is kept, though the one that it was made
// from is lost; and a line that is lost is named by what it was.
func TestSalvageKeepsTheNewest(t *testing.T) {
	rules := testRules(t)
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	j := openTestJournal(t, path)
	for i, v := range []string{`"first"`, `"second"`, `"third"`} {
		mustWriteback(t, j, rules, tx(fmt.Sprint("tx", i), set("state", v, i)))
	}
	whole, _ := os.ReadFile(path)
	bad := bytes.Replace(whole, []byte(`second`), []byte(`sXcond`), 1)
	os.WriteFile(path, bad, 0o600)
	s, err := Recover(context.Background(), store.Files(filepath.Dir(path)), "journal.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Lost) == 0 || s.Lost[0].About != "staged tx1" || s.Lost[0].Line != 4 {
		t.Errorf("lost: %+v", s.Lost)
	}
	if _, err := s.Apply(); err != nil {
		t.Fatal(err)
	}
	values := valuesOf(openTestJournal(t, path).Store())["session/A/k/state/"]
	if len(values) != 2 || !strings.Contains(values[1], "third") {
		t.Errorf("%q", values)
	}
}
