//go:build !unix

package qmd

import "os/exec"

// alone does nothing where there are no process groups: the program is killed by
// itself.
func alone(*exec.Cmd) {}
