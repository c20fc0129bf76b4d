package kernel_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel"
)

// TestPressedElsewhere: a user's message that another process had to show shorter has the levels
// that it got there also for a process that had planned it before.
func TestPressedElsewhere(t *testing.T) {
	alone, shared := t.TempDir(), t.TempDir()
	one, a, b := openKernel(t, alone), openKernel(t, shared), openKernel(t, shared)
	defer func() { one.Close(); a.Close(); b.Close() }()
	c := newConversation(1)
	plan := func(k *kernel.Kernel, size int) {
		t.Helper()
		c.add(memkernel.RoleUser, words(strings.Repeat(c.code(1000)+"\n", size)))
		req := request(c)
		req.Resolver, req.ContextWindow, req.Messages = "", 16_000, slices.Clone(c.msgs)
		if diff := cmp.Diff(stream(mustPlan(t, k, req)), stream(mustPlan(t, one, req))); diff != "" {
			t.Fatalf("another process sends other bytes:\n%s", diff)
		}
	}
	plan(a, 4)
	plan(b, 40)
	c.say()
	plan(b, 1)
	plan(a, 1)
	if diff := cmp.Diff(deciderSaw(t, shared), deciderSaw(t, alone)); diff != "" {
		t.Errorf("two processes decide from other messages than one:\n%s", diff)
	}
}
