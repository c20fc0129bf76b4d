package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/memkernel/memkernel/internal/store"
)

// A compaction leaves the state, the idempotency, the rejections and everything
// that is not a writeback; the second one changes no byte.
func TestCompact(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	j, r := openTestJournal(t, path), testRules(t)
	j.Append(true, testRecord(1))
	// A unit that is no writeback stays.
	if _, err := j.append(true, func() (recs []store.Record, err error) {
		for _, op := range []string{OpStaged, opValidated, OpCommitted} {
			recs = append(recs, store.Record{Op: op, ID: "turn", Body: json.RawMessage(`{"a":1}`)})
		}
		return recs, nil
	}); err != nil {
		t.Fatal(err)
	}
	for i := range 50 {
		mustWriteback(t, j, r, tx(fmt.Sprint("t", i), set("state", fmt.Sprintf(`"%d"`, i), i), set("state", `"stale"`, 0)))
	}
	mustWriteback(t, j, r, tx("refused", set("colour", `"red"`, 0)))
	j.Append(true, testRecord(2))
	before, rejected := snapshotOf(t, j), ops(t, j)[OpRejected]
	size := j.Size()
	if err := j.Compact(); err != nil || j.Size() >= size {
		t.Fatalf("%d bytes, then %d, %v", size, j.Size(), err)
	}
	once, _ := os.ReadFile(path)
	if err := j.Compact(); err != nil {
		t.Fatal(err)
	}
	if twice, _ := os.ReadFile(path); string(once) != string(twice) {
		t.Error("the second compaction changed the file")
	}
	want := map[string]int{OpSnapshot: 1, "ingest": 2, OpStaged: 1, opValidated: 1, OpCommitted: 1, OpRejected: rejected}
	for _, j := range []*Journal{j, openTestJournal(t, path)} {
		if diff := cmp.Diff(want, ops(t, j)); diff != "" || snapshotOf(t, j) != before {
			t.Errorf("%s\n%s\n%s", diff, before, snapshotOf(t, j))
		}
		if out := mustWriteback(t, j, r, tx("t7", set("state", `"7"`, 7), set("state", `"stale"`, 0))); out.Outcome != Duplicate || out.Seq != 8 || len(out.Rejected) != 1 {
			t.Errorf("%+v", out)
		}
		if out := mustWriteback(t, j, r, tx("t7", set("state", `"8"`, 7))); out.Outcome != Conflict {
			t.Errorf("%+v", out)
		}
	}
	if out := mustWriteback(t, j, r, tx("more", with(set("state", `"50"`, 50), func(u *Update) { u.EvidenceRef = updateRef("t3", "u1") }))); out.Seq != 51 {
		t.Errorf("%+v", out)
	}
	if again := openTestJournal(t, path); snapshotOf(t, again) != snapshotOf(t, j) {
		t.Error("replay differs")
	}
}

func ops(t *testing.T, j *Journal) map[string]int {
	n := map[string]int{}
	for _, r := range readAll(t, j) {
		n[r.Op]++
	}
	return n
}

// A process that has the old file open neither appends to it nor reads the new
// one as its continuation.
func TestCompactUnderAnotherProcess(t *testing.T) {
	for _, more := range []int{0, 40} {
		path := filepath.Join(t.TempDir(), "journal.jsonl")
		a, b, r := openTestJournal(t, path), openTestJournal(t, path), testRules(t)
		for i := range 5 {
			mustWriteback(t, b, r, tx(fmt.Sprint("t", i), set("state", `"s"`, i)))
		}
		refreshed(a)
		if err := a.Compact(); err != nil {
			t.Fatal(err)
		}
		for i := range more { // until the new file is longer than the old one
			mustWriteback(t, a, r, tx(fmt.Sprint("u", i), set("state", `"s"`, 5+i)))
		}
		var d *store.LogError
		if _, err := refreshed(b); !errors.As(err, &d) {
			t.Errorf("refresh: %v", err)
		}
		if out, err := b.Writeback(tx("lost", set("state", `"s"`, 5)), r); err == nil {
			t.Errorf("written to a file without a name: %+v", out)
		}
		if _, err := b.Append(true, testRecord(1)); err == nil {
			t.Error("appended to a file without a name")
		}
		c := openTestJournal(t, path)
		if out := mustWriteback(t, c, r, tx("new", set("state", `"s"`, 5+more))); out.Outcome != Committed {
			t.Errorf("%+v", out)
		}
	}
}

func TestCompactNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	j := openTestJournal(t, path)
	j.Append(true, testRecord(1))
	before, _ := os.ReadFile(path)
	size := j.Size()
	if err := j.Compact(); err != nil || j.Size() != size {
		t.Errorf("%d bytes, then %d, %v", size, j.Size(), err)
	}
	if after, _ := os.ReadFile(path); string(before) != string(after) {
		t.Error("the file was changed")
	}
	ro, _ := openPath(path, &Options{ReadOnly: true})
	if err := ro.Compact(); err == nil {
		t.Error("a read-only journal was compacted")
	}
}

// A file that was replaced by one whose lines end at the same places is recognised by
// its last line.
func TestJournalReplaced(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "journal.jsonl")
	a := openTestJournal(t, path)
	a.Append(true, testRecord(1), testRecord(2))
	other := openTestJournal(t, filepath.Join(dir, "other.jsonl"))
	other.Append(true, testRecord(3), testRecord(4), testRecord(5))
	for _, p := range []string{path, filepath.Join(dir, "journal.head")} {
		if err := os.Rename(strings.Replace(p, "journal", "other", 1), p); err != nil {
			t.Fatal(err)
		}
	}
	var d *store.LogError
	if recs, err := refreshed(a); !errors.As(err, &d) {
		t.Errorf("%v, %v", recs, err)
	}
	if _, err := a.Append(true, testRecord(6)); !errors.As(err, &d) || !store.Overtaken(err) {
		t.Error(err) // whoever reads it anew goes on after what the other one wrote
	}
	// The same in place, and of the same size.
	b := openTestJournal(t, path)
	b.Append(true, testRecord(6))
	now, _ := os.ReadFile(path)
	first := bytes.SplitAfter(now, []byte("\n"))
	os.WriteFile(path, bytes.Join([][]byte{first[0], first[0], first[0], first[0]}, nil), 0o600)
	if _, err := b.Append(true, testRecord(8)); !errors.As(err, &d) {
		t.Error(err)
	}
}
