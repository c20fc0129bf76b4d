//go:build !linux

package atomicfile

import (
	"errors"
	"os"
)

const haveSyncFS = false

func syncFS(*os.File, *Stats) error { return errors.ErrUnsupported }
