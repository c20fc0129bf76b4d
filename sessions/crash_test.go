package sessions

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/internal/suite"
)

// crashed is the fixture in a folder that a child may have worked in.
func crashed(t *testing.T, dir string) *fixture {
	return &fixture{T: t, dir: dir, file: filepath.Join(dir, "host", "talk.jsonl"), store: Open(store.Files(filepath.Join(dir, "state")), &Options{Location: time.UTC})}
}

// Killed before any write operation, what follows is as if nothing had happened:
// each turn once, nothing that was acknowledged as forgotten.
func TestKilled(t *testing.T) {
	suite.EveryWrite(t, "TestKilledChild", 4, func(dir string, n int, out []byte) {
		f := crashed(t, dir)
		if _, err := os.Stat(f.file); err != nil {
			return
		}
		f.update(UpdateOptions{All: true})
		if n := strings.Count(f.all(), "user: The stork of "); n > 2 {
			t.Errorf("write %d: %d turns\n%s", n, n, f.all())
		}
		if strings.Contains(string(out), "forgotten") {
			f.lacks("stork")
		}
	})
}

func TestKilledChild(t *testing.T) {
	f := crashed(t, suite.Child(t))
	f.write(header + piLine(1, "user", "The stork of the first day is back at last."))
	f.update(UpdateOptions{})
	f.grow(piLine(2, "user", "The stork of the second day is there as well."))
	f.update(UpdateOptions{All: true})
	if _, err := f.store.Forget(context.Background(), "talk", "", "", noon); err != nil {
		t.Fatal(err)
	}
	os.Stdout.WriteString("forgotten\n")
}
