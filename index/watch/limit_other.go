//go:build !linux

package watch

import (
	"errors"
	"syscall"
)

// wayOut returns the remedy when the system's limits are reached.
func wayOut(err error) string {
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		return " (too many files are open: raise the limit, ulimit -n)"
	}
	return ""
}
