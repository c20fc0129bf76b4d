//go:build unix

package kernel_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/memkernel/memkernel/internal/atomicfile"
	"github.com/memkernel/memkernel/kernel"
)

// TestKillAnywhere runs a session in a child process that kills itself with
// SIGKILL before its Nth write operation, for every N, and looks at what stands:
// check is clean, everything that was acknowledged restores, and the next plan is
// valid.
func TestKillAnywhere(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a process per write operation")
	}
	stride := 1
	for n := 1; ; n += stride {
		dir := t.TempDir()
		out, killed := runChild(t, dir, n)
		afterKill(t, dir, n, out)
		if !killed {
			if n < 20 {
				t.Fatalf("only %d write operations were seen", n)
			}
			return
		}
	}
}

func runChild(t *testing.T, dir string, n int) (out []byte, killed bool) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestCrashChild$")
	cmd.Env = append(os.Environ(), "MEMKERNEL_CRASH_DIR="+dir, "MEMKERNEL_CRASH_AT="+strconv.Itoa(n))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err == nil {
		return out, false
	}
	exit, ok := err.(*exec.ExitError)
	if ok && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL {
		return out, true
	}
	t.Fatalf("child %d: %v\n%s%s", n, err, out, stderr.Bytes())
	return nil, false
}

// TestCrashChild is the session that TestKillAnywhere kills.
func TestCrashChild(t *testing.T) {
	dir := os.Getenv("MEMKERNEL_CRASH_DIR")
	if dir == "" {
		t.Skip("runs as the child of TestKillAnywhere")
	}
	at, _ := strconv.Atoi(os.Getenv("MEMKERNEL_CRASH_AT"))
	ops := 0
	defer atomicfile.SetHook(func(op, path string) error {
		if ops++; ops == at {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
		return nil
	})()
	k := openKernel(t, dir)
	for i, c := range crashScript() {
		p := mustPlan(t, k, request(c))
		for _, r := range p.Reduced {
			fmt.Printf("ACK %s\n", r.Page)
		}
		c.say()
		observe(t, k, kernel.Turn{Messages: c.msgs, PlanID: p.ID})
		fmt.Printf("TURN %d\n", i+1)
	}
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
			if c, err := k.Get(ctx, "s", id); err != nil || c.Reason != kernel.ReasonOK {
				t.Fatalf("killed at %d: acknowledged page %s is gone: %v %v", n, id, c, err)
			}
		}
		if strings.HasPrefix(s.Text(), "TURN ") {
			turns++
		}
	}
	st, err := k.Status(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if turns > 0 && (len(st.Sessions) != 1 || st.Sessions[0].Turns < turns) {
		t.Fatalf("killed at %d: %d turns were acknowledged, status says %+v", n, turns, st.Sessions)
	}
	last := crashScript()[3]
	checkPlan(t, mustPlan(t, k, request(last)), last.msgs)
}
