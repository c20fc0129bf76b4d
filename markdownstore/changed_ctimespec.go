//go:build darwin || freebsd || netbsd

package markdownstore

import (
	"io/fs"
	"syscall"
	"time"
)

// Changed returns when the content or the stat of a file last changed, which no program can set
// back. It is zero if the file system does not say.
func Changed(fi fs.FileInfo) time.Time {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		return time.Unix(st.Ctimespec.Unix())
	}
	return time.Time{}
}
