//go:build !linux

package atomicfile

import (
	"errors"
	"os"
)

const haveSyncFS = false

func syncFS(*os.File, *Stats) error { return errors.ErrUnsupported }

// FileSystem names the file system that holds path, where the system tells;
// here it is always "".
func FileSystem(string) string { return "" }
