//go:build !unix

package qmd

import "os/exec"

// alone does nothing on systems without process groups. Only the program itself is killed there.
func alone(*exec.Cmd) {}
