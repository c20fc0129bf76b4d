package suite

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
)

// Tests of the files that a crash leaves kill programs in the middle of their writes. They run the
// test binary again as a child, in which one test is a script. The child counts every write
// operation of package atomicfile and kills itself with SIGKILL before the Nth, so that no deferred
// call, flush or handler runs. All output of the child before its death counts as acknowledged, and
// the parent looks for it in the files. If a child fails, or dies for another reason, the test
// fails. Systems other than Unix skip these tests.
//
// The environment of a child names the script that it runs, the folder that it works in, and the
// write operation before which it dies. If the operation is 0, the child does not die, and writes
// the number of its write operations to the file that envCount names. A child that dies writes the
// name of the interrupted step to the file that envStep names.
const (
	envScript = "MEMKERNEL_CRASH_SCRIPT"
	envDir    = "MEMKERNEL_CRASH_DIR"
	envAt     = "MEMKERNEL_CRASH_AT"
	envCount  = "MEMKERNEL_CRASH_COUNT"
	envStep   = "MEMKERNEL_CRASH_STEP"
)

// envKilled names the file in which [Tell] keeps the counts of all tests.
const envKilled = "MEMKERNEL_KILLED"

// Tell logs how often a test killed a process, and how much of what was acknowledged was lost or
// was there twice. It adds a line to the file that MEMKERNEL_KILLED names, if any. 'make kills'
// sums the lines of all tests.
func Tell(t *testing.T, kills, lost, doubled int) {
	t.Helper()
	t.Logf("%d kills: %d lost, %d doubled", kills, lost, doubled)
	file := os.Getenv(envKilled)
	if file == "" {
		return
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = fmt.Fprintln(f, t.Name(), kills, lost, doubled)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		t.Error(err)
	}
}

// quickKills is the approximate number of kills that the quick suite spreads over a script.
const quickKills = 3

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
// parameter least. If after finds a fault, EveryWrite counts a loss and logs the step of the kill.
//
// EveryWrite returns the number of kills by the step that they interrupted. A step is the called
// verb and the function that wrote, such as "ObserveTurn: endTurn/commitTurn".
func EveryWrite(t *testing.T, script string, least int, after func(dir string, n int, out []byte)) (steps map[string]int) {
	t.Helper()
	kills, step := 0, ""
	steps = map[string]int{}
	defer func() {
		lost := 0
		if t.Failed() {
			lost = 1
			t.Logf("the last kill was in %s", step)
		}
		for _, s := range slices.Sorted(maps.Keys(steps)) {
			t.Logf("%4d in %s", steps[s], s)
		}
		Tell(t, kills, lost, 0)
	}()
	whole := t.TempDir()
	ops, all := count(t, script, whole)
	if ops < least {
		t.Fatalf("only %d write operations were seen, want %d", ops, least)
	}
	stride := Pick((ops+quickKills-1)/quickKills, 1)
	if ops <= 2*quickKills {
		stride = 1
	}
	for n := 1 + stride/2; n <= ops; n += stride {
		dir := t.TempDir()
		told := filepath.Join(t.TempDir(), "step")
		out, killed := run(t, script, dir, n, envStep+"="+told)
		if killed {
			b, err := os.ReadFile(told)
			if err != nil {
				t.Fatal(err)
			}
			step = string(b)
			kills++
			steps[step]++
		}
		after(dir, n, out)
		if !killed {
			return steps // it had fewer write operations than the counted run
		}
	}
	after(whole, ops+1, all)
	return steps
}

// Arm kills this process with SIGKILL before its nth write operation from now on, and counts the
// operations. On a system without such signals it does nothing.
func Arm(t *testing.T, at int) *atomic.Int64 { return armed(t, at) }
