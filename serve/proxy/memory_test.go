package proxy_test

import (
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/internal/fakemodel"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/serve/proxy"
)

// heap is what lives after everything that died was collected; what pools hold is
// dropped at the second time.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// fill is a text that no one holds: n times the same.
func fill(text string, n int) io.Reader {
	r, w := io.Pipe()
	go func() {
		block := strings.Repeat(text, 1+64<<10/len(text))
		for left := n; left > 0; left -= len(block) {
			io.WriteString(w, block)
		}
		w.Close()
	}()
	return r
}

// sink is an upstream that keeps nothing.
func sink(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "application/json")
	io.WriteString(w, anthropicOK)
}

// send posts a body in which BIG is replaced by 5 MB, or by 40, and holds nothing of it.
func (s *stage) send(a clientAPI, body string) (outcome string) {
	s.t.Helper()
	head, tail, _ := strings.Cut(body, "BIG")
	r, err := http.NewRequest(http.MethodPost, s.front.URL+a.path, io.MultiReader(strings.NewReader(head), fill("a line of a log ", suite.Pick(5<<19, 40<<20)), strings.NewReader(tail)))
	if err != nil {
		s.t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	if b, err := io.ReadAll(res.Body); err != nil || res.StatusCode != http.StatusOK {
		s.t.Fatalf("%v, status %d: %s", err, res.StatusCode, b)
	}
	s.settle()
	return res.Header.Get("X-Memkernel")
}

// A request of 40 MB (5 in the quick suite) leaves next to nothing in memory: at once where it is large for what
// no conversation holds, and when it is let go where the conversation itself holds so much.
func TestMemoryComesBack(t *testing.T) {
	bound := suite.Pick[int64](2<<20, 8<<20)
	for _, a := range []clientAPI{anthropic, openai, responses} {
		for name, tt := range map[string]struct {
			body    string
			outcome string
			held    bool // by the conversation, until it is released
		}{
			"unplanned": {a.body([]string{withBlock("content", `"type":"text",`, "")("user", "go", `{"type":"zz","v":"BIG"}`)}, false), "passed; reason=plan_error", true},
			"call":      {a.body([]string{a.user("go"), a.call("c1", "BIG"), a.result("c1", "ok")}, false), "planned;", true},
			"message":   {a.body([]string{a.user("BIG")}, false), "planned;", true},
			"unread":    {a.body([]string{a.user("BIG")}, false) + "}", "passed; reason=unreadable", false},
			"member":    {strings.Replace(a.body([]string{a.user("hi")}, false), `"z":1`, `"z":"BIG"`, 1), "planned;", false},
			"result":    {a.body([]string{a.user("go"), a.call("c1", "ls"), a.result("c1", "BIG")}, false), "planned;", true},
		} {
			if tt.held && a.path != anthropic.path {
				continue // what is kept is the kernel's, and the same of all
			}
			if !suite.Long() && (a.path == openai.path && name != "member" || a.path == responses.path && name != "unplanned") {
				continue
			}
			t.Run(strings.ReplaceAll(a.path[1:], "/", "_")+"_"+name, func(t *testing.T) {
				s := newStage(t, fakemodel.Options{}, proxy.Options{}, http.HandlerFunc(sink))
				s.post(a.path, a.body([]string{a.user("warm")}, false)).planned(t)
				s.settle()
				before := heap()
				if out := s.send(a, tt.body); !strings.HasPrefix(out, tt.outcome) {
					t.Fatalf("outcome %q", out)
				}
				if grown := heap() - before; grown > bound && !tt.held {
					t.Errorf("%d bytes more are held after the request, want at most %d", grown, bound)
				}
				proxy.Release(s.proxy, 0)
				proxy.Release(s.proxy, 0)
				if grown := heap() - before; grown > bound {
					t.Errorf("%d bytes more are held after the release, want at most %d", grown, bound)
				}
				runtime.KeepAlive(s)
			})
		}
	}
}
