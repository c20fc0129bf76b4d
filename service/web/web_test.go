package web

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/serve"
	"github.com/memkernel/memkernel/service/token"
)

// TestStatuses: each refusal has its status, the protocol's error in its body, and nothing of
// the kernel's is one.
func TestStatuses(t *testing.T) {
	h := newHouse(t, func(o *Options, _ *serve.Options) { o.maxBody = 4096 })
	secret, reader := h.token(token.Rights{Tenant: "a"}), h.token(token.Rights{Tenant: "a", Access: token.Read})
	none := h.token(token.Rights{})
	kind := func(v string) func(*http.Request) { return func(r *http.Request) { r.Header.Set("Content-Type", v) } }
	chunked := func(r *http.Request) {
		r.ContentLength, r.Body = -1, io.NopCloser(strings.NewReader(`{"x":"`+strings.Repeat("x", 5000)+`"}`))
	}
	pages := `{"jsonrpc":"2.0","id":1,"method":"pages"}`
	for _, x := range []struct {
		name, method, path, secret, body string
		change                           func(*http.Request)
		status                           int
		code                             string
	}{
		{"a call", "POST", "/rpc", secret, pages, nil, 200, ""},
		{"charset", "POST", "/rpc", secret, pages, kind("application/json; charset=UTF-8"), 200, ""},
		{"chunked", "POST", "/rpc", secret, pages, func(r *http.Request) { r.ContentLength = -1 }, 200, ""},
		{"a notification", "POST", "/rpc", secret, `{"jsonrpc":"2.0","method":"pages"}`, nil, 204, ""},
		{"what the kernel refuses", "POST", "/rpc", secret, `{"jsonrpc":"2.0","id":1,"method":"restore","params":{"session_key":"nobody"}}`, nil, 200, "NO_SESSION"},
		{"a parameter", "POST", "/rpc", secret, `{"jsonrpc":"2.0","id":1,"method":"search","params":{"quary":"x"}}`, nil, 200, "INVALID_PARAMS"},
		{"a method", "POST", "/rpc", secret, `{"jsonrpc":"2.0","id":1,"method":"none"}`, nil, 200, "UNKNOWN_METHOD"},
		{"no JSON", "POST", "/rpc", secret, `not json`, nil, 400, "NOT_JSON"},
		{"nothing", "POST", "/rpc", secret, "", kind("application/json"), 400, "NOT_JSON"},
		{"no message", "POST", "/rpc", secret, `7`, nil, 400, "INVALID_REQUEST"},
		{"a list of messages", "POST", "/rpc", secret, `[]`, nil, 400, "INVALID_REQUEST"},
		{"no token", "POST", "/rpc", "", pages, nil, 401, "TOKEN"},
		{"another token", "POST", "/rpc", "mkt_" + strings.Repeat("A", 43), pages, nil, 401, "TOKEN"},
		{"no right", "POST", "/rpc", reader, `{"jsonrpc":"2.0","id":1,"method":"remember","params":{"text":"x"}}`, nil, 403, "SCOPE"},
		{"shutdown", "POST", "/rpc", secret, `{"jsonrpc":"2.0","id":1,"method":"shutdown"}`, nil, 403, "SCOPE"},
		{"a token without a tenant", "POST", "/rpc", none, pages, nil, 403, "SCOPE"},
		{"another path", "POST", "/", secret, pages, nil, 404, "NOT_FOUND"},
		{"another method", "GET", "/rpc", secret, "", nil, 405, "METHOD"},
		{"health by post", "POST", "/healthz", "", "", nil, 405, "METHOD"},
		{"too large", "POST", "/rpc", secret, `{"x":"` + strings.Repeat("x", 5000) + `"}`, nil, 413, "LINE_TOO_LONG"},
		{"too large, in parts", "POST", "/rpc", secret, pages, chunked, 413, "LINE_TOO_LONG"},
		{"text", "POST", "/rpc", secret, pages, kind("text/plain"), 415, "MEDIA_TYPE"},
		{"a form", "POST", "/rpc", secret, pages, kind("application/x-www-form-urlencoded"), 415, "MEDIA_TYPE"},
		{"latin-1", "POST", "/rpc", secret, pages, kind("application/json; charset=latin1"), 415, "MEDIA_TYPE"},
		{"gzip", "POST", "/rpc", secret, pages, func(r *http.Request) { r.Header.Set("Content-Encoding", "gzip") }, 415, "MEDIA_TYPE"},
		{"health", "GET", "/healthz", "", "", nil, 200, ""},
		{"ready", "GET", "/readyz", "", "", nil, 200, ""},
		{"the description", "GET", "/openapi.json", "", "", nil, 200, ""},
	} {
		t.Run(x.name, func(t *testing.T) {
			var change []func(*http.Request)
			if x.change != nil {
				change = append(change, x.change)
			}
			g := h.send(x.method, x.path, x.secret, x.body, change...)
			if g.status != x.status || g.code() != x.code {
				t.Errorf("%d %s, want %d %s: %.200s", g.status, g.code(), x.status, x.code, g.body)
			}
			if g.status >= 300 && !json.Valid([]byte(g.body)) {
				t.Errorf("the body is no JSON: %s", g.body)
			}
			if g.status == 405 && g.header.Get("Allow") == "" {
				t.Error("Allow is missing")
			}
		})
	}
}

