package suite

import (
	"os"
	"syscall"
)

// memoryRoom is the free space, in bytes, that the files of tests need in memory.
const memoryRoom = 4 << 30 // 4 GiB

// inMemory makes the process and its children put their temporary files in the memory file
// system, so that a slow disk does not slow tests. It does nothing if TMPDIR names another place,
// or if the memory file system is missing, lacks room or does not let programs run.
func inMemory() {
	const dir, tmpfs, noexec = "/dev/shm", 0x01021994, 8
	if os.Getenv("TMPDIR") != "" {
		return
	}
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil || st.Type != tmpfs || st.Flags&noexec != 0 || st.Bavail*uint64(st.Bsize) < memoryRoom {
		return
	}
	probe, err := os.MkdirTemp(dir, "")
	if err != nil {
		return
	}
	os.Remove(probe)
	os.Setenv("TMPDIR", dir)
}
