package trace_test

import (
	"bytes"
	"encoding/json"
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
	w := trace.NewWriter(store.Files(dir), "", "v1.2.3", 1<<20)
	before := &pagevm.Projection{Version: pagevm.ProjectionVersion, Session: "s"}
	for i := range 20 {
		hosts, places := messages(2*i + 1)
		p := &trace.Plan{ID: fmt.Sprint("pl-", i), Time: time.Unix(int64(i), 0), Model: "m", Before: before, Host: hosts, Places: places,
			Align: pagevm.Align(before, hosts)}
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

// conv is a conversation whose plans writers note, each having read what stands.
type conv struct {
	t      *testing.T
	n      int
	before []byte // the projection, as it is kept
}

func (c *conv) plan(w *trace.Writer) int {
	c.t.Helper()
	before := &pagevm.Projection{Version: pagevm.ProjectionVersion, Session: "s"}
	if c.before != nil {
		*before = pagevm.Projection{}
		if err := json.Unmarshal(c.before, before); err != nil {
			c.t.Fatal(err)
		}
	}
	hosts, places := messages(c.n + 40)
	p := &trace.Plan{ID: fmt.Sprint("pl-", c.n), Time: time.Unix(int64(c.n), 0), Model: "m", Before: before, Host: hosts, Places: places,
		Align: pagevm.Align(before, hosts)}
	in := cachelayout.CutInput{Conversation: 1000 * (c.n + 1), Fixed: 5 * (c.n / 2)}
	next := &plan.NextStep{}
	next.Proj, next.Out = pagevm.Next(before, pagevm.Delta{Host: hosts, Places: places, Align: p.Align}, pagevm.Wishes{}, pagevm.Cache{})
	p.After, p.Trail = next.Proj, []plan.Step{{Cut: &plan.CutStep{In: in, Out: cachelayout.PlanCut(in)}}, {Next: next}}
	n, err := w.Write(p)
	if err != nil || n == 0 {
		c.t.Fatalf("plan %d: %d bytes, %v", c.n, n, err)
	}
	c.n++
	if c.before, err = json.Marshal(p.After); err != nil {
		c.t.Fatal(err)
	}
	return n
}

// TestWritersTakeTurns: a writer's line goes on from its own last line if that is the trace's last.
// Any other line is complete by itself. After plans that the trace does not have, a writer's line
// goes on from its own all the same, and says where the plan began.
func TestWritersTakeTurns(t *testing.T) {
	for name, turns := range map[string]string{"two": "abababab", "as it comes": "aabbbabaab", "four": "abcdabcdabcddcba", "long": "abbbbbbbbbbbbbbbbbbbbbbbba", "one is begun anew": "ababAbab", "a plan is not in it": "abab-bab", "another wrote it": "ababXbbab", "two machines": "a~a~a~~~aa~a", "three machines, two writers": "aa~ab~ba"} {
		dir := t.TempDir()
		writers := map[rune]*trace.Writer{}
		writer := func(r rune) *trace.Writer {
			if writers[r] == nil {
				writers[r] = trace.NewWriter(store.Files(dir), "", "v1.2.3", 1<<20)
			}
			return writers[r]
		}
		c := &conv{t: t}
		alone, behind, last := 0, 0, rune(0)
		elsewhere := trace.NewWriter(store.Files(t.TempDir()), "", "v1.2.3", 1<<20)
		for _, r := range turns {
			switch r {
			case '~':
				c.plan(elsewhere)
				continue
			case 'A':
				writer('a').Forget()
				r, last = 'a', 0
			case '-':
				c.plan(trace.NewWriter(store.Files(t.TempDir()), "", "v1.2.3", 1<<20))
				continue
			case 'X': // of the plan that stands in the trace not what is kept
				var p pagevm.Projection
				if err := json.Unmarshal(c.before, &p); err != nil {
					t.Fatal(err)
				}
				p.Items[3].Tokens++
				c.before, _ = json.Marshal(p)
				continue
			}
			switch {
			case r != last:
				alone++
			default:
				behind++ // the projection was read again, or is another
			}
			c.plan(writer(r))
			last = r
		}
		text, err := os.ReadFile(filepath.Join(dir, trace.File))
		if err != nil {
			t.Fatal(err)
		}
		r, err := trace.Replay("t", bytes.NewReader(text))
		if err != nil || r.Difference != nil || r.Plans != bytes.Count(text, []byte("\n"))-1 {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
		began := bytes.Count(text, []byte(`"before":{`))
		if n := began - bytes.Count(text, []byte(`"keep_seen":`)); n != alone || began != alone+behind {
			t.Errorf("%s: %d lines stand by themselves, want %d; %d say where they began, want %d", name, n, alone, began, alone+behind)
		}
	}
}

// TestNoWriter: a nil writer writes nothing and fails nothing.
func TestNoWriter(t *testing.T) {
	var w *trace.Writer
	w.Forget()
	if n, err := w.Write(&trace.Plan{}); n != 0 || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
}
