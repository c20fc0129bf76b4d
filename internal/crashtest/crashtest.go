// Package crashtest kills programs in the middle of their writes, for tests of the files that a
// crash leaves. It runs the test binary again as a child, in which one test is a script. The
// child counts every write operation of package atomicfile and kills itself with SIGKILL before
// the Nth, so that no deferred call, flush or handler runs. All output of the child before its
// death counts as acknowledged, and the parent looks for it in the files.
//
// If a child fails, or dies for another reason, the test fails. Package crashtest is for tests
// only. On systems other than Unix it skips the tests.
package crashtest

import (
	"os"
	"testing"

	"github.com/memkernel/memkernel/internal/suite"
)

// The environment of a child names the script that it runs, the folder that it works in, and the
// write operation before which it dies. If the operation is 0, the child does not die, and writes
// the number of its write operations to the file that envCount names.
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
// Then it runs the test in children that die before the Nth operation, for N = 1, 2, …. Each
// child has a folder of its own. The quick suite uses only some values of N, spread evenly,
// unless the script is short. EveryWrite calls after for each child with the folder, N and the
// child's output. The last call is for the child that lived. Its N is the number of its write
// operations plus one. The test fails if the script does fewer write operations than the
// parameter least.
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
			return // it had fewer write operations than the counted run
		}
	}
	after(whole, ops+1, all)
}
