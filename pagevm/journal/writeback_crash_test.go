package journal

import (
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/memkernel/memkernel/internal/atomicfile"
	"github.com/memkernel/memkernel/internal/suite"
)

// crashScript is a session of writebacks: partial acceptance, a reset, evidence
// from an earlier commit.
func crashScript() []Transaction {
	line := func(id, v string) Update {
		return note("lines", OpAppend, fmt.Sprintf(`[{"id":%q,"value":%q}]`, id, v))
	}
	reset := tx("reset", set("state", `"reset"`, 1), note("facts", OpMerge, `[{"id":"a","version":1,"value":2}]`))
	reset.Point, reset.AllOrNothing = PointReset, true
	return []Transaction{
		tx("one", set("state", `"begun"`, 0), line("1", "a")),
		tx("two", note("facts", OpMerge, `[{"id":"a","value":1}]`), set("state", `"stale"`, 0)),
		reset,
		tx("four", with(line("2", "b"), func(u *Update) { u.EvidenceRef = updateRef("one", "u1") })),
	}
}

// runScript delivers the script with a compaction in its middle and reports what was
// acknowledged.
func runScript(j *Journal, r *Rules, ack func(string)) error {
	for i, x := range crashScript() {
		out, err := j.Writeback(x, r)
		if err != nil {
			return err
		}
		if out.Outcome == Committed || out.Outcome == Duplicate {
			ack(x.Key)
		}
		if i == 2 {
			if err := j.Compact(); err != nil {
				return err
			}
			ack("compacted")
		}
	}
	return nil
}

// TestWritebackKillAnywhere kills the script before each of its write operations.
// What it acknowledged is there, nothing is there by halves, and the script
// delivered again ends in the state of one that was never killed.
func TestWritebackKillAnywhere(t *testing.T) {
	r := testRules(t)
	whole := openTestJournal(t, filepath.Join(t.TempDir(), "journal.jsonl"))
	if err := runScript(whole, r, func(string) {}); err != nil {
		t.Fatal(err)
	}
	want := snapshotOf(t, whole)
	suite.EveryWrite(t, "TestWritebackCrashChild", 12, func(dir string, n int, out []byte) {
		j, err := openPath(crashFile(dir), nil)
		if err != nil {
			t.Fatalf("killed at %d: %v", n, err)
		}
		checkAcknowledged(t, j, n, string(out))
		if err := runScript(j, r, func(string) {}); err != nil {
			t.Fatalf("killed at %d: %v", n, err)
		}
		if got := snapshotOf(t, j); got != want {
			t.Fatalf("killed at %d:\n got %s\nwant %s", n, got, want)
		}
	})
}

// checkAcknowledged looks for what the child acknowledged, and for nothing by
// halves.
func checkAcknowledged(t *testing.T, j *Journal, n int, out string) {
	t.Helper()
	values := valuesOf(j.Store())
	stands := map[string]bool{}
	for _, x := range crashScript() {
		stands[x.Key] = j.Store().txs[x.Key] != nil
		if !stands[x.Key] && strings.Contains(out, "ACK "+x.Key+"\n") {
			t.Fatalf("killed at %d: %s was acknowledged and is gone", n, x.Key)
		}
	}
	state, fact := len(values["session/A/k/state/"]), len(values["session/A/k/facts/a"])
	if (state == 2) != stands["reset"] || (fact == 2) != stands["reset"] || (fact >= 1) != stands["two"] || (state >= 1) != stands["one"] {
		t.Fatalf("killed at %d: %v stand, and the values are %v", n, stands, values)
	}
}

// TestWritebackCrashChild is the process that TestWritebackKillAnywhere kills.
func TestWritebackCrashChild(t *testing.T) {
	j := openTestJournal(t, crashFile(suite.Child(t)))
	if err := runScript(j, testRules(t), func(key string) { fmt.Printf("ACK %s\n", key) }); err != nil {
		t.Fatal(err)
	}
}

// crashFile is the journal in a folder; its own folder is made with it.
func crashFile(dir string) string { return filepath.Join(dir, "s", "journal.jsonl") }

// Every write operation fails once, fully or after a few bytes: the journal holds
// what was acknowledged, and the script delivered again completes it.
func TestWritebackFailEveryOperation(t *testing.T) {
	r := testRules(t)
	whole := openTestJournal(t, filepath.Join(t.TempDir(), "journal.jsonl"))
	runScript(whole, r, func(string) {})
	for _, partial := range []int{0, 7, 300} {
		for op, failed := 1, true; failed; op++ {
			failed = false
			path := filepath.Join(t.TempDir(), "s", "journal.jsonl")
			j := openTestJournal(t, path)
			n, acked := 0, ""
			lag := false // the head falls behind, and nothing fails
			restore := atomicfile.SetHook(func(_, path string) error {
				if n++; n != op {
					return nil
				}
				failed, lag = true, hasHead(path)
				return &atomicfile.PartialWrite{N: partial, Err: syscall.ENOSPC}
			})
			err := runScript(j, r, func(key string) { acked += "ACK " + key + "\n" })
			restore()
			if (err != nil) != failed && !lag {
				t.Fatalf("operation %d failed %v: %v", op, failed, err)
			}
			again := openTestJournal(t, path)
			checkAcknowledged(t, again, op, acked)
			if err := runScript(again, r, func(string) {}); err != nil || snapshotOf(t, again) != snapshotOf(t, whole) {
				t.Fatalf("operation %d: %v", op, err)
			}
		}
	}
}

// A journal cut at any byte, as a torn write leaves it, opens with the commits
// whose last line is whole, and the same deliveries complete it.
func TestWritebackCutAtEveryByte(t *testing.T) {
	dir, r := memoryDir(t), testRules(t)
	path := filepath.Join(dir, "journal.jsonl")
	j := openTestJournal(t, path)
	script := crashScript()
	states := map[string]bool{snapshotOf(t, j): true}
	marks := []headMark{{}}
	for _, x := range script {
		mustWriteback(t, j, r, x)
		marks = append(marks, markNow(t, path))
		states[snapshotOf(t, j)] = true
	}
	want := snapshotOf(t, j)
	whole := readPath(path)
	for cut := 0; cut < len(whole); cut += suite.Pick(10, 1) {
		p := filepath.Join(dir, "cut.jsonl")
		lay(t, p, whole[:cut], upTo(marks, cut))
		c, err := openPath(p, nil)
		if err != nil || !states[snapshotOf(t, c)] {
			t.Fatalf("cut %d: %v, %s", cut, err, snapshotOf(t, c))
		}
		if cut%20 == 0 {
			for _, x := range script {
				mustWriteback(t, c, r, x)
			}
			if snapshotOf(t, c) != want {
				t.Fatalf("cut %d: %s", cut, snapshotOf(t, c))
			}
		}
	}
}
