package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/fakemodel"
)

// TestProxyVerb runs the verb until it is cancelled: its document keeps the contract,
// it plans what passes, and the turn is committed when it has ended.
func TestProxyVerb(t *testing.T) {
	up := httptest.NewServer(fakemodel.New(fakemodel.Options{}))
	defer up.Close()
	ws := t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r, w := io.Pipe()
	var stderr bytes.Buffer
	var wg sync.WaitGroup
	code := -1
	wg.Go(func() {
		u := &cli.UI{In: strings.NewReader(""), Out: w, Err: &stderr}
		code = run(ctx, u, []string{"proxy", "--upstream", up.URL, "--listen", "127.0.0.1:0", "--workspace", ws, "--json", "--context-window", "64k"})
		w.Close()
	})
	var doc map[string]any
	if err := json.NewDecoder(bufio.NewReader(r)).Decode(&doc); err != nil {
		t.Fatalf("%v, %s", err, stderr.String())
	}
	go io.Copy(io.Discard, r)
	keeps(t, doc, "memkernel/proxy/v1")
	res, err := http.Post(doc["url"].(string)+"/v1/messages", "application/json",
		strings.NewReader(`{"model":"claude-sonnet-4-6","max_tokens":100,"system":"You are a tester.","messages":[{"role":"user","content":"hello"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, res.Body)
	res.Body.Close()
	if got := res.Header.Get("X-Memkernel"); !strings.HasPrefix(got, "planned;") {
		t.Errorf("outcome %q", got)
	}
	cancel()
	wg.Wait()
	if code != cli.ExitOK {
		t.Errorf("exit %d", code)
	}
	if !strings.Contains(stderr.String(), `"outcome":"committed"`) {
		t.Errorf("the log tells of no commit: %s", stderr.String())
	}
}
