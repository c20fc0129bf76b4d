package main

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// confine has a command see nothing but a folder, as its root, with no network, as a user of an
// image. Who is not root is that user in a namespace.
func confine(t testing.TB, cmd *exec.Cmd, dir, user string) {
	t.Helper()
	name, _, _ := strings.Cut(user, ":")
	id, err := strconv.Atoi(name)
	if err != nil {
		t.Fatal(err)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: dir, Cloneflags: syscall.CLONE_NEWNET}
	if os.Getuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(id), Gid: uint32(id)}
		return
	}
	cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
	cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: id, HostID: os.Getuid(), Size: 1}}
	cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: id, HostID: os.Getgid(), Size: 1}}
}
