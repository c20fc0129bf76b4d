//go:build unix

package verbs

import (
	"os"
	"os/exec"
	"syscall"

	"github.com/memkernel/memkernel/internal/cli"
)

// end asks a process to end.
func end(p *os.Process) { _ = p.Signal(syscall.SIGTERM) } // it may have ended by itself

// killed returns the exit code for a command that a signal ended.
func killed(e *exec.ExitError) int {
	if s, ok := e.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		return cli.ExitSignal + int(s.Signal())
	}
	return cli.ExitError
}
