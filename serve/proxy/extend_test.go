package proxy_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/memkernel/memkernel/internal/fakemodel"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/serve/proxy"
	"github.com/memkernel/memkernel/transcript"
)

// clock is a time that tests move.
type clock struct{ now atomic.Int64 }

func newClock() *clock {
	c := &clock{}
	c.now.Store(time.Date(2026, 11, 3, 9, 0, 0, 0, time.UTC).UnixNano())
	return c
}

func (c *clock) Now() time.Time         { return time.Unix(0, c.now.Load()).UTC() }
func (c *clock) pass(d time.Duration)   { c.now.Add(int64(d)) }
func (c *clock) options() proxy.Options { return proxy.Options{Now: c.Now} }

// late is a planner that has no plan for some requests: the time was up before, or in the
// middle of the work, or it failed.
type late struct {
	*kernel.Kernel
	rng  *rand.Rand
	rate float64 // of requests that get no plan
}

var errRefused = errors.New("the kernel refused")

func (p *late) PlanContext(ctx context.Context, r api.PlanRequest) (*api.ContextPlan, error) {
	if p.rng.Float64() >= p.rate {
		return p.Kernel.PlanContext(ctx, r)
	}
	switch p.rng.Intn(3) {
	case 0:
		return nil, context.DeadlineExceeded
	case 1:
		return nil, errRefused
	}
	return p.Kernel.PlanContext(&endsAfter{ctx, p.rng.Intn(40)}, r)
}

// endsAfter is a context whose deadline passes when it was asked so many times.
type endsAfter struct {
	context.Context
	left int
}

func (c *endsAfter) Err() error {
	if c.left--; c.left < 0 {
		return context.DeadlineExceeded
	}
	return nil
}

// caching is how clients of the Messages API mark what is to be cached: the system
// prompt, and the end of the conversation.
func caching(a clientAPI) clientAPI {
	a.head = strings.Replace(a.head, `"system":"You are a tester."`, `"system":[{"type":"text","text":"You are a tester.","cache_control":{"type":"ephemeral"}}]`, 1)
	return a
}

// marked is a message with a marker on its last block.
func marked(message string) string {
	i := strings.LastIndex(message, `"}]}`)
	if i < 0 { // content that is one text
		return strings.Replace(message[:strings.LastIndex(message, "}")], `"content":`, `"content":[{"type":"text","text":`, 1) + `,"cache_control":{"type":"ephemeral"}}]}`
	}
	return message[:i+1] + `,"cache_control":{"type":"ephemeral"}` + message[i+1:]
}

