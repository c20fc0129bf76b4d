package kernel_test

import (
	"fmt"
	"math/rand"
	"strings"
	"time"

	"github.com/memkernel/memkernel"
)

// conversation invents an agent session message by message. Equal seeds give
// equal sessions.
type conversation struct {
	rng  *rand.Rand
	now  time.Time
	msgs []memkernel.Message
	n    int
}

func newConversation(seed int64) *conversation {
	return &conversation{rng: rand.New(rand.NewSource(seed)), now: time.Date(2026, 11, 3, 9, 0, 0, 0, time.UTC)}
}

func (c *conversation) add(role memkernel.Role, parts ...memkernel.Part) {
	c.n++
	c.now = c.now.Add(time.Duration(1+c.rng.Intn(20)) * time.Second)
	c.msgs = append(c.msgs, memkernel.Message{Key: fmt.Sprintf("m%04d", c.n), Role: role, Parts: parts, Time: c.now})
}

func words(s string) memkernel.Part {
	return memkernel.Part{Kind: memkernel.PartText, Text: s, Typed: true}
}

func (c *conversation) user() {
	c.add(memkernel.RoleUser, words(fmt.Sprintf("Please look at service %d and make the retry test in pkg/queue/worker_%d.go pass.", c.n, c.rng.Intn(9))))
}

// loop is one assistant message with parallel calls, and all their results.
func (c *conversation) loop(parallel, bytes int) {
	c.call(parallel)
	c.results(parallel, bytes)
}

func (c *conversation) call(parallel int) {
	parts := []memkernel.Part{
		{Kind: memkernel.PartThinking, Text: fmt.Sprintf("step %d: read before editing", c.n), Signature: fmt.Sprintf("sig%d", c.n)},
		words("I will look at the code first."),
	}
	for i := range parallel {
		parts = append(parts, memkernel.Part{Kind: memkernel.PartToolUse, Call: &memkernel.ToolCall{ID: fmt.Sprintf("call_%d_%d", c.n+1, i),
			Name: "Read", Input: fmt.Sprintf(`{"file_path":"pkg/queue/worker_%d.go"}`, c.rng.Intn(9))}})
	}
	c.add(memkernel.RoleAssistant, parts...)
	c.msgs[len(c.msgs)-1].Model = "claude-opus-4-5"
}

func (c *conversation) results(parallel, bytes int) {
	at := c.n
	var parts []memkernel.Part
	for i := range parallel {
		parts = append(parts, memkernel.Part{Kind: memkernel.PartToolResult, Result: &memkernel.ToolResult{CallID: fmt.Sprintf("call_%d_%d", at, i),
			Content: []memkernel.Part{words(c.code(bytes))}, Text: true, IsError: c.rng.Intn(7) == 0}})
	}
	c.add(memkernel.RoleUser, parts...)
}

func (c *conversation) say() {
	c.add(memkernel.RoleAssistant, words(fmt.Sprintf("Done: worker %d retries now, and the test passes. Shall I look at the next service?", c.n)))
	c.msgs[len(c.msgs)-1].Model = "claude-opus-4-5"
}

func (c *conversation) gap(d time.Duration) { c.now = c.now.Add(d) }

// code is a believable file of about n bytes.
func (c *conversation) code(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "%5d→func (w *Worker) step%d(ctx context.Context, id int) error { // %x\n", i+1, i, c.rng.Int63())
		fmt.Fprintf(&b, "      →\tif err := w.queue.Take(ctx, id+%d); err != nil {\n\t\treturn fmt.Errorf(\"take job %d: %%w\", err)\n\t}\n}\n", c.rng.Intn(99), i)
	}
	return b.String()
}

// session is a conversation of whole turns that ends with a user's question.
func session(seed int64, turns, calls, bytes int) *conversation {
	c := newConversation(seed)
	for range turns {
		c.user()
		for range calls {
			c.loop(1+c.rng.Intn(2), bytes)
		}
		c.say()
	}
	c.user()
	return c
}
