package fakemodel

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"
)

type client struct {
	t   *testing.T
	url string
}

func start(t *testing.T, opt Options) (*Server, client) {
	t.Helper()
	s := New(opt)
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	return s, client{t, h.URL}
}

func (c client) post(path, body string) (int, string) {
	c.t.Helper()
	res, err := http.Post(c.url+path, "application/json", strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

// long is a text of n tokens, as the server counts them.
func long(n int, seed string) string { return strings.Repeat(seed[:1]+"bc ", n) }

func user(text string, marked bool) string {
	mark := ""
	if marked {
		mark = `,"cache_control":{"type":"ephemeral"}`
	}
	b, _ := json.Marshal(text)
	return fmt.Sprintf(`{"role":"user","content":[{"type":"text","text":%s%s}]}`, b, mark)
}

func messages(list ...string) string {
	return `{"model":"m","max_tokens":9,"messages":[` + strings.Join(list, ",") + `]}`
}

// A prefix that a marker wrote is read by the next request, and no longer once its
// lifetime is over; without markers nothing is cached.
func TestAnthropicBill(t *testing.T) {
	now := time.Unix(0, 0)
	s, c := start(t, Options{Now: func() time.Time { return now }})
	first := user(long(2000, "a"), true)
	unmarked := strings.Replace(first, `,"cache_control":{"type":"ephemeral"}`, "", 1)
	answer := `{"role":"assistant","content":"ok"}`
	c.post("/v1/messages", messages(first))
	c.post("/v1/messages", messages(unmarked, answer, user(long(500, "b"), true)))
	now = now.Add(6 * time.Minute)
	c.post("/v1/messages", messages(unmarked, answer, user(long(500, "b"), true)))
	c.post("/v1/messages", messages(user("short", true)))
	r := s.Requests()
	if u := r[0].Usage; u.Read != 0 || u.Written != r[0].Tokens() || u.Uncached != 0 {
		t.Errorf("the first request: %+v of %d", u, r[0].Tokens())
	}
	if u := r[1].Usage; u.Read != r[0].Tokens() || u.Written != r[1].Tokens()-u.Read {
		t.Errorf("the second reads what the first wrote: %+v", u)
	}
	if u := r[2].Usage; u.Read != 0 {
		t.Errorf("read %d after the lifetime was over", u.Read)
	}
	if u := r[3].Usage; u.Written != 0 || u.Uncached != r[3].Tokens() {
		t.Errorf("cached under the least size: %+v", u)
	}
}

// A cached prefix further than 20 blocks before the marker is not found.
func TestAnthropicLooksBack(t *testing.T) {
	s, c := start(t, Options{})
	first := user(long(2000, "a"), true)
	row := []string{strings.Replace(first, `,"cache_control":{"type":"ephemeral"}`, "", 1)}
	c.post("/v1/messages", messages(first))
	for i := range 19 {
		row = append(row, user(fmt.Sprint(i), i == 18))
	}
	c.post("/v1/messages", messages(row...))
	far := append(append([]string{}, row[:1]...), user("x", false))
	for i := range 19 {
		far = append(far, user(fmt.Sprint(i), i == 18))
	}
	c.post("/v1/messages", messages(far...))
	r := s.Requests()
	if r[1].Usage.Read == 0 || r[2].Usage.Read != 0 {
		t.Errorf("read %d over 19 blocks, %d over 20", r[1].Usage.Read, r[2].Usage.Read)
	}
}

func TestOpenAIBill(t *testing.T) {
	s, c := start(t, Options{})
	say := func(text string) string {
		return fmt.Sprintf(`{"role":"user","content":%q}`, text)
	}
	first := say(long(2000, "a"))
	c.post("/v1/chat/completions", messages(first))
	_, body := c.post("/v1/chat/completions", messages(first, say("more")))
	c.post("/v1/chat/completions", messages(say(long(2000, "b"))))
	r := s.Requests()
	if u := r[1].Usage; u.Read == 0 || u.Read%128 != 0 || u.Read > r[0].Tokens() {
		t.Errorf("the second request: %+v", u)
	}
	if !strings.Contains(body, fmt.Sprintf(`"cached_tokens":%d`, r[1].Usage.Read)) {
		t.Errorf("the bill does not stand in the answer: %s", body)
	}
	if u := r[2].Usage; u.Read != 0 {
		t.Errorf("other content was read from the cache: %+v", u)
	}
	if r[2].Usage.Written != 0 {
		t.Errorf("a model before GPT-5.6 is billed for writing: %+v", r[2].Usage)
	}
	_, body = c.post("/v1/chat/completions", strings.Replace(messages(first), `"m"`, `"gpt-6.2-sol"`, 1))
	u := s.Requests()[3].Usage
	if u.Read != 0 || u.Written == 0 || u.Written%128 != 0 || u.Uncached >= 128 || !strings.Contains(body, fmt.Sprintf(`"cache_write_tokens":%d`, u.Written)) {
		t.Errorf("%+v is the bill of %s", u, body)
	}
}

func TestParts(t *testing.T) {
	s, c := start(t, Options{})
	c.post("/v1/messages", messages(user("one", true), user("two", false)))
	c.post("/v1/messages", messages(user("one", false), user("two", true), user("three", false)))
	c.post("/v1/messages", messages(user("one", false), user("too", false)))
	c.post("/v1/messages", messages(`{"role":"user","content":[{"text":"one","type":"text"}]}`))
	r := s.Requests()
	if at := r[1].Parts(r[0]); at != "" {
		t.Errorf("markers moved, content stayed: parts at %s", at)
	}
	if at := r[2].Parts(r[0]); at != "messages[1].content[0]" {
		t.Errorf("parts at %q", at)
	}
	if at := r[3].Parts(r[0]); at != "messages[0].content[0]" {
		t.Errorf("shuffled members part at %q", at)
	}
}

// OpenAI's breakpoints, and a text alone or in a list, are no content.
func TestPartsOpenAI(t *testing.T) {
	s, c := start(t, Options{})
	c.post("/v1/chat/completions", messages(`{"role":"user","content":[{"type":"text","text":"one","prompt_cache_breakpoint":{"mode":"explicit"}}]}`))
	c.post("/v1/chat/completions", messages(`{"role":"user","content":"one"}`, `{"role":"user","content":"two"}`))
	c.post("/v1/chat/completions", messages(`{"role":"user","content":"other"}`))
	r := s.Requests()
	if !r[0].Segments[0].Marked || r[1].Parts(r[0]) != "" || r[2].Parts(r[1]) != "messages[0]" {
		t.Errorf("marked %v, parts at %q and %q", r[0].Segments[0].Marked, r[1].Parts(r[0]), r[2].Parts(r[1]))
	}
}

func TestPairs(t *testing.T) {
	use := `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]}`
	result := `{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"r"}]}`
	for name, c := range map[string]struct {
		body string
		ok   bool
	}{
		"paired":    {messages(user("x", false), use, result), true},
		"no result": {messages(user("x", false), use, user("y", false)), false},
		"no call":   {messages(user("x", false), result), false},
		"twice":     {messages(user("x", false), use, result, result), false},
	} {
		s, cl := start(t, Options{})
		cl.post("/v1/messages", c.body)
		if err := s.Requests()[0].Pairs(); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Both APIs hand a script the same turn, and stream what they would send whole.
func TestScript(t *testing.T) {
	script := func(turn Turn) Reply {
		if len(turn.Results) > 0 {
			return Reply{Text: "it says " + turn.Results[0]}
		}
		return Reply{Calls: []Call{{Name: turn.Tools[0], Input: json.RawMessage(`{"path":"x"}`)}}}
	}
	for path, c := range map[string]struct{ tools, use, result, want string }{
		"/v1/messages": {`[{"name":"read","input_schema":{}}]`,
			`{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"read","input":{}}]}`,
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":[{"type":"text","text":"hello"}]}]}`, "toolu_0_0"},
		"/v1/chat/completions": {`[{"type":"function","function":{"name":"read"}}]`,
			`{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"read","arguments":"{}"}}]}`,
			`{"role":"tool","tool_call_id":"1","content":"hello"}`, "call_0_0"},
	} {
		_, cl := start(t, Options{Script: script})
		with := func(stream bool, list ...string) string {
			return fmt.Sprintf(`{"model":"m","stream":%v,"tools":%s,"messages":[%s]}`, stream, c.tools, strings.Join(list, ","))
		}
		ask := `{"role":"user","content":"read x"}`
		if _, body := cl.post(path, with(false, ask)); !strings.Contains(body, c.want) || !strings.Contains(body, `path`) {
			t.Errorf("%s: no call of the tool: %s", path, body)
		}
		if _, body := cl.post(path, with(true, ask, c.use, c.result)); !strings.Contains(body, "it says hello") || !strings.Contains(body, "data: {") {
			t.Errorf("%s: no stream of the answer: %s", path, body)
		}
	}
}

func TestRefuses(t *testing.T) {
	s, c := start(t, Options{Window: 100})
	for path, want := range map[string]string{
		"/v1/messages":         "tokens > 100 maximum",
		"/v1/chat/completions": "context_length_exceeded",
	} {
		if status, body := c.post(path, messages(user(long(200, "a"), false))); status != 400 || !strings.Contains(body, want) {
			t.Errorf("%s: %d %s", path, status, body)
		}
		if status, body := c.post(path, `{"model":"m","messages":[]}`); status != 400 || strings.Contains(body, "length_exceeded") {
			t.Errorf("%s without messages: %d %s", path, status, body)
		}
	}
	if r := s.Requests(); len(r) != 2 || !r[0].Refused || r[0].Usage != (Usage{}) {
		t.Errorf("%d requests kept, the first %+v", len(r), r[0].Usage)
	}
	if _, body := c.post("/v1/messages/count_tokens", messages(user("four", false))); !strings.Contains(body, "input_tokens") || len(s.Requests()) != 2 {
		t.Errorf("counting tokens: %s", body)
	}
}

// The Responses API: a call, its output, the answer, whole and streamed.
func TestResponses(t *testing.T) {
	s, c := start(t, Options{Script: func(turn Turn) Reply {
		if len(turn.Results) > 0 {
			return Reply{Text: "it says " + turn.Results[0]}
		}
		return Reply{Calls: []Call{{Name: "read", Input: json.RawMessage(`{"path":"a"}`)}}}
	}})
	with := func(stream bool, items ...string) string {
		return fmt.Sprintf(`{"model":"m","stream":%v,"instructions":"be brief","input":[%s]}`, stream, strings.Join(items, ","))
	}
	ask := `{"role":"user","content":"` + long(2000, "a") + `"}`
	if _, body := c.post("/v1/responses", with(false, ask)); !strings.Contains(body, `"type":"function_call"`) || !strings.Contains(body, `"status":"completed"`) {
		t.Errorf("no call: %s", body)
	}
	_, body := c.post("/v1/responses", with(true, ask, `{"type":"function_call","call_id":"x","name":"read","arguments":"{}"}`,
		`{"type":"function_call_output","call_id":"x","output":"hello"}`))
	if !strings.Contains(body, "it says hello") || !strings.Contains(body, "event: response.completed") {
		t.Errorf("no stream of the answer: %s", body)
	}
	r := s.Requests()
	if at := r[1].Parts(r[0]); at != "" || r[1].Pairs() != nil || r[1].Usage.Read == 0 {
		t.Errorf("parts at %q, pairs %v, usage %+v", at, r[1].Pairs(), r[1].Usage)
	}
}

// Thinking is held to its prefix as the provider has it: cache markers and a missing leading run
// of thinking are no change, all else before a block is.
func TestBoundThinking(t *testing.T) {
	const option = `"thinking":{"type":"adaptive","block_binding":{"prefix_mismatch_behavior":"drop_block"}},`
	_, c := start(t, Options{Thinks: true})
	said := func(after ...string) string {
		_, body := c.post("/v1/messages", messages(after...))
		var m struct {
			Content json.RawMessage `json:"content"`
		}
		if err := json.Unmarshal([]byte(body), &m); err != nil {
			t.Fatal(err, body)
		}
		return fmt.Sprintf(`{"role":"assistant","content":%s}`, m.Content)
	}
	thought := regexp.MustCompile(`\{"signature":[^}]*\},`)
	without := func(answer string) string { return thought.ReplaceAllString(answer, "") }
	q1, q2, q3, q4 := user("one", false), user("two", false), user("three", false), user("four", false)
	a1 := said(q1)
	a2 := said(q1, a1, q2)
	a3 := said(q1, a1, q2, a2, q3)
	for name, tt := range map[string]struct {
		msgs   []string
		broken bool
	}{
		"as it was":           {[]string{q1, a1, q2, a2, q3, a3, q4}, false},
		"with a marker":       {[]string{user("one", true), a1, q2, a2, q3, a3, q4}, false},
		"the oldest left out": {[]string{q1, without(a1), q2, a2, q3, a3, q4}, false},
		"two left out":        {[]string{q1, without(a1), q2, without(a2), q3, a3, q4}, false},
		"one between":         {[]string{q1, a1, q2, without(a2), q3, a3, q4}, true},
		"an edit":             {[]string{user("One", false), a1, q2, a2, q3, a3, q4}, true},
		"a message is gone":   {[]string{q2, a2, q3, a3, q4}, true},
	} {
		t.Run(name, func(t *testing.T) {
			status, body := c.post("/v1/messages", messages(tt.msgs...))
			if tt.broken != (status == 400 && strings.Contains(body, "bound to a different conversation")) || !tt.broken && status != 200 {
				t.Errorf("status %d: %s", status, body)
			}
			r, _ := http.NewRequest("POST", c.url+"/v1/messages", strings.NewReader("{"+option+messages(tt.msgs...)[1:]))
			r.Header.Set("anthropic-beta", bindingBeta)
			res, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			var m struct {
				Changes []struct{ Type, Path, Reason string } `json:"input_transformations"`
			}
			if err := json.NewDecoder(res.Body).Decode(&m); err != nil || res.StatusCode != 200 || tt.broken == (len(m.Changes) == 0) {
				t.Errorf("with the option: status %d, %v, %+v", res.StatusCode, err, m.Changes)
			}
		})
	}
	if status, _ := c.post("/v1/messages", "{"+option+messages(q1)[1:]); status != 400 {
		t.Errorf("the option without its beta: status %d", status)
	}
}

// TestSharesSegments: equal parts of requests are kept once, and NoBodies keeps no body.
func TestSharesSegments(t *testing.T) {
	s, c := start(t, Options{NoBodies: true})
	for range 2 {
		c.post("/v1/messages", messages(user("one", false)))
	}
	a, b := s.Requests()[0], s.Requests()[1]
	if last := len(a.Segments) - 1; &a.Segments[last].Bytes[0] != &b.Segments[last].Bytes[0] || a.Body != nil || b.Parts(a) != "" {
		t.Errorf("the segments are kept twice, or a body of %d bytes", len(a.Body))
	}
}
