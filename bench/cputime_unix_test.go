//go:build unix

package bench

import (
	"syscall"
	"time"
)

// cpuTime returns the processor time that this process has used in all threads. On a machine that
// others use too, it is a better measure than the clock.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
