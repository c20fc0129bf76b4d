package kernel_test

import (
	"errors"
	"testing"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/kernel/api"
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
			k := memoryKernel(t)
			defer k.Close()
			c := newConversation(177)
			var before map[string]bool
			cuts := 0
			for range suite.Pick(14, 40) {
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
func lostKeys(p *api.ContextPlan, before, after map[string]bool) (out []string) {
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
	k := memoryKernel(t)
	defer k.Close()
	c := session(178, 30, 3, 6000)
	p := planned(t, k, request(c))
	if r := p.Layout.Reasoning; p.Layout.Made == nil || r.Binding != cachelayout.BindingNone || r.Items() != 0 {
		t.Errorf("%+v at cut %v", r, p.Layout.Made)
	}
}

// A provider that removes thinking for its prefix shows that the model's is bound, and whether
// it drops it unasked. What it has shown holds for all sessions, and after the process ends.
func TestARemovalCorrectsTheBook(t *testing.T) {
	const unbound = "claude-opus-4-8"
	removed := &memkernel.Reported{Removed: []memkernel.Removal{{Reason: memkernel.RemovedPrefix, Items: 3}}}
	for name, tt := range map[string]struct {
		drop     bool
		reported *memkernel.Reported
		want     cachelayout.Binding
	}{
		"dropped unasked":   {false, removed, cachelayout.BindingDrops},
		"asked to drop":     {true, removed, cachelayout.BindingRefuses},
		"for another model": {false, &memkernel.Reported{Removed: []memkernel.Removal{{Reason: "model_mismatch", Items: 2}}}, cachelayout.BindingNone},
		"nothing reported":  {false, nil, cachelayout.BindingNone},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			k := openKernel(t, dir)
			c := session(179, 3, 2, 3000)
			req := request(c)
			req.Model, req.DropOption = unbound, tt.drop
			p := planned(t, k, req)
			if b := p.Layout.Reasoning.Binding; b != cachelayout.BindingNone {
				t.Fatalf("the book binds %s: %s", unbound, b)
			}
			c.say()
			o, err := k.ObserveTurn(t.Context(), api.Turn{SessionKey: req.SessionKey, Model: unbound, Messages: c.msgs, PlanID: p.ID,
				Usage: &memkernel.Usage{InputTokens: p.Budgets.PlannedInputTokens, OutputTokens: 40}, Reported: tt.reported})
			if err != nil || len(o.Bills) != 1 || o.Bills[0].Reported.Of("") != tt.reported.Of("") {
				t.Fatalf("%v %+v", err, o)
			}
			c.user()
			req.Messages = c.msgs
			next := planned(t, k, req)
			if next.Layout.Reported.Of("") != tt.reported.Of("") {
				t.Errorf("the next plan tells of %+v", next.Layout.Reported)
			}
			k.Close()
			k = openKernel(t, dir)
			defer k.Close()
			req.SessionKey = "another"
			if got := planned(t, k, req).Layout.Reasoning.Binding; got != tt.want || next.Layout.Reasoning.Binding != tt.want {
				t.Errorf("the model's thinking counts as %s in this session and as %s in the next process, want %s", next.Layout.Reasoning.Binding, got, tt.want)
			}
		})
	}
}

// A refusal of thinking is answered by a plan that holds none of earlier turns, and is priced;
// the plans that follow keep the thinking that comes after it.
func TestRefusedThinkingIsLeftOut(t *testing.T) {
	k := memoryKernel(t)
	defer k.Close()
	c := session(180, 2, 2, 2000)
	c.loop(2, 2000) // in an open loop
	req := request(c)
	req.Model, req.Thinking = "claude-opus-4-8", `{"type":"adaptive"}`
	before := planned(t, k, req)
	had := thinkingKeys(before)
	if len(had) == 0 {
		t.Fatal("no thinking to refuse")
	}
	req.Overflow = &api.Overflow{PlanID: before.ID, Text: "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set ..."}
	after := planned(t, k, req)
	if n := len(thinkingKeys(after)); n != 0 {
		t.Errorf("%d messages still hold thinking", n)
	}
	r := after.Layout.Reasoning
	if r.LeftOutItems != len(had) || r.LostUSD == nil || r.Binding != cachelayout.BindingRefuses || after.Layout.Made == nil || after.Layout.Made.Reason != string(pagevm.CutThinking) {
		t.Errorf("%+v, cut %+v; want %d items left out", r, after.Layout.Made, len(had))
	}
	if after.Params.ThinkingOff {
		t.Error("adaptive thinking is turned off")
	}
	if len(goneKeys(after)) != 0 {
		t.Errorf("messages left: %v", goneKeys(after))
	}
	if codes(after.Faults)["thinking_refused"] != 1 {
		t.Errorf("faults %v", after.Faults)
	}
	req.Overflow = nil
	c.loop(1, 500)
	req.Messages = c.msgs
	next := planned(t, k, req)
	if next.Layout.Made != nil || len(thinkingKeys(next)) != 1 || next.Layout.Reasoning.Items() != 0 {
		t.Errorf("the next plan shows thinking of %v, cut %v", thinkingKeys(next), next.Layout.Made)
	}
	clean(t, k)
}

// A refusal of thinking where a request holds none is an error that says so.
func TestRefusedThinkingThatIsNotThere(t *testing.T) {
	k := memoryKernel(t)
	defer k.Close()
	c := newConversation(181)
	c.user()
	req := bound(c)
	req.Overflow = &api.Overflow{Text: "The block is bound to a different conversation."}
	if _, err := k.PlanContext(t.Context(), req); !errors.Is(err, api.ErrNoThinking) {
		t.Errorf("error %v", err)
	}
}
