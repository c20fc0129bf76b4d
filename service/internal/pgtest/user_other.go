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

// stop has a process stand still, which is not known how here.
func stop(*os.Process) error { return errors.ErrUnsupported }
