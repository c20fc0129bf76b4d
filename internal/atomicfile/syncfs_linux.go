package atomicfile

import (
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// haveSyncFS reports whether one call can make all files of a file system
// durable.
const haveSyncFS = true

// syncFS makes everything written so far to the file system of d durable.
// Since Linux 5.8 it reports write errors that happened after d was opened, so
// d must be opened before the files are written.
func syncFS(d *os.File, st *Stats) error {
	if err := runHook("syncfs", d.Name()); err != nil {
		return err
	}
	defer runtime.KeepAlive(d)
	return st.wait(func() error { return unix.Syncfs(int(d.Fd())) })
}
