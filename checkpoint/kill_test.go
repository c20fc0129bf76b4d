package checkpoint_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/internal/suite"
)

// TestKillAnywhere runs the story in a child process that is killed before its Nth
// write operation. What it acknowledged is there, nothing is there by halves, the story
// run again ends as one that was never interrupted, and nothing is left lying about.
func TestKillAnywhere(t *testing.T) {
	want := unbroken(t)
	suite.EveryWrite(t, "TestCrashChild", 59, func(dir string, n int, out []byte) {
		var acked strings.Builder
		for line := range strings.Lines(string(out)) {
			if ack, ok := strings.CutPrefix(line, "ACK "); ok {
				acked.WriteString(ack)
			}
		}
		after(t, checkpoint.NewStore(store.Files(dir)), fmt.Sprintf("killed at %d", n), acked.String(), want)
		if temps, _ := filepath.Glob(filepath.Join(dir, "*", ".mk~*")); len(temps) > 0 {
			t.Fatalf("killed at %d: left %v", n, temps)
		}
	})
}

// TestCrashChild is the process that TestKillAnywhere kills.
func TestCrashChild(t *testing.T) {
	dir := suite.Child(t)
	must(t, runStory(checkpoint.NewStore(store.Files(dir)), func(words ...string) { fmt.Println("ACK", strings.Join(words, " ")) }))
}
