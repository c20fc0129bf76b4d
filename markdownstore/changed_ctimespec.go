//go:build darwin || freebsd || netbsd

package markdownstore

import "syscall"

func changed(sys any) int64 {
	if st, ok := sys.(*syscall.Stat_t); ok {
		return st.Ctimespec.Nano()
	}
	return 0
}
