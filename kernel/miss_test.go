package kernel_test

import (
	"fmt"
	"testing"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel"
)

// ask makes the assistant run one call, and gives it a result.
func (c *conversation) ask(tool, input, text string) {
	id := fmt.Sprintf("ask_%d", c.n+1)
	c.add(memkernel.RoleAssistant, call(id, tool, input))
	c.msgs[len(c.msgs)-1].Model = "claude-opus-4-5"
	c.add(memkernel.RoleUser, result(id, words(text)))
}

func codes(faults []kernel.Fault) map[string]int {
	out := map[string]int{}
	for _, f := range faults {
		out[f.Code]++
	}
	return out
}

// What the model does again, or fetches, says what its prompt lacked.
func TestMisses(t *testing.T) {
	k := openKernel(t, t.TempDir())
	defer k.Close()
	c := newConversation(16)
	c.user()
	text := c.code(5000)
	const read = `{"file_path":"pkg/queue/ledger.go"}`
	plan := func(want string, n int) *kernel.ContextPlan {
		t.Helper()
		p := mustPlan(t, k, request(c))
		f, a := codes(p.Faults), codes(p.Alerts)
		for _, code := range []string{kernel.FaultRefetch, kernel.FaultDuplicateTool, kernel.AlertDuplicateSignature} {
			got := f[code] + a[code]
			if code == want && got != n || code != want && got != 0 {
				t.Fatalf("%s: %d; faults %+v, alerts %+v", code, got, p.Faults, p.Alerts)
			}
		}
		return p
	}
	plan("", 0)
	c.ask("Read", read, text)
	plan("", 0)
	c.ask("Read", `{ "file_path" : "pkg/queue/ledger.go" }`, text) // it stands
	plan(kernel.AlertDuplicateSignature, 1)
	c.ask("Read", read, text+"// changed\n") // it was needed
	p := plan("", 0)
	for p.Layout.Made == nil {
		c.say()
		c.user()
		if p = plan("", 0); p.Layout.Made != nil {
			break
		}
		c.loop(2, 6000)
		p = mustPlan(t, k, request(c))
	}
	page := ""
	for _, r := range p.Reduced {
		if r.CallID == "ask_6" {
			page = r.Page
		}
	}
	if page == "" {
		t.Fatalf("the last read was not reduced: %+v", p.Reduced)
	}
	c.ask("Read", read, text+"// changed\n")
	plan(kernel.FaultDuplicateTool, 1)
	c.ask("memory_get", `{"id":"`+page+`"}`, text+"// changed\n")
	if p = plan(kernel.FaultRefetch, 1); p.Faults[len(p.Faults)-1].Page != page {
		t.Errorf("faults are %+v", p.Faults)
	}
	if again := plan("", 0); len(again.Faults) != 0 {
		t.Errorf("told twice: %+v", again.Faults)
	}
}