// TestConversations: what is held is each token's own, and one that hasn't got it hands in
// all.
func TestConversations(t *testing.T) {
	h := newHouse(t)
	one, two := h.token(token.Rights{Tenant: "a"}), h.token(token.Rights{Tenant: "a"})
	whole := `{"session_key":"s","model":"claude-sonnet-4-6","conversation":{"dialect":"anthropic","messages":[{"role":"user","content":"list the files"}]}}`
	base := func(r map[string]any) string { return r["conversation"].(map[string]any)["base"].(string) }
	b1 := base(h.well(one, "plan", whole))
	rest := func(b string) string {
		return `{"session_key":"s","model":"claude-sonnet-4-6","conversation":{"base":"` + b + `","messages":[{"role":"assistant","content":"there are none"},{"role":"user","content":"make one"}]}}`
	}
	if g := h.call(two, "peek", rest(b1)); g.code() != "BASE_UNKNOWN" {
		t.Errorf("another's base: %s", g.body)
	}
	b2 := base(h.well(two, "peek", whole))
	r := h.well(one, "plan", rest(b1)) // the other's call has not touched it
	if n := r["conversation"].(map[string]any)["count"]; n != 3.0 {
		t.Errorf("count %v", n)
	}
	if g := h.call(one, "peek", rest(b2)); g.code() != "BASE_UNKNOWN" {
		t.Errorf("another's base: %s", g.body)
	}
	if g := h.call(one, "peek", rest("gone")); g.status != 200 || g.code() != "BASE_UNKNOWN" {
		t.Errorf("a base of nobody: %d %s", g.status, g.body)
	}
}

