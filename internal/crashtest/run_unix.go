//go:build unix

package crashtest

import (
	"bytes"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"

	"github.com/memkernel/memkernel/internal/atomicfile"
)

// arm lets the process kill itself before the operation that it was told.
func arm(t *testing.T) {
	at, err := strconv.Atoi(os.Getenv(envAt))
	if err != nil {
		t.Fatalf("%s: %v", envAt, err)
	}
	Arm(t, at)
}

// Arm kills this process with SIGKILL before its nth write operation from now on.
func Arm(t *testing.T, at int) {
	t.Helper()
	ops := 0
	t.Cleanup(atomicfile.SetHook(func(string, string) error {
		if ops++; ops == at {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
		return nil
	}))
}

// run runs a script in a child that dies before its nth write operation, and tells
// whether it did.
func run(t *testing.T, script, dir string, n int) (out []byte, killed bool) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^"+script+"$")
	cmd.Env = append(os.Environ(), envScript+"="+script, envDir+"="+dir, envAt+"="+strconv.Itoa(n))
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
