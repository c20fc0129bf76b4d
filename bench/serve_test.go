package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand"
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/memkernel/memkernel/internal/longturns"
	"github.com/memkernel/memkernel/internal/rendezvous"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/serve"
	"github.com/memkernel/memkernel/transcript"
)

// daemonOf runs a daemon in this process and connects to its socket.
func daemonOf(tb testing.TB) (workspace string, dial func() *caller) {
	tb.Helper()
	workspace, err := os.MkdirTemp("", "mk")
	if err != nil {
		tb.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	listening, ended := make(chan string, 1), make(chan error, 1)
	d := &serve.Daemon{StateDir: filepath.Join(workspace, kernel.DefaultStateDir), Listening: func(s string, _ bool) { listening <- s },
		Open: func(ctx context.Context) (*kernel.Kernel, *serve.Options, error) {
			k, err := kernel.Open(ctx, workspace, nil)
			return k, &serve.Options{Private: true}, err
		}}
	go func() { ended <- d.Run(ctx) }()
	tb.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			tb.Error(err)
		}
		os.RemoveAll(workspace)
	})
	select {
	case <-listening:
	case err := <-ended:
		tb.Fatal(err)
	}
	return workspace, func() *caller {
		nc, _, err := rendezvous.Find(d.StateDir)
		if err != nil {
			tb.Fatal(err)
		}
		r := bufio.NewReaderSize(nc, 1<<20)
		tb.Cleanup(func() { nc.Close() })
		return &caller{nc: nc, r: r}
	}
}

// caller is a client of the socket, one call at a time.
type caller struct {
	nc net.Conn
	r  *bufio.Reader
	n  int
}

func (c *caller) call(method string, params, result any) error {
	c.n++
	data, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": c.n, "method": method, "params": params})
	if err != nil {
		return err
	}
	if _, err := c.nc.Write(append(data, '\n')); err != nil {
		return err
	}
	line, err := c.r.ReadBytes('\n')
	if err != nil {
		return err
	}
	var answer struct {
		Result json.RawMessage
		Error  *serve.Error
	}
	if err := json.Unmarshal(line, &answer); err != nil {
		return err
	}
	if answer.Error != nil {
		return fmt.Errorf("%s: %s: %w", method, answer.Error.Data.Code, answer.Error)
	}
	return json.Unmarshal(answer.Result, result)
}

type members map[string]any

// remote is a session that goes through a daemon, handing in what is new.
type remote struct {
	*caller
	key, base string
	tokens    int // of the newest plan
}

// step plans a call and commits its turn.
func (r *remote) step(question, answer []json.RawMessage) (outcome string, err error) {
	var plan struct {
		PlanID  string `json:"plan_id"`
		Budgets struct {
			Tokens int `json:"planned_input_tokens"`
		}
		Conversation struct{ Base string }
	}
	if err := r.call("plan", members{"session_key": r.key, "private": true, "model": longturns.Model, "conversation": r.conversation(question)}, &plan); err != nil {
		return "", err
	}
	r.base, r.tokens = plan.Conversation.Base, plan.Budgets.Tokens
	var seen struct {
		Outcome      string
		Conversation struct{ Base string }
	}
	err = r.call("observe_turn", members{"session_key": r.key, "private": true, "model": longturns.Model, "plan_id": plan.PlanID, "conversation": r.conversation(answer)}, &seen)
	r.base = seen.Conversation.Base
	return seen.Outcome, err
}

func (r *remote) conversation(more []json.RawMessage) members {
	if r.base == "" {
		return members{"dialect": "anthropic", "messages": more}
	}
	return members{"base": r.base, "messages": more}
}

// BenchmarkServe compares a turn, plan and observe, through a daemon's socket with the
// same in process, on a session whose host holds 100,000 tokens. The two take turns, so that
// what else the machine does hits both. The overhead is the difference of the medians;
// of processor time, which a busy machine stretches less, it is that of the means.
func BenchmarkServe(b *testing.B) {
	const tokens, turns = 100_000, 60
	_, dial := daemonOf(b)
	k, err := kernel.Open(context.Background(), b.TempDir(), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer k.Close()
	in, err := transcript.NewIntake("anthropic")
	if err != nil {
		b.Fatal(err)
	}
	there, here := &remote{caller: dial(), key: "s"}, longturns.New(k, in)
	rnd := rand.New(rand.NewSource(1))
	n := 0
	var cpu [2]time.Duration
	step := func(size int) (far, near time.Duration) {
		n++
		question, answer := longturns.Turn(rnd, n, size)
		used, start := cpuTime(), time.Now()
		outcome, err := there.step(question, answer)
		far = time.Since(start)
		cpu[0] += cpuTime() - used
		if err != nil || outcome != string(api.Committed) {
			b.Fatal(outcome, err)
		}
		used, start = cpuTime(), time.Now()
		committed, err := here.Step(question, answer)
		if near = time.Since(start); err != nil || committed != api.Committed {
			b.Fatal(committed, err)
		}
		cpu[1] += cpuTime() - used
		return far, near
	}
	for range turns {
		step(tokens / turns)
	}
	var far, near []time.Duration
	cpu = [2]time.Duration{}
	for b.Loop() {
		f, l := step(100)
		far, near = append(far, f), append(near, l)
	}
	report(b, far, near)
	b.ReportMetric(float64(there.tokens), "planned-tokens")
	if cpu[1] > 0 {
		b.ReportMetric(float64(cpu[0]-cpu[1])/float64(b.N)/1e6, "overhead-cpu-ms")
	}
}

func report(b *testing.B, far, near []time.Duration) {
	p50 := func(d []time.Duration) float64 {
		slices.Sort(d)
		return float64(d[len(d)/2]) / float64(time.Millisecond)
	}
	f, n := p50(far), p50(near)
	b.ReportMetric(f, "daemon-p50-ms")
	b.ReportMetric(n, "in-process-p50-ms")
	b.ReportMetric(f-n, "overhead-ms")
	b.ReportMetric(f/n, "ratio")
}