// TestMovedMarkerKeepsPages: a client marks the end of each request, so that the marker leaves the
// message that it stood on. A program that is started in between stores nothing twice.
func TestMovedMarkerKeepsPages(t *testing.T) {
	s := newStage(t, fakemodel.Options{}, proxy.Options{}, nil)
	pasted := big("pasted", 9000)
	first := fmt.Sprintf(`{"role":"user","content":[{"type":"text","text":%q}]}`, pasted)
	s.post(anthropic.path, anthropic.body([]string{marked(first)}, false), "X-Memkernel-Session", "s").planned(t)
	s.settle()
	if err := s.k.Close(); err != nil {
		t.Fatal(err)
	}
	k, err := kernel.Open(t.Context(), s.dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.k = k
	s.start(k, proxy.Options{})
	s.post(anthropic.path, anthropic.body([]string{first, anthropic.said("ok"), marked(anthropic.user("go on"))}, false), "X-Memkernel-Session", "s").planned(t)
	s.settle()
	var holding []string
	blobs := os.DirFS(filepath.Join(s.dir, ".memkernel", "blobs"))
	if err := fs.WalkDir(blobs, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(blobs, p)
		if strings.Contains(string(data), "func workpasted100()") {
			holding = append(holding, p)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if len(holding) != 1 {
		t.Errorf("the pasted text is stored in %q", holding)
	}
}

// cost is what a request costs, in uncached input tokens.
func cost(reqs []fakemodel.Request) float64 {
	sum := 0.0
	for _, r := range reqs {
		sum += float64(r.Usage.Uncached) + 1.25*float64(r.Usage.Written) + 0.1*float64(r.Usage.Read)
	}
	return sum
}

// TestNeverDearer drives random scripts through the proxy, with plans that are missing
// at random calls, pauses over the cache's lifetime, and requests that are made again or
// taken back; and past it. What goes out always repeats what went out before, unless a
// cut was planned or the client took something back; it is always valid; the user's words
// always arrive; and the bill is never more than a little above that without the proxy.
func TestNeverDearer(t *testing.T) {
	apis := []clientAPI{caching(anthropic), openai, responses}
	var bills [2]float64
	for seed := range int64(suite.Pick(3, 30)) {
		a := apis[seed%3]
		rng := rand.New(rand.NewSource(seed))
		c := newClock()
		opt := c.options()
		opt.Deadline, opt.ContextWindow = time.Minute, 20_000
		s := newStage(t, fakemodel.Options{Now: c.Now}, opt, nil)
		s.start(&late{s.k, rand.New(rand.NewSource(seed)), 0.4}, opt)
		direct := fakemodel.New(fakemodel.Options{Now: c.Now})
		bare := httptest.NewServer(direct)
		t.Cleanup(bare.Close)

		var msgs []string
		extended, cuts, plans, n := 0, 0, 0, 0
		taken := false // the client took something back since the last request
		said := ""
		for range suite.Pick(36, 80) {
			c.pass(time.Duration(5+rng.Intn(40)) * time.Second)
			if rng.Intn(15) == 0 {
				c.pass(5*time.Minute + 30*time.Second)
			}
			switch k := rng.Intn(12); {
			case len(msgs) == 0:
				said = fmt.Sprintf("please do step %d of the plan", n)
				msgs = append(msgs, a.user(said))
			case k < 3:
				said = fmt.Sprintf("please do step %d of the plan", n)
				msgs = append(msgs, a.said(fmt.Sprintf("step %d is done", n)), a.user(said))
			case k == 3: // the same again
			case k == 4: // words it otherwise
				if last := len(msgs) - 1; strings.Contains(msgs[last], `"role":"user"`) && strings.Contains(msgs[last], "step") && !strings.Contains(msgs[last], "call_") {
					said = fmt.Sprintf("rather do step %d", n)
					msgs, taken = append(msgs[:last:last], a.user(said)), true
				}
			default:
				id := fmt.Sprintf("call_%d", n)
				msgs = append(msgs, a.call(id, "cat part"), a.result(id, big(fmt.Sprintf("p%d", n), 100+rng.Intn(1400))))
			}
			n++
			sent := append([]string(nil), msgs...)
			if a.path == anthropic.path {
				sent[len(sent)-1] = marked(sent[len(sent)-1])
			}
			body := a.body(sent, rng.Intn(2) == 0)
			r := s.post(a.path, body, "X-Memkernel-Session", "s")
			if r.status != 200 {
				t.Fatalf("seed %d, call %d: status %d: %s", seed, n, r.status, r.body)
			}
			post(t, bare.URL+a.path, body)
			if rng.Intn(3) > 0 {
				s.settle() // else the next request may find the line at work
			}
			seen := s.model.Requests()
			got := seen[len(seen)-1]
			where := fmt.Sprintf("seed %d, call %d, %q", seed, n, r.outcome())
			valid(t, where, a, body, got)
			if quoted, _ := json.Marshal(said); !strings.Contains(string(got.Body), string(quoted)) {
				t.Fatalf("%s: the user's words did not arrive", where)
			}
			switch out := r.outcome(); {
			case strings.HasPrefix(out, "extended;"):
				extended++
			case strings.HasPrefix(out, "passed;") && plans > 0 && !taken:
				t.Fatalf("%s: the client's own bytes passed", where)
			case strings.HasPrefix(out, "planned;") && !strings.Contains(out, "cut=none"):
				cuts++
				taken = true // what stood is another one now
			}
			if len(seen) > 1 && !taken && plans > 0 {
				if at := got.Parts(seen[len(seen)-2]); at != "" {
					t.Fatalf("%s: what was sent before does not stand at %s", where, at)
				}
			}
			taken = taken && strings.HasPrefix(r.outcome(), "passed;") // it waits for a plan
			if strings.HasPrefix(r.outcome(), "planned;") {
				plans++ // in front of the first one nothing was promised
			}
		}
		if extended == 0 || cuts == 0 {
			t.Errorf("seed %d: %d extended, %d cuts: nothing was shown", seed, extended, cuts)
		}
		with, without := cost(s.model.Requests()), cost(direct.Requests())
		if with > without+lastCut {
			t.Errorf("seed %d: %.0f with the proxy, %.0f without", seed, with, without)
		}
		bills[0], bills[1] = bills[0]+with, bills[1]+without
		t.Logf("seed %d: %.0f with the proxy, %.0f without (%+.0f %%), %d extended, %d cuts", seed, with, without, 100*(with/without-1), extended, cuts)
	}
	if bills[0] > bills[1] {
		t.Errorf("all together: %.0f with the proxy, %.0f without", bills[0], bills[1])
	}
}

// lastCut is what a cut may cost that a script ends too soon behind: the rest of the
// prompt is written once more.
const lastCut = 6_000

func post(t *testing.T, url, body string) {
	t.Helper()
	s := &stage{t: t, front: &httptest.Server{URL: url}}
	if r := s.post("", body); r.status != 200 {
		t.Fatalf("status %d: %s", r.status, r.body)
	}
}

// valid wants a request that breaks no rule of its API that the client's does not.
func valid(t *testing.T, where string, a clientAPI, client string, sent fakemodel.Request) {
	t.Helper()
	if err := sent.Pairs(); err != nil {
		t.Fatalf("%s: %v", where, err)
	}
	format := map[string]transcript.Format{anthropic.path: transcript.FormatAnthropic, openai.path: transcript.FormatOpenAI, responses.path: transcript.FormatResponses}[a.path]
	broken := func(body []byte) map[string]bool {
		b, err := new(transcript.BodyReader).Read(format, "", body)
		if err != nil {
			t.Fatalf("%s: %v", where, err)
		}
		out := map[string]bool{}
		for _, v := range transcript.Validate(format, &transcript.Request{Model: b.Model, System: b.System, Tools: b.Tools, Messages: b.Messages, Source: b.Source()}) {
			out[v.Rule] = true
		}
		return out
	}
	before := broken([]byte(client))
	for rule := range broken(sent.Body) {
		if !before[rule] {
			t.Fatalf("%s: the request breaks rule %s", where, rule)
		}
	}
	marks := 0
	for _, s := range sent.Segments {
		if s.Marked {
			marks++
		}
	}
	if marks > 4 {
		t.Fatalf("%s: %d cache markers", where, marks)
	}
}
