//go:build unix

package suite

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/memkernel/memkernel/internal/atomicfile"
)

// arm makes the process kill itself before the operation that envAt gives. A process that lives
// writes the number of its operations to the file that envCount names, if any.
func arm(t *testing.T) {
	at, err := strconv.Atoi(os.Getenv(envAt))
	if err != nil {
		t.Fatalf("%s: %v", envAt, err)
	}
	ops := armed(t, at)
	if file := os.Getenv(envCount); file != "" {
		t.Cleanup(func() {
			if err := os.WriteFile(file, []byte(strconv.FormatInt(ops.Load(), 10)), 0o600); err != nil {
				t.Error(err)
			}
		})
	}
}

func armed(t *testing.T, at int) *atomic.Int64 {
	t.Helper()
	ops := new(atomic.Int64)
	t.Cleanup(atomicfile.SetHook(func(string, string) error {
		if ops.Add(1) == int64(at) {
			if file := os.Getenv(envStep); file != "" {
				_ = os.WriteFile(file, []byte(step()), 0o600) // the parent fails without the file
			}
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
		return nil
	}))
	return ops
}

// below lists the packages that write on behalf of others. step skips their functions.
var below = []string{"internal/suite.", "internal/atomicfile.", "internal/store.", "pagevm/journal."}

// step names the step that the caller interrupts, as [EveryWrite] says.
func step() string {
	const module = "github.com/memkernel/memkernel/"
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs)])
	writer, verb, last := "", "", ""
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		at, ours := strings.CutPrefix(f.Function, module)
		if !ours || strings.HasSuffix(f.File, "_test.go") || slices.ContainsFunc(below, func(p string) bool { return strings.HasPrefix(at, p) }) {
			continue
		}
		parts := strings.FieldsFunc(at[strings.LastIndex(at, "/")+1:], func(r rune) bool { return strings.ContainsRune(".()*[]", r) })
		parts = slices.DeleteFunc(parts, func(p string) bool { return strings.HasPrefix(p, "func") || strings.Trim(p, "0123456789-gowrap") == "" })
		name := parts[len(parts)-1]
		switch {
		case writer == "":
			writer = name
		case name == "endTurn":
			writer = name + "/" + last
		}
		verb, last = name, name
	}
	return verb + ": " + writer
}

// count runs a script in a child that is not killed, and returns the number of its write
// operations and its output.
func count(t *testing.T, script, dir string) (ops int, out []byte) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "count")
	out, killed := run(t, script, dir, 0, envCount+"="+file)
	if killed {
		t.Fatal("a child died that nobody killed")
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if ops, err = strconv.Atoi(string(b)); err != nil {
		t.Fatal(err)
	}
	return ops, out
}

// run runs a script in a child that dies before its nth write operation, and reports whether it
// died.
func run(t *testing.T, script, dir string, n int, env ...string) (out []byte, killed bool) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^"+script+"$")
	cmd.Env = append(append(os.Environ(), envScript+"="+script, envDir+"="+dir, envAt+"="+strconv.Itoa(n)), env...)
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
