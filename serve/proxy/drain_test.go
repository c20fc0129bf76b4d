package proxy_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/fakemodel"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/serve/proxy"
)

// host is a client as hosts are: it appends, believes the usage that it is told, and
// summarises where that comes near its window.
type host struct {
	s         *stage
	a         clientAPI
	to        string
	threshold int
	stream    bool
	msgs      []string
	told      int // input tokens of the newest answer
	compacted int
}

// usageIn finds the input tokens that a client reads of an answer: the last that it names.
func usageIn(t *testing.T, body string) int {
	t.Helper()
	n := 0
	take := func(data string) {
		var m struct {
			Usage, UsageMetadata json.RawMessage
			Message, Response    struct{ Usage json.RawMessage }
		}
		if json.Unmarshal([]byte(data), &m) != nil {
			return
		}
		for _, raw := range []json.RawMessage{m.Message.Usage, m.Response.Usage, m.Usage, m.UsageMetadata} {
			if u, err := memkernel.ReadUsage(raw); err == nil && u != nil && u.InputTotal() > 0 {
				n = u.InputTotal()
			}
		}
	}
	take(body)
	for line := range strings.Lines(body) {
		if data, ok := strings.CutPrefix(line, "data:"); ok {
			take(data)
		}
	}
	return n
}

func (h *host) call(msgs []string) (ok bool) {
	h.s.t.Helper()
	r, err := http.NewRequest(http.MethodPost, h.to+h.a.at(h.stream), strings.NewReader(h.a.body(msgs, h.stream)))
	if err != nil {
		h.s.t.Fatal(err)
	}
	r.Header.Set("User-Agent", "claude-cli/2.1.330 (external, cli)")
	r.Header.Set(sessionHeader, "long")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		h.s.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		h.s.t.Fatal(err)
	}
	if res.StatusCode == http.StatusOK {
		if h.told = usageIn(h.s.t, string(body)); h.told == 0 {
			h.s.t.Fatalf("no usage in %s", body)
		}
	}
	h.s.settle()
	return res.StatusCode == http.StatusOK
}

// turn does one step; false where it was refused.
func (h *host) turn(i int) bool {
	h.s.t.Helper()
	if h.told > h.threshold {
		if !h.call(append(h.msgs[:len(h.msgs):len(h.msgs)], h.a.user("Summarise all of this conversation."))) {
			return false
		}
		h.msgs = []string{h.a.user("The conversation so far, in short: steps were done.")}
		h.msgs = append(h.msgs, h.a.said("I go on from there."))
		h.compacted++
	}
	id := fmt.Sprintf("call_%d", i)
	h.msgs = append(h.msgs, h.a.user(fmt.Sprintf("please do step %d of the plan", i)))
	if !h.call(h.msgs) {
		return false
	}
	h.msgs = append(h.msgs, h.a.call(id, fmt.Sprintf("cat part%d", i)), h.a.result(id, big(fmt.Sprintf("p%d", i), 900)))
	if !h.call(h.msgs) {
		return false
	}
	h.msgs = append(h.msgs, h.a.said(fmt.Sprintf("step %d is done", i)))
	return true
}

const sessionHeader = "X-Memkernel-Session"

// own asks the proxy for a path of its own.
func (s *stage) own(method, path string, header ...string) (*proxy.Status, int) {
	s.t.Helper()
	r, err := http.NewRequest(method, s.front.URL+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	var st proxy.Status
	if err := json.NewDecoder(res.Body).Decode(&st); err != nil {
		s.t.Fatal(err)
	}
	return &st, res.StatusCode
}

// TestDrain is a host that has talked through the proxy for long. Left as it is, its
// conversation is refused; after a drain it is told its own size, compacts by itself, and
// goes on without the proxy.
func TestDrain(t *testing.T) {
	type dialect struct {
		name   string
		api    clientAPI
		stream bool
	}
	// What each API is told of its size, TestDrainTellsTheTruth says in both suites.
	for _, tt := range suite.Some([]dialect{{"anthropic", anthropic, true}, {"chat", openai, false}, {"gemini", gemini, false}, {"responses", responses, true}}, 1) {
		t.Run(tt.name, func(t *testing.T) {
			const window = 32_000
			s := newStage(t, fakemodel.Options{Script: script, Window: window}, proxy.Options{ContextWindow: window, Reserve: 8_000}, nil)
			h := &host{s: s, a: tt.api, to: s.front.URL, threshold: 28_000, stream: tt.stream}
			n := 0
			for ; n < 45; n++ {
				if !h.turn(n) {
					t.Fatalf("turn %d was refused", n)
				}
			}
			if h.compacted > 0 {
				t.Fatalf("it compacted %d times behind a proxy that keeps its prompt small", h.compacted)
			}
			without := *h
			without.to = s.up.URL
			if without.turn(n) {
				t.Fatal("the whole conversation fits its window: the test shows nothing")
			}

			st, _ := s.own(http.MethodPost, proxy.PathDrain)
			if len(st.Sessions) != 1 || !st.Draining || st.Sessions[0].OverTokens < 2_000 || !strings.Contains(st.Sessions[0].Note, "/compact in Claude Code") {
				t.Fatalf("drain says %+v", st)
			}
			if c := st.Sessions[0]; c.Session != "long" || c.Calls != 90 || c.SentTokens >= c.WholeTokens || c.WindowTokens != window {
				t.Errorf("drain says %+v", c)
			}
			for ; n < 48; n++ {
				if !h.turn(n) {
					t.Fatalf("turn %d was refused", n)
				}
			}
			if h.compacted != 1 {
				t.Fatalf("it compacted %d times after the drain, want once", h.compacted)
			}
			if st, _ := s.own(http.MethodGet, proxy.PathStatus); len(st.Sessions) != 1 || st.Sessions[0].OverTokens > 0 || st.Sessions[0].Note != "" {
				t.Errorf("after it has compacted: %+v", st.Sessions)
			}
			h.to = s.up.URL
			for ; n < 51; n++ {
				if !h.turn(n) {
					t.Fatalf("turn %d was refused without the proxy", n)
				}
			}
		})
	}
}

// TestDrainTellsTheTruth holds what a draining proxy says of the input to what the model
// counts of the client's own request, and all else of an answer to its bytes.
func TestDrainTellsTheTruth(t *testing.T) {
	withUsage := openai
	withUsage.head = `"stream_options":{"include_usage":true},` + openai.head
	for name, a := range map[string]clientAPI{"anthropic": anthropic, "chat": withUsage, "responses": responses, "gemini": gemini} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, fakemodel.Options{Script: script}, proxy.Options{}, nil)
			msgs := append(s.turns(a, 40), a.user("and now?"))
			s.proxy.Drain()
			for _, stream := range []bool{false, true} {
				got := s.post(a.at(stream), a.body(msgs, stream))
				got.planned(t)
				seen := s.model.Requests()
				sent := seen[len(seen)-1].Tokens()
				res, err := http.Post(s.up.URL+a.at(stream), "application/json", strings.NewReader(a.body(msgs, stream)))
				if err != nil {
					t.Fatal(err)
				}
				io.Copy(io.Discard, res.Body)
				res.Body.Close()
				seen = s.model.Requests()
				whole := seen[len(seen)-1].Tokens()
				told := usageIn(t, got.body)
				if sent*3 > whole*2 || told < whole*85/100 || told > whole*115/100 {
					t.Errorf("stream %v: told %d tokens, the whole has %d, %d were sent", stream, told, whole, sent)
				}
				s.settle()
			}
		})
	}
}

