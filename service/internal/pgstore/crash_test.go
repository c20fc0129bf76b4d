package pgstore_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/service/internal/pgstore"
)

type state struct{ *pgstore.Store }

func (s state) State() store.Store { return s.Store }

func kernelOn(t testing.TB, dir string, s *pgstore.Store) *kernel.Kernel {
	t.Helper()
	k, err := kernel.Open(context.Background(), dir, &kernel.Options{Store: state{s}, StateDir: t.TempDir(), Memory: kernel.MemoryOptions{Off: true}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.Close() })
	return k
}

const model = "claude-opus-4-5"

func words(s string) []memkernel.Part {
	return []memkernel.Part{{Kind: memkernel.PartText, Text: s, Typed: true}}
}

// told is a conversation of n turns that ends with a question.
func told(n int) (msgs []memkernel.Message) {
	add := func(role memkernel.Role, parts []memkernel.Part) {
		msgs = append(msgs, memkernel.Message{Key: fmt.Sprint("m", len(msgs)), Role: role, Parts: parts, Model: model, Time: time.Date(2026, 11, 3, 9, len(msgs), 0, 0, time.UTC)})
	}
	for i := range n + 1 {
		add(memkernel.RoleUser, words(fmt.Sprintf("Make test %d pass.", i)))
		if i < n {
			id := fmt.Sprint("call", i)
			add(memkernel.RoleAssistant, []memkernel.Part{{Kind: memkernel.PartToolUse, Call: &memkernel.ToolCall{ID: id, Name: "Read", Input: `{"file_path":"a.go"}`}}})
			add(memkernel.RoleUser, []memkernel.Part{{Kind: memkernel.PartToolResult, Result: &memkernel.ToolResult{CallID: id, Content: words(strings.Repeat(fmt.Sprintf("func step%d()\n", i), 900)), Text: true}}})
			add(memkernel.RoleAssistant, words("It passes."))
		}
	}
	return msgs
}

// turn plans and observes turn i of the conversation, and reports whether both went well.
func turn(k *kernel.Kernel, i int) error {
	msgs := told(i + 1)
	msgs = msgs[:len(msgs)-1]
	p, err := k.PlanContext(context.Background(), api.PlanRequest{SessionKey: "s", Model: model, ContextWindow: 64_000, Messages: msgs[:len(msgs)-1]})
	if err != nil {
		return err
	}
	_, err = k.ObserveTurn(context.Background(), api.Turn{SessionKey: "s", Model: model, Messages: msgs, PlanID: p.ID})
	return err
}

// holds checks that every turn that was acknowledged is there once, and nothing is wrong.
func holds(t *testing.T, k *kernel.Kernel, acked, tried int, what string) {
	t.Helper()
	st, err := k.Status(context.Background(), &api.StatusOptions{All: true})
	turns := 0
	if err == nil && len(st.Sessions) == 1 {
		turns = st.Sessions[0].Turns
	}
	if err != nil || turns < acked || turns > tried {
		t.Fatalf("%s: %d turns were acknowledged of %d: %d are there, %v", what, acked, tried, turns, err)
	}
	found, err := k.Check(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		// What need not be synced is lost with the lock, as a power cut loses it.
		if !strings.Contains(f.What, "projection") && !strings.Contains(f.What, "trace.jsonl") && !strings.Contains(f.What, "usage.jsonl") && !strings.Contains(f.What, "/state/") {
			t.Fatalf("%s: %+v", what, f)
		}
	}
}

// A process that dies at any statement, before it or before its answer, leaves every turn
// that was acknowledged to the next one, which goes on.
func TestKernelDiesAtAnyStatement(t *testing.T) {
	o := fresh(t)
	o.Lease = 200 * time.Millisecond
	dir := t.TempDir()
	run := func(root string, at int) (steps, acked int) {
		o.Root = root
		s := open(t, o)
		var n atomic.Int64
		s.SetFault(func(step pgstore.Step) error {
			if step != pgstore.Look && n.Add(1) >= int64(at) || n.Load() >= int64(at) {
				return io.ErrUnexpectedEOF
			}
			return nil
		})
		k := kernelOn(t, dir, s)
		for i := range 3 {
			if turn(k, i) != nil {
				break
			}
			acked++
		}
		return int(n.Load()), acked
	}
	steps, acked := run("whole", 1<<30)
	if acked != 3 || steps < 30 {
		t.Fatalf("%d turns in %d steps", acked, steps)
	}
	var all []int
	for i := range steps {
		all = append(all, i+1)
	}
	for _, at := range suite.Some(all, 16) {
		root := fmt.Sprint("dies at ", at)
		_, acked := run(root, at)
		o.Root = root
		k := kernelOn(t, dir, open(t, o))
		holds(t, k, acked, acked+1, root)
		if err := turn(k, 3); err != nil {
			t.Fatalf("%s: the next turn: %v", root, err)
		}
		holds(t, k, acked+1, acked+4, root)
	}
}

// A machine that stands still in the middle of a turn for longer than its lease lasts, while
// another serves the session, writes nothing when it wakes up, and goes on from what the
// other wrote.
func TestPausedMachine(t *testing.T) {
	o := fresh(t)
	o.Lease = 300 * time.Millisecond
	dir := t.TempDir()
	sa, sb := open(t, o), open(t, o)
	a, b := kernelOn(t, dir, sa), kernelOn(t, dir, sb)
	for i := range 2 {
		if err := turn(a, i); err != nil {
			t.Fatal(err)
		}
	}
	for _, pauseAt := range []int64{2, 3, 4, 5} {
		var n, paused atomic.Int64
		stopped, wake := make(chan struct{}), make(chan struct{})
		sa.SetFault(func(step pgstore.Step) error {
			if step == pgstore.Look {
				if paused.Load() > 0 {
					return io.ErrUnexpectedEOF // nothing is renewed by who stands still
				}
				return nil
			}
			if step == pgstore.Send && n.Add(1) == pauseAt {
				paused.Store(1)
				close(stopped)
				<-wake
				paused.Store(0)
			}
			return nil
		})
		st, err := b.Status(context.Background(), &api.StatusOptions{Session: "s"})
		if err != nil {
			t.Fatal(err)
		}
		before := st.Sessions[0].Turns
		ended := make(chan error)
		go func() { ended <- turn(a, before) }()
		select {
		case <-stopped:
		case err := <-ended:
			sa.SetFault(nil)
			t.Fatalf("a turn of %d statements did not come to statement %d: %v", n.Load(), pauseAt, err)
		}
		err = turn(b, before)
		close(wake)
		if err != nil {
			t.Fatalf("the other machine: %v; the first: %v", err, <-ended)
		}
		err = <-ended // refused, or the turn that the other has committed already
		sa.SetFault(nil)
		t.Logf("paused at statement %d: %v", pauseAt, err)
		if err := turn(a, before+1); err != nil {
			t.Fatalf("paused at statement %d: the next turn: %v", pauseAt, err)
		}
		holds(t, b, before+2, before+2, fmt.Sprint("paused at statement ", pauseAt))
	}
}
