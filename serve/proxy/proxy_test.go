package proxy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/memkernel/memkernel/internal/fakemodel"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/serve/proxy"
)

// Fifty turns with tools, or thirty-two in the quick suite, longer than the window: what the model gets to see stays
// byte-identical between cuts, no call loses its result, and every turn is committed
// once.
func TestFiftyTurns(t *testing.T) {
	turns, window := suite.Pick(20, 50), suite.Pick(22_000, 32_000)
	for name, a := range map[string]clientAPI{"anthropic": anthropic, "openai": openai, "responses": responses, "gemini": gemini} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, fakemodel.Options{Script: script, Window: window}, proxy.Options{ContextWindow: window}, nil)
			s.turns(a, turns, "X-Memkernel-Session", "build")
			seen := s.model.Requests()
			if len(seen) != 2*turns {
				t.Fatalf("%d requests", len(seen))
			}
			cuts := 0
			for i, r := range seen {
				if err := r.Pairs(); err != nil {
					t.Errorf("request %d: %v", i, err)
				}
				if r.Refused {
					t.Errorf("request %d was refused", i)
				}
				if i > 0 {
					if at := r.Parts(seen[i-1]); at != "" {
						cuts++
					}
				}
			}
			if made := strings.Count(s.log.String(), "msg=planned") - strings.Count(s.log.String(), "cut=none"); cuts != made || made == 0 {
				t.Errorf("the prefix broke %d times at %d cuts", cuts, made)
			}
			st, err := s.k.Status(context.Background(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(s.log.String(), "outcome=committed"); n != turns || len(st.Sessions) != 1 || st.Sessions[0].Turns != turns {
				t.Errorf("%d turns committed, %+v", n, st.Sessions)
			}
		})
	}
}

// recorder keeps what arrives at the upstream, to the byte, and answers with the same
// thing every time.
type recorder struct {
	mu     sync.Mutex
	bodies []string
	heads  []http.Header
	uris   []string
	answer http.HandlerFunc
}

func (c *recorder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b, _ := io.ReadAll(r.Body)
	c.mu.Lock()
	c.bodies, c.heads, c.uris = append(c.bodies, string(b)), append(c.heads, r.Header.Clone()), append(c.uris, r.RequestURI)
	c.mu.Unlock()
	c.answer(w, r)
}

func (c *recorder) last() (string, http.Header) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bodies[len(c.bodies)-1], c.heads[len(c.heads)-1]
}

const anthropicOK = `{"id":"m","type":"message","role":"assistant","model":"claude-sonnet-4-6","content":[{"type":"text","text":"done"}],"stop_reason":"end_turn","usage":{"input_tokens":10,"output_tokens":1}}`

func answering(body string) *recorder {
	return &recorder{answer: func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, body)
	}}
}

// A count is planned as the call itself would be, and writes nothing.
func TestCountTokens(t *testing.T) {
	s := newStage(t, fakemodel.Options{Script: script}, proxy.Options{ContextWindow: 20_000}, nil)
	msgs := append(s.turns(anthropic, 20), anthropic.user("and now?"))
	before := s.log.String()
	r := s.post("/v1/messages/count_tokens", anthropic.body(msgs, false))
	r.planned(t)
	s.settle()
	var n struct {
		Tokens int `json:"input_tokens"`
	}
	if err := json.Unmarshal([]byte(r.body), &n); err != nil || n.Tokens == 0 {
		t.Fatalf("%v: %s", err, r.body)
	}
	if whole := len(anthropic.body(msgs, false)) / 4; n.Tokens > whole*3/4 {
		t.Errorf("%d tokens counted of %d: the count is not of what would be sent", n.Tokens, whole)
	}
	if log := strings.TrimPrefix(s.log.String(), before); strings.Contains(log, "outcome=") {
		t.Errorf("a count was observed: %s", log)
	}
}

