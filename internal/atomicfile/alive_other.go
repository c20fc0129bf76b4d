//go:build !unix

package atomicfile

import "os"

// alive reports whether a process of this pid exists. Windows opens the process
// to find out.
func alive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	p.Release()
	return true
}
