//go:build linux || dragonfly || openbsd || solaris

package markdownstore

import "syscall"

func changed(sys any) int64 {
	if st, ok := sys.(*syscall.Stat_t); ok {
		return st.Ctim.Nano()
	}
	return 0
}
