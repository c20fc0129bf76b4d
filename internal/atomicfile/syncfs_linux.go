package atomicfile

import (
	"os"
	"runtime"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// haveSyncFS tells whether one call can make all files of a file system
// durable.
const haveSyncFS = true

// syncFS makes everything written so far to the file system of d durable.
// Since Linux 5.8 it reports write errors that happened after d was opened, so
// d must be opened before the files are written.
func syncFS(d *os.File, st *Stats) error {
	if err := runHook(OpSyncFS, d.Name()); err != nil {
		return err
	}
	start := time.Now()
	var err error
	if !noSync.Load() {
		err = unix.Syncfs(int(d.Fd()))
	}
	st.Syncs++
	st.SyncTime += time.Since(start)
	runtime.KeepAlive(d)
	return err
}

// FileSystem names the file system that holds path, for reports on what
// durability costs there: "ext4", "xfs", ... or a hex magic, "" if unknown.
func FileSystem(path string) string {
	var s unix.Statfs_t
	if err := unix.Statfs(path, &s); err != nil {
		return ""
	}
	if n, ok := fsNames[int64(s.Type)]; ok {
		return n
	}
	return "0x" + strconv.FormatInt(int64(s.Type), 16)
}

var fsNames = map[int64]string{
	unix.EXT4_SUPER_MAGIC:      "ext4",
	unix.XFS_SUPER_MAGIC:       "xfs",
	unix.BTRFS_SUPER_MAGIC:     "btrfs",
	unix.TMPFS_MAGIC:           "tmpfs",
	unix.OVERLAYFS_SUPER_MAGIC: "overlayfs",
	unix.NFS_SUPER_MAGIC:       "nfs",
	unix.F2FS_SUPER_MAGIC:      "f2fs",
	unix.FUSE_SUPER_MAGIC:      "fuse",
	0x2fc12fc1:                 "zfs",
	0x01021997:                 "9p",
}
