//go:build !unix

package store

import "io/fs"

// names returns the number of names that a file has. It returns 1, because Windows reports the
// number of names only for open files. The state in a repository has no hard links, because git
// does not keep hard links.
func names(fs.FileInfo) int { return 1 }