// Results that leave are shown as pointers if the model has a way to follow them.
func TestResolver(t *testing.T) {
	for resolver, want := range map[string]string{"memkernel-get": "memkernel get --session ", "Bash": " Bash ev-", "nothing": ""} {
		s := newStage(t, fakemodel.Options{Script: script, Window: 32_000}, proxy.Options{Resolver: resolver, Command: "memkernel get", ContextWindow: 20_000}, nil)
		s.turns(anthropic, 20)
		seen := s.model.Requests()
		body := string(seen[len(seen)-1].Body)
		if want == "" && strings.Contains(body, "; whole: ") || !strings.Contains(body, want) {
			t.Errorf("%s: the last request holds no %q", resolver, want)
		}
	}
}

// A large list that a command returned goes out shortened, with the command that reads it
// whole, and the next request sends the same bytes of it.
func TestListIsShortenedAtFirstSight(t *testing.T) {
	up := answering(anthropicOK)
	s := newStage(t, fakemodel.Options{}, proxy.Options{ContextWindow: 200_000, Resolver: proxy.MemkernelGet, Command: "memkernel get"}, up)
	var list strings.Builder
	for i := range 300 {
		fmt.Fprintf(&list, `,{"parcel":%d,"port":"Kiel","weight":%d}`, 7000+i, i*13%400)
	}
	result, _ := json.Marshal("[" + list.String()[1:] + "]")
	body := `{"model":"claude-sonnet-4-6","max_tokens":50,"tools":[{"name":"Bash","description":"runs a command","input_schema":{"type":"object"}}],"messages":[` +
		`{"role":"user","content":"Which parcels wait?"},{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"curl -s https://port.example/parcels"}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":` + string(result) + `}]}`
	shown := func(n int) string {
		var sent struct {
			Messages []struct {
				Content json.RawMessage `json:"content"`
			} `json:"messages"`
		}
		if err := json.Unmarshal([]byte(up.bodies[n]), &sent); err != nil || len(sent.Messages) < 3 {
			t.Fatalf("%v: %.300s", err, up.bodies[n])
		}
		var parts []struct {
			Content json.RawMessage `json:"content"`
		}
		if err := json.Unmarshal(sent.Messages[2].Content, &parts); err != nil {
			t.Fatal(err)
		}
		return string(parts[0].Content)
	}
	s.post("/v1/messages", body+`]}`).planned(t)
	first := shown(0)
	if len(first) > len(result)/2 || !strings.Contains(first, "; whole: memkernel get --session ") {
		t.Fatalf("%d of %d bytes went out: %.300s", len(first), len(result), first)
	}
	s.settle()
	s.post("/v1/messages", body+`,{"role":"assistant","content":[{"type":"text","text":"All of them."}]},{"role":"user","content":"Thanks. Since when?"}]}`).planned(t)
	if again := shown(1); again != first {
		t.Errorf("the next request sends %d other bytes", len(again))
	}
}

// What can't be planned goes out with the client's bytes, and the answer gives the reason.
func TestDoubtPassesTheBytes(t *testing.T) {
	up := answering(anthropicOK)
	s := newStage(t, fakemodel.Options{}, proxy.Options{}, up)
	head := `"model":"claude-sonnet-4-6","max_tokens":50,`
	user := `{"role":"user","content":"hi"}`
	for _, tt := range []struct{ name, path, body, reason string }{
		{"no JSON", "/v1/messages", `{"model": hello`, "unreadable"},
		{"a member twice", "/v1/messages", `{` + head + `"messages":[` + user + `],"messages":[]}`, "unreadable"},
		{"no messages", "/v1/messages", `{` + head + `"messages":[]}`, "unreadable"},
		{"messages of no shape", "/v1/messages", `{` + head + `"messages":[3]}`, "unreadable"},
		{"unknown block", "/v1/messages", `{` + head + `"messages":[{"role":"user","content":[{"type":"hologram","x":1}]}]}`, "unknown_block"},
		{"image of no source", "/v1/messages", `{` + head + `"messages":[{"role":"user","content":[{"type":"image","source":{"type":"orbit"}}]}]}`, "unknown_block"},
		{"unknown role", "/v1/messages", `{` + head + `"messages":[{"role":"wizard","content":"hi"}]}`, "unknown_block"},
		{"thread", "/v1/messages", `{` + head + `"thread":{"type":"create"},"messages":[` + user + `]}`, "server_history"},
		{"probe", "/v1/messages", `{"model":"claude-sonnet-4-6","max_tokens":1,"messages":[` + user + `]}`, "probe"},
		{"prefill", "/v1/messages", `{` + head + `"messages":[` + user + `,{"role":"assistant","content":"{"}]}`, "prefill"},
		{"choices", "/v1/chat/completions", `{"model":"gpt-5","n":2,"messages":[` + user + `]}`, "many_choices"},
		{"history elsewhere", "/v1/responses", `{"model":"gpt-5","previous_response_id":"r","input":[` + user + `]}`, "server_history"},
		{"input of one text", "/v1/responses", `{"model":"gpt-5","input":"hi"}`, "string_input"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			check(t, s.post(tt.path, tt.body), up, tt.body, tt.reason)
		})
	}
}

