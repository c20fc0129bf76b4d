//go:build !unix

package statedir

import "io/fs"

// names returns how many names a file has. Windows reports that of open files only; the
// state of a repository comes without hard links, since git keeps none.
func names(fs.FileInfo) int { return 1 }
