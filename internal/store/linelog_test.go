package store_test

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
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memkernel/memkernel/internal/atomicfile"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/internal/store/storetest"
	"github.com/memkernel/memkernel/internal/suite"
)

// testLog is a log that has read its records.
type testLog struct{ store.Log }

// openPath opens the log at a path. One behind memory: is kept in memory.
func openPath(path string, opt *store.LogOptions) (*testLog, error) {
	in, name := place(path)
	return openIn(in, name, opt)
}

func openIn(in store.Store, name string, opt *store.LogOptions) (*testLog, error) {
	if opt == nil {
		opt = &store.LogOptions{}
	}
	for try := 0; ; try++ {
		l, err := in.OpenLog(name, *opt)
		if err == nil {
			err = l.Read(func(store.Record) error { return nil })
		}
		if err == nil {
			return &testLog{l}, nil
		}
		if !store.ReplacedLog(err) || !opt.ReadOnly || try == 4 {
			return nil, err
		}
	}
}

// Rewrite replaces the records by those that edit keeps.
func (l *testLog) Rewrite(edit func(*store.Record) (bool, error)) error {
	old := l.Records()
	return l.Replace(func(yield func(store.Record, error) bool) {
		for r, err := range old {
			keep := err != nil
			if err == nil {
				keep, err = edit(&r)
			}
			if (keep || err != nil) && !yield(r, err) {
				return
			}
		}
	})
}

// place is the store of a file's folder, and the file's name in it.
func place(path string) (store.Disk, string) {
	dir, name := filepath.Split(path)
	if in, ok := strings.CutPrefix(dir, "memory:"); ok {
		return inMemory.In(in).(store.Disk), name
	}
	return store.Files(dir), name
}

var inMemory = storetest.New()

// memoryDir is a folder in memory for tests of what is above the disk.
func memoryDir(t *testing.T) string {
	t.Cleanup(func() { inMemory.Remove(store.Unsynced, t.Name()) })
	return "memory:" + t.Name()
}

// readPath is what is at a path, nothing if nothing does.
func readPath(path string) []byte {
	in, name := place(path)
	b, _ := in.Get(name)
	return b
}

// lay writes a log as it is after a crash: its bytes, and the newest head of those that were true
// by then. No marks: a log of before there were heads.
func lay(t *testing.T, path string, content []byte, marks ...store.HeadMark) {
	t.Helper()
	in, name := place(path)
	if _, err := in.Put(store.Unsynced, store.Doc{Name: name, Data: content}); err != nil {
		t.Fatal(err)
	}
	if err := store.LayHead(in, name, marks...); err != nil {
		t.Fatal(err)
	}
}

// upTo is the mark of what was synced when the file had n bytes.
func upTo(marks []store.HeadMark, n int) store.HeadMark {
	last := store.HeadMark{}
	for _, m := range marks {
		if m.Off <= int64(n) {
			last = m
		}
	}
	return last
}

