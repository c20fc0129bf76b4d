package ui

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
)

// opened is a window and a client that came in.
type opened struct {
	*Server
	base, token string
	cookie      *http.Cookie
}

// openWindow opens a window on a workspace of its own.
func openWindow(t *testing.T, o Options) *opened {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "MEMORY.md"), []byte("# MEMORY.md\n\n- We deploy on Tuesdays.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	k, err := kernel.Open(t.Context(), dir, &kernel.Options{Memory: kernel.MemoryOptions{Sessions: kernel.PastOptions{Enabled: true}}})
	if err != nil {
		t.Fatal(err)
	}
	o.Kernel, o.Workspace, o.Private, o.Prices = k, dir, true, cachelayout.DefaultBook()
	o.Hint = func(s string) string { return s }
	if o.Transcripts == nil {
		o.Transcripts = files()
	}
	if o.Elsewhere == nil {
		o.Elsewhere = files()
	}
	s, err := Listen("127.0.0.1:0", o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		k.Close()
	})
	base, token, _ := strings.Cut(s.Link(), "/#token=")
	return &opened{Server: s, base: base, token: token}
}

// do sends a request with headers, and gives status and body.
func (o *opened) do(t *testing.T, method, path, body string, headers ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequest(method, o.base+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i] == "Host" {
			req.Host = headers[i+1]
		} else {
			req.Header.Set(headers[i], headers[i+1])
		}
	}
	if o.cookie != nil {
		req.AddCookie(o.cookie)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(text)
}

// enter comes in by the token.
func (o *opened) enter(t *testing.T) {
	t.Helper()
	res, text := o.do(t, http.MethodPost, "/enter", `{"token":"`+o.token+`"}`, "Origin", o.base)
	if res.StatusCode != http.StatusNoContent || len(res.Cookies()) != 1 {
		t.Fatalf("%s %s", res.Status, text)
	}
	o.cookie = res.Cookies()[0]
}

// The link lets one browser in, once; its cookie can't be read by scripts, nor sent by other
// sites.
func TestLinkHoldsOnce(t *testing.T) {
	o := openWindow(t, Options{})
	if res, text := o.do(t, http.MethodGet, "/api/sessions", ""); res.StatusCode != http.StatusUnauthorized || strings.Contains(text, "workspace") {
		t.Errorf("without the link: %s %s", res.Status, text)
	}
	if res, text := o.do(t, http.MethodGet, "/memory", ""); res.StatusCode != http.StatusUnauthorized || strings.Contains(text, o.o.Workspace) {
		t.Errorf("a view without the link: %s %s", res.Status, text)
	}
	for _, wrong := range []string{"", "x", o.token[:20], o.token + "x"} {
		if res, _ := o.do(t, http.MethodPost, "/enter", `{"token":"`+wrong+`"}`, "Origin", o.base); res.StatusCode != http.StatusUnauthorized {
			t.Errorf("token %q: %s", wrong, res.Status)
		}
	}
	o.enter(t)
	if c := o.cookie; !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Value == o.token {
		t.Errorf("cookie %+v", c)
	}
	if res, text := o.do(t, http.MethodGet, "/api/sessions", ""); res.StatusCode != http.StatusOK {
		t.Errorf("%s %s", res.Status, text)
	}
	second := *o
	second.cookie = nil
	if res, _ := second.do(t, http.MethodPost, "/enter", `{"token":"`+o.token+`"}`, "Origin", o.base); res.StatusCode != http.StatusUnauthorized {
		t.Errorf("the token holds twice: %s", res.Status)
	}
	second.cookie = &http.Cookie{Name: o.cookie.Name, Value: "guess"}
	if res, _ := second.do(t, http.MethodGet, "/api/sessions", ""); res.StatusCode != http.StatusUnauthorized {
		t.Errorf("a cookie that was made up: %s", res.Status)
	}
}

