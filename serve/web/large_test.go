package web

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/serve"
	"github.com/memkernel/memkernel/serve/token"
)

// largeCall is a call of a size with a conversation of messages of a size.
func largeCall(method string, bytes, each int, more string) string {
	var b strings.Builder
	b.Grow(bytes + each + 1024)
	fmt.Fprintf(&b, `{"jsonrpc":"2.0","id":1,"method":%q,"params":{"session_key":"large","model":"claude-sonnet-4-6"%s,"conversation":{"dialect":"anthropic","messages":[`, method, more)
	roles := [2]string{"user", "assistant"}
	for i := 0; b.Len() < bytes || i%2 == 0; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"role":%q,"content":"message %d: `, roles[i%2], i)
		for n := each; n > 0; n -= 32 {
			b.WriteString("what does the harbour say of it ")
		}
		b.WriteString(`"}`)
	}
	b.WriteString(`]}}}`)
	return b.String()
}

// spent is what a piece of work allocated in all, and by how much the heap was larger at most
// than before, in bytes.
func spent(t testing.TB, do func()) (total, peak uint64) {
	t.Helper()
	defer debug.SetGCPercent(debug.SetGCPercent(5)) // so that the heap is what is held
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var ended atomic.Bool
	most := make(chan uint64)
	go func() {
		var m runtime.MemStats
		top := uint64(0)
		for !ended.Load() {
			runtime.ReadMemStats(&m)
			top = max(top, m.HeapAlloc)
			runtime.Gosched()
		}
		most <- top
	}()
	do()
	ended.Store(true)
	top := <-most
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc, top - min(top, before.HeapAlloc)
}

// overSocket sends lines to a server by a unix socket and returns its answers.
func overSocket(t testing.TB) (send func(string) string) {
	t.Helper()
	k, err := kernel.Open(context.Background(), t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	s := serve.New(k, nil)
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if nc, err := l.Accept(); err == nil {
			s.ServeStream(nc, nc)
		}
	}()
	nc, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		nc.Close()
		<-ended
		l.Close()
		s.Stop(context.Background())
		k.Close()
	})
	r := bufio.NewReader(nc)
	return func(line string) string {
		// In pieces, so that nothing of it is held here.
		if _, err := io.Copy(nc, struct{ io.Reader }{io.MultiReader(strings.NewReader(line), strings.NewReader("\n"))}); err != nil {
			t.Fatal(err)
		}
		answer, err := r.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
}

// TestLargeCall: a call of 48 MiB is read with its messages held once, and not a second time
// in any form.
func TestLargeCall(t *testing.T) {
	h := newHouse(t)
	secret := h.token(token.Rights{Tenant: "a"})
	h.well(secret, "pages", `{}`)
	doors := map[string]func(string) string{
		"http": func(body string) string { return h.send(http.MethodPost, "/rpc", secret, body).body },
		"unix": overSocket(t),
	}
	for name, send := range doors {
		// A form that there is not is refused once all has been read.
		body := largeCall("plan", 48<<20, 8000, `,"form":"none such"`)
		send(`{"jsonrpc":"2.0","id":0,"method":"pages"}`) // what is made once is there
		var answer string
		total, peak := spent(t, func() { answer = send(body) })
		if !strings.Contains(answer, "INVALID_PARAMS") {
			t.Fatalf("%s: %.300s", name, answer)
		}
		var v any
		whole, _ := spent(t, func() {
			if err := json.Unmarshal([]byte(body), &v); err != nil {
				t.Fatal(err)
			}
		})
		size := float64(len(body))
		if float64(total) > 1.25*size || float64(peak) > 1.5*size || float64(total) > float64(whole) {
			t.Errorf("%s: more is held than the messages", name)
		}
		t.Logf("%s: %.2f bytes allocated per byte, %.2f at most at one time; encoding/json %.2f", name, float64(total)/size, float64(peak)/size, float64(whole)/size)
	}
}
