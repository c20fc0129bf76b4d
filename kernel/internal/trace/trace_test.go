package trace_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/internal/plan"
	"github.com/memkernel/memkernel/kernel/internal/trace"
	"github.com/memkernel/memkernel/pagevm"
)

// messages are so many of a conversation, with the segment that each has.
func messages(n int) (hosts []pagevm.HostMessage, places []pagevm.Place) {
	for i := range n {
		hosts = append(hosts, pagevm.HostMessage{Key: fmt.Sprint("m", i), Hash: fmt.Sprint("h", i), Role: memkernel.RoleUser,
			Segments: []pagevm.Segment{{Page: fmt.Sprint("cv-", i), First: pagevm.Full, At: [pagevm.Full + 1]pagevm.Shown{pagevm.Full: {Hash: fmt.Sprint("h", i), Tokens: 100}}}}})
		places = append(places, pagevm.Place{Atom: i})
	}
	return hosts, places
}

// TestWrittenPlansReplay: what plans of growing conversations note comes out the
// same when it is decided again, whether a line goes on from the one before or, after
// Forget, stands by itself; a changed line is told by its number.
func TestWrittenPlansReplay(t *testing.T) {
	dir := t.TempDir()
	w := trace.NewWriter(store.Files(dir), "v1.2.3", 1<<20)
	defer w.Close()
	before := &pagevm.Projection{Version: pagevm.ProjectionVersion, Session: "s"}
	for i := range 20 {
		hosts, places := messages(2*i + 1)
		p := &trace.Plan{ID: fmt.Sprint("pl-", i), Time: time.Unix(int64(i), 0), Model: "m", Before: before, Host: hosts, Places: places,
			Align: pagevm.Align(before, hosts), KeepSeen: len(before.Seen), KeepItems: len(before.Items)}
		cut := &plan.CutStep{Out: cachelayout.PlanCut(cachelayout.CutInput{})}
		next := &plan.NextStep{}
		next.Proj, next.Out = pagevm.Next(before, pagevm.Delta{Host: hosts, Places: places, Align: p.Align}, pagevm.Wishes{}, pagevm.Cache{})
		p.After, p.Trail = next.Proj, []plan.Step{{Cut: cut}, {Next: next}}
		if n, err := w.Write(p); err != nil || n == 0 {
			t.Fatalf("plan %d: %d bytes, %v", i, n, err)
		}
		if before = p.After; i == 9 {
			w.Forget()
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, trace.File))
	if err != nil {
		t.Fatal(err)
	}
	r, err := trace.Replay("t", bytes.NewReader(text))
	if err != nil || r.Difference != nil || r.Plans != 20 || r.Decisions != 60 || r.Program != "v1.2.3" {
		t.Fatalf("%+v, %v", r, err)
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	if n := bytes.Count(text, []byte(`"before":{`)); n != 2 {
		t.Errorf("%d lines stand by themselves, want 2", n)
	}
	if _, err := trace.Replay("t", bytes.NewReader(bytes.Join(append(lines[:3:3], lines[4:]...), nil))); err == nil {
		t.Error("a line is missing, and the next goes on from it all the same")
	}
}

// TestNoWriter: a nil writer writes nothing and fails nothing.
func TestNoWriter(t *testing.T) {
	var w *trace.Writer
	w.Forget()
	if n, err := w.Write(&trace.Plan{}); n != 0 || err != nil || w.Close() != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
}
