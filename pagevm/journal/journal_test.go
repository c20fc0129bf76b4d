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

func TestWritebackIsIdempotent(t *testing.T) {
	path, r := filepath.Join(t.TempDir(), "journal.jsonl"), testRules(t)
	j := openTestJournal(t, path)
	line := func(key, value string) Transaction { return tx(key, note("lines", OpAppend, value)) }
	first := line("turn 1", `[{"id":"1","value":"a"}]`)
	for _, step := range []struct {
		name string
		j    *Journal
		tx   Transaction
		want Outcome
	}{
		{"first", j, first, Committed},
		{"again", j, first, Duplicate},
		{"other white space", j, line("turn 1", `[{"id": "1", "value": "a"}]`), Duplicate},
		{"other content", j, line("turn 1", `[{"id":"1","value":"b"}]`), Conflict},
		{"reopened", openTestJournal(t, path), first, Duplicate},
		{"other key", j, line("turn 2", `[{"id":"1","value":"a"}]`), Committed},
	} {
		before, _ := os.ReadFile(path)
		if got := mustWriteback(t, step.j, r, step.tx); got.Outcome != step.want {
			t.Errorf("%s: %+v", step.name, got)
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
}

// What was refused may come again and be accepted, in part or whole.
func TestWritebackRejects(t *testing.T) {
	j, r := openTestJournal(t, filepath.Join(t.TempDir(), "journal.jsonl")), testRules(t)
	denied := tx("a", with(set("state", `"s"`, 0), func(u *Update) { u.Session = "B" }))
	if got := mustWriteback(t, j, r, denied); got.Outcome != refused {
		t.Errorf("%+v", got)
	}
	if got := mustWriteback(t, j, r, tx("a", set("colour", `"f"`, 0), set("state", `"s"`, 0))); got.Outcome != Committed {
		t.Errorf("%+v", got)
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
	if s := j.Store(); s.Seq() != 1 || len(s.Pages("A")) != 1 {
		t.Errorf("%d commits, %+v", s.Seq(), s.Pages("A"))
	}
}

// A commit that a crash cut anywhere is there whole or not at all, and can be
// delivered again.
func TestCommitCutAtEveryByte(t *testing.T) {
	dir, r := memoryDir(t), testRules(t)
	path := filepath.Join(dir, "a.jsonl")
	x := tx("k", set("state", `"y"`, 0))
	mustWriteback(t, openTestJournal(t, path), r, x)
	whole := readPath(path)
	for cut := range len(whole) {
		p := filepath.Join(dir, "b.jsonl")
		lay(t, p, whole[:cut], headMark{})
		c := openTestJournal(t, p)
		want := Committed
		if cut == len(whole)-1 {
			want = Duplicate
		}
		if got := mustWriteback(t, c, r, x); got.Outcome != want {
			t.Fatalf("cut %d: %+v", cut, got)
		}
		if again := openTestJournal(t, p).Store(); again.Seq() != 1 || len(again.Pages("A")) != 1 {
			t.Fatalf("cut %d: %d transactions", cut, again.Seq())
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
	j, r := openTestJournal(t, path), testRules(t)
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
	line := func(k int) Transaction {
		return tx(fmt.Sprint("k", k), note("lines", OpAppend, fmt.Sprintf(`[{"id":"%d","value":"v"}]`, k)))
	}
	var acked []string
	for k := range 3 {
		if out, err := j.Writeback(line(k), r); err == nil && out.Outcome == Committed {
			acked = append(acked, fmt.Sprint(k))
		}
	}
	restore()
	again := openTestJournal(t, path)
	var have []string
	for _, e := range again.Store().Entries(Address{"session", "A", "k"}, "lines", 0) {
		have = append(have, e.ID)
	}
	if diff := cmp.Diff(acked, have); diff != "" || failed != (len(acked) < 3) && !lag {
		t.Errorf("op %d failed %v: %s", fail, failed, diff)
	}
	for k := range 3 {
		if out, err := again.Writeback(line(k), r); err != nil || out.Outcome == Conflict {
			t.Errorf("op %d: later: %+v, %v", fail, out, err)
		}
	}
	return failed
}

func TestTwoProcesses(t *testing.T) {
	path, r := filepath.Join(t.TempDir(), "journal.jsonl"), testRules(t)
	a, b := openTestJournal(t, path), openTestJournal(t, path)
	a.Append(true, testRecord(1))
	recs, err := refreshed(b)
	if diff := cmp.Diff([]store.Record{testRecord(1)}, recs); diff != "" || err != nil {
		t.Errorf("refresh: %v %s", err, diff)
	}
	if out := mustWriteback(t, a, r, tx("k", set("state", `"1"`, 0))); out.Outcome != Committed {
		t.Errorf("%+v", out)
	}
	if out := mustWriteback(t, b, r, tx("k", set("state", `"2"`, 0))); out.Outcome != Conflict {
		t.Errorf("%+v", out)
	}
	if _, err := b.Append(true, testRecord(2)); err != nil {
		t.Error(err)
	}
	// The other process is killed in the middle of a write.
	f, _ := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	f.WriteString(`{"v":1,"n":3`)
	f.Close()
	if recs, err := refreshed(a); len(recs) != 1 || err != nil || a.Torn() == 0 {
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
	if _, err := refreshed(b); !errors.As(err, &d) {
		t.Errorf("shortened file: %v", err)
	}
}

func TestAppendWritesOnce(t *testing.T) {
	path, r := filepath.Join(t.TempDir(), "journal.jsonl"), testRules(t)
	j := openTestJournal(t, path)
	var ops []string
	t.Cleanup(atomicfile.SetHook(func(op, _ string) error { ops = append(ops, op); return nil }))
	j.Append(true, testRecord(1))
	mustWriteback(t, j, r, tx("k", set("state", `"1"`, 0)))
	// The journal, its head, and twice a line and then how far it goes.
	want := []string{"create", "syncdir", "create", "write", "sync", "rename", "syncdir", "write", "sync", "write", "write", "sync", "write"}
	if diff := cmp.Diff(want, ops); diff != "" {
		t.Error(diff)
	}
}
