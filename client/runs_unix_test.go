//go:build !windows

package client

import (
	"os"
	"syscall"
)

// runs reports whether a process has not ended.
func runs(p *os.Process) bool { return p.Signal(syscall.Signal(0)) == nil }
