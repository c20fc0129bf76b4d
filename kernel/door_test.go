package kernel_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/billing"
	"github.com/memkernel/memkernel/pagevm"
)

// shopOrders is a list as a shop's server returns it.
func shopOrders(n int) string {
	var b strings.Builder
	b.WriteString(`{"orders":[`)
	for i := range n {
		fmt.Fprintf(&b, `{"order":%d,"city":"Lund","items":[{"sku":"P-%04d","count":%d}],"paid":true},`, 5000+i, i*37%9000, i%5+1)
	}
	return strings.TrimSuffix(b.String(), ",") + "]}"
}

// wide is a request with a window in which none of these results is large.
func wide(c *conversation) api.PlanRequest {
	req := request(c)
	req.ContextWindow = 200_000
	return req
}

func lastResult(msgs []memkernel.Message) string {
	for i := len(msgs) - 1; ; i-- {
		if r := msgs[i].Parts[0].Result; r != nil {
			return r.Content[0].Text
		}
	}
}

// A large list is shortened before the model sees it, stays as it was sent, also for a
// kernel that is opened anew, and can be read whole.
func TestJSONIsShortenedAtFirstSight(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	c := newConversation(611)
	c.user()
	text := shopOrders(220)
	c.ask("mcp__shop__orders", `{"city":"Lund"}`, text)
	p := mustPlan(t, k, wide(c))
	shown := lastResult(p.Messages)
	if len(p.Reduced) != 1 || p.Reduced[0].Level != pagevm.Compressed || len(shown) > len(text)/2 || !strings.Contains(shown, p.Reduced[0].Page) {
		t.Fatalf("%d of %d bytes are shown, reduced %+v", len(shown), len(text), p.Reduced)
	}
	if whole := get(t, k, p.Reduced[0].Page+"@L1-L9999999"); strings.TrimSpace(whole.Text) != text {
		t.Errorf("%d bytes can be read of %d", len(whole.Text), len(text))
	}
	checkPlan(t, p, c.msgs)
	for range 2 {
		k.Close()
		k = openKernel(t, dir)
		c.grow()
		q := mustPlan(t, k, wide(c))
		if !strings.HasPrefix(stream(q), stream(p)) {
			t.Error("the next plan does not extend the one before")
		}
		p = q
	}
	k.Close()
}

func TestResultsThatAreShownWholeAtFirstSight(t *testing.T) {
	text := shopOrders(220)
	whole := func(name string, o *kernel.Options, resolver string, c *conversation) {
		k, err := kernel.Open(t.Context(), t.TempDir(), o)
		if err != nil {
			t.Fatal(err)
		}
		defer k.Close()
		req := wide(c)
		req.Resolver = resolver
		if got := lastResult(mustPlan(t, k, req).Messages); got != lastResult(c.msgs) {
			t.Errorf("%s: %d of %d bytes are shown", name, len(got), len(lastResult(c.msgs)))
		}
	}
	asked := func(tool, input, text string) *conversation {
		c := newConversation(612)
		c.user()
		c.ask(tool, input, text)
		return c
	}
	list := asked("mcp__shop__orders", `{"city":"Lund"}`, text)
	whole("no way to read the rest", &kernel.Options{}, "", list)
	whole("nothing is shortened", &kernel.Options{WholeResults: true}, "memory_get", list)
	whole("a small result", &kernel.Options{}, "memory_get", asked("mcp__shop__orders", `{}`, shopOrders(60)))
	whole("a file that was read", &kernel.Options{}, "memory_get", asked("Read", `{"file_path":"orders.json"}`, text))
	whole("a page that was asked for", &kernel.Options{}, "memkernel get", asked("Bash", `{"command":"memkernel get ev-12"}`, text))
	answered := asked("mcp__shop__orders", `{"city":"Lund"}`, text)
	answered.grow()
	whole("the model has seen it whole", &kernel.Options{}, "memory_get", answered)
	failed := asked("mcp__shop__orders", `{"city":"Lund"}`, text)
	failed.msgs[len(failed.msgs)-1].Parts[0].Result.IsError = true
	whole("an error", &kernel.Options{}, "memory_get", failed)
}

// TestFirstSightIsCounted: tokens that are kept out at first sight are counted once, and so are those that
// the model fetches of them later. The bill without memkernel has all of them.
func TestFirstSightIsCounted(t *testing.T) {
	k := memoryKernel(t)
	defer k.Close()
	c := newConversation(613)
	c.user()
	text := shopOrders(220)
	c.ask("mcp__shop__orders", `{"city":"Lund"}`, text)
	call := func() *api.ContextPlan {
		req := wide(c)
		req.Model = "claude-opus-5"
		p := mustPlan(t, k, req)
		_, err := k.ObserveToolResult(t.Context(), api.Turn{SessionKey: p.SessionKey, Model: p.Model, Messages: c.msgs, PlanID: p.ID, Usage: &memkernel.Usage{InputTokens: p.Budgets.PlannedInputTokens}})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	sums := func() (billing.FirstSight, *billing.Report) {
		st, err := k.Usage(t.Context(), billing.Options{})
		if err != nil || len(st.Total.FirstSight) != 1 {
			t.Fatalf("%v: the sums say %+v", err, st.Total.FirstSight)
		}
		return st.Total.FirstSight[0], st
	}
	p := call()
	f, st := sums()
	if f.Kind != "json" || f.Results != 1 || f.Tokens < 2000 || f.FetchedTokens != 0 {
		t.Errorf("after the list came: %+v", f)
	}
	bill := st.Calls[0]
	if more, want := *bill.WithoutUSD-*bill.BilledUSD, float64(f.Tokens)*5/1e6; math.Abs(more-want) > want/50 {
		t.Errorf("without memkernel the call costs $%v more, want $%v", more, want)
	}
	c.ask("memory_get", `{"id":"`+p.Reduced[0].Page+`"}`, text[:6000])
	call()
	c.ask("mcp__shop__stock", `{}`, "12 left")
	call()
	if g, _ := sums(); g.Results != 1 || g.Tokens != f.Tokens || g.FetchedTokens < 1000 || g.FetchedTokens > f.Tokens {
		t.Errorf("after the model read it: %+v, before %+v", g, f)
	}
}
