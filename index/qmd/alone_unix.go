//go:build unix

package qmd

import (
	"os/exec"
	"syscall"
)

// alone gives the program a process group, so that the processes that it starts end with it.
func alone(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
