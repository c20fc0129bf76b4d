package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/fakemodel"
)

// startProxy runs the verb until the function that it returns is called, which gives the
// exit code and what standard error has.
func startProxy(t *testing.T, ws string, args ...string) (url string, stop func() (int, string)) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r, w := io.Pipe()
	var stderr bytes.Buffer
	var wg sync.WaitGroup
	code := -1
	wg.Go(func() {
		u := &cli.UI{In: strings.NewReader(""), Out: w, Err: &stderr}
		code = run(ctx, u, append([]string{"proxy", "--listen", "127.0.0.1:0", "--workspace", ws, "--json"}, args...))
		w.Close()
	})
	stop = sync.OnceValues(func() (int, string) {
		cancel()
		wg.Wait()
		return code, stderr.String()
	})
	t.Cleanup(func() { stop() })
	var doc struct{ URL string }
	if err := json.NewDecoder(bufio.NewReader(r)).Decode(&doc); err != nil {
		t.Fatalf("%v, %s", err, stderr.String())
	}
	go io.Copy(io.Discard, r)
	return doc.URL, stop
}

// say sends a conversation of so many turns and returns what became of it.
func say(t *testing.T, url, session, model string, turns int) string {
	t.Helper()
	var msgs []any
	for i := range turns {
		msgs = append(msgs, map[string]any{"role": "user", "content": fmt.Sprintf("Berth %d: %s", i, strings.Repeat(fmt.Sprintf("ship %d waits there. ", i), 100))},
			map[string]any{"role": "assistant", "content": "Noted."})
	}
	msgs = append(msgs, map[string]any{"role": "user", "content": "Go on."})
	body, err := json.Marshal(map[string]any{"model": model, "max_tokens": 100, "system": "You are a tester.", "messages": msgs,
		"tools": []any{map[string]any{"name": "Read", "description": "reads", "input_schema": map[string]string{"type": "object"}}}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequest(http.MethodPost, url+"/v1/messages", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Memkernel-Session", session)
	r.Header.Set("User-Agent", "claude-cli/2.1.330 (external, cli)")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, res.Body)
	res.Body.Close()
	return res.Header.Get("X-Memkernel")
}

// TestProxyStatus: the status of a proxy counts its requests, and the document keeps its
// contract.
func TestProxyStatus(t *testing.T) {
	up := httptest.NewServer(fakemodel.New(fakemodel.Options{}))
	defer up.Close()
	ws := t.TempDir()
	url, stop := startProxy(t, ws, "--upstream", up.URL, "--context-window", "24k", "--reserve", "8k")
	for i := range 4 { // each in its own session, as one is busy until its last answer was read
		if got := say(t, url, fmt.Sprintf("berth-%d", i), "claude-sonnet-4-6", i+1); !strings.HasPrefix(got, "planned") {
			t.Fatalf("outcome %q", got)
		}
	}
	waitForCalls(t, url, 4)
	doc := statusOf(t, url)
	keeps(t, doc, "memkernel/proxy_status/v1")
	if doc["planned"] != 4.0 {
		t.Errorf("the document says %v", doc)
	}
	if code, stderr := stop(); code != cli.ExitOK {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// statusOf is what a proxy says of itself.
func statusOf(t *testing.T, url string) (doc map[string]any) {
	t.Helper()
	res, err := http.Get(url + "/status")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if err := json.NewDecoder(res.Body).Decode(&doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

// waitForCalls waits until a proxy has read so many answers.
func waitForCalls(t *testing.T, url string, calls int) {
	t.Helper()
	for {
		if bill := statusOf(t, url)["bill"].(map[string]any); bill["calls"] == float64(calls) {
			return
		}
		time.Sleep(time.Millisecond)
	}
}
