package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/memkernel/memkernel/internal/atomicfile"
)

var testHeader = TraceHeader{Program: "v1", Deciders: map[string]int{"dice": 1}}

// note appends a line and reports whether it can't go on from this value's last line.
func (t *Trace) note(id string) (fresh bool, err error) {
	fresh, err = t.Begin()
	if err != nil {
		return fresh, err
	}
	return fresh, t.Append(Record{Op: "plan", ID: id, Body: json.RawMessage(`{"x":1}`)})
}

func mustNote(t *testing.T, tr *Trace, id string, fresh bool) {
	t.Helper()
	if got, err := tr.note(id); err != nil || got != fresh {
		t.Fatalf("note %s: fresh %v, want %v; %v", id, got, fresh, err)
	}
}

// notes reads the ids of a trace.
func notes(t *testing.T, path string) (ids string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := ReadTrace(path, f)
	if err != nil {
		t.Fatal(err)
	}
	n := 1
	for l, err := range r.Lines() {
		if n++; err != nil || l.Line != n {
			t.Fatalf("line %d, want %d: %v", l.Line, n, err)
		}
		ids += l.ID
	}
	return ids
}

func traceBefore(path string) string { return strings.TrimSuffix(path, ".jsonl") + ".1.jsonl" }

func newTestTrace(t *testing.T) (*Trace, string) {
	path := filepath.Join(t.TempDir(), "s", "trace.jsonl")
	tr := traceAt(path, testHeader, 1<<20)
	return tr, path
}

