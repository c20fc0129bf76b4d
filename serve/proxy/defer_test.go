package proxy_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/fakemodel"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/serve/proxy"
)

var update = flag.Bool("update", false, "write the table of doc/proxy.md anew")

// deferBill is what sessions of an agent cost through the proxy.
type deferBill struct {
	usd                    float64
	calls, searches, tools int // tools: tokens of definitions in front of the last session
}

// play has an agent's sessions played and returns what the model billed for them: read,
// written, uncached and answered. No call changes the tools in front of its session.
func play(t *testing.T, s *stage, a *agent, c *clock, from, to int) (b deferBill) {
	t.Helper()
	for n := from; n < to; n++ {
		before := len(s.model.Requests())
		if err := a.run(s.front.URL, n, c); err != nil {
			t.Fatal(err)
		}
		s.settle()
		c.pass(3 * time.Hour)
		reqs := slices.DeleteFunc(s.model.Requests()[before:], func(r fakemodel.Request) bool { return r.Refused })
		for i, r := range reqs {
			if i > 0 && r.ToolPrefix() != reqs[i-1].ToolPrefix() {
				t.Errorf("%s, session %d, call %d: other tools stand in front than before", a.name, n, i)
			}
			b.usd += priceOf(t, r)
			b.calls, b.searches, b.tools = b.calls+1, b.searches+len(r.Searches), r.ToolTokens()
		}
	}
	return b
}

func priceOf(t *testing.T, r fakemodel.Request) float64 {
	t.Helper()
	m, _ := cachelayout.DefaultBook().Lookup(r.Model, r.At)
	usd := m.Cost(r.Usage.Read, r.Usage.Written, 0, r.Usage.Uncached, r.Usage.Output)
	if usd == nil {
		t.Fatalf("%s is not priced", r.Model)
	}
	return *usd
}

func deferring(c *clock, on bool) proxy.Options {
	opt := c.options()
	opt.ContextWindow, opt.DeferTools = 200_000, on
	return opt
}

const (
	learning = 4 // sessions before which nothing is known of the tools' use, and a little
	sessions = 16
)

// TestDeferBill plays the sessions of three hosts, with definitions that wait and without,
// and holds doc/proxy.md to what they cost.
func TestDeferBill(t *testing.T) {
	if !*update && !suite.Long() {
		t.Skip("some two thousand calls: the long suite plays them")
	}
	var table strings.Builder
	table.WriteString("| host | sessions with an errand | calls | searches | tools in front, before | after | bill, before | after | |\n|---|---|---|---|---|---|---|---|---|\n")
	for _, row := range deferRows() {
		a := row
		var first, then [2]deferBill
		for i := range then {
			c := newClock()
			s := newStage(t, a.answers(c.Now), deferring(c, i == 1), nil)
			first[i] = play(t, s, &a, c, 0, learning)
			then[i] = play(t, s, &a, c, learning, sessions)
		}
		off, on := then[0], then[1]
		change := 100 * (on.usd/off.usd - 1)
		fmt.Fprintf(&table, "| %s, %s | 1 in %d | %d | %d | %s | %s | $%.2f | $%.2f | %s %% |\n", a.name, a.model, a.every, on.calls, on.searches,
			thousands(off.tools), thousands(on.tools), off.usd, on.usd, signed(change))
		if change > 0 || on.searches > 0 && first[1].usd > 1.02*first[0].usd {
			t.Errorf("%s: %+.1f %%, while it learns $%.3f for $%.3f", a.name, change, first[1].usd, first[0].usd)
		}
		if a.every == 4 && !a.responses && change > -5 {
			t.Errorf("%s: %+.1f %% misses the floor of 5", a.name, change)
		}
	}
	const path, begin, end = "../../doc/proxy.md", "<!-- deferred -->\n", "<!-- /deferred -->\n"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	from, to := strings.Index(string(page), begin), strings.Index(string(page), end)
	if from < 0 || to < from {
		t.Fatalf("%s has no place for the table", path)
	}
	want := string(page[:from]) + begin + table.String() + end + string(page[to+len(end):])
	switch {
	case *update:
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	case want != string(page):
		t.Errorf("%s is not what the sessions cost; go test ./serve/proxy -run TestDeferBill -update writes it anew:\n%s", path, table.String())
	}
}

// deferRows are the three hosts, and the first with more errands.
func deferRows() []agent {
	rows := agents()
	often := rows[0]
	often.every = 2
	always := rows[0]
	always.every = 1
	return slices.Insert(rows, 1, often, always)
}

