//go:build unix

package checkpoint_test

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

	"github.com/memkernel/memkernel/internal/statedir"

	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/internal/atomicfile"
)

// TestKillAnywhere tells the story in a child process that kills itself with
// SIGKILL before its Nth write operation, for every N. What it acknowledged is
// there, nothing is there by halves, the story told again ends as one that was
// never interrupted, and nothing is left lying about.
func TestKillAnywhere(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a process per write operation")
	}
	want := unbroken(t)
	for n := 1; ; n++ {
		dir := t.TempDir()
		acked, killed := runChild(t, dir, n)
		s := checkpoint.NewStore(statedir.At(dir))
		after(t, s, fmt.Sprintf("killed at %d", n), acked, want)
		if temps, _ := filepath.Glob(filepath.Join(dir, "*", ".mk~*")); len(temps) > 0 {
			t.Fatalf("killed at %d: left %v", n, temps)
		}
		if !killed {
			if n < 60 {
				t.Fatalf("only %d write operations were seen", n)
			}
			return
		}
	}
}

func runChild(t *testing.T, dir string, n int) (acked string, killed bool) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestCrashChild$")
	cmd.Env = append(os.Environ(), "MEMKERNEL_CHECKPOINT_DIR="+dir, "MEMKERNEL_CRASH_AT="+strconv.Itoa(n))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var lines []string
	for line := range strings.Lines(string(out)) {
		if ack, ok := strings.CutPrefix(line, "ACK "); ok {
			lines = append(lines, ack)
		}
	}
	if err == nil {
		return strings.Join(lines, ""), false
	}
	exit, ok := err.(*exec.ExitError)
	if ok && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL {
		return strings.Join(lines, ""), true
	}
	t.Fatalf("child %d: %v\n%s%s", n, err, out, stderr.Bytes())
	return "", false
}

// TestCrashChild is the process that TestKillAnywhere kills.
func TestCrashChild(t *testing.T) {
	dir := os.Getenv("MEMKERNEL_CHECKPOINT_DIR")
	if dir == "" {
		t.Skip("runs as the child of TestKillAnywhere")
	}
	at, _ := strconv.Atoi(os.Getenv("MEMKERNEL_CRASH_AT"))
	ops := 0
	defer atomicfile.SetHook(func(op, path string) error {
		if ops++; ops == at {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
		return nil
	})()
	must(t, tell(checkpoint.NewStore(statedir.At(dir)), func(words ...string) { fmt.Println("ACK", strings.Join(words, " ")) }))
}
