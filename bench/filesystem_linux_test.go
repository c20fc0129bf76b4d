package bench

import (
	"strconv"

	"golang.org/x/sys/unix"
)

// fileSystem names the file system that holds path, for figures that hang on what
// durability costs there: "ext4", "xfs", ... or a hex magic, "" if unknown.
func fileSystem(path string) string {
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
