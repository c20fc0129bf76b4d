package rendezvous

import (
	"io/fs"
	"syscall"
)

// ownFile does nothing on Windows: the folder's access list protects the socket, and the folder
// inherits that list from the user's own folder.
func ownFile(string, fs.FileInfo) error { return nil }

// ownFolder does nothing on Windows. See ownFile.
func ownFolder(string) error { return nil }

// OwnSession keeps a process from ending with its parent's console.
func OwnSession() *syscall.SysProcAttr {
	const detached = 0x00000008 // DETACHED_PROCESS
	return &syscall.SysProcAttr{HideWindow: true, CreationFlags: detached | syscall.CREATE_NEW_PROCESS_GROUP}
}
