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

	"github.com/memkernel/memkernel/internal/store"
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

func testRecord(i int) store.Record {
	return store.Record{Op: "ingest", ID: fmt.Sprint("k", i), Time: time.Unix(int64(i), 0).UTC(), Body: json.RawMessage(fmt.Sprintf(`{"text":"line\\n%d <é>"}`, i))}
}

func readAll(t *testing.T, j *Journal) (recs []store.Record) {
	t.Helper()
	for r, err := range j.Records() {
		if err != nil {
			t.Fatal(err)
		}
		recs = append(recs, r)
	}
	return recs
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
		failed, lag = true, hasHead(path)
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

func TestTwoProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	a, b := openTestJournal(t, path), openTestJournal(t, path)
	a.Append(true, testRecord(1))
	recs, err := b.Refresh()
	if diff := cmp.Diff([]store.Record{testRecord(1)}, recs); diff != "" || err != nil {
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
	var d *store.LogError
	if _, err := b.Refresh(); !errors.As(err, &d) {
		t.Errorf("shortened file: %v", err)
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
