package kernel_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel/api"
)

// TestCancelledAndClosed: neither leaves anything behind.
func TestCancelledAndClosed(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	c := session(39, 1, 1, 900)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	turn := api.Turn{SessionKey: "s", Model: model, Messages: c.msgs}
	calls := func(ctx context.Context, want error) {
		t.Helper()
		_, plan := k.PlanContext(ctx, request(c))
		_, peek := k.Peek(ctx, request(c))
		_, turned := k.ObserveTurn(ctx, turn)
		_, result := k.ObserveToolResult(ctx, turn)
		_, got := k.Get(ctx, "s", "x")
		for i, err := range []error{plan, peek, turned, result, got} {
			if !errors.Is(err, want) {
				t.Errorf("call %d: got %v, want %v", i, err, want)
			}
		}
	}
	calls(ctx, context.Canceled)
	k.Close()
	if err := k.Close(); err != nil {
		t.Error(err)
	}
	calls(context.Background(), api.ErrClosed)
	if files := tree(t, dir); len(files) > 0 {
		t.Errorf("wrote %v", files)
	}
}

// TestConcurrentUse: a kernel may be used from everywhere at once.
func TestConcurrentUse(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	defer k.Close()
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			c := newConversation(int64(i / 2))
			for range 4 {
				c.user()
				c.loop(2, 3000)
				req := request(c)
				req.SessionKey, req.Branch = []string{"a", "s"}[i%2], []string{"", "x", "y"}[i/2]
				p, err := k.PlanContext(context.Background(), req)
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := k.Peek(context.Background(), req); err != nil {
					t.Error(err)
				}
				c.say()
				turn := api.Turn{SessionKey: req.SessionKey, Branch: req.Branch, Model: model, Messages: c.msgs, PlanID: p.ID, Usage: &memkernel.Usage{InputTokens: p.Budgets.PlannedInputTokens}}
				if o, err := k.ObserveTurn(context.Background(), turn); err != nil || o.Outcome != api.Committed {
					t.Errorf("%+v, %v", o, err)
				}
				if _, err := k.Status(context.Background(), nil); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	clean(t, k)
}
