package paging

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/memkernel/memkernel/internal/atomicfile"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/pagevm"
)

func traced() *Workload {
	w := &Workload{Name: "traced", Sessions: []string{"s"}, Pages: []Page{page("a", pagevm.Evidence, 30, 20, 10, 2), page("b", pagevm.Evidence, 30, 20, 10, 2)}}
	for n := 1; n <= 8; n++ {
		w.Turns = append(w.Turns, Turn{Turn: n, Session: "s", Demand: []string{"ab"[n%2 : n%2+1]}})
	}
	return w
}

// countedFile is a file whose writes package suite counts.
type countedFile struct {
	f   *os.File
	off int64
}

func (c *countedFile) Write(b []byte) (int, error) {
	_, err := atomicfile.Append(c.f, c.off, b, false)
	c.off += int64(len(b))
	fmt.Println("WRITTEN")
	return len(b), err
}

// TestTraceCrashChild is the run that TestTraceKillAnywhere kills.
func TestTraceCrashChild(t *testing.T) {
	f, err := atomicfile.OpenAppend(filepath.Join(suite.Child(t), "trace.jsonl"), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := Run(t.Context(), traced(), policy(t, "clawvm"), 60, Options{NoOracle: true, Trace: &countedFile{f: f}}); err != nil {
		t.Fatal(err)
	}
}

// TestTraceKillAnywhere kills a traced run before each of its writes: the trace holds every turn
// that was written, and is the beginning of the whole run's trace.
func TestTraceKillAnywhere(t *testing.T) {
	var whole bytes.Buffer
	if _, err := Run(t.Context(), traced(), policy(t, "clawvm"), 60, Options{NoOracle: true, Trace: &whole}); err != nil {
		t.Fatal(err)
	}
	suite.EveryWrite(t, "TestTraceCrashChild", 11, func(dir string, n int, out []byte) {
		got, err := os.ReadFile(filepath.Join(dir, "trace.jsonl"))
		if err != nil {
			return // it was killed before there was one
		}
		lines, acked := bytes.Count(got, []byte("\n")), bytes.Count(out, []byte("WRITTEN\n"))
		if !bytes.HasPrefix(whole.Bytes(), got) || lines < acked || lines > acked+1 || len(got) > 0 && got[len(got)-1] != '\n' {
			t.Fatalf("killed at %d: %d lines, %d were written:\n%s", n, lines, acked, got)
		}
	})
}
