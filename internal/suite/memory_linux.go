package suite

import (
	"os"
	"syscall"
)

// memoryRoom is the free memory, in bytes, that the files of tests need.
const memoryRoom = 4 << 30 // 4 GiB

// inMemory has the process and its children make their temporary files in the memory
// file system, if there is one with room where programs may run, and TMPDIR names no
// other place. A slow disk then costs tests nothing.
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
