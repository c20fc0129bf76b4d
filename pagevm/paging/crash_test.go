package paging

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/memkernel/memkernel/internal/atomicfile"
	"github.com/memkernel/memkernel/internal/crashtest"
	"github.com/memkernel/memkernel/pagevm"
)

// countedFile is a file whose writes crashtest sees.
type countedFile struct {
	f   *os.File
	off int64
}

func (c *countedFile) Write(b []byte) (int, error) {
	_, err := atomicfile.Append(c.f, c.off, b, false)
	c.off += int64(len(b))
	return len(b), err
}

// TestTraceCrashChild is the run that TestTraceKillAnywhere kills.
func TestTraceCrashChild(t *testing.T) {
	f, err := atomicfile.OpenAppend(filepath.Join(crashtest.Child(t), "trace.jsonl"), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tr, err := NewTracer(named(t, "clawvm", 60), &countedFile{f: f})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"a", "b"} {
		if err := tr.Add(page(id, pagevm.Evidence, 30, 20, 10, 2)); err != nil {
			t.Fatal(err)
		}
	}
	for n := 1; n <= 8; n++ {
		if _, err := tr.Step(&Turn{Turn: n, Session: "s", Demand: []string{"ab"[n%2 : n%2+1]}}); err != nil {
			t.Fatal(err)
		}
		fmt.Println("STEP")
	}
}

// TestTraceKillAnywhere kills a traced run before each of its writes: the trace
// holds every turn that was acknowledged, and replays.
func TestTraceKillAnywhere(t *testing.T) {
	crashtest.EveryWrite(t, "TestTraceCrashChild", 12, func(dir string, n int, out []byte) {
		f, err := os.Open(filepath.Join(dir, "trace.jsonl"))
		if err != nil {
			return // it was killed before there was one
		}
		defer f.Close()
		turns, diff, err := Replay(f)
		acked := bytes.Count(out, []byte("STEP\n"))
		if empty := acked == 0 && turns == 0; diff != nil || err != nil && !empty || turns < acked || turns > acked+1 {
			t.Fatalf("killed at %d: %d turns replay, %d were acknowledged; %+v, %v", n, turns, acked, diff, err)
		}
	})
}
