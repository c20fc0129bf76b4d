package proxy_test

import (
	"strings"
	"testing"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/fakemodel"
	"github.com/memkernel/memkernel/serve/proxy"
)

// deferBill is what sessions of an agent cost through the proxy.
type deferBill struct {
	usd      float64
	calls    int
	searches int
	deferred int // calls with definitions that wait
	prefixes int // calls that did not repeat the tools of the one before
	fixed    int // tokens of tools in the last session's first request
}

// billOf plays sessions from one on, and prices the whole of what the model billed.
func billOf(t *testing.T, s *stage, a *agent, c *clock, from, to int) (b deferBill) {
	t.Helper()
	for n := from; n < to; n++ {
		before := len(s.model.Requests())
		if err := a.run(s.front.URL, n, c); err != nil {
			t.Fatal(err)
		}
		s.settle()
		c.pass(cachelayout.AssumedTTL * 20)
		reqs := s.model.Requests()[before:]
		b.add(t, reqs)
	}
	return b
}

func (b *deferBill) add(t *testing.T, reqs []fakemodel.Request) {
	t.Helper()
	for i, r := range reqs {
		m, ok := cachelayout.DefaultBook().Lookup(r.Model, r.At)
		if !ok {
			t.Fatalf("no price of %s", r.Model)
		}
		u := r.Usage
		usd := m.Cost(u.Read, u.Written, 0, u.Uncached, u.Output)
		if usd == nil {
			t.Fatalf("%s is not priced", r.Model)
		}
		b.usd += *usd
		b.calls++
		b.searches += len(r.Searches)
		if r.Deferred() > 0 {
			b.deferred++
		}
		if i > 0 && !sameTools(reqs[i-1], r) {
			b.prefixes++
		}
		if i == 0 {
			b.fixed = r.ToolTokens()
		}
	}
}

func sameTools(a, b fakemodel.Request) bool { return a.ToolPrefix() == b.ToolPrefix() }

func TestDeferBillTry(t *testing.T) {
	for _, a := range agents() {
		for _, on := range []bool{false, true} {
			c := newClock()
			opt := c.options()
			opt.ContextWindow, opt.DeferTools = 200_000, on
			s := newStage(t, a.answers(c.Now), opt, nil)
			learn := billOf(t, s, &a, c, 0, 4)
			b := billOf(t, s, &a, c, 4, 12)
			t.Logf("%s %v: %+v %+v", a.name, on, learn, b)
			if on {
				t.Log(grepLog(s, "msg=tools"))
			}
		}
	}
	_ = proxy.Options{}
}

func grepLog(s *stage, word string) string {
	var out strings.Builder
	for line := range strings.Lines(s.log.String()) {
		if strings.Contains(line, word) {
			out.WriteString(line)
		}
	}
	return out.String()
}
