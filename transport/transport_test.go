package transport_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/memkernel/memkernel/internal/fakemodel"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/billing"
	"github.com/memkernel/memkernel/transport"
)

// program is a program with a client of its own, and the model server that it calls.
type program struct {
	t      *testing.T
	model  *fakemodel.Server
	up     *httptest.Server
	k      *kernel.Kernel
	via    *transport.Transport
	client *http.Client
}

func newProgram(t *testing.T, upstream http.Handler) *program {
	t.Helper()
	p := &program{t: t, model: fakemodel.New(fakemodel.Options{Script: pump})}
	if upstream == nil {
		upstream = p.model
	}
	p.up = httptest.NewServer(upstream)
	t.Cleanup(p.up.Close)
	var err error
	if p.k, err = kernel.Open(t.Context(), t.TempDir(), nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.k.Close() })
	p.via = &transport.Transport{Kernel: p.k, Private: true, ContextWindow: 24_000, Deadline: 5 * time.Minute} // the machine may be busy
	t.Cleanup(p.close)
	p.client = &http.Client{Transport: p.via}
	return p
}

func (p *program) close() {
	if err := p.via.Close(); err != nil {
		p.t.Error(err)
	}
}

// pump answers readings of a pump: it asks for one, and then sums it up.
func pump(turn fakemodel.Turn) fakemodel.Reply {
	if len(turn.Results) > 0 {
		return fakemodel.Reply{Text: "pump is fine"}
	}
	return fakemodel.Reply{Calls: []fakemodel.Call{{ID: "toolu_x", Name: "read_pump", Input: json.RawMessage(`{"hours":24}`)}}}
}

func user(text string) string { return fmt.Sprintf(`{"role":"user","content":%q}`, text) }

func call(id string) string {
	return fmt.Sprintf(`{"role":"assistant","content":[{"type":"tool_use","id":%q,"name":"read_pump","input":{"hours":24}}]}`, id)
}

func result(id, text string) string {
	return fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":%q}]}`, id, text)
}

const said = `{"role":"assistant","content":[{"type":"text","text":"pump is fine"}]}`

func body(stream bool, msgs ...string) string {
	return fmt.Sprintf(`{"model":"claude-sonnet-4-6","max_tokens":1024,"stream":%v,"system":[{"type":"text","text":%q}],"tools":[{"name":"read_pump","input_schema":{"type":"object"}}],"messages":[%s]}`,
		stream, strings.Repeat("You watch the waterworks, and name each pump. ", 80), strings.Join(msgs, ","))
}

// readings are a day of a pump, about n bytes.
func readings(pump, n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "%02d:%02d pump%d pressure %d.%d bar flow %d l/s\n", i/60%24, i%60, pump, 3+i%3, i%10, 40+i*pump%17)
	}
	return b.String()
}

// send makes a call and returns what became of it. It reads the answer as programs do: JSON by
// a decoder, and a stream to its last event. Neither reads on to the end of the body.
func (p *program) send(ctx context.Context, text string, stream bool) string {
	p.t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.up.URL+"/v1/messages", strings.NewReader(text))
	if err != nil {
		p.t.Fatal(err)
	}
	header, size := r.Header.Clone(), r.ContentLength
	res, err := p.client.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		rest, _ := io.ReadAll(res.Body)
		p.t.Fatalf("status %d: %s", res.StatusCode, rest)
	}
	if stream {
		lines := bufio.NewScanner(res.Body)
		for lines.Scan() && !strings.Contains(lines.Text(), `"message_stop"`) {
		}
	} else if err := json.NewDecoder(res.Body).Decode(new(any)); err != nil {
		p.t.Fatal(err)
	}
	again, err := r.GetBody()
	if err != nil {
		p.t.Fatal(err)
	}
	if b, _ := io.ReadAll(again); string(b) != text || r.ContentLength != size || len(r.Header) != len(header) {
		p.t.Error("the program's own request was changed")
	}
	return res.Header.Get("X-Memkernel")
}

