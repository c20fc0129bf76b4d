// Package crashtest kills programs in the middle of their writes, for tests of the files
// that a crash leaves. It runs the test binary again as a child, in which one test is a
// script. The child counts every write operation of package atomicfile and kills itself
// with SIGKILL before the Nth, so that no deferred call, flush or handler runs. Everything
// that the child printed before is acknowledged, and the parent looks for it in the files.
//
// A child that dies of anything else, or fails, fails the test. Package crashtest
// is for tests only, and works on Unix: elsewhere it skips.
package crashtest

import (
	"os"
	"testing"

	"github.com/memkernel/memkernel/internal/suite"
)

// The environment of a child: the script it runs, the folder it works in, and the
// write operation before which it dies; 0 is none, and how many there were is written
// to the file of envCount.
const (
	envScript = "MEMKERNEL_CRASH_SCRIPT"
	envDir    = "MEMKERNEL_CRASH_DIR"
	envAt     = "MEMKERNEL_CRASH_AT"
	envCount  = "MEMKERNEL_CRASH_COUNT"
)

// quickKills is the approximate number of kills that the quick suite spreads over a script.
const quickKills = 5

// Child must be the first call of a test that is a script. In a child it arms the Nth write
// operation and returns the folder to work in. Otherwise it skips the test.
func Child(t *testing.T) (dir string) {
	t.Helper()
	if os.Getenv(envScript) != t.Name() {
		t.Skip("runs in a child process that is killed")
	}
	arm(t)
	return os.Getenv(envDir)
}

// EveryWrite runs the test named script in a child that lives, to count its write operations.
// Then it runs the test in children that die before the Nth operation, for N = 1, 2, …, each in a
// folder of its own. The quick suite takes some N, spread evenly, unless the script is short.
// EveryWrite calls after for each child with the folder, N and the child's output. The child that
// lived comes last, with an N of one more than its write operations. A script must do at least
// least write operations, or the test fails.
func EveryWrite(t *testing.T, script string, least int, after func(dir string, n int, out []byte)) {
	t.Helper()
	whole := t.TempDir()
	ops, all := count(t, script, whole)
	if ops < least {
		t.Fatalf("only %d write operations were seen, want %d", ops, least)
	}
	stride := suite.Pick((ops+quickKills-1)/quickKills, 1)
	if ops <= 2*quickKills {
		stride = 1
	}
	for n := 1 + stride/2; n <= ops; n += stride {
		dir := t.TempDir()
		out, killed := run(t, script, dir, n)
		after(dir, n, out)
		if !killed {
			return // it had fewer write operations than the one that was counted
		}
	}
	after(whole, ops+1, all)
}
