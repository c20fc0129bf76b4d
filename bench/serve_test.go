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
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel/internal/rendezvous"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/serve"
	"github.com/memkernel/memkernel/transcript"
)

const serveModel = "claude-opus-4-5-20251101"

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
	plan      string
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
	if err := r.call("plan", members{"session_key": r.key, "private": true, "model": serveModel, "known_plan": r.plan, "conversation": r.conversation(question)}, &plan); err != nil {
		return "", err
	}
	r.base, r.tokens, r.plan = plan.Conversation.Base, plan.Budgets.Tokens, plan.PlanID
	var seen struct {
		Outcome      string
		Conversation struct{ Base string }
	}
	err = r.call("observe_turn", members{"session_key": r.key, "private": true, "model": serveModel, "plan_id": plan.PlanID, "conversation": r.conversation(answer)}, &seen)
	r.base = seen.Conversation.Base
	return seen.Outcome, err
}

func (r *remote) conversation(more []json.RawMessage) members {
	if r.base == "" {
		return members{"dialect": "anthropic", "messages": more}
	}
	return members{"base": r.base, "messages": more}
}

// local is the same session in process.
type local struct {
	k  *kernel.Kernel
	in *transcript.Intake
}

func (l *local) step(question, answer []json.RawMessage) (kernel.Outcome, error) {
	ctx := context.Background()
	if err := l.take(question); err != nil {
		return "", err
	}
	p, err := l.k.PlanContext(ctx, kernel.PlanRequest{SessionKey: "s", Model: serveModel, Private: true, Messages: l.in.Messages()})
	if err != nil {
		return "", err
	}
	if err := l.take(answer); err != nil {
		return "", err
	}
	o, err := l.k.ObserveTurn(ctx, kernel.Turn{SessionKey: "s", Model: serveModel, Private: true, Messages: l.in.Messages(), PlanID: p.ID})
	if err != nil {
		return "", err
	}
	return o.Outcome, nil
}

func (l *local) take(more []json.RawMessage) error {
	values := make([]string, len(more))
	for i, m := range more {
		values[i] = string(m)
	}
	return l.in.Append(values, nil)
}

// words makes a text of about so many tokens.
func words(rnd *rand.Rand, tokens int) string {
	var b strings.Builder
	for range tokens * 2 / 5 {
		fmt.Fprintf(&b, "%s%d ", []string{"deploy", "cache", "index", "worker", "queue", "socket", "ledger", "schema"}[rnd.Intn(8)], rnd.Intn(50))
	}
	return b.String()
}

// serveTurn is a user turn with a tool call whose result has so many tokens.
func serveTurn(rnd *rand.Rand, n, tokens int) (question, answer []json.RawMessage) {
	raw := func(v any) json.RawMessage {
		data, _ := json.Marshal(v) // made of strings
		return data
	}
	id := fmt.Sprintf("toolu_%d", n)
	question = []json.RawMessage{raw(members{"role": "user", "content": fmt.Sprintf("question %d: %s", n, words(rnd, 20))})}
	answer = []json.RawMessage{
		raw(members{"role": "assistant", "content": []members{{"type": "tool_use", "id": id, "name": "read", "input": members{"path": fmt.Sprint("file", n)}}}}),
		raw(members{"role": "user", "content": []members{{"type": "tool_result", "tool_use_id": id, "content": words(rnd, tokens)}}}),
		raw(members{"role": "assistant", "content": []members{{"type": "text", "text": "answer " + words(rnd, 50)}}}),
	}
	return question, answer
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
	in, err := transcript.NewIntake(transcript.Anthropic)
	if err != nil {
		b.Fatal(err)
	}
	there, here := &remote{caller: dial(), key: "s"}, &local{k: k, in: in}
	rnd := rand.New(rand.NewSource(1))
	n := 0
	var cpu [2]time.Duration
	step := func(size int) (far, near time.Duration) {
		n++
		question, answer := serveTurn(rnd, n, size)
		used, start := cpuTime(), time.Now()
		outcome, err := there.step(question, answer)
		far = time.Since(start)
		cpu[0] += cpuTime() - used
		if err != nil || outcome != string(kernel.Committed) {
			b.Fatal(outcome, err)
		}
		used, start = cpuTime(), time.Now()
		committed, err := here.step(question, answer)
		if near = time.Since(start); err != nil || committed != kernel.Committed {
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
