package proxy_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/memkernel/memkernel/internal/fakemodel"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/serve/proxy"
)

// chunks are the pieces of a streamed answer.
var chunks = []string{
	"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"type\":\"message\",\"content\":[],\"stop_reason\":null,\"usage\":{\"input_tokens\":12,\"output_tokens\":1}}}\n\n",
	"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
	": a comment\n\nevent: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"te",
	"xt\":\"all is well\"}}\n\nevent: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":4}}\n\n",
	"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
}

func ask() string { return anthropic.body([]string{anthropic.user("how is it")}, true) }

// Every chunk reaches the client before the upstream writes the next.
func TestStreamIsNotHeldBack(t *testing.T) {
	next := make(chan struct{})
	up := &recorder{answer: func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, c := range chunks {
			io.WriteString(w, c)
			w.(http.Flusher).Flush()
			select {
			case <-next:
			case <-r.Context().Done():
			}
		}
	}}
	s := newStage(t, fakemodel.Options{}, proxy.Options{}, up)
	res, err := http.Post(s.front.URL+"/v1/messages", "application/json", strings.NewReader(ask()))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	for _, c := range chunks {
		got := make([]byte, len(c))
		if _, err := io.ReadFull(res.Body, got); err != nil || string(got) != c {
			t.Fatalf("%v, got %q", err, got)
		}
		next <- struct{}{}
	}
	if rest, err := io.ReadAll(res.Body); err != nil || len(rest) > 0 {
		t.Errorf("%v, rest %q", err, rest)
	}
	s.settle()
	if !strings.Contains(s.log.String(), "outcome=committed turns=1 input_tokens=12") {
		t.Error(s.log)
	}
}

// A compressed answer passes compressed, and is read all the same.
func TestGzip(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	io.WriteString(z, strings.Join(chunks, ""))
	z.Close()
	up := &recorder{answer: func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("Content-Encoding", "gzip")
		w.Write(packed.Bytes())
	}}
	s := newStage(t, fakemodel.Options{}, proxy.Options{}, up)
	r := s.post("/v1/messages", ask(), "Accept-Encoding", "br;q=1.0, gzip, zstd")
	if r.body != packed.String() || r.header.Get("Content-Encoding") != "gzip" {
		t.Errorf("%d bytes of %d, %v", len(r.body), packed.Len(), r.header)
	}
	if _, h := up.last(); h.Get("Accept-Encoding") != "gzip" {
		t.Errorf("asked for %q", h.Get("Accept-Encoding"))
	}
	s.settle()
	if !strings.Contains(s.log.String(), "outcome=committed") {
		t.Error(s.log)
	}
}

// A client that goes away cancels the upstream, and nothing is committed.
func TestClientGoesAway(t *testing.T) {
	gone := make(chan struct{})
	up := &recorder{answer: func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, chunks[0])
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(gone)
	}}
	s := newStage(t, fakemodel.Options{}, proxy.Options{}, up)
	ctx, cancel := context.WithCancel(context.Background())
	r, _ := http.NewRequestWithContext(ctx, http.MethodPost, s.front.URL+"/v1/messages", strings.NewReader(ask()))
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	io.ReadFull(res.Body, make([]byte, len(chunks[0])))
	cancel()
	res.Body.Close()
	<-gone
	s.front.Close() // waits for the request
	s.settle()
	if log := s.log.String(); strings.Contains(log, "outcome=") || !strings.Contains(log, "not observed") {
		t.Error(log)
	}
}

// An upstream that breaks off, or ends without the end of the protocol, is passed on
// as it is; the turn is committed when the request was made again.
func TestBrokenAnswer(t *testing.T) {
	broken := 0
	up := &recorder{}
	up.answer = func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, strings.Join(chunks[:3], ""))
		w.(http.Flusher).Flush()
		switch broken++; broken {
		case 1:
			panic(http.ErrAbortHandler)
		case 2:
			return
		}
		io.WriteString(w, strings.Join(chunks[3:], ""))
	}
	s := newStage(t, fakemodel.Options{}, proxy.Options{}, up)
	res, err := http.Post(s.front.URL+"/v1/messages", "application/json", strings.NewReader(ask()))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(res.Body); err == nil {
		t.Error("the client was not told that the answer broke off")
	}
	res.Body.Close()
	s.post("/v1/messages", ask())
	s.settle()
	if strings.Contains(s.log.String(), "outcome=") {
		t.Error(s.log)
	}
	s.post("/v1/messages", ask())
	s.settle()
	if strings.Count(s.log.String(), "outcome=committed") != 1 {
		t.Error(s.log)
	}
}

// slow is a planner that waits before it asks the kernel.
type slow struct {
	*kernel.Kernel
	wait chan struct{}
}