// TestTokensHoldAtOnce: a token that is revoked is refused by the next call.
func TestTokensHoldAtOnce(t *testing.T) {
	h := newHouse(t)
	made, secret, err := h.tokens.Create(token.Rights{Tenant: "a", Access: token.Read}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	h.well(secret, "pages", `{}`)
	if _, err := h.tokens.Revoke(made.ID, time.Now()); err != nil {
		t.Fatal(err)
	}
	if g := h.call(secret, "pages", `{}`); g.status != 401 || g.code() != "TOKEN" {
		t.Errorf("%d %s", g.status, g.body)
	}
}

// blocker is a watcher that holds calls of a method until it is let go.
type blocker struct {
	method  string
	begun   chan struct{}
	release chan struct{}
}

func newBlocker(method string) *blocker {
	return &blocker{method, make(chan struct{}, 100), make(chan struct{})}
}

func (b *blocker) Begin(ctx context.Context, method string) context.Context {
	if method == b.method {
		b.begun <- struct{}{}
		<-b.release
	}
	return ctx
}
func (b *blocker) End(context.Context, string, string, time.Time) {}
func (b *blocker) Refused(string)                                 {}

// TestLoad: who asks for more than there is room for is told when to come again.
func TestLoad(t *testing.T) {
	b := newBlocker("status")
	h := newHouse(t, func(o *Options, s *serve.Options) { o.requests, s.InFlight, s.Watch = 3, 2, b })
	one, two := h.token(token.Rights{Tenant: "a"}), h.token(token.Rights{Tenant: "a"})
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() { h.call(one, "status", `{}`) })
	}
	<-b.begun
	<-b.begun
	g := h.call(one, "pages", `{}`) // its own bound
	if g.status != 429 || g.code() != "BUSY" || g.header.Get("Retry-After") == "" {
		t.Errorf("%d %v %s", g.status, g.header, g.body)
	}
	h.well(two, "pages", `{}`) // another token has one of its own
	wg.Go(func() { h.call(two, "status", `{}`) })
	<-b.begun
	if g := h.call(two, "pages", `{}`); g.status != 429 || g.header.Get("Retry-After") == "" {
		t.Errorf("over the bound of all: %d %s", g.status, g.body)
	}
	if g := h.send("GET", "/healthz", "", ""); g.status != 200 {
		t.Errorf("health under load: %d", g.status)
	}
	close(b.release)
	wg.Wait()
	h.well(one, "pages", `{}`)
}

// TestDrain: what runs ends well, what comes is told to come again.
func TestDrain(t *testing.T) {
	b := newBlocker("status")
	h := newHouse(t, func(_ *Options, s *serve.Options) { s.Watch = b })
	secret := h.token(token.Rights{Tenant: "a"})
	ran := make(chan *got, 1)
	go func() { ran <- h.call(secret, "status", `{}`) }()
	<-b.begun
	h.door.Drain()
	for _, g := range []*got{h.send("GET", "/readyz", "", ""), h.call(secret, "pages", `{}`)} {
		if g.status != 503 || g.code() != "STOPPING" || g.header.Get("Retry-After") == "" {
			t.Errorf("%d %v %s", g.status, g.header, g.body)
		}
	}
	if g := h.send("GET", "/healthz", "", ""); g.status != 200 {
		t.Errorf("health: %d", g.status)
	}
	close(b.release)
	if g := <-ran; g.status != 200 || g.code() != "" {
		t.Errorf("the call that ran: %d %s", g.status, g.body)
	}
}

// TestDaemonDrains: a daemon that is told to end answers what it took, over HTTP too.
func TestDaemonDrains(t *testing.T) {
	ws, err := os.MkdirTemp("", "mk") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(ws) })
	state := ws + "/state"
	b := newBlocker("status")
	tokens := token.In(store.Files(state))
	_, secret, err := tokens.Create(token.Rights{Access: token.Write}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	h := &house{t: t}
	listening := make(chan struct{})
	d := &serve.Daemon{StateDir: state, Alone: true, Drain: time.Minute,
		Open: func(ctx context.Context) (*kernel.Kernel, *serve.Options, error) {
			k, err := kernel.Open(ctx, ws, &kernel.Options{StateDir: state})
			return k, &serve.Options{Watch: b}, err
		},
		Beside: func(s *serve.Server) (func(context.Context) error, error) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				return nil, err
			}
			h.url = "http://" + l.Addr().String()
			door := New(Options{Tokens: tokens, Ready: s.Ready, Server: func(context.Context, string) (*serve.Server, func(), error) { return s, func() {}, nil }})
			go door.Serve(l)
			return door.Close, nil
		},
		Listening: func(string, bool) { close(listening) }}
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	<-listening
	if g := h.send("GET", "/readyz", "", ""); g.status != 200 {
		t.Fatalf("%d %s", g.status, g.body)
	}
	ran := make(chan *got, 1)
	go func() { ran <- h.call(secret, "status", `{}`) }()
	<-b.begun
	end()
	waitFor(t, func() bool { return h.send("GET", "/readyz", "", "").status == 503 })
	if g := h.call(secret, "pages", `{}`); g.status != 503 || g.code() != "STOPPING" || g.header.Get("Retry-After") == "" {
		t.Errorf("%d %v %s", g.status, g.header, g.body)
	}
	if g := h.send("GET", "/healthz", "", ""); g.status != 200 {
		t.Errorf("health: %d", g.status)
	}
	close(b.release)
	if g := <-ran; g.status != 200 || g.code() != "" {
		t.Errorf("the call that ran: %d %s", g.status, g.body)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if _, err := http.Get(h.url + "/healthz"); err == nil {
		t.Error("it listens when it has ended")
	}
}

