package proxy_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/memkernel/memkernel/internal/fakemodel"
	"github.com/memkernel/memkernel/serve/proxy"
)

// other is a second model with an address of its own, which remembers what it was sent.
type other struct {
	*httptest.Server
	model *fakemodel.Server
	mu    sync.Mutex
	got   []string
}

func newOther(t *testing.T) *other {
	o := &other{model: fakemodel.New(fakemodel.Options{Script: script})}
	o.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		dump, err := httputil.DumpRequest(r, false)
		if err != nil {
			t.Error(err)
		}
		o.mu.Lock()
		o.got = append(o.got, string(dump))
		o.mu.Unlock()
		w.Header().Set("Set-Cookie", "login=secret-cookie")
		o.model.ServeHTTP(w, r)
	}))
	t.Cleanup(o.Close)
	return o
}

// lines are the request lines that it was sent, all is everything.
func (o *other) lines() (out []string) {
	for _, r := range o.got {
		line, _, _ := strings.Cut(r, " HTTP/1.1")
		out = append(out, line)
	}
	return out
}

func (o *other) all() string { return strings.Join(o.got, "\n") }

// keys are all headers that may let a client in.
var keys = []string{"Authorization", "Bearer secret-1", "X-Api-Key", "secret-2", "X-Goog-Api-Key", "secret-3", "Api-Key", "secret-4",
	"Cookie", "login=secret-5", "X-Gateway-Token", "secret-6", "Proxy-Authorization", "Basic secret-7"}

// TestUpstreams leads requests of two APIs to two upstreams by path, each planned, and each with
// the key that its client sent for that path.
func TestUpstreams(t *testing.T) {
	chat := newOther(t)
	s := newStage(t, fakemodel.Options{Script: script}, proxy.Options{Upstreams: []proxy.Upstream{
		{For: "/openai/", URL: chat.URL + "/base"}, {For: "/openai/big/", URL: chat.URL + "/big"}}}, nil)
	under := func(a clientAPI, folder string) clientAPI {
		a.path = folder + a.path
		return a
	}
	s.turns(anthropic, 3, keys...)
	s.turns(under(openai, "/openai"), 3, keys...)
	if got := len(s.model.Requests()); got != 6 {
		t.Errorf("the first upstream got %d requests", got)
	}
	for _, r := range s.model.Requests() {
		if r.Header.Get("X-Api-Key") != "secret-2" || r.Header.Get("Authorization") != "Bearer secret-1" || r.Header.Get("X-Gateway-Token") != "secret-6" {
			t.Fatalf("the key of its client is missing: %v", r.Header)
		}
		if r.Header.Get("Cookie") != "" {
			t.Fatalf("a cookie may be another upstream's: %v", r.Header)
		}
	}
	if lines := chat.lines(); len(lines) != 6 || lines[0] != "POST /base/v1/chat/completions" || !strings.Contains(chat.all(), "secret-1") {
		t.Errorf("the second got %q", lines)
	}

	// The longest path holds.
	got := s.post("/openai/big/v1/chat/completions", openai.body([]string{openai.user("hello")}, false), keys...)
	if lines := chat.lines(); lines[len(lines)-1] != "POST /big/v1/chat/completions" || !strings.Contains(chat.got[len(chat.got)-1], "secret-1") || len(lines) != 7 {
		t.Errorf("%q: the longest path leads elsewhere", lines)
	}
	if got.header.Get("Set-Cookie") != "" {
		t.Error("a cookie of one upstream reaches the client, who would send it to the others")
	}

	// A path that is spelt otherwise leads to nobody, and neither does its key.
	for _, path := range []string{"//openai/v1/chat/completions", "/%6fpenai/v1/chat/completions", "/openai%2Fv1/chat/completions"} {
		if got := s.post(path, openai.body([]string{openai.user("hello")}, false), keys...); got.status != http.StatusNotFound {
			t.Errorf("%s: status %d", path, got.status)
		}
	}
	// What is no call of a model goes by its path.
	for path, want := range map[string]string{"/openai/v1/models": "GET /base/v1/models", "/openai/v1/a%2Fb": "GET /base/v1/a%2Fb"} {
		res, err := http.Get(s.front.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if lines := chat.lines(); lines[len(lines)-1] != want {
			t.Errorf("%s: %q", path, lines[len(lines)-1])
		}
	}
	st, _ := s.own(http.MethodGet, "/status")
	var fors []string
	for _, u := range st.Upstreams {
		fors = append(fors, u.For)
	}
	if !slices.Equal(fors, []string{"/openai/big/", "/openai/", "*"}) {
		t.Errorf("upstreams %v", fors)
	}
}

// TestNoUpstream: without one for all others, a path that none is for is refused.
func TestNoUpstream(t *testing.T) {
	s := newStage(t, fakemodel.Options{Script: script}, proxy.Options{}, nil)
	x, err := proxy.New(s.k, proxy.Options{Upstreams: []proxy.Upstream{{For: "/v1/messages", URL: s.up.URL}}})
	if err != nil {
		t.Fatal(err)
	}
	s.front.Config.Handler = x
	for path, want := range map[string]int{"/v1/messages": 200, "/v1/messages/count_tokens": 200, "/v1/messagesx": 404, "/v1/chat/completions": 404, "/v1/messages%2Fx": 404} {
		if got := s.post(path, small); got.status != want || want == 404 && !strings.Contains(got.body, "no --upstream is for this path") {
			t.Errorf("%s: status %d: %s", path, got.status, got.body)
		}
	}
	if err := x.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestUpstreamsAreChecked(t *testing.T) {
	const good = "https://api.example"
	for _, tt := range []struct {
		list []string
		want string
	}{
		{[]string{good, "/gpt/=ftp://x"}, "upstream for /gpt/: upstream ftp://x: want a URL"},
		{[]string{good, "/openai/=http://far.example"}, "upstream for /openai/: upstream http://far.example: plain http"},
		{[]string{good, good}, "two upstreams are for all other requests"},
		{[]string{good, "/gpt=" + good, "/gpt=" + good}, "two upstreams are for /gpt"},
		{[]string{"gpt-*=" + good}, "an upstream is [/PATH=]URL"},
		{[]string{"/a/../b=" + good}, "upstream for /a/../b: want a plain path"},
		{[]string{"/a b=" + good}, "upstream for /a b: want a plain path"},
		{[]string{good, "=" + good}, "an upstream is [/PATH=]URL"},
		{[]string{good, "/gpt="}, "an upstream is [/PATH=]URL"},
		{[]string{good + "?a=b"}, "want scheme, host and path alone"},
		{nil, "want a URL"},
	} {
		var list []proxy.Upstream
		var err error
		for _, text := range tt.list {
			var u proxy.Upstream
			if u, err = proxy.ParseUpstream(text); err != nil {
				break
			}
			list = append(list, u)
		}
		if err == nil {
			_, err = proxy.New(nil, proxy.Options{Upstreams: list})
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v: %v, want %q", tt.list, err, tt.want)
		}
	}
}
