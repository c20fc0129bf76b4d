package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/memkernel/memkernel/client/protocol"
)

// TestURL: a session goes over HTTP as over a socket, through a server that is ended and
// started anew.
func TestURL(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	bin, err := program()
	if err != nil {
		t.Fatal(err)
	}
	ws := t.TempDir()
	made, err := exec.Command(bin, "token", "create", "--workspace", ws, "--access", "write").Output()
	if err != nil {
		t.Fatal(err)
	}
	token := strings.TrimSpace(string(made))
	listen := func(address string, out io.Writer) (end func()) {
		cmd := exec.Command(bin, "serve", "--workspace", ws, "--listen", address)
		cmd.Stdout = out
		if err := cmd.Start(); err != nil {
			t.Error(err)
			return func() {}
		}
		end = sync.OnceFunc(func() {
			cmd.Process.Signal(os.Interrupt)
			cmd.Wait()
		})
		t.Cleanup(end)
		return end
	}
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	end := listen("127.0.0.1:0", write)
	write.Close()
	url, err := bufio.NewReader(read).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	url = strings.TrimSpace(url)
	c, err := Connect(t.Context(), Options{URL: url, Token: token, Retries: 12})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if c.Server().Protocol != Version {
		t.Errorf("the server said %+v", c.Server())
	}
	s := c.Session("s", SessionOptions{Model: model, Private: true})
	var messages []json.RawMessage
	for i, text := range []string{"when does the heron move?", "and the zebra?", "thanks, go on"} {
		messages = append(messages, says("user", text))
		plan, err := s.Plan(t.Context(), messages, nil)
		if err != nil || len(plan.Messages) != len(messages) {
			t.Fatalf("turn %d: %v", i, err)
		}
		messages = append(messages, says("assistant", "on Thursday"))
		if i == 1 { // the next one's delivery finds nobody for a moment
			end()
			go listen(strings.TrimPrefix(url, "http://"), nil)
		}
		if o, err := s.ObserveTurn(t.Context(), messages, &protocol.TurnParams{PlanID: plan.PlanID}); err != nil || o.Turns != int64(i+1) {
			t.Fatalf("turn %d: %+v, %v", i, o, err)
		}
	}
	if _, err := c.Remember(t.Context(), &protocol.RememberParams{SessionKey: "s", Private: true, Path: "memory/facts.md", Text: "The heron moves on Thursday."}); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(ws, "memory", "facts.md")); err != nil {
		t.Error(err)
	}
	told := 0
	done, err := c.Reindex(WithProgress(t.Context(), func(p Progress) {
		if p.Stage != "" {
			told++
		}
	}), &protocol.ReindexParams{Progress: true, Full: true})
	if err != nil || told == 0 || done.Schema != "memkernel/reindex/v1" {
		t.Errorf("progress was told %d times: %+v, %v", told, done, err)
	}
	var e *Error
	if _, err := Connect(t.Context(), Options{URL: url, Token: "mkt_nobody's"}); !errors.As(err, &e) || e.Code != "TOKEN" {
		t.Errorf("%v", err)
	}
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Status(stopped, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

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
		if got := retryAfter(value, now); got != want {
			t.Errorf("Retry-After %q: %v, want %v", value, got, want)
		}
	}
}
