package watch

import (
	"errors"
	"syscall"
)

// wayOut returns the remedy when the system's limits are reached.
func wayOut(err error) string {
	if errors.Is(err, syscall.ENOSPC) {
		return " (too many folders are watched: raise fs.inotify.max_user_watches)"
	}
	if errors.Is(err, syscall.EMFILE) {
		return " (too many watchers: raise fs.inotify.max_user_instances)"
	}
	return ""
}
