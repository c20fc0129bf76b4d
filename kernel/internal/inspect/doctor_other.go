//go:build !unix

package inspect

// writable can't be known here without writing.
func writable(string) error { return nil }