// A model whose window nobody knows is planned, and nothing is cut on a guess.
func TestWindowUnknown(t *testing.T) {
	s := newStage(t, fakemodel.Options{}, proxy.Options{ContextWindow: -1}, answering(anthropicOK))
	r := s.post("/v1/messages", `{"model":"x","max_tokens":50,"messages":[{"role":"user","content":"hi"}]}`, "X-Memkernel-Session", "s")
	if !strings.HasPrefix(r.outcome(), "planned; cut=none") || r.body != anthropicOK {
		t.Errorf("outcome %q, body %q", r.outcome(), r.body)
	}
}

func check(t *testing.T, r reply, up *recorder, body, reason string) {
	t.Helper()
	if got, _ := up.last(); got != body {
		t.Errorf("the upstream got %q", got)
	}
	if r.outcome() != "passed; reason="+reason || r.body != anthropicOK {
		t.Errorf("outcome %q, body %q", r.outcome(), r.body)
	}
}

// A compressed request, a path that is not read and a query pass as they are.
func TestOtherThingsPass(t *testing.T) {
	up := answering("[1, 2]")
	s := newStage(t, fakemodel.Options{}, proxy.Options{}, up)
	if r := s.post("/v1/embeddings?a=1;b=%2F&key=k", `{"messages":[]}`); r.body != "[1, 2]" || r.outcome() != "" {
		t.Errorf("%q, outcome %q", r.body, r.outcome())
	}
	if got, _ := up.last(); got != `{"messages":[]}` || up.uris[0] != "/v1/embeddings?a=1;b=%2F&key=k" {
		t.Errorf("the upstream got %q at %s", got, up.uris[0])
	}
	if r := s.post("/v1/messages", "\x1f\x8b", "Content-Encoding", "gzip"); r.outcome() != "passed; reason=encoded" {
		t.Errorf("outcome %q", r.outcome())
	}
	if got, _ := up.last(); got != "\x1f\x8b" {
		t.Errorf("the upstream got %q", got)
	}
}

// A client with markers of its own, whose conversation stays as it is, is sent to the
// byte as it wrote.
func TestUnchangedStays(t *testing.T) {
	up := answering(anthropicOK)
	s := newStage(t, fakemodel.Options{}, proxy.Options{}, up)
	body := "{\n \"z\":[1 ,2], \"model\":\"claude-sonnet-4-6\",\"max_tokens\": 50,\"messages\":[ {\"content\":[{\"text\":\"h\\u0069\",\"type\":\"text\",\"cache_control\":{\"type\":\"ephemeral\"}}],\"role\":\"user\"} ]\n}"
	r := s.post("/v1/messages", body, "X-Memkernel-Session", "s")
	if got, _ := up.last(); got != body || r.outcome() != "planned; cut=none; body=unchanged" {
		t.Errorf("outcome %q, the upstream got %q", r.outcome(), got)
	}
	s = newStage(t, fakemodel.Options{}, proxy.Options{}, up) // a workspace where nothing is yet
	if r := s.post("/v1/chat/completions", `{"model":"gpt-5", "messages":[ {"role":"system","content":"s"}, {"role":"user","content":"hi"}]}`, "X-Memkernel-Session", "s"); !strings.HasSuffix(r.outcome(), "body=unchanged") {
		t.Errorf("outcome %q", r.outcome())
	}
}

