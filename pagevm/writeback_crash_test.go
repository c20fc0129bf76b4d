//go:build unix

package pagevm

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/memkernel/memkernel/internal/atomicfile"
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
		tx("four", with(line("2", "b"), func(u *Update) { u.EvidenceRef = UpdateRef("one", "u1") })),
	}
}

// runScript delivers the script with a compaction in its middle and says what was
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
			if _, err := j.Compact(); err != nil {
				return err
			}
			ack("compacted")
		}
	}
	return nil
}

// TestWritebackKillAnywhere runs the script in a process that kills itself with
// SIGKILL before its Nth write operation, for every N. What it acknowledged is
// there, nothing is there by halves, and the script delivered again ends in the
// state of one that was never killed.
func TestWritebackKillAnywhere(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a process per write operation")
	}
	r := testRules(t)
	whole := openTestJournal(t, filepath.Join(t.TempDir(), "journal.jsonl"))
	if err := runScript(whole, r, func(string) {}); err != nil {
		t.Fatal(err)
	}
	want := snapshotOf(t, whole)
	for n := 1; ; n++ {
		path := filepath.Join(t.TempDir(), "s", "journal.jsonl")
		out, killed := runCrashChild(t, path, n)
		j, err := OpenJournal(path, nil)
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
		j.Close()
		if !killed {
			if n < 12 {
				t.Fatalf("only %d write operations were seen", n)
			}
			return
		}
	}
}

// checkAcknowledged looks for what the child acknowledged, and for nothing by
// halves.
func checkAcknowledged(t *testing.T, j *Journal, n int, out string) {
	t.Helper()
	values := valuesOf(j.Store())
	stands := map[string]bool{}
	for _, x := range crashScript() {
		_, stands[x.Key] = j.IsCommitted(x.Key)
		if !stands[x.Key] && strings.Contains(out, "ACK "+x.Key+"\n") {
			t.Fatalf("killed at %d: %s was acknowledged and is gone", n, x.Key)
		}
	}
	state, fact := len(values["session/A/k/state/"]), len(values["session/A/k/facts/a"])
	if (state == 2) != stands["reset"] || (fact == 2) != stands["reset"] || (fact >= 1) != stands["two"] || (state >= 1) != stands["one"] {
		t.Fatalf("killed at %d: %v stand, and the values are %v", n, stands, values)
	}
}

func runCrashChild(t *testing.T, path string, n int) (out []byte, killed bool) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestWritebackCrashChild$")
	cmd.Env = append(os.Environ(), "MEMKERNEL_WRITEBACK_FILE="+path, "MEMKERNEL_CRASH_AT="+strconv.Itoa(n))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err == nil {
		return out, false
	}
	exit, ok := err.(*exec.ExitError)
	if ok && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL {
		return out, true
	}
	t.Fatalf("child %d: %v\n%s%s", n, err, out, stderr.Bytes())
	return nil, false
}

// TestWritebackCrashChild is the process that TestWritebackKillAnywhere kills.
func TestWritebackCrashChild(t *testing.T) {
	path := os.Getenv("MEMKERNEL_WRITEBACK_FILE")
	if path == "" {
		t.Skip("runs as the child of TestWritebackKillAnywhere")
	}
	at, _ := strconv.Atoi(os.Getenv("MEMKERNEL_CRASH_AT"))
	n := 0
	defer atomicfile.SetHook(func(string, string) error {
		if n++; n == at {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
		return nil
	})()
	j := openTestJournal(t, path)
	if err := runScript(j, testRules(t), func(key string) { fmt.Printf("ACK %s\n", key) }); err != nil {
		t.Fatal(err)
	}
}

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
			restore := atomicfile.SetHook(func(string, string) error {
				if n++; n != op {
					return nil
				}
				failed = true
				return &atomicfile.PartialWrite{N: partial, Err: syscall.ENOSPC}
			})
			err := runScript(j, r, func(key string) { acked += "ACK " + key + "\n" })
			restore()
			if (err != nil) != failed {
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
	dir, r := t.TempDir(), testRules(t)
	path := filepath.Join(dir, "journal.jsonl")
	j := openTestJournal(t, path)
	script := crashScript()
	states := map[string]bool{snapshotOf(t, j): true}
	for _, x := range script {
		mustWriteback(t, j, r, x)
		states[snapshotOf(t, j)] = true
	}
	want := snapshotOf(t, j)
	whole, _ := os.ReadFile(path)
	for cut := range whole {
		p := filepath.Join(dir, "cut.jsonl")
		os.WriteFile(p, whole[:cut], 0o600)
		c, err := OpenJournal(p, nil)
		if err != nil || !states[snapshotOf(t, c)] {
			t.Fatalf("cut %d: %v, %s", cut, err, snapshotOf(t, c))
		}
		if cut%16 == 0 {
			for _, x := range script {
				mustWriteback(t, c, r, x)
			}
			if snapshotOf(t, c) != want {
				t.Fatalf("cut %d: %s", cut, snapshotOf(t, c))
			}
		}
		c.Close()
	}
}
