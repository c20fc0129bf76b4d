package kernel_test

import (
	"strings"
	"testing"

	"github.com/memkernel/memkernel/pagevm"
)

// A result that is large for its window first appears as an extract, which names the
// page to read it by; without a way to read it, it appears in full.
func TestLargeResultAppearsAsExtract(t *testing.T) {
	for _, resolver := range []string{"memory_get", ""} {
		k := openKernel(t, t.TempDir())
		c := newConversation(91)
		c.user()
		c.loop(2, 30_000)
		req := request(c)
		req.ContextWindow, req.Resolver = 64_000, resolver
		p := mustPlan(t, k, req)
		extracts := 0
		for _, r := range p.Reduced {
			if r.Level == pagevm.Structured && strings.Contains(stream(p), "page "+r.Page) {
				extracts++
			}
		}
		if want := map[string]int{"memory_get": 2, "": 0}[resolver]; extracts != want {
			t.Errorf("resolver %q: %d extracts, want %d: %+v", resolver, extracts, want, p.Reduced)
		}
		checkPlan(t, p, c.msgs)
		k.Close()
	}
}