// The client's markers on tools and system are kept; with those of the plan there are
// never more than four, and no longer lifetime behind a shorter one.
func TestMarkers(t *testing.T) {
	s := newStage(t, fakemodel.Options{Script: script}, proxy.Options{ContextWindow: 20_000}, nil)
	a := anthropic
	a.head = strings.Replace(a.head, `"system":"You are a tester."`, `"system":[{"type":"text","text":"You are a tester.","cache_control":{"type":"ephemeral"}},{"type":"text","text":"More.","cache_control":{"type":"ephemeral"}}]`, 1)
	a.user = func(t string) string {
		mark := ""
		if strings.Contains(t, "step 0 ") {
			mark = `,"cache_control":{"type":"ephemeral"}`
		}
		return fmt.Sprintf(`{"role":"user","content":[{"type":"text","text":%q%s}]}`, t, mark)
	}
	s.turns(a, 22)
	written := 0
	for i, r := range s.model.Requests() {
		var sum int
		for _, seg := range r.Segments {
			if seg.Marked {
				sum++
			}
		}
		if strings.Contains(string(r.Body), "earlier messages of this session left the prompt") { // cut, so that the plan's markers are there
			written++
			if sum > 4 || sum < 3 {
				t.Errorf("request %d has %d markers", i, sum)
			}
		}
		if strings.Contains(string(r.Body), `"1h"`) {
			t.Errorf("request %d asks for an hour behind five minutes", i)
		}
	}
	if written == 0 {
		t.Error("no request was cut")
	}
}

// The same request again sends the same bytes and commits nothing twice.
func TestRetry(t *testing.T) {
	up := answering(anthropicOK)
	s := newStage(t, fakemodel.Options{}, proxy.Options{}, up)
	body := anthropic.body([]string{anthropic.user("hello")}, false)
	for range 3 {
		s.post("/v1/messages", body).planned(t)
		s.settle()
	}
	if up.bodies[0] != up.bodies[1] || up.bodies[1] != up.bodies[2] {
		t.Errorf("bodies differ:\n%s\n%s", up.bodies[0], up.bodies[1])
	}
	if log := s.log.String(); strings.Count(log, "outcome=committed") != 1 || strings.Count(log, "outcome=duplicate") != 2 {
		t.Error(log)
	}
}

// Refusals of the upstream reach the client as they are, and nothing is committed.
func TestRefusalsPass(t *testing.T) {
	for _, status := range []int{400, 401, 404, 413, 429, 500, 503, 529} {
		text := fmt.Sprintf(`{"type":"error","error":{"type":"some_error","message":"status %d"}}`, status)
		up := &recorder{answer: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(status)
			io.WriteString(w, text)
		}}
		s := newStage(t, fakemodel.Options{}, proxy.Options{}, up)
		r := s.post("/v1/messages", anthropic.body([]string{anthropic.user("hello")}, true))
		if r.status != status || r.body != text || r.header.Get("Retry-After") != "7" || len(up.bodies) != 1 {
			t.Errorf("%d: got %d %q, %d requests", status, r.status, r.body, len(up.bodies))
		}
		s.settle()
		if strings.Contains(s.log.String(), "outcome=") {
			t.Errorf("%d was observed: %s", status, s.log)
		}
	}
}

// A request that is refused as too long is planned below the limit and sent once
// more; the client sees the answer alone.
func TestOverflow(t *testing.T) {
	s := newStage(t, fakemodel.Options{Script: script, Window: 12_000}, proxy.Options{ContextWindow: 200_000}, nil)
	var msgs []string
	for i := range 12 {
		id := fmt.Sprintf("call_%d", i)
		msgs = append(msgs, anthropic.user(fmt.Sprintf("step %d", i)), anthropic.call(id, "cat"), anthropic.result(id, big(fmt.Sprintf("p%d", i), 1500)), anthropic.said("ok"))
	}
	r := s.post("/v1/messages", anthropic.body(append(msgs, anthropic.user("and now?")), false))
	s.settle()
	seen := s.model.Requests()
	if r.status != 200 || len(seen) != 2 || !seen[0].Refused || seen[1].Refused || !strings.Contains(r.outcome(), "planned; cut=forced") {
		t.Fatalf("status %d, outcome %q, %d requests\n%s", r.status, r.outcome(), len(seen), s.log)
	}
	if err := seen[1].Pairs(); err != nil {
		t.Error(err)
	}
}

