package kernel_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
)

// TestKillAnywhere kills a session before each of its write operations and looks at
// what stands: check is clean, everything that was acknowledged restores, the trace
// replays up to its last whole line, and plans go on.
func TestKillAnywhere(t *testing.T) {
	steps := suite.EveryWrite(t, "TestCrashChild", 20, func(dir string, n int, out []byte) { afterKill(t, dir, n, out) })
	for _, step := range suite.Pick(nil, []string{"commitPages", "Capture", "commitTurn"}) {
		if steps["ObserveTurn: endTurn/"+step] == 0 {
			t.Errorf("nothing was killed in the step %s of a turn's end", step)
		}
	}
}

// TestCrashChild is the session that TestKillAnywhere kills.
func TestCrashChild(t *testing.T) {
	k := openKernel(t, suite.Child(t))
	for i, c := range crashScript() {
		p := mustPlan(t, k, request(c))
		for _, r := range p.Reduced {
			fmt.Printf("ACK %s\n", r.Page)
		}
		fmt.Printf("PLAN %s\n", p.ID)
		c.say()
		observe(t, k, api.Turn{Messages: c.msgs, PlanID: p.ID})
		fmt.Printf("TURN %d\n", i+1)
	}
	write(t, k, pin("r1", "Rule r1 binds."))
	fmt.Println("PIN")
	last := crashScript()[3]
	pass(t, k.Compact, api.Boundary{Messages: last.msgs})
	pass(t, k.Reset, api.Boundary{Messages: last.msgs})
	fmt.Println("RESET")
	k.Close()
}

// crashScript is a session at the ends of its turns; the third plan cuts.
func crashScript() []*conversation {
	var out []*conversation
	for turns := 1; turns <= 4; turns++ {
		c := newConversation(12)
		for i := range turns {
			c.user()
			c.loop(2, 18_000)
			if i < turns-1 {
				c.say()
			}
		}
		out = append(out, c)
	}
	return out
}

func afterKill(t *testing.T, dir string, n int, out []byte) {
	t.Helper()
	k := openKernel(t, dir)
	defer k.Close()
	ctx := context.Background()
	if findings, err := k.Check(ctx); err != nil || len(findings) > 0 {
		t.Fatalf("killed at %d: check says %v, %v", n, findings, err)
	}
	turns := 0
	for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
		if id, ok := strings.CutPrefix(s.Text(), "ACK "); ok {
			if c, err := k.Get(ctx, "s", id); err != nil || c.Reason != api.GetOK {
				t.Fatalf("killed at %d: acknowledged page %s is gone: %v %v", n, id, c, err)
			}
		}
		if strings.HasPrefix(s.Text(), "TURN ") {
			turns++
		}
	}
	st, err := k.Status(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	if turns > 0 && (len(st.Sessions) != 1 || st.Sessions[0].Turns < turns) {
		t.Fatalf("killed at %d: %d turns were acknowledged, status says %+v", n, turns, st.Sessions)
	}
	traced := replayTraces(t, dir, n)
	if acked := bytes.Count(out, []byte("PLAN ")); traced < acked {
		t.Fatalf("killed at %d: %d plans were acknowledged, the traces hold %d", n, acked, traced)
	}
	last := crashScript()[3]
	p := mustPlan(t, k, request(last))
	checkPlan(t, p, last.msgs)
	if bytes.Contains(out, []byte("PIN")) && strings.Count(stream(p), "Rule r1 binds.") != 1 {
		t.Fatalf("killed at %d: the pin that was acknowledged does not stand", n)
	}
	if epoch := pass(t, k.Flush, api.Boundary{Messages: last.msgs}).Epoch; bytes.Contains(out, []byte("RESET")) && epoch != 1 {
		t.Fatalf("killed at %d: the reset that was acknowledged is epoch %d", n, epoch)
	}
	if hasFault(p, "not_traced") {
		t.Fatalf("killed at %d: faults are %v", n, p.Faults)
	}
	replayTraces(t, dir, n)
}

// replayTraces decides the traces again, and counts the plans in them.
func replayTraces(t *testing.T, dir string, n int) (plans int) {
	t.Helper()
	for _, name := range []string{"trace.jsonl", "trace.1.jsonl"} {
		path := sessionFile(dir, name)
		if fi, err := os.Stat(path); err != nil || fi.Size() == 0 {
			continue // a new file is empty until its first line is written
		}
		r := replayFile(t, path)
		if r.Difference != nil {
			t.Fatalf("killed at %d: %s: %+v", n, name, r.Difference)
		}
		plans += r.Plans
	}
	return plans
}

// smallTraces are put aside after a few plans.
var smallTraces = &kernel.Options{TraceBytes: 1}

// tracedPlans is how many plans the session of TestTraceCrashChild has: enough for
// a trace to be put aside.
const tracedPlans = 12

func openTraced(t *testing.T, dir string) *kernel.Kernel {
	t.Helper()
	k, err := kernel.Open(context.Background(), dir, smallTraces)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// TestTraceCrashChild is the session that TestTraceKillAnywhere kills.
func TestTraceCrashChild(t *testing.T) {
	k := openTraced(t, suite.Child(t))
	c := session(127, 1, 1, 400)
	for range tracedPlans {
		mustPlan(t, k, request(c))
		fmt.Println("PLAN")
		c.grow()
	}
	k.Close()
}

// TestTraceKillAnywhere kills a session whose trace is put aside on the way. The
// traces replay up to the last plan that was acknowledged, but for what was put
// aside twice, and the next plan is in them.
func TestTraceKillAnywhere(t *testing.T) {
	rotated := false
	suite.EveryWrite(t, "TestTraceCrashChild", 4*tracedPlans, func(dir string, n int, out []byte) {
		traced, acked := replayTraces(t, dir, n), bytes.Count(out, []byte("PLAN\n"))
		_, err := os.Stat(sessionFile(dir, "trace.1.jsonl"))
		rotated = rotated || err == nil
		if traced < acked && err != nil || acked > 4 && traced < 4 {
			t.Fatalf("killed at %d: %d plans were acknowledged, the traces hold %d", n, acked, traced)
		}
		k := openTraced(t, dir)
		defer k.Close()
		c := session(127, 1, 1, 400)
		for range tracedPlans {
			c.grow()
		}
		if p := mustPlan(t, k, request(c)); hasFault(p, "not_traced") {
			t.Fatalf("killed at %d: faults are %v", n, p.Faults)
		}
		r := replayFile(t, sessionFile(dir, "trace.jsonl"))
		if r.Difference != nil || r.Plans == 0 {
			t.Fatalf("killed at %d: %+v", n, r)
		}
	})
	if !rotated {
		t.Error("no trace was put aside")
	}
}
