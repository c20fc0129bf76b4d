package markdownstore

import "io/fs"

// Changed returns when the content or the stat of a file last changed, in ns since 1970. Programs can't
// set this time. It is 0 if the system or the file system does not keep it.
func Changed(fi fs.FileInfo) int64 { return changed(fi.Sys()) }
