package journal

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
	"github.com/memkernel/memkernel/internal/suite"
)

func openTestJournal(t *testing.T, path string) *Journal {
	t.Helper()
	j, err := openPath(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j
}

func testRecord(i int) Record {
	return Record{Op: "ingest", ID: fmt.Sprint("k", i), Time: time.Unix(int64(i), 0).UTC(), Body: json.RawMessage(fmt.Sprintf(`{"text":"line\\n%d <é>"}`, i))}
}

func readAll(t *testing.T, j *Journal) (recs []Record) {
	t.Helper()
	for r, err := range j.Records() {
		if err != nil {
			t.Fatal(err)
		}
		recs = append(recs, r)
	}
	return recs
}

func TestJournalRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s", "journal.jsonl")
	j := openTestJournal(t, path)
	if _, err := os.Stat(path); err == nil {
		t.Error("opening made the file")
	}
	want := []Record{testRecord(1), testRecord(2), {Op: "turn", ID: ""}}
	st, err := j.Append(true, want[:2]...)
	if err != nil || st.Records != 2 || st.Syncs != 1 {
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
	if err := encodeRecord(&b, &Record{Op: "turn", ID: "a", Body: json.RawMessage("{\n \"x\": 1}")}, new(chain)); err != nil {
		t.Fatal(err)
	}
	const want = `{"v":2,"n":37,"crc":"d62e46ba","sum":"d521c503811a025b","rec":{"op":"turn","id":"a","body":{"x":1}}}` + "\n"
	if b.String() != want {
		t.Errorf("line\n got %s want %s", b.String(), want)
	}
	if err := encodeRecord(&b, &Record{Op: "turn", Body: json.RawMessage("{")}, nil); err == nil {
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
	marks := []headMark{{}}
	for i := range 4 {
		if _, err := j.Append(true, testRecord(i)); err != nil {
			t.Fatal(err)
		}
		ends = append(ends, int(j.off))
		marks = append(marks, j.markNow())
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
		ro, err := openPath(p, &Options{ReadOnly: true})
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
		c.Close()
		again, err := openPath(p, nil)
		if err != nil || again.Len() != want+1 || again.Torn() != 0 {
			t.Fatalf("cut %d, after append: %d records, torn %d, %v", cut, again.Len(), again.Torn(), err)
		}
		again.Close()
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
			var d *DamageError
			switch {
			case tc.damage > 0:
				if !errors.As(err, &d) || d.Line != tc.damage || d.File != p || d.Hint == "" {
					t.Errorf("err = %v", err)
				}
			case tc.newer > 0:
				if !errors.Is(err, ErrNewer) || !strings.Contains(err.Error(), fmt.Sprintf("%s, line %d", p, tc.newer)) {
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
			j.Close()
			if again := openTestJournal(t, p); again.Len() != tc.records+1 {
				t.Errorf("%d records after append", again.Len())
			}
		})
	}
}

func TestCommitIsIdempotent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	j := openTestJournal(t, path)
	tx := Tx{Key: "turn 1", Time: time.Unix(1, 0).UTC(), Body: json.RawMessage(`{"a": 1}`)}
	for _, step := range []struct {
		name string
		j    *Journal
		tx   Tx
		want Outcome
	}{
		{"first", j, tx, Committed},
		{"again", j, tx, Duplicate},
		{"other white space", j, Tx{Key: tx.Key, Body: json.RawMessage(`{"a":1}`)}, Duplicate},
		{"other content", j, Tx{Key: tx.Key, Body: json.RawMessage(`{"a":2}`)}, Conflict},
		{"reopened", openTestJournal(t, path), tx, Duplicate},
		{"other key", j, Tx{Key: "turn 2", Body: tx.Body}, Committed},
	} {
		before, _ := os.ReadFile(path)
		got, err := step.j.Commit(step.tx)
		if err != nil || got != step.want {
			t.Errorf("%s: %s, %v", step.name, got, err)
		}
		if after, _ := os.ReadFile(path); step.want != Committed && !bytes.Equal(before, after) {
			t.Errorf("%s: the journal grew", step.name)
		}
	}
	var ops []string
	for _, r := range readAll(t, j) {
		ops = append(ops, r.Op+" "+r.ID)
	}
	want := []string{"staged turn 1", "validated turn 1", "committed turn 1", "staged turn 2", "validated turn 2", "committed turn 2"}
	if diff := cmp.Diff(want, ops); diff != "" {
		t.Error(diff)
	}
	if _, err := j.Commit(Tx{Key: "x", Body: json.RawMessage("{")}); err == nil {
		t.Error("broken body is accepted")
	}
	if _, err := j.Commit(Tx{}); err == nil {
		t.Error("missing key is accepted")
	}
}

func TestCommitRejects(t *testing.T) {
	j := openTestJournal(t, filepath.Join(t.TempDir(), "journal.jsonl"))
	refuse := func(json.RawMessage) error { return &RejectionError{"SCOPE_DENIED", "not yours"} }
	if got, err := j.Commit(Tx{Key: "a", Body: json.RawMessage("1"), Check: refuse}); got != Refused || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	if got, err := j.Commit(Tx{Key: "a", Body: json.RawMessage("1"), Check: func(json.RawMessage) error { return errors.New("no disk") }}); got != "" || err == nil {
		t.Errorf("failed check: %s, %v", got, err)
	}
	// What was refused may come again and be accepted.
	if got, err := j.Commit(Tx{Key: "a", Body: json.RawMessage("1"), Rejected: []Rejection{{ID: "f", Code: "SCHEMA_INVALID"}}}); got != Committed || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	var got []string
	for _, r := range readAll(t, j) {
		var b Rejection
		json.Unmarshal(r.Body, &b)
		got = append(got, strings.TrimSpace(r.Op+" "+b.Code))
	}
	want := []string{"staged", "rejected SCOPE_DENIED", "staged", "rejected SCHEMA_INVALID", "validated", "committed"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	n := 0
	for tx, err := range j.Transactions() {
		if err != nil || tx.ID != "a" || string(tx.Body) != "1" {
			t.Errorf("transaction %+v, %v", tx, err)
		}
		n++
	}
	if n != 1 {
		t.Errorf("%d transactions", n)
	}
}

// A commit that a crash cut anywhere is there whole or not at all, and can be
// delivered again.
func TestCommitCutAtEveryByte(t *testing.T) {
	dir := memoryDir(t)
	path := filepath.Join(dir, "a.jsonl")
	j := openTestJournal(t, path)
	tx := Tx{Key: "k", Body: json.RawMessage(`{"x":"y"}`)}
	if _, err := j.Commit(tx); err != nil {
		t.Fatal(err)
	}
	whole := readPath(path)
	for cut := range len(whole) {
		p := filepath.Join(dir, "b.jsonl")
		lay(t, p, whole[:cut], headMark{})
		c := openTestJournal(t, p)
		want := Committed
		if cut == len(whole)-1 {
			want = Duplicate
		}
		if got, err := c.Commit(tx); got != want || err != nil {
			t.Fatalf("cut %d: %s, %v", cut, got, err)
		}
		n := 0
		for range c.Transactions() {
			n++
		}
		if n != 1 {
			t.Fatalf("cut %d: %d transactions", cut, n)
		}
	}
}

// Every file operation fails once: the journal then holds what was
// acknowledged and nothing else, and the same commit succeeds later.
func TestJournalFailEveryOperation(t *testing.T) {
	for _, n := range []int{0, 5, 200} {
		for op := 0; ; op++ {
			path := filepath.Join(t.TempDir(), "s", "journal.jsonl")
			if !failedCommit(t, path, op, n) {
				break
			}
		}
	}
}

func failedCommit(t *testing.T, path string, fail, partial int) (failed bool) {
	t.Helper()
	j := openTestJournal(t, path)
	i := 0
	lag := false
	restore := atomicfile.SetHook(func(op, path string) error {
		if i++; i-1 != fail {
			return nil
		}
		failed, lag = true, j.head != nil && strings.HasSuffix(path, ".head")
		return &atomicfile.PartialWrite{N: partial, Err: syscall.ENOSPC}
	})
	defer restore()
	var acked []string
	for k := range 3 {
		key := fmt.Sprint("k", k)
		out, err := j.Commit(Tx{Key: key, Body: json.RawMessage("1")})
		if err == nil && out == Committed {
			acked = append(acked, key)
		}
	}
	restore()
	again := openTestJournal(t, path)
	var have []string
	for tx, err := range again.Transactions() {
		if err != nil {
			t.Fatal(err)
		}
		have = append(have, tx.ID)
	}
	if diff := cmp.Diff(acked, have); diff != "" || failed != (len(acked) < 3) && !lag {
		t.Errorf("op %d failed %v: %s", fail, failed, diff)
	}
	for k := range 3 {
		if out, err := again.Commit(Tx{Key: fmt.Sprint("k", k), Body: json.RawMessage("1")}); err != nil || out == Conflict {
			t.Errorf("op %d: later: %s, %v", fail, out, err)
		}
	}
	return failed
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

func TestTwoProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	a, b := openTestJournal(t, path), openTestJournal(t, path)
	a.Append(true, testRecord(1))
	recs, err := b.Refresh()
	if diff := cmp.Diff([]Record{testRecord(1)}, recs); diff != "" || err != nil {
		t.Errorf("refresh: %v %s", err, diff)
	}
	if out, _ := a.Commit(Tx{Key: "k", Body: json.RawMessage("1")}); out != Committed {
		t.Error(out)
	}
	if out, err := b.Commit(Tx{Key: "k", Body: json.RawMessage("2")}); out != Conflict || err != nil {
		t.Errorf("%s, %v", out, err)
	}
	if _, err := b.Append(true, testRecord(2)); err != nil {
		t.Error(err)
	}
	// The other process is killed in the middle of a write.
	f, _ := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	f.WriteString(`{"v":1,"n":3`)
	f.Close()
	if recs, err := a.Refresh(); len(recs) != 1 || err != nil || a.Torn() == 0 {
		t.Errorf("%d records, torn %d, %v", len(recs), a.Torn(), err)
	}
	if _, err := a.Append(true, testRecord(3)); err != nil {
		t.Error(err)
	}
	if got := len(readAll(t, openTestJournal(t, path))); got != 6 {
		t.Errorf("%d records", got)
	}
	os.Truncate(path, 10)
	var d *DamageError
	if _, err := b.Refresh(); !errors.As(err, &d) {
		t.Errorf("shortened file: %v", err)
	}
}

func TestJournalReadOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	j, err := openPath(path, &Options{ReadOnly: true})
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
	if _, err := j.Append(true, Record{Op: "x", ID: "1", Body: body}, testRecord(1)); err != nil {
		t.Fatal(err)
	}
	again := openTestJournal(t, path)
	recs := readAll(t, again)
	if len(recs) != 2 || !bytes.Equal(recs[0].Body, body) {
		t.Errorf("%d records", len(recs))
	}
}

func TestAppendWritesOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	j := openTestJournal(t, path)
	var ops []string
	t.Cleanup(atomicfile.SetHook(func(op, _ string) error { ops = append(ops, op); return nil }))
	j.Append(true, testRecord(1))
	j.Commit(Tx{Key: "k", Body: json.RawMessage("1")})
	// The journal, its head, and twice a line and then how far it goes.
	want := []string{"create", "syncdir", "create", "write", "sync", "rename", "syncdir", "write", "sync", "write", "write", "sync", "write"}
	if diff := cmp.Diff(want, ops); diff != "" {
		t.Error(diff)
	}
}
