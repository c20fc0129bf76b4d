//go:build !linux

package main

import (
	"os/exec"
	"testing"
)

func confine(t testing.TB, cmd *exec.Cmd, dir, user string) {
	t.Skipf("images are for Linux")
}
