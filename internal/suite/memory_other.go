//go:build !linux

package suite

// inMemory does nothing. Temporary files stay in the system's usual folder.
func inMemory() {}
