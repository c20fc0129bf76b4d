package kernel_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/billing"
)

func tool(name, description string) memkernel.Tool {
	return memkernel.Tool{Name: name, Raw: `{"name":"` + name + `","description":"` + description + `","input_schema":{"type":"object","properties":{"path":{"type":"string"}}}}`}
}

// A host that changes cached bytes is named with the place and with what that costs, once. A
// pause that outlasts the cache costs it nothing.
func TestTheHostBreaksTheCache(t *testing.T) {
	tools := []memkernel.Tool{tool("Glob", "find files"), tool("Read", "read a file"), tool("Edit", "edit a file")}
	system := []memkernel.Part{words("You work in the repository of a ferry's timetable. "), words("Answer briefly.")}
	for name, tt := range map[string]struct {
		change            func(req *api.PlanRequest, c *conversation)
		what, place, anew string // anew is the place that a process that began since can name
	}{
		"a description":  {func(r *api.PlanRequest, _ *conversation) { r.Tools[1] = tool("Read", "read one file") }, "tools", "tools[1].description", "tools"},
		"a tool is new":  {func(r *api.PlanRequest, _ *conversation) { r.Tools = append(r.Tools, tool("Bash", "run")) }, "tools", "tools[3] (Bash) was added", "tools"},
		"a tool is gone": {func(r *api.PlanRequest, _ *conversation) { r.Tools = r.Tools[1:] }, "tools", "tools[0] (Glob) was removed", "tools"},
		"another order":  {func(r *api.PlanRequest, _ *conversation) { slices.Reverse(r.Tools) }, "tools", "tools[0], another order", "tools"},
		"a schema": {func(r *api.PlanRequest, _ *conversation) {
			r.Tools[2].Raw = `{"name":"Edit","description":"edit a file","input_schema":{"type":"object","properties":{"path":{"type":"number"}}}}`
		}, "tools", "tools[2].input_schema.properties.path.type", "tools"},
		"the system prompt": {func(r *api.PlanRequest, _ *conversation) { r.System[1] = words("Answer at length.") }, "system", "system, byte 58", "system"},
		"an old result": {func(r *api.PlanRequest, c *conversation) {
			r.Messages = slices.Clone(r.Messages)
			m := r.Messages[2]
			m.Parts = []memkernel.Part{{Kind: memkernel.PartToolResult, Result: &memkernel.ToolResult{CallID: m.Parts[0].Result.CallID, Content: []memkernel.Part{words("[cleared]")}, Text: true}}}
			r.Messages[2] = m
		}, "messages", "message 3 (tool result of Read)", "message 3 (tool result of Read)"},
		"effort":    {func(r *api.PlanRequest, _ *conversation) { r.Effort = "high" }, "effort", "effort, from none to high", "effort, from none to high"},
		"the model": {func(r *api.PlanRequest, _ *conversation) { r.Model = "claude-sonnet-5" }, "model", "model, from claude-opus-5 to claude-sonnet-5", "model, from claude-opus-5 to claude-sonnet-5"},
	} {
		for _, reopen := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				dir := t.TempDir()
				k := openKernel(t, dir)
				defer func() { k.Close() }()
				c := newConversation(190)
				c.user()
				c.loop(1, 9000)
				c.say()
				c.user()
				ask := func() *api.ContextPlan {
					req := request(c)
					req.Model, req.Tools, req.System = "claude-opus-5", slices.Clone(tools), slices.Clone(system)
					if c.n > 5 {
						tt.change(&req, c)
					}
					return mustPlan(t, k, req)
				}
				if h := ask().Layout.Change.Host; h != nil {
					t.Fatalf("the first call breaks %+v", h)
				}
				c.say()
				if reopen {
					k.Close()
					k = openKernel(t, dir)
				}
				c.user()
				p := ask()
				h, place := p.Layout.Change.Host, tt.place
				if reopen {
					place = tt.anew
				}
				if h == nil || h.What != tt.what || h.Place != place || h.Tokens < 500 || h.USD == nil {
					t.Fatalf("%+v of %v, want %s", h, p.Layout.Change, place)
				}
				price := 6.25 - .5 // of a million tokens, written for five minutes rather than read
				if tt.what == "model" {
					price = 2.5 - .2
				}
				if want := float64(h.Tokens) * price / 1e6; math.Abs(*h.USD-want) > want/100 && p.Layout.Bill.Write1hTokens == 0 {
					t.Errorf("%d tokens cost $%v more, want $%v", h.Tokens, *h.USD, want)
				}
				o, err := k.ObserveToolResult(t.Context(), api.Turn{SessionKey: p.SessionKey, Model: p.Model, Messages: c.msgs, PlanID: p.ID, Usage: &memkernel.Usage{InputTokens: p.Budgets.PlannedInputTokens}})
				if err != nil || len(o.Bills) != 1 {
					t.Fatal(err, o)
				}
				c.say()
				c.user()
				if again := ask().Layout.Change.Host; again != nil {
					t.Errorf("told again: %+v", again)
				}
				st, err := k.Usage(t.Context(), billing.Options{})
				if err != nil || len(st.Total.Broke) != 1 || st.Total.Broke[0].What != tt.what || st.Total.Broke[0].Times != 1 || st.Total.Broke[0].Tokens != h.Tokens {
					t.Errorf("%v: the sums say %+v", err, st.Total.Broke)
				}
			})
		}
		t.Run(name+" after a pause", func(t *testing.T) {
			k := memoryKernel(t)
			defer k.Close()
			c := newConversation(191)
			c.user()
			c.loop(1, 9000)
			c.say()
			c.user()
			ask := func(late bool) *api.ContextPlan {
				req := request(c)
				req.Model, req.Tools, req.System = "claude-opus-5", slices.Clone(tools), slices.Clone(system)
				if late {
					tt.change(&req, c)
				}
				return mustPlan(t, k, req)
			}
			ask(false)
			c.say()
			c.gap(3 * time.Hour)
			c.user()
			if h := ask(true).Layout.Change.Host; h != nil {
				t.Errorf("a cold cache is broken: %+v", h)
			}
		})
	}
}
