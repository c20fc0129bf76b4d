//go:build darwin || freebsd || netbsd

package markdownstore

import (
	"io/fs"
	"syscall"
)

// Changed returns when the content or the stat of a file last changed, which no program can set
// back, in ns since 1970. It is 0 if the file system does not say.
func Changed(fi fs.FileInfo) int64 {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		return st.Ctimespec.Nano()
	}
	return 0
}
