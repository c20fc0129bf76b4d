package kernel_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/memkernel/memkernel"
)

// A large result enters behind a pointer where the model can follow one; what it got by
// following it does not.
func TestWhatTheResolverReturnedIsShown(t *testing.T) {
	for tool, whole := range map[string]bool{"memory_get": true, "Read": false} {
		k := memoryKernel(t)
		c := newConversation(91)
		c.user()
		text := c.code(40_000)
		c.msgs = append(c.msgs,
			memkernel.Message{Key: "call", Role: memkernel.RoleAssistant, Time: c.now, Parts: []memkernel.Part{{Kind: memkernel.PartToolUse, Call: &memkernel.ToolCall{ID: "t1", Name: tool, Input: `{"path":"ev-0123456789abcdef"}`}}}},
			memkernel.Message{Key: "result", Role: memkernel.RoleUser, Time: c.now, Parts: []memkernel.Part{result("t1", words(text))}})
		if got := strings.Contains(stream(planned(t, k, request(c))), fmt.Sprintf("step%d(ctx", 100)); got != whole {
			t.Errorf("%s: the whole result is shown %v, want %v", tool, got, whole)
		}
		k.Close()
	}
}