// TestGone: who goes away takes along what had not begun, and nothing else.
func TestGone(t *testing.T) {
	b := newBlocker("remember")
	h := newHouse(t, func(_ *Options, s *serve.Options) { s.Watch = b })
	secret := h.token(token.Rights{Tenant: "a"})
	h.well(secret, "pages", `{}`)
	send := func(text string) (net.Conn, chan struct{}) {
		nc, err := net.Dial("tcp", strings.TrimPrefix(h.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		body := `{"jsonrpc":"2.0","id":1,"method":"remember","params":{"session_key":"s","text":"` + text + `","path":"memory/x.md"}}`
		fmt.Fprintf(nc, "POST /rpc HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", secret, len(body), body)
		ended := make(chan struct{})
		go func() { io.Copy(io.Discard, nc); close(ended) }()
		return nc, ended
	}
	first, _ := send("first")
	<-b.begun // it runs
	second, _ := send("second")
	waitFor(t, func() bool { return strings.Count(h.logged(), `"msg":"call"`) >= 1 })
	time.Sleep(50 * time.Millisecond) // it may be in the lane now: that it is not tests less, and fails nothing
	second.Close()
	waitFor(t, func() bool { return strings.Contains(h.logged(), "CANCELLED") })
	first.Close()
	close(b.release)
	waitFor(t, func() bool { return strings.Count(h.logged(), `"method":"remember"`) == 2 })
	data, err := os.ReadFile(h.workspace("a") + "/memory/x.md")
	if err != nil || !strings.Contains(string(data), "first") || strings.Contains(string(data), "second") {
		t.Errorf("%s, %v", data, err)
	}
}

func waitFor(t *testing.T, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it does not come to that")
		}
	}
}

// TestDeadline: a call that takes longer is answered so, and may still be carried out.
func TestDeadline(t *testing.T) {
	b := newBlocker("status")
	h := newHouse(t, func(_ *Options, s *serve.Options) { s.Watch = b })
	secret := h.token(token.Rights{Tenant: "a"})
	g := h.call(secret, "status", `{"deadline_ms":30}`)
	if g.status != 200 || g.code() != "DEADLINE" || !strings.Contains(g.body, `"started":true`) {
		t.Errorf("%d %s", g.status, g.body)
	}
	close(b.release)
}

