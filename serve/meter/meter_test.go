package meter

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/fakemodel"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/billing"
	"github.com/memkernel/memkernel/serve/proxy"
)

const model = "claude-sonnet-4-6"

// client is an agent that marks its system prompt and the end of each request.
type client struct {
	model, ttl string // of the markers; "" is the provider's default
	clock      time.Time
	messages   []any
	all        Sum // of its calls
}

func (c *client) marked(text string) []any {
	mark := map[string]string{"type": "ephemeral"}
	if c.ttl != "" {
		mark["ttl"] = c.ttl
	}
	return []any{map[string]any{"type": "text", "text": text, "cache_control": mark}}
}

func (c *client) now() time.Time { return c.clock }

// talk holds turns of a size, one every gap.
func (c *client) talk(t *testing.T, url string, turns, size int, gap time.Duration) {
	t.Helper()
	for range turns {
		c.clock = c.clock.Add(gap)
		text := fmt.Sprintf("Day %d. ", len(c.messages)) + strings.Repeat("The harbour master wrote down what came in. ", size/44+1)
		body, err := json.Marshal(map[string]any{"model": c.model, "max_tokens": 100, "system": c.marked("You are a tester."),
			"messages": append(slices.Clone(c.messages), map[string]any{"role": "user", "content": c.marked(text)}),
			"tools":    []any{map[string]any{"name": "Read", "description": strings.Repeat("reads ", 1800), "input_schema": map[string]string{"type": "object"}}}})
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.Post(url+"/v1/messages", "application/json", strings.NewReader(string(body)))
		if err != nil {
			t.Fatal(err)
		}
		text2, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if res.StatusCode != http.StatusOK {
			t.Fatalf("message %d: %s %s", len(c.messages), res.Status, text2)
		}
		c.messages = append(c.messages, map[string]any{"role": "user", "content": []any{map[string]any{"type": "text", "text": text}}},
			map[string]any{"role": "assistant", "content": "ok"})
	}
}

// billed is what a server billed since the request with number from.
func billed(server *fakemodel.Server, from int) (usd float64) {
	price, _ := cachelayout.DefaultBook().Lookup(model, time.Date(2026, 11, 3, 0, 0, 0, 0, time.UTC))
	for _, r := range server.Requests()[from:] {
		u := r.Usage
		usd += *price.Cost(u.Read, u.Written-u.Hour, u.Hour, u.Uncached, u.Output)
	}
	return usd
}

