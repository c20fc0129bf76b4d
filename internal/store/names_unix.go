//go:build unix

package store

import (
	"io/fs"
	"syscall"
)

// names returns the number of names that a file has.
func names(fi fs.FileInfo) int {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok && fi.Mode().IsRegular() {
		return int(st.Nlink)
	}
	return 1
}