func openTestJournal(t *testing.T, path string) *testLog {
	t.Helper()
	j, err := openPath(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func testRecord(i int) store.Record {
	return store.Record{Op: "ingest", ID: fmt.Sprint("k", i), Time: time.Unix(int64(i), 0).UTC(), Body: json.RawMessage(fmt.Sprintf(`{"text":"line\\n%d <é>"}`, i))}
}

func readAll(t *testing.T, j *testLog) (recs []store.Record) {
	t.Helper()
	for r, err := range j.Records() {
		if err != nil {
			t.Fatal(err)
		}
		recs = append(recs, r)
	}
	return recs
}

// reframe gives lines whose records were changed the lengths and sums that fit.
func reframe(t *testing.T, lines []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	var sum store.Chain
	for line := range bytes.Lines(lines) {
		_, rec, ok := bytes.Cut(bytes.TrimSpace(line), []byte(`"rec":`))
		if !ok {
			t.Fatalf("no line of ours: %s", line)
		}
		store.WriteLine(&b, &sum, rec[:len(rec)-1])
	}
	return b.Bytes()
}

func TestJournalRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s", "journal.jsonl")
	j := openTestJournal(t, path)
	if _, err := os.Stat(path); err == nil {
		t.Error("opening made the file")
	}
	want := []store.Record{testRecord(1), testRecord(2), {Op: "turn", ID: ""}}
	st, err := j.Append(true, want[:2]...)
	if err != nil || j.Len() != 2 || st.Syncs != 1 {
		t.Fatalf("append: %+v, %v", st, err)
	}
	if st, err = j.Append(false, want[2]); err != nil || st.Syncs != 0 {
		t.Fatalf("append: %+v, %v", st, err)
	}
	if diff := cmp.Diff(want, readAll(t, j)); diff != "" {
		t.Error(diff)
	}
	again := openTestJournal(t, path)
	if diff := cmp.Diff(want, readAll(t, again)); diff != "" || again.Len() != 3 || again.Torn() != 0 {
		t.Errorf("reopened: %d records, torn %d: %s", again.Len(), again.Torn(), diff)
	}
}

func TestJournalLineFormat(t *testing.T) {
	var b bytes.Buffer
	if err := store.EncodeRecord(&b, &store.Record{Op: "turn", ID: "a", Body: json.RawMessage("{\n \"x\": 1}")}, new(store.Chain)); err != nil {
		t.Fatal(err)
	}
	const want = `{"v":2,"n":37,"crc":"d62e46ba","sum":"d521c503811a025b","rec":{"op":"turn","id":"a","body":{"x":1}}}` + "\n"
	if b.String() != want {
		t.Errorf("line\n got %s want %s", b.String(), want)
	}
	if err := store.EncodeRecord(&b, &store.Record{Op: "turn", Body: json.RawMessage("{")}, new(store.Chain)); err == nil {
		t.Error("a body that is no JSON is accepted")
	}
}

// A journal that was killed at any byte of a write opens with the records whose lines
// are whole, and takes new ones.
func TestJournalCutAtEveryByte(t *testing.T) {
	dir := memoryDir(t)
	path := filepath.Join(dir, "journal.jsonl")
	j := openTestJournal(t, path)
	var ends []int
	marks := []store.HeadMark{{}}
	for i := range 4 {
		if _, err := j.Append(true, testRecord(i)); err != nil {
			t.Fatal(err)
		}
		ends = append(ends, int(j.Size()))
		marks = append(marks, store.MarkNow(j.Log))
	}
	whole := readPath(path)
	for cut := 0; cut <= len(whole); cut += suite.Pick(3, 1) {
		want := 0
		for _, e := range ends {
			if cut >= e-1 { // the line break alone may be missing
				want++
			}
		}
		p := filepath.Join(dir, "cut.jsonl")
		lay(t, p, whole[:cut], upTo(marks, cut))
		ro, err := openPath(p, &store.LogOptions{ReadOnly: true})
		if err != nil || ro.Len() != want {
			t.Fatalf("cut %d, read only: %v", cut, err)
		}
		if b := readPath(p); len(b) != cut {
			t.Fatalf("cut %d: a reader changed the file", cut)
		}
		c, err := openPath(p, nil)
		if err != nil || c.Len() != want {
			t.Fatalf("cut %d: %d records, want %d, %v", cut, c.Len(), want, err)
		}
		if _, err := c.Append(true, testRecord(9)); err != nil {
			t.Fatal(err)
		}
		again, err := openPath(p, nil)
		if err != nil || again.Len() != want+1 || again.Torn() != 0 {
			t.Fatalf("cut %d, after append: %d records, torn %d, %v", cut, again.Len(), again.Torn(), err)
		}
	}
}

func TestJournalDamage(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "journal.jsonl")
	j := openTestJournal(t, path)
	for i := range 3 {
		j.Append(true, testRecord(i))
	}
	good, _ := os.ReadFile(path)
	good = plain(t, good) // without a head, which would know that anything was changed
	lines := bytes.SplitAfter(good, []byte("\n"))[:3]
	join := func(ls ...[]byte) []byte { return bytes.Join(ls, nil) }
	flip := append([]byte{}, lines[1]...)
	flip[len(flip)-8] ^= 1
	newer := []byte(`{"v":3,"x":"y"}` + "\n")
	pretty := []byte(strings.Replace(string(lines[1]), `{"v":1,"n"`, `{ "v": 1, "n"`, 1))
	for _, tc := range []struct {
		name    string
		content []byte
		records int
		torn    bool
		damage  int // line
		newer   int // line
	}{
		{"flipped bit in the middle", join(lines[0], flip, lines[2]), 0, false, 2, 0},
		{"flipped bit at the end", join(lines[0], flip), 0, false, 2, 0},
		{"a line begun", join(lines[0], lines[1][:20]), 1, true, 0, 0},
		{"garbage lines at the end", join(lines[0], []byte("\x00\x00\n\x00"), []byte("\nxx\n")), 0, false, 2, 0},
		{"garbage in front", join([]byte("hello\n"), lines[0]), 0, false, 1, 0},
		{"newer line", join(lines[0], newer, lines[1]), 0, false, 0, 2},
		{"newer line at the end", join(lines[0], newer), 0, false, 0, 2},
		{"torn newer line", join(lines[0], []byte(`{"v":3,"x":"`)), 0, false, 0, 2},
		{"garbage before a newer line", join(lines[0], []byte("xx\n"), newer), 0, false, 2, 0},
		{"crlf", bytes.ReplaceAll(good, []byte("\n"), []byte("\r\n")), 3, false, 0, 0},
		{"blank lines", join(lines[0], []byte("\n\r\n"), lines[1], []byte("\n")), 2, false, 0, 0},
		{"byte order mark", join([]byte("\ufeff"), lines[0]), 1, false, 0, 0},
		{"spaces in the envelope", join(lines[0], pretty), 2, false, 0, 0},
		{"empty", nil, 0, false, 0, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := filepath.Join(t.TempDir(), "journal.jsonl")
			os.WriteFile(p, tc.content, 0o600)
			j, err := openPath(p, nil)
			var d *store.LogError
			switch {
			case tc.damage > 0:
				if !errors.As(err, &d) || d.Line != tc.damage || d.File != p || d.Hint == "" {
					t.Errorf("err = %v", err)
				}
			case tc.newer > 0:
				if !errors.Is(err, store.ErrNewer) || !strings.Contains(err.Error(), fmt.Sprintf("%s, line %d", p, tc.newer)) {
					t.Errorf("err = %v", err)
				}
			case err != nil:
				t.Fatal(err)
			case j.Len() != tc.records || (j.Torn() > 0) != tc.torn:
				t.Errorf("%d records, torn %d", j.Len(), j.Torn())
			}
			if err != nil {
				if b, _ := os.ReadFile(p); !bytes.Equal(b, tc.content) {
					t.Error("a refused file was changed")
				}
				return
			}
			if _, err := j.Append(true, testRecord(7)); err != nil {
				t.Fatal(err)
			}
			if again := openTestJournal(t, p); again.Len() != tc.records+1 {
				t.Errorf("%d records after append", again.Len())
			}
		})
	}
}

