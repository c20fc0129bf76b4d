//go:build unix

package atomicfile

import (
	"errors"
	"syscall"
)

// alive reports whether a process of this pid exists. A pid that was given to another process
// counts as alive, so a later cleaning removes its temp.
func alive(pid int) bool {
	return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}
