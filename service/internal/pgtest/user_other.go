//go:build !unix

package pgtest

import (
	"errors"
	"os"
	"syscall"
)

func asUser(string) (*syscall.SysProcAttr, error) {
	return nil, errors.New("no server is started on this system")
}

// stop fails, because stopping a process is not supported on this system.
func stop(*os.Process) error { return errors.ErrUnsupported }