func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}

func signed(x float64) string {
	if math.Abs(x) < 0.05 {
		return "0.0"
	}
	return strings.Replace(fmt.Sprintf("%+.1f", x), "-", "−", 1)
}

// tracker is an agent of a few tools with long definitions, whose sessions are short.
func tracker() agent {
	return agent{name: "tracker", model: "claude-opus-5", tools: append(server("mcp__tracker__", 1200, "search", "open", "close", "move"), toolDef{"Bash", 300}, toolDef{"Read", 300}),
		system: 500, opening: 100, core: []string{"Bash", "Read"}, errands: [][]string{{"mcp__tracker__search"}}, every: 100}
}

// sentTool is a definition as the model got it.
type sentTool struct {
	Type, Name string
	Deferred   bool            `json:"defer_loading"`
	Cache      json.RawMessage `json:"cache_control"`
}

func toolsSent(t *testing.T, r fakemodel.Request) (out []sentTool) {
	t.Helper()
	var b struct{ Tools []sentTool }
	if err := json.Unmarshal(r.Body, &b); err != nil {
		t.Fatal(err)
	}
	return b.Tools
}

func waiting(tools []sentTool) (names []string) {
	for _, d := range tools {
		if d.Deferred {
			names = append(names, d.Name)
		}
	}
	return names
}

func (s *stage) newest() fakemodel.Request {
	reqs := s.model.Requests()
	return reqs[len(reqs)-1]
}

// Off unless asked for: every body keeps its tools, however often they were not used.
func TestDeferOff(t *testing.T) {
	c, a := newClock(), tracker()
	s := newStage(t, a.answers(c.Now), deferring(c, false), nil)
	play(t, s, &a, c, 0, suite.Pick(4, 5))
	for _, r := range s.model.Requests() {
		if r.Deferred() > 0 || strings.Contains(string(r.Body), "tool_search") {
			t.Fatal("definitions wait that nobody allowed to")
		}
	}
}

// What earlier sessions never called waits from the fourth on. A tool that is searched for
// stays where it is, the prefix keeps its bytes, also over a restart of the proxy; and the
// log has a line that says what waits and why.
func TestDeferSession(t *testing.T) {
	c, a := newClock(), tracker()
	fake := a.answers(c.Now)
	s := newStage(t, fake, deferring(c, true), nil)
	play(t, s, &a, c, 0, 3)
	if n := s.newest().Deferred(); n > 0 {
		t.Fatalf("%d definitions wait before anything is known of their use", n)
	}
	a.every = 4 // the fourth session calls one of them
	before := len(s.model.Requests())
	conv := []string{a.user("please begin")}
	found := 0
	for i := range 24 {
		if i == 12 {
			s.reopen()
			s.start(s.k, deferring(c, true))
		}
		c.pass(12 * time.Second)
		answer, err := a.post(s.front.URL, 3, conv)
		if err != nil {
			t.Fatal(err)
		}
		s.settle()
		conv = append(conv, answer.said...)
		for _, call := range answer.calls {
			conv = append(conv, a.result(call, 3, len(conv)))
		}
		if len(answer.calls) == 0 {
			conv = append(conv, a.user("go on"))
		}
		found += len(s.newest().Searches)
	}
	reqs := s.model.Requests()[before:]
	for i, r := range reqs {
		if got := waiting(toolsSent(t, r)); len(got) != 4 {
			t.Fatalf("call %d: %q wait", i, got)
		}
		if i > 0 && r.Parts(reqs[i-1]) != "" {
			t.Fatalf("call %d: what was sent before does not stand at %s", i, r.Parts(reqs[i-1]))
		}
		if i > 0 && r.Usage.Read == 0 {
			t.Errorf("call %d read nothing of the cache", i)
		}
	}
	if found != 1 {
		t.Errorf("%d searches: one has to do, what it found stands in the conversation", found)
	}
	if log := s.log.String(); strings.Count(log, "msg=tools deferred=4") != 2 || !strings.Contains(log, "mcp__tracker__open") || !strings.Contains(log, "hardly used") {
		t.Errorf("the log does not say once for each proxy what waits:\n%s", log)
	}
}

