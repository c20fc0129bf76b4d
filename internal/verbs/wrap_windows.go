package verbs

import (
	"os"
	"os/exec"

	"github.com/memkernel/memkernel/internal/cli"
)

// end kills a process, because Windows has no way to ask it to end.
func end(p *os.Process) { _ = p.Kill() } // it may have ended by itself

// killed returns the exit code for a command that ended without an exit code.
func killed(*exec.ExitError) int { return cli.ExitError }
