package bench

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/serve/proxy"
	"github.com/memkernel/memkernel/transcript"
)

// proxySession is the size of the session that passes the proxy, in tokens.
const proxySession = 100_000

// firstBytes is the answer of the model behind it: one event at once, then the end.
const firstBytes = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"type\":\"message\",\"content\":[],\"stop_reason\":null,\"usage\":{\"input_tokens\":9,\"output_tokens\":1}}}\n\n"

const lastBytes = "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"x\",\"name\":\"Bash\",\"input\":{}}}\n\n" +
	"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"},\"usage\":{\"output_tokens\":4}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"

// BenchmarkProxy sends the calls of a session of about 100,000 tokens to a model on
// this machine that answers at once, directly and through the proxy in turn, and takes
// the time to the answer's first byte. Every call is new to the proxy, is planned,
// written down and observed. Metrics: the medians, and their difference.
func BenchmarkProxy(b *testing.B) {
	steps := proxySteps(b)
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, firstBytes)
		w.(http.Flusher).Flush()
		io.WriteString(w, lastBytes)
	}))
	defer up.Close()
	b.Run(fmt.Sprintf("fs=%s", fileSystem(b.TempDir())), func(b *testing.B) {
		var direct, through []time.Duration
		var p *proxied
		n := len(steps)
		for b.Loop() {
			if n == len(steps) {
				p.close(b)
				p, n = newProxied(b, up.URL), 0
				firstByte(b, p.front.URL, steps[n]) // the session's first plan, once
				p.settle(b)
				n++
			}
			direct = append(direct, firstByte(b, up.URL, steps[n]))
			through = append(through, firstByte(b, p.front.URL, steps[n]))
			p.settle(b)
			n++
		}
		p.close(b)
		d, t := median(direct), median(through)
		b.ReportMetric(ms(d), "direct-ms")
		b.ReportMetric(ms(t), "proxy-ms")
		b.ReportMetric(ms(t-d), "added-ms")
	})
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// proxySteps are request bodies, each with one call more than the one before.
func proxySteps(b *testing.B) [][]byte {
	b.Helper()
	msgs := sample(b)
	tokens, n := 0, 0
	for ; n < len(msgs) && tokens < proxySession; n++ {
		got, _ := tokenise(b, texts(msgs[n:n+1]))
		tokens += got
	}
	var out [][]byte
	for ; n < len(msgs) && len(out) < 2*laterSteps; n++ {
		if msgs[n-1].Role == memkernel.RoleAssistant {
			continue
		}
		healed, _ := transcript.Repair(msgs[:n], false)
		body, _, err := transcript.Render(transcript.FormatAnthropic, &transcript.Request{Model: "claude-sonnet-4-6", MaxTokens: 4096, Messages: healed})
		if err != nil {
			b.Fatal(err)
		}
		out = append(out, append(body[:len(body)-1], `,"stream":true}`...))
	}
	return out
}

// proxied is a proxy with a kernel of its own.
type proxied struct {
	k     *kernel.Kernel
	x     *proxy.Proxy
	front *httptest.Server
}

func newProxied(b *testing.B, upstream string) *proxied {
	b.Helper()
	p := &proxied{k: openKernel(b)}
	var err error
	if p.x, err = proxy.New(p.k, proxy.Options{Upstream: upstream, Private: true, Deadline: time.Minute}); err != nil {
		b.Fatal(err)
	}
	p.front = httptest.NewServer(p.x)
	return p
}

func (p *proxied) settle(b *testing.B) {
	if err := p.x.Close(context.Background()); err != nil {
		b.Fatal(err)
	}
}

func (p *proxied) close(b *testing.B) {
	if p != nil {
		p.front.Close()
		p.settle(b)
		p.k.Close()
	}
}

// firstByte makes a call and takes the time until its answer begins.
func firstByte(b *testing.B, url string, body []byte) time.Duration {
	b.Helper()
	start := time.Now()
	res, err := http.Post(url+"/v1/messages", "application/json", bytes.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	defer res.Body.Close()
	var one [1]byte
	if _, err := io.ReadFull(res.Body, one[:]); err != nil {
		b.Fatal(err)
	}
	took := time.Since(start)
	if got := res.Header.Get("X-Memkernel"); got != "" && !bytes.HasPrefix([]byte(got), []byte("planned;")) {
		b.Fatalf("the proxy says %q", got)
	}
	io.Copy(io.Discard, res.Body)
	return took
}
