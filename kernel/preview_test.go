package kernel_test

import (
	"strings"
	"testing"

	"github.com/memkernel/memkernel/pagevm"
)

// A result that is large for its window first appears by its beginning and the way to
// the rest, also where the window is so small that little is large.
func TestLargeResultAppearsByItsBeginning(t *testing.T) {
	for window, bytes := range map[int]int{24_000: 9_000, 64_000: 26_000, 200_000: 90_000} {
		k := memoryKernel(t)
		c := newConversation(91)
		c.user()
		c.loop(1, bytes)
		req := request(c)
		req.ContextWindow = window
		p := mustPlan(t, k, req)
		text := c.msgs[len(c.msgs)-1].Parts[0].Result.Content[0].Text
		shown := p.Messages[len(p.Messages)-1].Parts[0].Result.Content[0].Text
		if len(p.Reduced) != 1 || p.Reduced[0].Level != pagevm.Pointer || !strings.HasPrefix(shown, text[:400]) || !strings.Contains(shown, p.Reduced[0].Page) {
			t.Errorf("window %d: %+v\n%.600s", window, p.Reduced, shown)
		}
		checkPlan(t, p, c.msgs)
		k.Close()
	}
}