// TestTenantsCloseWhenIdle: and open again with all that they kept.
func TestTenantsCloseWhenIdle(t *testing.T) {
	h := newHouse(t)
	h.tenants.Idle = time.Nanosecond
	secret := h.token(token.Rights{Tenant: "Ä/../x"})
	h.well(secret, "remember", `{"text":"The gate closes at noon.","path":"memory/gate.md"}`)
	for range 3 {
		if err := h.tenants.Tidy(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := len(h.tenants.open); n != 0 {
			t.Fatalf("%d are open", n)
		}
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				if g := h.call(secret, "read", `{"path":"memory/gate.md"}`); !strings.Contains(g.body, "noon") {
					t.Errorf("%d %s", g.status, g.body)
				}
			})
			wg.Go(func() {
				if err := h.tenants.Tidy(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	}
	names, err := os.ReadDir(h.root + "/tenants")
	if err != nil || len(names) != 1 || strings.ContainsAny(names[0].Name(), "/Ä") {
		t.Errorf("%v, %v", names, err)
	}
}

// TestTenantFolderIsOwn: a folder that leads elsewhere is not served.
func TestTenantFolderIsOwn(t *testing.T) {
	h := newHouse(t)
	h.well(h.token(token.Rights{Tenant: "b"}), "pages", `{}`)
	if err := os.Symlink(h.root+"/tenants/b", h.root+"/tenants/a"); err != nil {
		t.Fatal(err)
	}
	if g := h.call(h.token(token.Rights{Tenant: "a"}), "pages", `{}`); g.status != 503 || strings.Contains(g.body, h.root) {
		t.Errorf("%d %s", g.status, g.body)
	}
}

// TestLog: a line a request, of figures and codes.
func TestLog(t *testing.T) {
	h := newHouse(t)
	secret := h.token(token.Rights{Tenant: "acme"})
	h.well(secret, "remember", `{"session_key":"telegram:anna","text":"the word is cormorant"}`)
	h.call(secret, "cormorant", `{}`)
	h.send("POST", "/cormorant", secret, `{}`)
	lines := 0
	for s := bufio.NewScanner(strings.NewReader(h.logged())); s.Scan(); lines++ {
		var row map[string]any
		if err := json.Unmarshal(s.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"method", "tenant", "session", "status", "ms", "bytes_in", "bytes_out"} {
			if _, ok := row[name]; !ok {
				t.Errorf("%s is missing: %s", name, s.Text())
			}
		}
	}
	if lines != 3 || strings.Contains(h.logged(), "cormorant") || strings.Contains(h.logged(), "anna") || strings.Contains(h.logged(), secret) {
		t.Errorf("%d lines: %s", lines, h.logged())
	}
}

// TestMostTenants: for one more, the one is closed that was called longest ago; while calls of
// all run, the next is told to come again.
func TestMostTenants(t *testing.T) {
	h := newHouse(t)
	h.tenants.Most = 2
	var secrets []string
	for i := range 4 {
		secrets = append(secrets, h.token(token.Rights{Tenant: fmt.Sprint("t", i)}))
	}
	for range 3 {
		for i, s := range secrets {
			h.well(s, "remember", fmt.Sprintf(`{"text":"word of %d"}`, i))
			if open := len(h.tenants.servers()); open > 2 {
				t.Fatalf("%d tenants are open", open)
			}
		}
	}
	var wg sync.WaitGroup
	for i, s := range secrets {
		for range 5 {
			wg.Go(func() {
				for {
					g := h.call(s, "search", `{"query":"word"}`)
					if g.status == http.StatusTooManyRequests {
						if g.code() != "BUSY" || g.header.Get("Retry-After") == "" {
							t.Errorf("%d %s", g.status, g.body)
							return
						}
						continue
					}
					if g.status != http.StatusOK || !strings.Contains(g.body, fmt.Sprint("word of ", i)) {
						t.Errorf("%d %s", g.status, g.body)
					}
					return
				}
			})
		}
	}
	wg.Wait()
	_, done, err := h.tenants.Server(t.Context(), "t0")
	if err != nil {
		t.Fatal(err)
	}
	_, done2, err := h.tenants.Server(t.Context(), "t1")
	if err != nil {
		t.Fatal(err)
	}
	if g := h.call(secrets[2], "search", `{"query":"word"}`); g.status != http.StatusTooManyRequests {
		t.Errorf("with calls of all running: %d %s", g.status, g.body)
	}
	done()
	h.well(secrets[2], "search", `{"query":"word"}`)
	done2()
}
