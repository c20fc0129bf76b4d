//go:build !unix

package suite

import (
	"sync/atomic"
	"testing"
)

func arm(*testing.T) {}

func armed(*testing.T, int) *atomic.Int64 { return new(atomic.Int64) }

func count(t *testing.T, _, _ string) (int, []byte) {
	t.Skip("no process can be killed by a signal here")
	return 0, nil
}

func run(*testing.T, string, string, int, ...string) ([]byte, bool) { return nil, false }
