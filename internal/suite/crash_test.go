//go:build unix

package suite_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/memkernel/memkernel/internal/atomicfile"
	"github.com/memkernel/memkernel/internal/suite"
)

// TestScript writes three files.
func TestScript(t *testing.T) {
	dir := suite.Child(t)
	for i := range 3 {
		if _, err := atomicfile.MkdirAll(filepath.Join(dir, fmt.Sprint(i)), 0o700); err != nil {
			t.Fatal(err)
		}
		fmt.Printf("ACK %d\n", i)
	}
}

// Every operation is died before once, what was acknowledged is there, and nothing
// behind it.
func TestEveryWrite(t *testing.T) {
	died := map[int]int{}
	last := 0
	suite.EveryWrite(t, "TestScript", 6, func(dir string, n int, out []byte) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		acked := 0
		for i := range 3 {
			if line := fmt.Sprintf("ACK %d\n", i); len(out) >= len(line)*(i+1) && string(out[i*len(line):(i+1)*len(line)]) == line {
				acked++
			}
		}
		if len(entries) < acked || len(entries) > acked+1 {
			t.Errorf("killed at %d: %d folders are there, %d were acknowledged", n, len(entries), acked)
		}
		died[len(entries)]++
		last = n
	})
	// A folder is two operations: it is made, and its name is synced.
	if last != 7 || died[0] != 1 || died[1] != 2 || died[2] != 2 || died[3] != 2 {
		t.Errorf("%d runs, by folders left: %v", last, died)
	}
}
