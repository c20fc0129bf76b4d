package hosts

import "syscall"

// ownSession keeps a process from ending with the host's console.
func ownSession() *syscall.SysProcAttr {
	const detached = 0x00000008 // DETACHED_PROCESS
	return &syscall.SysProcAttr{HideWindow: true, CreationFlags: detached | syscall.CREATE_NEW_PROCESS_GROUP}
}
