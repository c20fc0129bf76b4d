package verbs

import (
	"os"
	"os/exec"

	"github.com/memkernel/memkernel/internal/cli"
)

// end ends a process: Windows has no way to ask.
func end(p *os.Process) { _ = p.Kill() } // it may have ended by itself

// killed is the code of a command that ended without one.
func killed(*exec.ExitError) int { return cli.ExitError }
