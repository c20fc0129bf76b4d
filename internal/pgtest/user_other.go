//go:build !unix

package pgtest

import (
	"errors"
	"syscall"
)

func asUser(string) (*syscall.SysProcAttr, error) {
	return nil, errors.New("no server is started on this system")
}
