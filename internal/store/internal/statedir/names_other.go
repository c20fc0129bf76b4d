//go:build !unix

package statedir

import "io/fs"

// names returns how many names a file has. Windows reports the number of open files only. The
// state in a repository has no hard links, because git does not keep them.
func names(fs.FileInfo) int { return 1 }
