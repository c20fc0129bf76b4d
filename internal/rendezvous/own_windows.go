package rendezvous

import (
	"io/fs"
	"syscall"
)

// Windows keeps the rights of a socket in its folder's access list, which it inherits
// from the user's own.
func ownFile(string, fs.FileInfo) error { return nil }

// OwnFolder refuses a folder in which others could put a socket of theirs.
func OwnFolder(string) error { return nil }

// OwnSession keeps a process from ending with its parent's console.
func OwnSession() *syscall.SysProcAttr {
	const detached = 0x00000008 // DETACHED_PROCESS
	return &syscall.SysProcAttr{HideWindow: true, CreationFlags: detached | syscall.CREATE_NEW_PROCESS_GROUP}
}