// A session that goes on while nothing is known of its tools begins nothing in the middle:
// the cached prefix is worth more. Where the cache is cold they wait.
func TestDeferInTheMiddle(t *testing.T) {
	c, a := newClock(), tracker()
	s := newStage(t, a.answers(c.Now), deferring(c, true), nil)
	conv := []string{a.user("please begin" + describe("", 160_000))}
	call := func() fakemodel.Request {
		t.Helper()
		c.pass(12 * time.Second)
		answer, err := a.post(s.front.URL, 50, conv)
		if err != nil {
			t.Fatal(err)
		}
		s.settle()
		conv = append(conv, answer.said...)
		for _, made := range answer.calls {
			conv = append(conv, a.result(made, 50, len(conv)))
		}
		if len(answer.calls) == 0 {
			conv = append(conv, a.user("go on"))
		}
		return s.newest()
	}
	call()
	paused := c.now.Load()
	play(t, s, &a, c, 0, 4) // others, whose time does not count
	c.now.Store(paused)
	if r := call(); r.Deferred() > 0 {
		t.Fatal("a warm prefix was written anew for tools that wait")
	}
	c.pass(2 * time.Hour)
	if r := call(); r.Deferred() != 4 {
		t.Errorf("%d wait in a cold cache", r.Deferred())
	}
}

// The rules of the API, in requests that come close to breaking them.
func TestDeferRules(t *testing.T) {
	c, a := newClock(), tracker()
	s := newStage(t, a.answers(c.Now), deferring(c, true), nil)
	play(t, s, &a, c, 0, 3)
	plain := a.body(90, []string{a.user("hello")})
	for name, row := range map[string]struct {
		change func(string) string
		keeps  string
		waits  int
	}{
		"forced": {func(b string) string {
			return strings.Replace(b, `"max_tokens"`, `"tool_choice":{"type":"tool","name":"mcp__tracker__open"},"max_tokens"`, 1)
		}, "mcp__tracker__open", 3},
		"marked": {func(b string) string {
			i := strings.Index(b, `"mcp__tracker__close"`)
			return b[:i] + `"mcp__tracker__close","cache_control":{"type":"ephemeral"}` + b[i+len(`"mcp__tracker__close"`):]
		}, "mcp__tracker__close", 3},
		"server tool": {func(b string) string {
			return strings.Replace(b, `"tools":[`, `"tools":[{"type":"web_search_20250305","name":"web_search"},`, 1)
		}, "web_search", 4},
		"client defers": {func(b string) string {
			return strings.Replace(b, `{"name":"Bash"`, `{"defer_loading":true,"name":"Bash"`, 1)
		}, "", 0},
		"older model": {func(b string) string { return strings.Replace(b, a.model, "claude-opus-4-1", 1) }, "", 0},
		"named as ours": {func(b string) string {
			return strings.Replace(b, "mcp__tracker__open", "mcp__tracker__memory_search", 1)
		}, "mcp__tracker__memory_search", 3},
	} {
		s.settle()
		opt := deferring(c, true)
		opt.KeepTool = func(n string) bool { return strings.HasSuffix(n, "__memory_search") }
		s.start(s.k, opt)
		before := len(s.model.Requests())
		body := strings.Replace(row.change(plain), "session-90", "session-"+strings.ReplaceAll(name, " ", "-")+"-90", 1)
		r := s.post("/v1/messages", body)
		if name == "client defers" { // it has no search, which our server does not take
			if len(s.model.Requests()) != before || !strings.Contains(r.body, "no tool_search") || strings.Contains(r.outcome(), "deferred") {
				t.Errorf("%s: %q %s", name, r.outcome(), r.body)
			}
			continue
		}
		if r.status != 200 {
			t.Errorf("%s: %s", name, r.body)
			continue
		}
		if got := waiting(toolsSent(t, s.newest())); len(got) != row.waits || slices.Contains(got, row.keeps) {
			t.Errorf("%s: %q wait, %q must not", name, got, row.keeps)
		}
	}
}

// An upstream that knows no search gets all definitions, at once and from then on.
func TestDeferRefused(t *testing.T) {
	c, a := newClock(), tracker()
	fake := a.answers(c.Now)
	fake.NoToolSearch = true
	s := newStage(t, fake, deferring(c, true), nil)
	play(t, s, &a, c, 0, suite.Pick(4, 5))
	refused := 0
	for _, r := range s.model.Requests() {
		if r.Refused {
			refused++
		}
	}
	if refused != 1 {
		t.Errorf("%d requests were refused for their search", refused)
	}
	if r := s.newest(); r.Deferred() > 0 {
		t.Error("definitions still wait")
	}
}
