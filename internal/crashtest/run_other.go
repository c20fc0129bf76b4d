//go:build !unix

package crashtest

import "testing"

func arm(*testing.T) {}

// Arm does nothing where no process can be killed by a signal.
func Arm(*testing.T, int) {}

func run(t *testing.T, _, _ string, _ int) ([]byte, bool) {
	t.Skip("no process can be killed by a signal here")
	return nil, false
}
