//go:build !unix

package kernel

// writable can't be known here without writing.
func writable(string) error { return nil }
