package client

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel/client/protocol"
	"github.com/memkernel/memkernel/internal/endpoint"
)

// TestSessionHeader: all calls of a session have its hash in a header, and others none.
func TestSessionHeader(t *testing.T) {
	var seen []string
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, strings.Join(r.Header["Memkernel-Session"], ","))
		w.Write([]byte(`{"jsonrpc":"2.0","id":1,"result":{"protocol":1}}`))
	}))
	defer h.Close()
	c, err := Connect(t.Context(), Options{URL: h.URL, Token: "mkt_x"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	s := c.Session("memkernel", SessionOptions{Model: model})
	s.Plan(t.Context(), []json.RawMessage{says("user", "hello")}, nil)
	c.Search(t.Context(), &protocol.SearchParams{Query: "x", SessionKey: "memkernel"})
	c.Call(t.Context(), "search", map[string]any{"query": "x", "session_key": "memkernel"}, nil)
	c.Search(t.Context(), &protocol.SearchParams{Query: "x"})
	const hash = "7f1a29f2b063dd2d" // the beginning of printf memkernel | sha256sum
	if want := []string{"", hash, hash, hash, ""}; !slices.Equal(seen, want) {
		t.Errorf("headers %q, want %q", seen, want)
	}
}

// TestURLRefused: a token goes nowhere that it could be read, and what is no server of
// memkernel's is told from one that is busy.
func TestURLRefused(t *testing.T) {
	busy := 0
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/moved"):
			http.Redirect(w, r, "http://memory.example/rpc", http.StatusTemporaryRedirect)
		case strings.HasPrefix(r.URL.Path, "/page"):
			w.Write([]byte("<html>"))
		case busy < 2:
			busy++
			w.Header().Set("Retry-After", "0")
			http.Error(w, "overloaded", http.StatusServiceUnavailable)
		default:
			w.Write([]byte(`{"jsonrpc":"2.0","id":1,"result":{"protocol":1}}`))
		}
	}))
	defer h.Close()
	for name, tt := range map[string]struct {
		url, want string
	}{
		"plain http":  {"http://memory.example:1", "in the clear"},
		"a password":  {"https://kim:secret@memory.example", "Options.Token"},
		"no URL":      {"memory.example", "is no URL of a server"},
		"a redirect":  {h.URL + "/moved", "redirects"},
		"a page":      {h.URL + "/page", "no answer of memkernel's"},
		"nobody":      {"http://127.0.0.1:1", "deliver the call again"},
		"other words": {"ftp://memory.example", "is no URL of a server"},
	} {
		_, err := Connect(t.Context(), Options{URL: tt.url, Token: "mkt_x", Retries: -1})
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", name, err)
		}
	}
	c, err := Connect(t.Context(), Options{URL: h.URL, Token: "mkt_x"})
	if err != nil {
		t.Fatalf("a server that is busy at first: %v", err)
	}
	c.Close()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{"": 0, "3": 3 * time.Second, "-1": 0, "x": 0, now.Add(time.Minute).Format(http.TimeFormat): time.Minute, now.Add(-time.Minute).Format(http.TimeFormat): 0} {
		if got := endpoint.RetryAfter(http.Header{"Retry-After": {value}}, now); got != want {
			t.Errorf("Retry-After %q: %v, want %v", value, got, want)
		}
	}
}