// What is appended is read; a trace that is opened again reports that what comes must
// stand by itself, and so does one that another process has put aside.
func TestTraceAppends(t *testing.T) {
	tr, path := newTestTrace(t)
	mustNote(t, tr, "a", true)
	mustNote(t, tr, "b", false)
	other := traceAt(path, testHeader, 1<<20)
	mustNote(t, other, "c", true)
	mustNote(t, tr, "d", true)
	mustNote(t, tr, "e", false)
	if got := notes(t, path); got != "abcde" {
		t.Errorf("read %q", got)
	}
	newer := traceAt(path, TraceHeader{Program: "v2"}, 1<<20)
	mustNote(t, newer, "f", true)
	mustNote(t, tr, "g", true)
	if got, old := notes(t, path), notes(t, traceBefore(path)); got != "g" || old != "f" {
		t.Errorf("read %q and %q", got, old)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	mustNote(t, tr, "h", true)
	if got := notes(t, path); got != "h" {
		t.Errorf("read %q", got)
	}
}

// A line that follows another writer's must be complete by itself. A torn line of another writer is
// cut off.
func TestTraceOfSeveral(t *testing.T) {
	tr, path := newTestTrace(t)
	mustNote(t, tr, "a", true)
	if _, err := traceAt(path, testHeader, 1<<20).note("b"); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	line := bytes.SplitAfter(whole, []byte("\n"))[2]
	for name, tc := range map[string]struct {
		behind []byte
		ids    string
		fresh  bool
	}{
		"none":                    {nil, "aef", false},
		"one":                     {line, "abef", true},
		"a torn one":              {line[:9], "aef", true},
		"torn behind a whole one": {append(line[:len(line):len(line)], line[:9]...), "abef", true},
	} {
		path := filepath.Join(t.TempDir(), "trace.jsonl")
		tr := traceAt(path, testHeader, 1<<20)
		mustNote(t, tr, "a", true)
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err == nil {
			_, err = f.Write(tc.behind)
		}
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		if fresh, err := tr.note("e"); err != nil || fresh != tc.fresh {
			t.Errorf("%s: fresh %v, %v; want %v", name, fresh, err, tc.fresh)
		}
		mustNote(t, tr, "f", false)
		if got := notes(t, path); got != tc.ids {
			t.Errorf("%s: the trace has the lines %s, want %s", name, got, tc.ids)
		}
	}
}

// A trace cut at any byte, as a torn write leaves it, keeps its whole lines and can
// be appended to.
func TestTraceCutAtEveryByte(t *testing.T) {
	tr, path := newTestTrace(t)
	for _, id := range []string{"a", "b", "c"} {
		if _, err := tr.note(id); err != nil {
			t.Fatal(err)
		}
	}
	whole, _ := os.ReadFile(path)
	for cut := range len(whole) + 1 {
		dir := t.TempDir()
		path := filepath.Join(dir, "trace.jsonl")
		os.WriteFile(path, whole[:cut], 0o600)
		want := ""
		if lines := bytes.Count(whole[:cut], []byte("\n")); lines > 0 {
			want = "abc"[:lines-1]
		}
		if want != "" {
			got := notes(t, path)
			if cut == len(whole) || whole[cut] != '\n' { // else the last line only lacks its break
				if got != want {
					t.Fatalf("cut at %d: read %q, want %q", cut, got, want)
				}
			}
		}
		again := traceAt(path, testHeader, 1<<20)
		mustNote(t, again, "d", true)
		if got := notes(t, path); got != want+"d" {
			t.Fatalf("cut at %d: read %q, want %q", cut, got, want+"d")
		}
	}
}

// Long lines, and tails without any line break, are found from the end.
func TestWholeLines(t *testing.T) {
	line := func(n int) string {
		var b bytes.Buffer
		encodeRecord(&b, &Record{Op: "plan", ID: strings.Repeat("x", n)}, nil)
		return b.String()
	}
	for _, n := range []int{1, tailStep - 60, tailStep, 3 * tailStep} {
		for _, torn := range []string{"", "x", strings.Repeat("y", 2*tailStep), line(9)[:20], "\x00\x00\n\x00\n", "\n\n"} {
			head := line(5) + line(n)
			text := head + torn
			if end, err := wholeLines(strings.NewReader(text), int64(len(text))); err != nil || end != int64(len(head)) {
				t.Errorf("a line of %d and %d bytes behind: ends at %d, want %d; %v", n, len(torn), end, len(head), err)
			}
		}
	}
	if end, err := wholeLines(strings.NewReader("nothing\nof ours\n"), 16); end != 0 || err != nil {
		t.Errorf("no line: %d, %v", end, err)
	}
}

// Every write operation fails once, fully or after a few bytes: what was written
// before is kept, and the next line stands by itself behind it.
func TestTraceFailEveryOperation(t *testing.T) {
	for _, partial := range []int{0, 7} {
		for op, failed := 1, true; failed; op++ {
			failed = false
			path := filepath.Join(t.TempDir(), "s", "trace.jsonl")
			tr := traceAt(path, testHeader, 1)
			n, want := 0, 0
			restore := atomicfile.SetHook(func(string, string) error {
				if n++; n != op {
					return nil
				}
				failed = true
				return &atomicfile.PartialWrite{N: partial, Err: syscall.ENOSPC}
			})
			bad := false
			for i := range 9 {
				fresh, err := tr.note(fmt.Sprint(i))
				if bad && (err != nil || !fresh) {
					t.Fatalf("operation %d: behind the failure fresh is %v, %v", op, fresh, err)
				}
				if bad = err != nil; !bad {
					want++
				}
			}
			restore()
			got := notes(t, path)
			if _, err := os.Stat(traceBefore(path)); err == nil {
				got = notes(t, traceBefore(path)) + got
			}
			if failed && want != 8 || !failed && want != 9 || len(got) < want-5 || !strings.HasSuffix("012345678", got) && want == 9 {
				t.Fatalf("operation %d: %d lines were written, %q are there", op, want, got)
			}
		}
	}
}

// Damage in front of a whole line is an error with file and line, also if its last
// line is torn.
func TestTraceDamage(t *testing.T) {
	tr, path := newTestTrace(t)
	for _, id := range []string{"a", "b", "c"} {
		if _, err := tr.note(id); err != nil {
			t.Fatal(err)
		}
	}
	whole, _ := os.ReadFile(path)
	at := bytes.Index(whole, []byte(`"id":"b"`))
	whole[at+6] = 'z'
	for _, text := range [][]byte{whole, whole[:len(whole)-9], append(whole[:len(whole):len(whole)], "torn"...)} {
		r, err := ReadTrace("t.jsonl", bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		ids, failure := "", error(nil)
		for l, err := range r.Lines() {
			ids, failure = ids+l.ID, err
		}
		var d *LogError
		damaged := errors.As(failure, &d) && d.Line == 3 && d.File == "t.jsonl"
		if torn := len(text) == len(whole)-9; ids != "a" || damaged == torn {
			t.Errorf("read %q, %v", ids, failure)
		}
	}
}

func traceAt(path string, h TraceHeader, max int64) *Trace {
	dir, name := filepath.Split(path)
	return NewTrace(Files(dir), name, h, max)
}
