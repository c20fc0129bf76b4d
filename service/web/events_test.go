package web

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/serve"
	"github.com/memkernel/memkernel/service/token"
)

// events are the messages of a stream of events.
func events(t *testing.T, g *got) (out []map[string]any) {
	t.Helper()
	if g.status != http.StatusOK || g.header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%d %v: %s", g.status, g.header, g.body)
	}
	for event := range strings.SplitSeq(strings.TrimSuffix(g.body, "\n\n"), "\n\n") {
		data, ok := strings.CutPrefix(event, "data: ")
		var m map[string]any
		if err := json.Unmarshal([]byte(data), &m); err != nil || !ok || strings.Contains(data, "\n") {
			t.Fatalf("%v: %q", err, event)
		}
		out = append(out, m)
	}
	return out
}

// TestEvents: who takes a stream of events hears how far a call is before its answer; who
// doesn't gets what they got before.
func TestEvents(t *testing.T) {
	h := newHouse(t)
	secret := h.token(token.Rights{Tenant: "a"})
	reader := h.token(token.Rights{Tenant: "a", Access: token.Read})
	h.well(secret, "pages", `{}`)
	if err := os.WriteFile(filepath.Join(h.workspace("a"), "MEMORY.md"), []byte("# Harbour\n\nIt is open.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	takes := func(kinds string) func(*http.Request) { return func(r *http.Request) { r.Header.Set("Accept", kinds) } }
	both := takes("application/json, text/event-stream")
	reindex := `{"jsonrpc":"2.0","id":"r","method":"reindex","params":{"full":true,"progress":true}}`
	got := events(t, h.send("POST", "/rpc", secret, reindex, both))
	for i, m := range got {
		p, _ := m["params"].(map[string]any)
		if last := i == len(got)-1; last && (m["id"] != "r" || m["result"] == nil) || !last && (m["method"] != "$/progress" || p["id"] != "r") {
			t.Errorf("event %d: %v", i, m)
		}
	}
	if len(got) < 2 {
		t.Errorf("there is no progress: %v", got)
	}
	if waitFor(t, func() bool { return strings.Contains(h.logged(), `"method":"reindex"`) }); strings.Contains(h.logged(), `"bytes_out":0`) {
		t.Errorf("what was written is not counted: %s", h.logged())
	}
	list := events(t, h.send("POST", "/rpc", secret, `{"jsonrpc":"2.0","id":1,"method":"pages","params":{"x":1}}`, takes("text/event-stream;q=0.5")))
	if e, _ := list[0]["error"].(map[string]any); len(list) != 1 || e["code"] != float64(-32602) {
		t.Errorf("an answer without progress: %v", list)
	}
	for _, x := range []struct {
		name, secret, body, takes string
		status                    int
		kind                      string
	}{
		{"no right", reader, reindex, "text/event-stream", 403, "application/json; charset=utf-8"},
		{"no JSON", secret, "x", "text/event-stream", 400, "application/json; charset=utf-8"},
		{"no token", "", reindex, "text/event-stream", 401, "application/json; charset=utf-8"},
		{"a notification", secret, `{"jsonrpc":"2.0","method":"pages"}`, "text/event-stream", 204, ""},
		{"as before", secret, reindex, "application/json", 200, "application/json; charset=utf-8"},
		{"anything", secret, reindex, "*/*", 200, "application/json; charset=utf-8"},
		{"refused by the client", secret, reindex, "application/json, text/event-stream;q=0.0", 200, "application/json; charset=utf-8"},
	} {
		if g := h.send("POST", "/rpc", x.secret, x.body, takes(x.takes)); g.status != x.status || g.header.Get("Content-Type") != x.kind || strings.Contains(g.body, "$/progress") {
			t.Errorf("%s: %d %v %s", x.name, g.status, g.header, g.body)
		}
	}
}

// TestNothingBehindTheAnswer: a call that goes on when it was answered tells nobody of it.
func TestNothingBehindTheAnswer(t *testing.T) {
	w := &counter{}
	e := &eventStream{x: &exchange{w: w}}
	if !e.end(serve.Refusal(serve.NewError("X", "x", ""))) {
		t.Fatal("it is not answered")
	}
	before := w.n
	e.tell(serve.Refusal(serve.ErrStopping()))
	if w.n != before || before == 0 {
		t.Errorf("%d bytes, then %d", before, w.n)
	}
}

// counter counts what is written to a client.
type counter struct{ n int }

func (c *counter) Flush() {}

func (c *counter) Header() http.Header         { return http.Header{} }
func (c *counter) WriteHeader(int)             {}
func (c *counter) Write(p []byte) (int, error) { c.n += len(p); return len(p), nil }