// Sessions at the same time, and several models in one, each commit what is theirs.
func TestParallelSessions(t *testing.T) {
	s := newStage(t, fakemodel.Options{Script: script}, proxy.Options{}, nil)
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			a := []clientAPI{anthropic, openai}[i%2]
			s.turns(a, 4, "X-Memkernel-Session", fmt.Sprintf("s%d", i))
		})
	}
	wg.Wait()
	s.settle()
	st, err := s.k.Status(context.Background(), nil)
	if err != nil || len(st.Sessions) != 6 {
		t.Fatalf("%v, %d sessions", err, len(st.Sessions))
	}
	for _, x := range st.Sessions {
		if x.Turns != 4 {
			t.Errorf("%s: %d turns", x.Key, x.Turns)
		}
	}
}

// A proxy that begins anew on the same state goes on where the one before stopped.
func TestRestart(t *testing.T) {
	s := newStage(t, fakemodel.Options{Script: script}, proxy.Options{ContextWindow: 20_000, Reserve: 4_096}, nil)
	msgs := s.turns(anthropic, 16)
	if !strings.Contains(s.log.String(), "cut=high_water") {
		t.Error("no request was cut")
	}
	s.front.Close()
	if err := s.k.Close(); err != nil {
		t.Fatal(err)
	}
	k, err := kernel.Open(context.Background(), s.dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.Close() })
	s.start(k, proxy.Options{ContextWindow: 20_000, Reserve: 4_096})
	again := anthropic.body(msgs[:len(msgs)-1], false)
	s.post("/v1/messages", again).planned(t)
	s.settle()
	if !strings.Contains(s.log.String(), "outcome=duplicate turns=16") {
		t.Errorf("the last turn's call, made again: %s", s.log)
	}
	seen := s.model.Requests()
	if at := seen[len(seen)-1].Parts(seen[len(seen)-2]); at != "" {
		t.Errorf("the prefix parts at %s", at)
	}
}

func TestModelSwitch(t *testing.T) {
	s := newStage(t, fakemodel.Options{Script: script}, proxy.Options{}, nil)
	msgs := s.turns(anthropic, 3, "X-Memkernel-Session", "s")
	other := anthropic
	other.head = strings.Replace(other.head, "claude-sonnet-4-6", "claude-opus-4-6", 1)
	s.post("/v1/messages", other.body(append(msgs, other.user("go on")), false), "X-Memkernel-Session", "s").planned(t)
	back := s.post("/v1/messages", anthropic.body(append(msgs, anthropic.user("go on")), false), "X-Memkernel-Session", "s")
	back.planned(t)
	seen := s.model.Requests()
	if at := seen[len(seen)-1].Parts(seen[len(seen)-3]); at != "" {
		t.Errorf("back at the first model the prefix parts at %s", at)
	}
}

// A conversation beside the main one is planned by itself: the main one's prefix
// is kept, and calls without tools pass.
func TestSideConversations(t *testing.T) {
	s := newStage(t, fakemodel.Options{}, proxy.Options{}, nil)
	user := func(id string) string { return `"metadata":{"user_id":"user_a_account__session_` + id + `"},` }
	main, side, title := anthropic, anthropic, anthropic
	main.head += user("11111111-aaaa")
	side.head = strings.Replace(main.head, "You are a tester.", "You are a helper.", 1)
	title.head = `"model":"claude-sonnet-4-6","max_tokens":100,` + user("11111111-aaaa")
	first := []string{main.user("the work")}
	s.post(main.path, main.body(first, false)).planned(t)
	s.post(side.path, side.body([]string{side.user("look at this")}, false)).planned(t)
	if r := s.post(title.path, title.body([]string{title.user("name this")}, false)); r.outcome() != "passed; reason=side_call" {
		t.Errorf("outcome %q", r.outcome())
	}
	s.post(main.path, main.body(append(first, main.said("ok"), main.user("go on")), false)).planned(t)
	s.settle()
	seen := s.model.Requests()
	if at := seen[3].Parts(seen[0]); at != "" {
		t.Errorf("the main conversation parts at %s", at)
	}
	st, _ := s.k.Status(context.Background(), nil)
	if len(st.Sessions) != 1 || len(st.Sessions[0].Lines) != 2 {
		t.Errorf("%+v", st.Sessions)
	}
}