// TestProgram is a program of ten turns with a tool whose results do not fit the window.
func TestProgram(t *testing.T) {
	for _, stream := range []bool{false, true} {
		t.Run(fmt.Sprintf("stream=%v", stream), func(t *testing.T) {
			p := newProgram(t, nil)
			ctx := transport.WithSession(t.Context(), "waterworks")
			var msgs, cuts []string
			step := func(m ...string) {
				msgs = append(msgs, m...)
				got := p.send(ctx, body(stream, msgs...), stream)
				if !strings.HasPrefix(got, "planned; ") {
					t.Fatalf("call with %d messages: %q", len(msgs), got)
				}
				if !strings.Contains(got, "cut=none") {
					cuts = append(cuts, got)
				}
			}
			for i := range 10 {
				id := fmt.Sprintf("toolu_%d", i)
				step(user(fmt.Sprintf("how was pump %d yesterday?", i)))
				step(call(id), result(id, readings(i, 16_000)))
				msgs = append(msgs, said)
			}
			p.close()

			all := p.model.Requests()
			if len(all) != 20 || len(cuts) == 0 || len(cuts) > 6 {
				t.Fatalf("%d requests, cuts %q", len(all), cuts)
			}
			kept := 0
			for i, r := range all {
				if err := r.Pairs(); err != nil {
					t.Errorf("request %d: %v", i, err)
				}
				if r.Tokens() > 24_000 {
					t.Errorf("request %d has %d tokens", i, r.Tokens())
				}
				if r.Header.Get("X-Memkernel-Session") != "" {
					t.Error("the session's name was sent on")
				}
				if i > 0 && r.Parts(all[i-1]) == "" {
					kept++
				}
			}
			if kept < 19-len(cuts) {
				t.Errorf("%d of 19 requests go on from the one before", kept)
			}
			last := all[19].Body
			if whole := body(stream, msgs[:len(msgs)-1]...); len(last) >= len(whole)/2 || !bytes.Contains(last, []byte("how was pump 9 yesterday?")) {
				t.Errorf("the last request has %d bytes of %d", len(last), len(whole))
			}
			if v := p.model.Violations(); len(v) > 0 {
				t.Errorf("%v", v)
			}
			st, err := p.k.Status(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if len(st.Sessions) != 1 || st.Sessions[0].Key != "waterworks" || st.Sessions[0].Turns != 10 {
				t.Errorf("the kernel observed %+v", st.Sessions)
			}
			bills, err := p.k.Usage(t.Context(), billing.Options{})
			if err != nil || bills.Total.Calls != 20 || bills.Total.Compared != 20 || bills.Total.Billed.InputTokens == 0 {
				t.Errorf("bills %+v, %v", bills.Total, err)
			}
		})
	}
}

// TestPassed: requests that the transport does not plan reach the server as the program wrote
// them, and their bodies are closed.
func TestPassed(t *testing.T) {
	type seen struct{ method, path, body, host, session string }
	var got seen
	p := newProgram(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got = seen{r.Method, r.URL.RequestURI(), string(b), r.Host, r.Header.Get("X-Memkernel-Session")}
		w.WriteHeader(http.StatusTeapot)
		io.WriteString(w, "short and stout")
	}))
	for _, tt := range []struct{ method, path, body, outcome string }{
		{http.MethodGet, "/v1/models?limit=3", "", ""},
		{http.MethodPost, "/v1/files", "a,b\n1,2\n", ""},
		{http.MethodPost, "/v1/messages", "no JSON", "passed; reason=unreadable"},
		{http.MethodPost, "/v1/responses", `{"model":"gpt-5","previous_response_id":"resp_1","input":[{"role":"user","content":"go on"}]}`, "passed; reason=server_history"},
	} {
		r, err := http.NewRequestWithContext(transport.WithSession(t.Context(), "waterworks"), tt.method, p.up.URL+tt.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		text := &closing{Reader: strings.NewReader(tt.body)}
		if tt.body != "" {
			r.Body = text
		}
		r.Host = "models.example"
		res, err := p.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if want := (seen{tt.method, tt.path, tt.body, "models.example", ""}); got != want {
			t.Errorf("the server got %+v, want %+v", got, want)
		}
		if res.StatusCode != http.StatusTeapot || string(answer) != "short and stout" || res.Header.Get("X-Memkernel") != tt.outcome || res.Request != r {
			t.Errorf("%s: status %d, %q, outcome %q", tt.path, res.StatusCode, answer, res.Header.Get("X-Memkernel"))
		}
		if tt.body != "" && !text.closed {
			t.Errorf("%s: the body was not closed", tt.path)
		}
	}
}

