package proxy_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/internal/fakemodel"
	"github.com/memkernel/memkernel/serve/proxy"
)

const small = `{"model":"claude-sonnet-4-6","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}`

// ask sends a request with a method, a host ("" is the proxy's own) and headers, and gives
// status and body.
func (s *stage) ask(method, host string, header ...string) (int, string) {
	s.t.Helper()
	r, err := http.NewRequest(method, s.front.URL+"/v1/messages", strings.NewReader(small))
	if err != nil {
		s.t.Fatal(err)
	}
	if r.Host = host; host == "own" {
		r.Host = ""
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Add(header[i], strings.ReplaceAll(header[i+1], "OWN", strings.TrimPrefix(s.front.URL, "http://")))
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

const (
	from = "Origin"
	site = "Sec-Fetch-Site"
	mode = "Sec-Fetch-Mode"
)

// What a page in a browser asks is refused unless the page was allowed by name, whatever
// page it is and however it has the name of this machine.
func TestWebPages(t *testing.T) {
	type try struct {
		name, host string
		header     []string
		reads      int // the status of a GET
		acts       int // that of all methods that do more
	}
	tries := []try{
		{"no browser", "own", nil, 200, 200},
		{"foreign page", "own", []string{from, "https://evil.example"}, 403, 403},
		{"foreign page, all headers", "own", []string{from, "https://evil.example", site, "cross-site", mode, "cors"}, 403, 403},
		{"form of a foreign page", "own", []string{site, "cross-site", mode, "navigate"}, 200, 403},
		{"another port of this machine", "own", []string{from, "http://localhost:3000", site, "same-site"}, 200, 403},
		{"same site without origin", "own", []string{site, "same-site"}, 200, 403},
		{"upper case", "own", []string{site, "Cross-Site"}, 200, 403},
		{"one value hides another", "own", []string{site, "none", site, "cross-site"}, 200, 403},
		{"one origin hides another", "own", []string{from, "https://app.example", from, "https://evil.example"}, 403, 403},
		{"unknown site", "own", []string{site, "somewhere"}, 200, 403},
		{"sandboxed page", "own", []string{from, "null"}, 403, 403},
		{"application", "own", []string{from, "vscode-webview://x"}, 200, 403},
		{"typed by the user", "own", []string{site, "none", mode, "navigate"}, 200, 200},
		{"served by us", "own", []string{from, "http://OWN", site, "same-origin"}, 200, 200},
		{"says it is served by us", "own", []string{from, "http://OWN.evil.example", site, "cross-site"}, 403, 403},
		{"another program that fetches", "own", []string{mode, "cors"}, 200, 200},
		{"allowed page", "own", []string{from, "https://app.example", site, "cross-site"}, 200, 200},
		{"allowed page in capitals", "own", []string{from, "HTTPS://App.Example"}, 200, 200},
		{"allowed page's other port", "own", []string{from, "https://app.example:444"}, 403, 403},
		{"allowed page in a name", "own", []string{from, "https://app.example.evil.example"}, 403, 403},
		{"allowed application", "own", []string{from, "app://obsidian.md", site, "cross-site"}, 200, 200},
		{"rebound name", "evil.example:8377", []string{from, "http://evil.example:8377", site, "same-origin"}, 403, 403},
		{"rebound name, no origin", "evil.example", []string{site, "same-origin"}, 403, 403},
	}
	local := newStage(t, fakemodel.Options{}, proxy.Options{AllowOrigins: []string{"https://app.example/", "app://obsidian.md"}}, answering(anthropicOK))
	remote := newStage(t, fakemodel.Options{}, proxy.Options{AllowRemote: true, AllowOrigins: []string{"https://app.example", "app://obsidian.md"}}, answering(anthropicOK))
	check := func(s *stage, where string, tt try) {
		t.Helper()
		for method, want := range map[string]int{"GET": tt.reads, "POST": tt.acts, "PUT": tt.acts, "PATCH": tt.acts, "DELETE": tt.acts, "QUERY": tt.acts} {
			status, body := s.ask(method, tt.host, tt.header...)
			if status != want {
				t.Errorf("%s, %s: %s has status %d, want %d", where, tt.name, method, status, want)
			}
			var doc struct {
				Type  string
				Error struct{ Type, Message string }
			}
			if status == 403 && (json.Unmarshal([]byte(body), &doc) != nil || doc.Type != "error" || doc.Error.Type == "" || doc.Error.Message == "") {
				t.Errorf("%s: the answer is %s", tt.name, body)
			}
		}
	}
	for _, tt := range tries {
		check(local, "local", tt)
		check(remote, "remote", tt)
	}
	for _, tt := range []try{
		{"a name of the network", "box.lan:8377", nil, 200, 200},
		{"its address", "192.168.7.9:8377", []string{site, "none"}, 200, 200},
		{"its address, and a page of it", "192.168.7.9:8377", []string{from, "http://192.168.7.9:8377", site, "same-origin"}, 200, 200},
		{"allowed page at a name", "box.lan:8377", []string{from, "https://app.example", site, "cross-site"}, 200, 200},
	} {
		check(remote, "remote", tt)
	}
	if status, _ := local.ask("GET", "own", from, "http://localhost:3000", "Upgrade", "websocket", "Connection", "Upgrade"); status != 403 {
		t.Errorf("a socket of a page: status %d", status)
	}
	if status, body := local.ask("POST", "own", from, "https://x\"\\.example"); status != 403 || !json.Valid([]byte(body)) {
		t.Errorf("status %d, %s", status, body)
	}
}

func TestOriginsThatNameNoPage(t *testing.T) {
	for _, name := range []string{"*", "null", "", "https://", "localhost:3000", "https://*.example", "https://a.example/path", "https://u@a.example", "https://a.example?x"} {
		if _, err := proxy.New(nil, proxy.Options{Upstream: "https://api.anthropic.com", AllowOrigins: []string{name}}); err == nil || !strings.Contains(err.Error(), "origin ") {
			t.Errorf("%q: %v", name, err)
		}
	}
}