// TestDrainCounts: a count is the client's own once the proxy drains.
func TestDrainCounts(t *testing.T) {
	s := newStage(t, fakemodel.Options{Script: script}, proxy.Options{}, nil)
	msgs := append(s.turns(anthropic, 30), anthropic.user("and now?"))
	count := func() (n struct {
		Input int `json:"input_tokens"`
	}) {
		r := s.post("/v1/messages/count_tokens", anthropic.body(msgs, false))
		if err := json.Unmarshal([]byte(r.body), &n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := count()
	s.proxy.Drain()
	if after := count(); after.Input < before.Input*4/3 {
		t.Errorf("%d tokens are counted while it drains, %d before", after.Input, before.Input)
	}
}

// TestOwnPathsAreGuarded: pages and other names of this machine see nothing, and nothing
// of what was said is in them.
func TestOwnPathsAreGuarded(t *testing.T) {
	s := newStage(t, fakemodel.Options{Script: script}, proxy.Options{AllowOrigins: []string{"https://app.example"}}, nil)
	s.turns(anthropic, 2)
	for _, header := range [][]string{{"Origin", "http://localhost:3000"}, {"Origin", "https://app.example"}, {"Origin", "null"}, {"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}} {
		for method, path := range map[string]string{http.MethodPost: proxy.PathDrain, http.MethodGet: proxy.PathStatus} {
			if _, status := s.own(method, path, header...); status != http.StatusForbidden {
				t.Errorf("%s %s with %v: status %d", method, path, header, status)
			}
		}
	}
	st, status := s.own(http.MethodGet, proxy.PathStatus)
	if status != http.StatusOK || st.Draining || st.Planned != 4 || st.Refused != 10 {
		t.Errorf("status %d: %+v", status, st)
	}
	data, _ := json.Marshal(st)
	for _, word := range []string{"step", "part0", "tester"} {
		if strings.Contains(string(data), word) {
			t.Errorf("%q of the conversation is in %s", word, data)
		}
	}
}

// TestRegisterAfterKills: what killed proxies wrote down goes when the next one starts, at their
// address or another; what a living one wrote stays.
func TestRegisterAfterKills(t *testing.T) {
	x, err := proxy.New(nil, proxy.Options{Upstream: "https://api.anthropic.com"})
	if err != nil {
		t.Fatal(err)
	}
	listen := func() net.Listener {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		return l
	}
	own, living, killed := listen(), listen(), listen()
	killed.Close()
	s := store.Files(t.TempDir())
	for name, l := range map[string]net.Listener{"before": own, "living": living, "killed": killed} {
		text := fmt.Appendf(nil, `{"url":"http://%s","instance":"x"}`, l.Addr())
		if _, err := s.In("proxies").Put(store.Unsynced, store.Doc{Name: name + ".json", Data: text}); err != nil {
			t.Fatal(err)
		}
	}
	remove, err := x.Register(s, own)
	if err != nil {
		t.Fatal(err)
	}
	if err := remove(); err != nil {
		t.Fatal(err)
	}
	if left, err := s.List("proxies"); err != nil || len(left) != 1 || left[0].Name != "living.json" {
		t.Errorf("%v, %v", left, err)
	}
}
