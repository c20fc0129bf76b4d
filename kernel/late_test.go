package kernel_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/fault"
)

// A host that uses a call id again in a later turn, and delivers the old call's result
// after that, changes nothing of what was sent: the new call keeps its own result, the
// carry block stands, and what came too late is told and kept as a page.
func TestCallIDsUsedAgain(t *testing.T) {
	for _, tt := range []struct {
		name           string
		answered, keys bool
	}{{"never answered", false, true}, {"answered", true, true}, {"never answered, no keys", false, false}, {"answered, no keys", true, false}} {
		t.Run(tt.name, func(t *testing.T) {
			k := memoryKernel(t)
			defer k.Close()
			c := newConversation(500)
			c.user()
			c.add(memkernel.RoleAssistant, call("same", "Read", `{"file_path":"a.go"}`))
			if tt.answered {
				c.add(memkernel.RoleUser, result("same", words(c.code(3000))))
				c.say()
			}
			c.user()
			last, generation := "", 0
			plan := func(cut bool) *api.ContextPlan {
				t.Helper()
				if !tt.keys {
					for i := range c.msgs {
						c.msgs[i].Key = ""
					}
				}
				p := mustPlan(t, k, narrow(c))
				if !cut && (p.Layout.Made != nil || p.Generation != generation || !strings.HasPrefix(stream(p), last)) {
					t.Errorf("message %d changed what was sent: generation %d, was %d; faults %+v", len(c.msgs), p.Generation, generation, p.Faults)
				}
				last, generation = stream(p), p.Generation
				return p
			}
			for p := plan(true); p.Layout.Made == nil; p = plan(true) {
				c.loop(2, 6000)
				c.say()
				c.user()
			}
			c.add(memkernel.RoleAssistant, call("same", "Read", `{"file_path":"b.go"}`))
			c.add(memkernel.RoleUser, result("same", words("of the new call")))
			p := plan(false)
			if newest := p.Messages[len(p.Messages)-1].Parts[0].Result; newest == nil || newest.Content[0].Text != "of the new call" {
				t.Errorf("the new call has no result of its own: %+v", p.Messages[len(p.Messages)-1])
			}
			c.say()
			c.user()
			plan(false)
			c.say()
			c.add(memkernel.RoleUser, result("same", words("of the old call, too late")), words("And now?"))
			p = plan(false)
			kept := slices.ContainsFunc(p.Faults, func(f fault.Fault) bool { return f.Code == "duplicate_result" && f.Page != "" })
			if !kept || codes(p.Faults)["duplicate_result"] != 1 {
				t.Errorf("what came too late is not told: %+v", p.Faults)
			}
			c.say()
			c.user()
			plan(false)
		})
	}
}
