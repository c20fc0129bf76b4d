package watch

import (
	"errors"
	"runtime"
	"syscall"
)

// wayOut returns the remedy when the system's limits are reached.
func wayOut(err error) string {
	linux := runtime.GOOS == "linux"
	switch {
	case linux && errors.Is(err, syscall.ENOSPC):
		return " (too many folders are watched: raise fs.inotify.max_user_watches)"
	case linux && errors.Is(err, syscall.EMFILE):
		return " (too many watchers: raise fs.inotify.max_user_instances)"
	case !linux && (errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)):
		return " (too many files are open: raise the limit, ulimit -n)"
	}
	return ""
}