func (p slow) PlanContext(ctx context.Context, r api.PlanRequest) (*api.ContextPlan, error) {
	<-p.wait
	return p.Kernel.PlanContext(ctx, r)
}

// A plan that takes too long lets the request pass; the next one of the conversation
// finds it busy, and one after it is planned.
func TestDeadline(t *testing.T) {
	up := answering(anthropicOK)
	s := newStage(t, fakemodel.Options{}, proxy.Options{}, up)
	wait := make(chan struct{})
	s.start(slow{s.k, wait}, proxy.Options{Deadline: 20 * time.Millisecond})
	goOn := sync.OnceFunc(func() { close(wait) })
	t.Cleanup(goOn) // a plan under way ends before the stage is taken down
	body := anthropic.body([]string{anthropic.user("hello")}, false)
	check(t, s.post("/v1/messages", body), up, body, "deadline")
	check(t, s.post("/v1/messages", body), up, body, "busy")
	goOn()
	s.settle()
	s.start(s.k, proxy.Options{})
	s.post("/v1/messages", body).planned(t)
	s.settle()
	if strings.Count(s.log.String(), "outcome=committed") != 1 {
		t.Error(s.log)
	}
}

// A proxy that is asked to stop takes no new request, lets the answer under way end and
// commits it.
func TestStop(t *testing.T) {
	begun, goOn := make(chan struct{}), make(chan struct{})
	up := &recorder{answer: func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, chunks[0])
		w.(http.Flusher).Flush()
		close(begun)
		<-goOn
		io.WriteString(w, strings.Join(chunks[1:], ""))
	}}
	s := newStage(t, fakemodel.Options{}, proxy.Options{}, up)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served, answered := make(chan error, 1), make(chan string, 1)
	go func() { served <- s.proxy.Serve(ctx, l, time.Minute) }()
	go func() {
		res, err := http.Post("http://"+l.Addr().String()+"/v1/messages", "application/json", strings.NewReader(ask()))
		if err != nil {
			answered <- err.Error()
			return
		}
		defer res.Body.Close()
		b, _ := io.ReadAll(res.Body)
		answered <- string(b)
	}()
	<-begun
	cancel()
	for { // until the listener is closed
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			break
		}
		c.Close()
	}
	close(goOn)
	if got := <-answered; got != strings.Join(chunks, "") {
		t.Errorf("got %q", got)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
	if !strings.Contains(s.log.String(), "outcome=committed") {
		t.Error(s.log)
	}
}

