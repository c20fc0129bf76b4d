//go:build unix

package inspect

import "golang.org/x/sys/unix"

// writable asks whether files may be made in a folder, without making one.
func writable(dir string) error { return unix.Access(dir, unix.W_OK|unix.X_OK) }