// Many who have the link at once are one.
func TestLinkHoldsOnceAtOnce(t *testing.T) {
	o := openWindow(t, Options{})
	var all sync.WaitGroup
	in := make(chan bool, 20)
	for range cap(in) {
		all.Go(func() {
			_, ok := o.gate.take(o.token)
			in <- ok
		})
	}
	all.Wait()
	close(in)
	n := 0
	for ok := range in {
		if ok {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d came in", n)
	}
}

// A page of another origin gets nothing, with the cookie or without; neither does a name
// that was made to lead here.
func TestOtherOriginsAreRefused(t *testing.T) {
	o := openWindow(t, Options{Voice: api.VoicePerson})
	o.enter(t)
	u, err := url.Parse(o.base)
	if err != nil {
		t.Fatal(err)
	}
	evil := "http://evil.example"
	for _, c := range []struct {
		name, method, path string
		headers            []string
		want               int
	}{
		{"another host", http.MethodGet, "/api/sessions", []string{"Host", "evil.example:" + u.Port()}, http.StatusMisdirectedRequest},
		{"another port", http.MethodGet, "/api/sessions", []string{"Host", "127.0.0.1:1"}, http.StatusMisdirectedRequest},
		{"no host", http.MethodGet, "/", []string{"Host", "x"}, http.StatusMisdirectedRequest},
		{"an asset by another host", http.MethodGet, "/assets/app.js", []string{"Host", "evil.example"}, http.StatusMisdirectedRequest},
		{"another origin", http.MethodGet, "/api/sessions", []string{"Origin", evil}, http.StatusForbidden},
		{"no origin at all", http.MethodGet, "/api/sessions", []string{"Origin", "null"}, http.StatusForbidden},
		{"https", http.MethodGet, "/api/sessions", []string{"Origin", "https://" + u.Host}, http.StatusForbidden},
		{"another site", http.MethodGet, "/api/sessions", []string{"Sec-Fetch-Site", "cross-site"}, http.StatusForbidden},
		{"another port's page", http.MethodGet, "/api/sessions", []string{"Sec-Fetch-Site", "same-site"}, http.StatusForbidden},
		{"a document for another site", http.MethodGet, "/api/sessions", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"}, http.StatusForbidden},
		{"a change by another origin", http.MethodPost, "/api/undo", []string{"Origin", evil}, http.StatusForbidden},
		{"a change that doesn't say whose it is", http.MethodPost, "/api/undo", nil, http.StatusForbidden},
		{"a note by another origin", http.MethodPost, "/api/remember", []string{"Origin", evil}, http.StatusForbidden},
		{"an edit by another port's page", http.MethodPost, "/api/edit", []string{"Origin", o.base, "Sec-Fetch-Site", "same-site"}, http.StatusForbidden},
		{"a note that doesn't say whose it is", http.MethodPost, "/api/remember", nil, http.StatusForbidden},
		{"a token by another origin", http.MethodPost, "/enter", []string{"Origin", evil}, http.StatusForbidden},
		{"another method", http.MethodPut, "/api/undo", []string{"Origin", o.base}, http.StatusMethodNotAllowed},
		{"a link from elsewhere", http.MethodGet, "/", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"}, http.StatusOK},
		{"our own page", http.MethodGet, "/api/sessions", []string{"Origin", o.base, "Sec-Fetch-Site", "same-origin"}, http.StatusOK},
		{"by the machine's name", http.MethodGet, "/api/sessions", []string{"Host", "localhost:" + u.Port()}, http.StatusOK},
	} {
		if res, text := o.do(t, c.method, c.path, "{}", c.headers...); res.StatusCode != c.want {
			t.Errorf("%s: %s %s", c.name, res.Status, text)
		}
	}
}

// handler is a script in an attribute.
var handler = regexp.MustCompile(` on[a-z]+=`)

// Whatever is answered forbids scripts and styles in the page, frames, and guessing types.
func TestHeaders(t *testing.T) {
	o := openWindow(t, Options{})
	look := func(path string) {
		res, text := o.do(t, http.MethodGet, path, "")
		h := res.Header
		csp := h.Get("Content-Security-Policy")
		if !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") || !strings.Contains(csp, "frame-ancestors 'none'") || h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: %v", path, h)
		}
		if strings.Contains(h.Get("Content-Type"), "html") && (strings.Contains(text, "<style") || strings.Contains(text, " style=") || strings.Contains(text, "<script>") || handler.MatchString(text)) {
			t.Errorf("%s has script or style in it: %s", path, text)
		}
	}
	look("/")
	look("/api/sessions")
	o.enter(t)
	for _, path := range []string{"/", "/memory", "/assets/app.js", "/assets/app.css", "/assets/none.js", "/api/none", "/assets/../ui.go", "/%2e%2e/ui.go"} {
		look(path)
	}
	if res, text := o.do(t, http.MethodGet, "/assets/../ui.go", ""); res.StatusCode == http.StatusOK && strings.Contains(text, "package ui") {
		t.Error("the source can be had")
	}
}

// What a window may not do it does not do.
func TestReadsOnly(t *testing.T) {
	o := openWindow(t, Options{})
	o.enter(t)
	for _, change := range []string{"undo", "remember", "edit"} {
		if res, text := o.do(t, http.MethodPost, "/api/"+change, `{"text":"x","path":"MEMORY.md","line":3,"was":"We deploy on Tuesdays."}`, "Origin", o.base); res.StatusCode != http.StatusBadRequest || !strings.Contains(text, "--write") {
			t.Errorf("%s: %s %s", change, res.Status, text)
		}
	}
	if res, text := o.do(t, http.MethodGet, "/api/read?path=../../etc/passwd", ""); res.StatusCode != http.StatusBadRequest || strings.Contains(text, "root:") {
		t.Errorf("a file elsewhere: %s %s", res.Status, text)
	}
	if _, err := os.Stat(o.o.Kernel.StateDir()); err == nil {
		t.Error("looking made a state folder")
	}
}

func TestListensToThisMachineAlone(t *testing.T) {
	for _, addr := range []string{"0.0.0.0:0", "[::]:0", ":0", "192.0.2.1:0", "example.com:80", "nonsense"} {
		if s, err := Listen(addr, Options{}); err == nil {
			s.Close()
			t.Errorf("%s is listened to", addr)
		}
	}
}
