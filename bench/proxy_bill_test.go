package bench

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/fakemodel"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/serve/proxy"
	"github.com/memkernel/memkernel/transcript"
)

// The client's pauses outlast a cache of five minutes: one of 5½ minutes before every
// 40th call. The clock is the benchmark's own, and nobody waits for it.
const (
	pauseEvery = 40
	pause      = 5*time.Minute + 30*time.Second
	between    = 10 * time.Second
)

// BenchmarkProxyBill sends all calls of the bundled session to a model that
// bills prefix caches, directly and through the proxy, and compares the bills
// of their input at the prices of a model at $3 the million tokens (written
// 1.25, read 0.1). A row names which plans don't come in time: they take
// longer than the deadline, whatever the machine. In the last row the deadline
// is the default one, and twice as many goroutines burn as there are
// processors. Metrics: direct-usd, proxy-usd, bill-% (the difference),
// unplanned (requests without a plan of their own) and cuts.
func BenchmarkProxyBill(b *testing.B) {
	steps := billSteps(b)
	direct := (&billed{}).run(b, steps, nil, false)
	for _, row := range []struct {
		name string
		late func(call int) bool
		burn bool
	}{
		{"none-late", func(int) bool { return false }, false},
		{"late-after-pauses", func(i int) bool { return i > 0 && i%pauseEvery == 0 }, false},
		{"late-every-5th", func(i int) bool { return i%5 == 4 }, false},
		{"late-at-cuts", nil, false},
		{"busy-machine", func(int) bool { return false }, true},
	} {
		b.Run(row.name, func(b *testing.B) {
			for b.Loop() {
				c := &billed{late: row.late}
				through := c.run(b, steps, c, row.burn)
				b.ReportMetric(direct, "direct-usd")
				b.ReportMetric(through, "proxy-usd")
				b.ReportMetric(100*(through/direct-1), "bill-%")
				b.ReportMetric(float64(c.unplanned), "unplanned")
				b.ReportMetric(float64(c.cuts), "cuts")
			}
			b.ReportMetric(0, "ns/op") // of a clock that nobody waits for
		})
	}
}

// billSteps are the request bodies of the whole session, marked as clients do.
func billSteps(b *testing.B) [][]byte {
	b.Helper()
	msgs := sample(b)
	var out [][]byte
	for n := 1; n <= len(msgs); n++ {
		if msgs[n-1].Role == memkernel.RoleAssistant {
			continue
		}
		healed, _ := transcript.Repair(msgs[:n], false)
		body, _, err := transcript.Render(transcript.FormatAnthropic, &transcript.Request{Model: "claude-sonnet-4-6", MaxTokens: 4096, Messages: healed,
			System:  []memkernel.Part{{Kind: memkernel.PartText, Text: "You are a coding agent."}},
			Tools:   []memkernel.Tool{{Name: "Bash", Raw: `{"name":"Bash","input_schema":{"type":"object"}}`}},
			Markers: []transcript.Marker{{Message: transcript.MarkerSystem, Part: transcript.LastPart}, {Message: len(healed) - 1, Part: transcript.LastPart}}})
		if err != nil {
			b.Fatal(err)
		}
		out = append(out, body)
	}
	return out
}

// billed is a run of the client. As a planner it lets the plans of some calls be late;
// where late is nil, those of calls that would be cut.
type billed struct {
	*kernel.Kernel
	late            func(call int) bool
	call            int
	unplanned, cuts int
}

// tooSlow is longer than the deadline of the rows with late plans.
const tooSlow, inTime = 400 * time.Millisecond, 300 * time.Millisecond

func (p *billed) PlanContext(ctx context.Context, r api.PlanRequest) (*api.ContextPlan, error) {
	late := p.late != nil && p.late(p.call)
	if p.late == nil {
		peeked, err := p.Kernel.Peek(context.WithoutCancel(ctx), r)
		late = err == nil && peeked.Layout.Made != nil && p.call%2 == 0
	}
	if late {
		select {
		case <-ctx.Done():
		case <-time.After(tooSlow):
		}
	}
	return p.Kernel.PlanContext(ctx, r)
}

// run makes all calls and gives the bill of their input in dollars; through a proxy
// where there is a planner.
func (p *billed) run(b *testing.B, steps [][]byte, planner *billed, burn bool) float64 {
	b.Helper()
	var clock atomic.Int64
	clock.Store(time.Date(2026, 11, 3, 9, 0, 0, 0, time.UTC).UnixNano())
	now := func() time.Time { return time.Unix(0, clock.Load()).UTC() }
	model := fakemodel.New(fakemodel.Options{Now: now})
	up := httptest.NewServer(model)
	defer up.Close()
	url, settle := up.URL, func() {}
	if planner != nil {
		planner.Kernel = openKernel(b)
		defer planner.Kernel.Close()
		opt := proxy.Options{Upstream: up.URL, Private: true, Now: now, Deadline: inTime}
		if burn {
			opt.Deadline = 0 // the default
			defer burning()()
		}
		x, err := proxy.New(planner, opt)
		if err != nil {
			b.Fatal(err)
		}
		front := httptest.NewServer(x)
		defer front.Close()
		url, settle = front.URL, func() {
			if err := x.Close(context.Background()); err != nil {
				b.Fatal(err)
			}
		}
	}
	for i, body := range steps {
		clock.Add(int64(between))
		if i > 0 && i%pauseEvery == 0 {
			clock.Add(int64(pause))
		}
		p.call = i
		p.count(b, url, body)
		settle()
	}
	sum := 0.0
	for _, r := range model.Requests() {
		sum += float64(r.Usage.Uncached) + 1.25*float64(r.Usage.Written) + 0.1*float64(r.Usage.Read)
	}
	return sum * 3 / 1e6
}

// count makes a call and records what the proxy reports that it did.
func (p *billed) count(b *testing.B, url string, body []byte) {
	b.Helper()
	res, err := http.Post(url+"/v1/messages", "application/json", bytes.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil || res.StatusCode != http.StatusOK {
		b.Fatal(err, res.Status)
	}
	switch out := res.Header.Get("X-Memkernel"); {
	case out == "":
	case !strings.HasPrefix(out, "planned;"):
		p.unplanned++
	case !strings.Contains(out, "cut=none"):
		p.cuts++
	}
}

// burning keeps the processors busy until stop is called.
func burning() (stop func()) {
	done := make(chan struct{})
	for range 2 * runtime.GOMAXPROCS(0) {
		go func() {
			for n := 0; ; n++ {
				select {
				case <-done:
					return
				default:
					_ = fmt.Sprint(n)
				}
			}
		}()
	}
	return func() { close(done) }
}