// Keys reach the upstream, and are nowhere else: not in the log, not in what is
// written, whatever the outcome.
func TestKeysAreNotKept(t *testing.T) {
	secrets := []string{"hush-aaaa-1111", "hush-bbbb-2222", "hush-cccc-3333", "hush-dddd-4444", "hush-eeee-5555"}
	up := answering(anthropicOK)
	s := newStage(t, fakemodel.Options{}, proxy.Options{}, up)
	keys := []string{"Authorization", "Bearer " + secrets[0], "X-Api-Key", secrets[1], "Cookie", "k=" + secrets[2], "X-Goog-Api-Key", secrets[3]}
	for _, path := range []string{"/v1/messages", "/v1/messages?key=" + secrets[4], "/v1/messages/count_tokens", "/v1/models"} {
		s.post(path, anthropic.body([]string{anthropic.user("word-of-the-body")}, false), keys...)
		if _, h := up.last(); h.Get("Authorization") != "Bearer "+secrets[0] || h.Get("X-Api-Key") != secrets[1] {
			t.Errorf("%s: keys did not pass: %v", path, h)
		}
	}
	s.post("/v1/messages", `{"model": "`+secrets[0], keys...)
	s.up.Close()
	s.post("/v1/messages?key="+secrets[4], anthropic.body([]string{anthropic.user("hello")}, false), keys...)
	s.settle()
	held := s.log.String()
	if strings.Contains(held, "word-of-the-body") || !strings.Contains(held, "msg=planned") {
		t.Errorf("the log holds what was said: %s", held)
	}
	err := filepath.WalkDir(s.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		held += path + string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range secrets {
		if strings.Contains(held, secret) {
			t.Errorf("%s was kept or logged", secret)
		}
	}
	if !strings.Contains(held, "journal.jsonl") {
		t.Error("nothing was written, so nothing was shown")
	}
}

// Headers of the connection and of the proxy itself stay here, the rest passes.
func TestHeaders(t *testing.T) {
	up := answering(anthropicOK)
	s := newStage(t, fakemodel.Options{}, proxy.Options{}, up)
	s.post("/v1/messages", ask(), "X-Memkernel-Session", "mine", "Connection", "X-Drop", "X-Drop", "1", "Anthropic-Beta", "a,b", "User-Agent", "tester/1")
	_, h := up.last()
	if h.Get("X-Memkernel-Session") != "" || h.Get("X-Drop") != "" || h.Get("Anthropic-Beta") != "a,b" || h.Get("User-Agent") != "tester/1" || h.Get("X-Forwarded-For") != "" {
		t.Errorf("%v", h)
	}
}

// zeros is a stream of zeros without end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// The door: other hosts' names, web pages, other targets and large bodies are refused.
func TestRefusedAtTheDoor(t *testing.T) {
	up := answering(anthropicOK)
	s := newStage(t, fakemodel.Options{}, proxy.Options{}, up)
	send := func(edit func(*http.Request)) int {
		r, _ := http.NewRequest(http.MethodPost, s.front.URL+"/v1/messages", strings.NewReader(`{"model":"claude-sonnet-4-6","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}`))
		edit(r)
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		return res.StatusCode
	}
	for name, tt := range map[string]struct {
		status int
		edit   func(*http.Request)
	}{
		"plain":            {200, func(r *http.Request) {}},
		"localhost":        {200, func(r *http.Request) { r.Host = "localhost:9" }},
		"IPv6":             {200, func(r *http.Request) { r.Host = "[::1]:9" }},
		"rebound name":     {403, func(r *http.Request) { r.Host = "evil.example:8377" }},
		"loopback in name": {403, func(r *http.Request) { r.Host = "127.0.0.1.evil.example" }},
		"web page":         {403, func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }},
		"sandboxed page":   {403, func(r *http.Request) { r.Header.Set("Origin", "null") }},
		"local page":       {403, func(r *http.Request) { r.Header.Set("Origin", "http://localhost:3000") }},
		"application":      {403, func(r *http.Request) { r.Header.Set("Origin", "vscode-webview://x") }},
		"dot segments":     {400, func(r *http.Request) { r.URL.Path = "/v1/../admin" }},
		"hidden dots":      {400, func(r *http.Request) { r.URL.Opaque = "//" + r.URL.Host + "/v1/%2e%2e/admin" }},
		"large": {413, func(r *http.Request) {
			r.Body = io.NopCloser(io.LimitReader(zeros{}, 64<<20+1))
			r.ContentLength = 64<<20 + 1
		}},
	} {
		if got := send(tt.edit); got != tt.status {
			t.Errorf("%s: status %d, want %d", name, got, tt.status)
		}
	}
	for _, line := range []string{"CONNECT evil.example:443 HTTP/1.1", "GET http://evil.example/ HTTP/1.1"} {
		c, err := net.Dial("tcp", strings.TrimPrefix(s.front.URL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(c, "%s\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n", line)
		b, _ := io.ReadAll(c)
		c.Close()
		if !strings.Contains(string(b), " 400 ") {
			t.Errorf("%s: %q", line, b)
		}
	}
}

func TestAddresses(t *testing.T) {
	for _, tt := range []struct {
		listen string
		remote bool
		ok     bool
	}{{"127.0.0.1:0", false, true}, {"localhost:80", false, true}, {"[::1]:80", false, true}, {"127.9.9.9:1", false, true},
		{"0.0.0.0:80", false, false}, {":80", false, false}, {"192.168.0.1:80", false, false}, {"example.com:80", false, false},
		{"0.0.0.0:80", true, true}, {"127.0.0.1", true, false}} {
		if err := proxy.CheckListen(tt.listen, tt.remote); (err == nil) != tt.ok {
			t.Errorf("listen %s: %v", tt.listen, err)
		}
	}
	for _, tt := range []struct {
		url      string
		insecure bool
		ok       bool
	}{{"https://api.anthropic.com", false, true}, {"https://gate.example/base/", false, true}, {"http://127.0.0.1:11434", false, true},
		{"http://gate.example", false, false}, {"http://gate.example", true, true}, {"ftp://x", true, false}, {"/v1", false, false}, {"", false, false},
		{"https://user:pw@gate.example", false, false}, {"https://gate.example?x=1", false, false}} {
		_, err := proxy.New(nil, proxy.Options{Upstream: tt.url, AllowInsecure: tt.insecure})
		if (err == nil) != tt.ok || err != nil && strings.Contains(err.Error(), "pw@") {
			t.Errorf("upstream %s: %v", tt.url, err)
		}
	}
	for name, opt := range map[string]proxy.Options{"ContextWindow": {ContextWindow: -1}, "Reserve": {Reserve: -9}, "Deadline": {Deadline: -1}} {
		opt.Upstream = "https://gate.example"
		if _, err := proxy.New(nil, opt); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
