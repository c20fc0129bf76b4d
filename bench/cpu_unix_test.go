//go:build unix

package bench

import (
	"syscall"
	"time"
)

// cpu is the processor's time that this process has taken, of all its threads; on a
// machine that others use too, it is a better measure than the clock.
func cpu() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
