//go:build !windows

package hosts

import "syscall"

// ownSession keeps a process from ending with the host's terminal or group.
func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