// TestCheckpointsNameTheSource: the headers of a request name where its session comes from,
// in the session's checkpoints, beside what the provider billed.
func TestCheckpointsNameTheSource(t *testing.T) {
	s := newStage(t, fakemodel.Options{Script: script}, proxy.Options{}, nil)
	s.turns(anthropic, 2, "X-Memkernel-Session", "s", "X-Memkernel-Channel", "telegram", "X-Memkernel-Agent", "main", "X-Memkernel-Session-File", "/chats/7.jsonl")
	s.settle()
	c, err := s.k.Checkpoint(context.Background(), api.Boundary{SessionKey: "s"})
	if err != nil {
		t.Fatal(err)
	}
	if m := c.Meta; m.Channel != "telegram" || m.AgentID != "main" || m.SessionFile != "/chats/7.jsonl" || m.TokenUsage.Source != "provider" || m.TokenUsage.InputTokens == 0 || m.TokenUsage.Model != "claude-sonnet-4-6" {
		t.Errorf("%+v", m)
	}
	for _, r := range s.model.Requests() {
		for name := range r.Header {
			if strings.HasPrefix(name, "X-Memkernel") {
				t.Errorf("%s was sent on", name)
			}
		}
	}
}

// Agents with the same tools and system prompt share what the provider's cache has of
// them: what the second one sends begins with the bytes of the first, and is read.
func TestAgentsShareTheirFixedPart(t *testing.T) {
	for name, a := range map[string]clientAPI{"anthropic": anthropic, "responses": responses} {
		t.Run(name, func(t *testing.T) {
			long := "You are a tester. " + big("rules", 3000)
			a.head = strings.Replace(a.head, "You are a tester.", strings.ReplaceAll(long, "\n", " "), 1)
			s := newStage(t, fakemodel.Options{Script: script}, proxy.Options{}, nil)
			for i, session := range []string{"main", "helper-1", "helper-2"} {
				s.post(a.path, a.body([]string{a.user(fmt.Sprintf("please do step 0 of the plan, %s", session))}, false), "X-Memkernel-Session", session).planned(t)
				all := s.model.Requests()
				u := all[len(all)-1].Usage
				if read := u.Read >= 2500; read != (i > 0) {
					t.Errorf("%s reads %+v from the cache", session, u)
				}
			}
		})
	}
}

// A client that changes cached bytes is named in the log, with the place and the cost, once and
// before the call goes out; so is a pause that outlasted the cache.
func TestTheLogNamesWhatBrokeTheCache(t *testing.T) {
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	s := newStage(t, fakemodel.Options{}, proxy.Options{Now: func() time.Time { return now }}, nil)
	a := anthropic
	msgs := []string{a.user("please count the birds"), a.call("call_1", "ls"), a.result("call_1", big("b", 3000))}
	ask := func() {
		s.post(a.path, a.body(msgs, false)).planned(t)
		s.settle()
		msgs = append(msgs, a.said("ok"), a.user("and once more"))
		now = now.Add(20 * time.Second)
	}
	ask()
	a.head = strings.Replace(a.head, `"description":"run"`, `"description":"run a command"`, 1)
	ask()
	ask()
	now = now.Add(2 * time.Hour)
	ask()
	log := s.log.String()
	for line, want := range map[string]int{`msg="the host broke the cache" place=tools[0].description tokens=`: 1, `msg="the cache has expired"`: 1} {
		if got := strings.Count(log, line); got != want {
			t.Errorf("%q is there %d times: %s", line, got, log)
		}
	}
}