func TestJournalPoisonedUntilReopened(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	j := openTestJournal(t, path)
	j.Append(true, testRecord(1))
	restore := atomicfile.SetHook(func(string, string) error { return &atomicfile.PartialWrite{N: 9, Err: syscall.EIO} })
	_, err := j.Append(true, testRecord(2))
	restore()
	if !errors.Is(err, syscall.EIO) {
		t.Errorf("err = %v", err)
	}
	if _, err := j.Append(true, testRecord(3)); err == nil {
		t.Error("append after an unknown state")
	}
	again := openTestJournal(t, path)
	if _, err := again.Append(true, testRecord(3)); err != nil || again.Len() != 2 {
		t.Errorf("%d records, %v", again.Len(), err)
	}
}

func TestJournalReadOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	j, err := openPath(path, &store.LogOptions{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := j.Append(false, testRecord(1)); err == nil {
		t.Error("append to a read-only journal")
	}
	if n := len(readAll(t, j)); n != 0 {
		t.Error(n)
	}
}

func TestJournalLongLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	j := openTestJournal(t, path)
	body, _ := json.Marshal(strings.Repeat("0123456789 é", 900_000))
	if _, err := j.Append(true, store.Record{Op: "x", ID: "1", Body: body}, testRecord(1)); err != nil {
		t.Fatal(err)
	}
	again := openTestJournal(t, path)
	recs := readAll(t, again)
	if len(recs) != 2 || !bytes.Equal(recs[0].Body, body) {
		t.Errorf("%d records", len(recs))
	}
}
