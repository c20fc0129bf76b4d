package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/fakemodel"
)

// TestProxyMetrics: the verb's document says where the metrics are, and they tell of a call.
func TestProxyMetrics(t *testing.T) {
	up := httptest.NewServer(fakemodel.New(fakemodel.Options{}))
	defer up.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r, w := io.Pipe()
	var stderr strings.Builder
	var wg sync.WaitGroup
	code := -1
	ws := t.TempDir()
	wg.Go(func() {
		u := &cli.UI{In: strings.NewReader(""), Out: w, Err: &stderr}
		code = run(ctx, u, []string{"proxy", "--upstream", up.URL, "--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0", "--workspace", ws, "--json"})
		w.Close()
	})
	var doc map[string]any
	if err := json.NewDecoder(bufio.NewReader(r)).Decode(&doc); err != nil {
		t.Fatalf("%v, %s", err, stderr.String())
	}
	go io.Copy(io.Discard, r)
	keeps(t, doc, "memkernel/proxy/v1")
	res, err := http.Post(doc["url"].(string)+"/v1/messages", "application/json",
		strings.NewReader(`{"model":"claude-sonnet-4-6","max_tokens":100,"system":"You are a tester.","tools":[],"messages":[{"role":"user","content":"hello"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, res.Body)
	res.Body.Close()
	text := get(t, doc["metrics"].(string))
	if !strings.Contains(text, `memkernel_plan_duration_seconds_count{op="plan"} 1`) || !strings.Contains(text, "\nmemkernel_index_readable ") {
		t.Errorf("%s", text)
	}
	cancel()
	wg.Wait()
	if code != cli.ExitOK {
		t.Errorf("exit %d: %s", code, stderr.String())
	}
}

func get(t *testing.T, url string) string {
	t.Helper()
	res, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s %v", res.Status, err)
	}
	return string(text)
}

// TestServeMetrics: a daemon says in its log where its metrics are, and they tell of its calls.
func TestServeMetrics(t *testing.T) {
	in, send := io.Pipe()
	out, answers := io.Pipe()
	log, stderr := io.Pipe()
	ended := make(chan int, 1)
	ws := t.TempDir()
	go func() {
		ended <- run(context.Background(), &cli.UI{In: in, Out: answers, Err: stderr}, []string{"serve", "--stdio", "--metrics", "127.0.0.1:0", "--workspace", ws})
		answers.Close()
		stderr.Close()
	}()
	lines := bufio.NewScanner(log)
	if !lines.Scan() {
		t.Fatal("the log says nothing")
	}
	m := regexp.MustCompile(`msg=metrics url=(http://127\.0\.0\.1:\d+/metrics)$`).FindStringSubmatch(lines.Text())
	if m == nil {
		t.Fatalf("the log says %s", lines.Text())
	}
	go io.Copy(io.Discard, log)
	if _, err := io.WriteString(send, `{"jsonrpc":"2.0","id":1,"method":"initialize"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	answer := bufio.NewScanner(out)
	if !answer.Scan() {
		t.Fatal("no answer")
	}
	if text := get(t, m[1]); !strings.Contains(text, `memkernel_rpc_duration_seconds_count{method="initialize"} 1`) {
		t.Errorf("%s", text)
	}
	send.Close()
	go io.Copy(io.Discard, out)
	if code := <-ended; code != cli.ExitOK {
		t.Errorf("exit %d", code)
	}
	if res, err := http.Get(m[1]); err == nil {
		res.Body.Close()
		t.Error("metrics are served when the daemon has ended")
	}
}