// process is a proxy's run on a state directory, from its start to its end.
func process(t *testing.T, dir string, c *client, upstream string, opt proxy.Options, during func(url string)) Sum {
	t.Helper()
	k, err := kernel.Open(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	m := New(cachelayout.DefaultBook())
	opt.Upstream, opt.Private, opt.Billed, opt.Now, opt.Deadline = upstream, true, m.Take, c.now, time.Minute
	x, err := proxy.New(k, opt)
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(x)
	defer front.Close()
	during(front.URL)
	if err := x.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	sum := m.Sum()
	c.all.Add(sum)
	st, err := k.Usage(t.Context(), billing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	all := c.all
	if total := &st.Total; total.Calls != all.Calls || total.BilledUSD == nil != (all.Unpriced > 0) ||
		total.BilledUSD != nil && (math.Abs(*total.BilledUSD-all.BilledUSD) > 1e-9 || math.Abs(*total.WithoutUSD-all.WithoutUSD) > 1e-9) {
		t.Errorf("the record of the session has %+v, the runs %+v", st.Total, all)
	}
	return sum
}

// TestWithout holds conversations through proxies and with the model itself: the estimate
// of what was not sent is what the model billed for it, whatever the processes in between.
func TestWithout(t *testing.T) {
	start := time.Date(2026, 11, 3, 9, 0, 0, 0, time.UTC)
	type part struct {
		turns int
		gap   time.Duration
	}
	type talk struct {
		name, ttl string
		size      int
		parts     []part // a process each
		cuts      bool
		unpriced  bool
	}
	talks := []talk{
		{"nothing is cut", "", 4_000, []part{{6, time.Minute}, {6, time.Minute}}, false, false},
		{"nothing is cut, with pauses", "", 4_000, []part{{4, 7 * time.Minute}, {4, time.Minute}}, false, false},
		{"nothing is cut, for an hour", "1h", 4_000, []part{{4, 7 * time.Minute}, {3, 2 * time.Hour}}, false, false},
		{"cuts", "", 40_000, []part{{14, time.Minute}, {1, time.Minute}, {2, 4 * time.Minute}}, true, false},
		{"cuts of a model without a price", "", 40_000, []part{{14, time.Minute}, {2, 9 * time.Minute}}, true, true},
		{"cuts, for an hour", "1h", 42_000, []part{{14, 20 * time.Minute}, {1, 3 * time.Hour}, {2, time.Minute}}, true, false},
		{"cuts and pauses", "", 40_000, []part{{14, time.Minute}, {1, 9 * time.Minute}, {2, time.Minute}}, true, false},
	}
	for _, c := range suite.Some(talks, 5) {
		t.Run(c.name, func(t *testing.T) {
			asked := model
			if c.unpriced {
				asked = "barge-2"
			}
			alone, through := &client{model: asked, ttl: c.ttl, clock: start}, &client{model: asked, ttl: c.ttl, clock: start}
			direct, behind := fakemodel.New(fakemodel.Options{Now: alone.now}), fakemodel.New(fakemodel.Options{Now: through.now})
			a, b := httptest.NewServer(direct), httptest.NewServer(behind)
			defer a.Close()
			defer b.Close()
			dir, cuts := t.TempDir(), 0
			for _, p := range c.parts {
				from := len(direct.Requests())
				alone.talk(t, a.URL, p.turns, c.size, p.gap)
				sum := process(t, dir, through, b.URL, proxy.Options{ContextWindow: 220_000}, func(url string) { through.talk(t, url, p.turns, c.size, p.gap) })
				cuts += sum.Cuts
				if c.unpriced {
					if sum.Calls != p.turns || sum.Unpriced != p.turns || sum.Estimated != 0 || sum.BilledUSD != 0 || sum.WithoutUSD != 0 || sum.Saved() != 0 {
						t.Errorf("without a price: %+v", sum)
					}
					continue
				}
				want, bill := billed(direct, from), billed(behind, from)
				t.Logf("alone %.4f, estimated %.4f, billed %.4f, %d cuts", want, sum.WithoutUSD, bill, sum.Cuts)
				if math.Abs(sum.BilledUSD-bill) > 1e-9 || sum.Calls != p.turns || sum.Estimated != p.turns {
					t.Errorf("billed %.5f, counted %+v", bill, sum)
				}
				if !c.cuts && sum.WithoutUSD != sum.BilledUSD {
					t.Errorf("nothing was cut, and it would have cost %.5f, not %.5f", sum.WithoutUSD, sum.BilledUSD)
				}
				if math.Abs(sum.WithoutUSD-want) > 0.01*want {
					t.Errorf("without is %.5f by the estimate and %.5f by the model", sum.WithoutUSD, want)
				}
			}
			if (cuts > 0) != c.cuts {
				t.Errorf("%d cuts", cuts)
			}
		})
	}
}

// What can't be priced or estimated is counted as what it is.
func TestOddCalls(t *testing.T) {
	m := New(cachelayout.DefaultBook())
	at := time.Date(2026, 11, 3, 9, 0, 1, 0, time.UTC)
	m.Take(proxy.Billed{Model: "nobody-knows-1", Usage: memkernel.Usage{InputTokens: 10}, Began: at})
	m.Take(proxy.Billed{Model: model, Usage: memkernel.Usage{InputTokens: 1_000_000}, Began: at})
	if sum := m.Sum(); sum.Unpriced != 1 || sum.Calls != 2 || sum.BilledUSD != sum.WithoutUSD || sum.BilledUSD == 0 || sum.Saved() != 0 {
		t.Errorf("%+v", sum)
	}
}

// A meter names the models that lacked a window or a price when they were last called.
func TestUnknown(t *testing.T) {
	m := New(cachelayout.DefaultBook())
	call := func(model string, from api.WindowFrom) {
		b := proxy.Billed{Model: model, Usage: memkernel.Usage{InputTokens: 10}, Began: time.Date(2026, 11, 3, 9, 0, 0, 0, time.UTC)}
		if from != "" {
			b.Plan = &api.ContextPlan{Outline: api.Outline{Budgets: api.Budgets{WindowFrom: from}}}
		}
		m.Take(b)
	}
	call("barge-2", api.WindowUnknown)
	call("raft-1", api.WindowServer)
	call("raft-1", "") // passed
	call(model, api.WindowPrices)
	call("", "")
	if window, price := m.Unknown(); !slices.Equal(window, []string{"barge-2"}) || !slices.Equal(price, []string{"barge-2", "raft-1"}) {
		t.Errorf("%q, %q", window, price)
	}
	call("barge-2", api.WindowRequest)
	if window, price := m.Unknown(); len(window) != 0 || !slices.Equal(price, []string{"barge-2", "raft-1"}) {
		t.Errorf("after it was set: %q, %q", window, price)
	}
}
