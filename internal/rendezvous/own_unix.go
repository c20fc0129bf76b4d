//go:build !windows

package rendezvous

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// ownFile returns an error for a file that another user owns or may open.
func ownFile(path string, fi fs.FileInfo) error {
	st, ok := fi.Sys().(*syscall.Stat_t)
	switch {
	case ok && int(st.Uid) != os.Getuid():
		return &Error{path, fmt.Sprintf("it belongs to user %d, not to you", st.Uid)}
	case fi.Mode().Perm()&0o077 != 0:
		return &Error{path, fmt.Sprintf("others may open it (mode %04o)", fi.Mode().Perm())}
	}
	return nil
}

// ownFolder returns an error for a folder in which other users could create a socket.
func ownFolder(dir string) error {
	fi, err := os.Stat(dir)
	if err != nil {
		return err
	}
	st, ok := fi.Sys().(*syscall.Stat_t)
	switch {
	case ok && int(st.Uid) != os.Getuid():
		return &Error{dir, fmt.Sprintf("the folder belongs to user %d, not to you: name another --state-dir", st.Uid)}
	case fi.Mode().Perm()&0o002 != 0:
		return &Error{dir, fmt.Sprintf("others may write to the folder (mode %04o): take that right away", fi.Mode().Perm())}
	}
	return nil
}

// OwnSession keeps a process from ending with its parent's terminal or group.
func OwnSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
