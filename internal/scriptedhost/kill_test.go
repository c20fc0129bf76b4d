package scriptedhost

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/internal/suite"
)

// The environment of a child: the host's folder, the step it begins with, and the
// step from which on it dies before its Nth write operation; N = 0 is never.
const (
	envDir  = "MEMKERNEL_HOST_DIR"
	envFrom = "MEMKERNEL_HOST_FROM"
	envArm  = "MEMKERNEL_HOST_ARM"
	envAt   = "MEMKERNEL_HOST_AT"
)

// Child is the test that [Kills] runs in processes of their own. It follows the
// script of make's setup from the given step, and prints what was
// acknowledged.
func Child(t *testing.T, make func() Setup) {
	t.Helper()
	dir := os.Getenv(envDir)
	if dir == "" {
		t.Skip("runs in a child process that is killed")
	}
	from, arm, at := number(t, envFrom), number(t, envArm), number(t, envAt)
	s := make()
	h, script, ctx := New(dir, s), NewScript(s), context.Background()
	for i := range script[:from] {
		if err := h.Skip(&script[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.Open(ctx); err != nil {
		t.Fatal(err)
	}
	for i := from; i < len(script); i++ {
		if i == arm && at > 0 {
			suite.Arm(t, at)
		}
		if err := h.Do(ctx, &script[i]); err != nil {
			t.Fatal(err)
		}
		fmt.Printf("ACK %d\n", i)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
}

func number(t *testing.T, env string) int {
	t.Helper()
	n, err := strconv.Atoi(os.Getenv(env))
	if err != nil {
		t.Fatalf("%s: %v", env, err)
	}
	return n
}

// shot is one kill: from which step on, and before which write operation; 0 is a
// kill from outside as soon as the step is acknowledged, whatever is under way then.
type shot struct{ arm, at int }

// maxOps is the most write operations that a shot waits for: those of some steps.
const maxOps = 40

// shots are n kills over a script, by the script's seed.
func shots(s Setup, steps, n int) []shot {
	rng := rand.New(rand.NewPCG(s.Seed, 2))
	out := make([]shot, n)
	for i := range out {
		out[i] = shot{arm: rng.IntN(steps)}
		if rng.IntN(3) > 0 {
			out[i].at = 1 + rng.IntN(maxOps)
		}
	}
	slices.SortFunc(out, func(a, b shot) int { return a.arm - b.arm })
	return out
}

// Kills runs the script of s in children that run the test named child, kills n of
// them at random moments, and checks the state after each, and at the end.
func Kills(t *testing.T, child string, s Setup, n int) *Host {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("no process can be killed by a signal here")
	}
	s.setDefaults()
	script := NewScript(s)
	g := &gallery{t: t, child: child, script: script, h: New(t.TempDir(), s)}
	defer func() {
		lost := 0
		if t.Failed() {
			lost = 1
		}
		suite.Tell(t, g.killed, lost, 0)
	}()
	for i, sh := range shots(s, len(script), n) {
		sh.arm = max(sh.arm, g.acked)
		if !g.run(&sh) {
			t.Logf("the script ended before kill %d of %d", i+1, n)
			break
		}
		if err := g.h.Check(context.Background(), g.underWay()); err != nil {
			t.Fatalf("seed %d, kill %d at %+v, %d steps acknowledged, under way %s: %v", s.Seed, i+1, sh, g.acked, describe(g.underWay()), err)
		}
	}
	if g.acked < len(script) && g.run(nil) {
		t.Fatal("a child died that nobody killed")
	}
	if err := g.h.Check(context.Background(), nil); err != nil {
		t.Fatalf("seed %d, at the end: %v", s.Seed, err)
	}
	t.Logf("%d steps, %d kills, %d turns, %d resets, %d memories", len(script), g.killed, g.h.Ledger.Turns, g.h.Ledger.Epoch, len(g.h.Ledger.Memories))
	return g.h
}

func describe(st *Step) string {
	if st == nil {
		return "nothing"
	}
	return fmt.Sprintf("%s %s of turn %d", st.Kind, st.Key, st.Turn)
}

// gallery is the parent's side.
type gallery struct {
	t             *testing.T
	child         string
	script        Script
	h             *Host
	acked, killed int
}

func (g *gallery) underWay() *Step {
	if g.acked == len(g.script) {
		return nil
	}
	return &g.script[g.acked]
}

// run starts a child and listens until it ends; it reports whether it was killed.
func (g *gallery) run(sh *shot) (killed bool) {
	g.t.Helper()
	if sh == nil {
		sh = &shot{arm: -1}
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+g.child+"$")
	cmd.Env = append(os.Environ(), envDir+"="+g.h.Dir, fmt.Sprintf("%s=%d", envFrom, g.acked), fmt.Sprintf("%s=%d", envArm, sh.arm), fmt.Sprintf("%s=%d", envAt, sh.at))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		g.t.Fatal(err)
	}
	said := g.listen(out, func(step int) {
		if sh.at == 0 && step == sh.arm {
			cmd.Process.Kill() // an error means that it has ended
		}
	})
	return g.ended(cmd.Wait(), said+stderr.String())
}

// listen takes acknowledgements, and returns what else the child said.
func (g *gallery) listen(out io.Reader, acked func(step int)) string {
	var rest strings.Builder
	for s := bufio.NewScanner(out); s.Scan(); {
		var i int
		if _, err := fmt.Sscanf(s.Text(), "ACK %d", &i); err != nil || i != g.acked {
			rest.WriteString(s.Text() + "\n")
			continue
		}
		if err := g.h.Skip(&g.script[i]); err != nil {
			g.t.Fatal(err)
		}
		g.acked = i + 1
		acked(i)
	}
	return rest.String()
}

func (g *gallery) ended(err error, said string) (killed bool) {
	g.t.Helper()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return false
	case errors.As(err, &exit) && exit.ExitCode() == -1:
		g.killed++
		return true
	}
	g.t.Fatalf("%d steps acknowledged, %d kills: child: %v\n%s", g.acked, g.killed, err, said)
	return false
}
