package kernel_test

import (
	"testing"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/pagevm"
)

// A cut counts the thinking that messages lose which stay in the prompt, and prices it as
// output: left out where the provider would refuse it, sent and dropped where it drops it.
func TestACutCountsTheReasoningItLoses(t *testing.T) {
	for name, tt := range map[string]struct {
		model string
		drop  bool
		usd   float64 // of a million tokens of output
	}{
		"refused":         {boundModel, false, 20},
		"asked to drop":   {boundModel, true, 20},
		"dropped unasked": {"gpt-6.2-astra", false, 40},
	} {
		t.Run(name, func(t *testing.T) {
			k := openKernel(t, t.TempDir())
			defer k.Close()
			c := newConversation(177)
			var before map[string]bool
			cuts := 0
			for range 40 {
				c.user()
				for range 2 {
					c.loop(2, 6000)
				}
				c.say()
				c.add(memkernel.RoleAssistant, memkernel.Part{Kind: memkernel.PartThinking, Text: "Was that all?", Signature: "sig"}, words("That was all."))
				c.user()
				req := request(c)
				req.Model, req.DropOption = tt.model, tt.drop
				p := mustPlan(t, k, req)
				r, after := p.Layout.Reasoning, thinkingKeys(p)
				if p.Layout.Made == nil {
					if r.Items() != 0 || r.LostUSD != nil {
						t.Fatalf("without a cut %+v is lost", r)
					}
				} else {
					cuts++
					lost := r.LeftOutItems
					if want := lostKeys(p, before, after); tt.drop || tt.model != boundModel {
						lost = r.DroppedItems
						if len(want) != 0 || r.LeftOutItems != 0 {
							t.Errorf("%d messages lost their thinking though the provider drops it (%+v)", len(want), r)
						}
					} else if lost < len(want) || r.DroppedItems != 0 {
						t.Errorf("%+v is lost, and %d messages lost theirs", r, len(want))
					}
					if lost == 0 || r.Tokens() == 0 || r.LostUSD == nil {
						t.Fatalf("a cut loses %+v", r)
					}
					if got := *r.LostUSD / float64(r.Tokens()) * 1e6; got < tt.usd-1e-6 || got > tt.usd+1e-6 {
						t.Errorf("a million lost tokens cost $%v, want $%v", got, tt.usd)
					}
				}
				before = after
				c.say()
			}
			if cuts < 2 {
				t.Fatalf("%d cuts", cuts)
			}
		})
	}
}

// lostKeys are the messages that a plan shows in full without the thinking that they had.
func lostKeys(p *kernel.ContextPlan, before, after map[string]bool) (out []string) {
	gone := map[string]bool{}
	for _, r := range p.Reduced {
		gone[r.Key] = r.Level != pagevm.Full
	}
	for key := range before {
		if !after[key] && !gone[key] {
			out = append(out, key)
		}
	}
	return out
}

// A model whose thinking goes after any prefix loses none of it at a cut.
func TestUnboundReasoningIsNotLost(t *testing.T) {
	k := openKernel(t, t.TempDir())
	defer k.Close()
	c := session(178, 30, 3, 6000)
	p := planned(t, k, request(c))
	if r := p.Layout.Reasoning; p.Layout.Made == nil || r.Binding != cachelayout.BindingNone || r.Items() != 0 {
		t.Errorf("%+v at cut %v", r, p.Layout.Made)
	}
}