type closing struct {
	io.Reader
	closed bool
}

func (c *closing) Close() error {
	c.closed = true
	return nil
}

// TestStreams: an event is there as soon as the server has sent it, and a program that gives up
// takes its request back.
func TestStreams(t *testing.T) {
	gone := make(chan struct{})
	p := newProgram(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"type\":\"message\"}}\n\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(gone)
	}))
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.up.URL+"/v1/messages", strings.NewReader(body(true, user("how is pump 1?"))))
	if err != nil {
		t.Fatal(err)
	}
	res, err := p.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(res.Body).ReadString('\n'); err != nil || line != "event: message_start\n" {
		t.Errorf("%q, %v", line, err)
	}
	cancel()
	<-gone
	if _, err := io.ReadAll(res.Body); !errors.Is(err, context.Canceled) {
		t.Errorf("the rest of the stream: %v", err)
	}
	res.Body.Close()

	r = r.Clone(ctx)
	r.Body = io.NopCloser(strings.NewReader(body(true, user("how is pump 2?"))))
	if _, err := p.client.Do(r); !errors.Is(err, context.Canceled) {
		t.Errorf("a request that was cancelled before: %v", err)
	}
}

// TestMany: clients that share a transport do not see each other's conversations.
func TestMany(t *testing.T) {
	p := newProgram(t, nil)
	var group sync.WaitGroup
	for n := range 8 {
		group.Go(func() {
			ctx := transport.WithSession(context.Background(), fmt.Sprintf("plant-%d", n))
			msgs := []string{user("how is the pump?")}
			for i := range 3 {
				p.send(ctx, body(n%2 == 0, msgs...), n%2 == 0)
				id := fmt.Sprintf("toolu_%d", i)
				msgs = append(msgs, call(id), result(id, readings(n, 400)))
				p.send(ctx, body(n%2 == 0, msgs...), n%2 == 0)
				msgs = append(msgs, said, user("and now?"))
			}
		})
	}
	group.Wait()
	p.close()
	st, err := p.k.Status(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(st.Sessions) != 8 {
		t.Errorf("%d sessions", len(st.Sessions))
	}
	for _, s := range st.Sessions {
		if s.Turns != 3 {
			t.Errorf("%s has %d turns", s.Key, s.Turns)
		}
	}
}

// TestMistakes: a transport that can't plan refuses requests, and says why.
func TestMistakes(t *testing.T) {
	p := newProgram(t, nil)
	for want, via := range map[string]*transport.Transport{
		"Kernel is nil": {},
		"transport: proxy options: Reserve is -5": {Kernel: p.k, Reserve: -5},
	} {
		res, err := (&http.Client{Transport: via}).Post(p.up.URL+"/v1/messages", "application/json", strings.NewReader(body(false, user("hello"))))
		if err == nil {
			res.Body.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		if err := via.Close(); err != nil {
			t.Error(err)
		}
	}
	p.up.Close()
	_, err := p.client.Post(p.up.URL+"/v1/messages", "application/json", strings.NewReader(body(false, user("hello"))))
	if err == nil || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("a server that is not there: %v", err)
	}
}
