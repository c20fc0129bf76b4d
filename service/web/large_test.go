package web

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/serve"
	"github.com/memkernel/memkernel/service/token"
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

// TestLargeCall: reading a call of 48 MiB takes at most four times its size at one time.
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
		_, peak := spent(t, func() { answer = send(body) })
		if !strings.Contains(answer, "INVALID_PARAMS") {
			t.Fatalf("%s: %.300s", name, answer)
		}
		if per := float64(peak) / float64(len(body)); per > 4 {
			t.Errorf("%s: %.2f bytes are held per byte", name, per)
		}
	}
}

// raw is a connection to a house that speaks HTTP by hand.
func (h *house) raw(secret, headers string) net.Conn {
	h.t.Helper()
	nc, err := net.Dial("tcp", strings.TrimPrefix(h.url, "http://"))
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { nc.Close() })
	fmt.Fprintf(nc, "POST /rpc HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n%s\r\n\r\n", secret, headers)
	return nc
}

// answer reads the answer that comes by a connection.
func (h *house) answer(nc net.Conn) *got {
	h.t.Helper()
	res, err := http.ReadResponse(bufio.NewReader(nc), nil)
	if err != nil {
		h.t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	return &got{res.StatusCode, res.Header, string(data)}
}

// taken is how many bytes of bodies count.
func (d *Door) taken() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.rooms[""].bytes
}

// TestBodyCountsAsItComes: of a body without a length what came counts, of one with a length all
// of it, and who goes away in its middle gives it back.
func TestBodyCountsAsItComes(t *testing.T) {
	h := newHouse(t)
	secret := h.token(token.Rights{Tenant: "a"})
	taken := func(n int64) { t.Helper(); waitFor(t, func() bool { return h.door.taken() == n }) }
	text := largeCall("plan", 3000, 500, "")
	nc := h.raw(secret, "Transfer-Encoding: chunked")
	fmt.Fprintf(nc, "%x\r\n%s\r\n", 1000, text[:1000])
	taken(1000)
	fmt.Fprintf(nc, "%x\r\n%s\r\n", 500, text[1000:1500])
	taken(1500)
	said := h.raw(secret, "Content-Length: 1000000")
	io.WriteString(said, text[:1500])
	taken(1001500)
	said.Close()
	taken(1500)
	fmt.Fprintf(nc, "%x\r\n%s\r\n0\r\n\r\n", len(text)-1500, text[1500:])
	if g := h.answer(nc); g.status != 200 || g.code() != "" {
		t.Errorf("%d %s", g.status, g.body)
	}
	taken(0)
	gone := h.raw(secret, "Transfer-Encoding: chunked")
	fmt.Fprintf(gone, "%x\r\n%s\r\n", 1000, text[:1000])
	taken(1000)
	gone.Close()
	taken(0)
}

// TestIdleBodyEnds: a body that does not come in its time is refused, and its room is free again.
func TestIdleBodyEnds(t *testing.T) {
	h := newHouse(t, func(o *Options, _ *serve.Options) { o.bodyWait = time.Millisecond })
	nc := h.raw(h.token(token.Rights{Tenant: "a"}), "Content-Length: 1000")
	if g := h.answer(nc); g.status != http.StatusBadRequest || !strings.Contains(g.body, "took too long") {
		t.Errorf("%d %s", g.status, g.body)
	}
	waitFor(t, func() bool { return h.door.taken() == 0 })
}

// TestBodiesShareTheRoom: a body that there is no room for is told to wait, before anything was
// done for it, and one that was granted comes through.
func TestBodiesShareTheRoom(t *testing.T) {
	h := newHouse(t, func(o *Options, _ *serve.Options) { o.bytes = tenantShare * tokenShare << 20 })
	secret := h.token(token.Rights{Tenant: "a"})
	text := `{"jsonrpc":"2.0","id":1,"method":"remember","params":{"session_key":"s","path":"memory/x.md","text":"the first"}}` + strings.Repeat(" ", 900_000)
	second := `{"jsonrpc":"2.0","id":1,"method":"remember","params":{"session_key":"s","path":"memory/x.md","text":"the second"}}` + strings.Repeat(" ", 500_000)
	first := h.raw(secret, fmt.Sprintf("Content-Length: %d", len(text)))
	io.WriteString(first, text[:450_000])
	waitFor(t, func() bool { return h.door.taken() == int64(len(text)) })
	busy := func(name string, g *got) {
		t.Helper()
		if g.status != http.StatusTooManyRequests || g.code() != "BUSY" || g.header.Get("Retry-After") == "" {
			t.Errorf("%s: %d %s", name, g.status, g.body)
		}
	}
	nc := h.raw(secret, fmt.Sprintf("Content-Length: %d", len(second)))
	busy("a second", h.answer(nc))
	nc = h.raw(secret, "Transfer-Encoding: chunked")
	fmt.Fprintf(nc, "%x\r\n%s\r\n", 110_000, second[:110_000])
	waitFor(t, func() bool { return h.door.taken() == int64(len(text))+110_000 })
	fmt.Fprintf(nc, "%x\r\n%s\r\n", 60_000, second[110_000:170_000])
	busy("one without a length", h.answer(nc))
	waitFor(t, func() bool { return h.door.taken() == int64(len(text)) })
	io.WriteString(first, text[450_000:])
	if g := h.answer(first); g.status != 200 || g.code() != "" {
		t.Errorf("the first: %d %s", g.status, g.body)
	}
	if r := h.well(secret, "read", `{"session_key":"s","path":"memory/x.md"}`); !strings.Contains(fmt.Sprint(r["text"]), "the first") || strings.Contains(fmt.Sprint(r["text"]), "the second") {
		t.Errorf("%v", r)
	}
	if g := h.send(http.MethodPost, "/rpc", secret, second); g.status != 200 || g.code() != "" {
		t.Errorf("delivered again: %d %s", g.status, g.body)
	}
	// One has room by itself, however large it is.
	if g := h.send(http.MethodPost, "/rpc", secret, second+strings.Repeat(" ", 1<<20), func(r *http.Request) { r.ContentLength = -1 }); g.status != 200 || g.code() != "" {
		t.Errorf("alone: %d %s", g.status, g.body)
	}
}

// TestLargeAnswer: a plan with its messages is on one line, all answers have a length, and what was
// written is what is logged.
func TestLargeAnswer(t *testing.T) {
	h := newHouse(t)
	secret := h.token(token.Rights{Tenant: "a"})
	g := h.send(http.MethodPost, "/rpc", secret, largeCall("peek", 300_000, 5000, `,"form":"body"`))
	body, _ := g.result(t)["body"].(map[string]any)
	messages, _ := body["messages"].([]any)
	if len(messages) < 50 || !strings.HasPrefix(g.body, `{"jsonrpc":"2.0","id":1,"result":{"schema":"memkernel/rpc_plan/v1",`) || strings.Count(g.body, "\n") != 1 {
		t.Errorf("%d messages, %v: %.300s", len(messages), g.header, g.body)
	}
	waitFor(t, func() bool { return strings.Contains(h.logged(), fmt.Sprintf(`"bytes_out":%d`, len(g.body))) })
	for _, params := range []string{`{}`, `{"x":1}`} {
		if g := h.call(secret, "pages", params); g.header.Get("Content-Length") != fmt.Sprint(len(g.body)) {
			t.Errorf("%v: %s", g.header, g.body)
		}
	}
}

// TestBodyBeforeTenant: a body that is on its way keeps no tenant open. A token that is not for the
// server is refused before its body.
func TestBodyBeforeTenant(t *testing.T) {
	h := newHouse(t)
	h.tenants.Most = 1
	nc := h.raw(h.token(token.Rights{Tenant: "slow"}), "Transfer-Encoding: chunked")
	fmt.Fprint(nc, "1\r\n{\r\n")
	waitFor(t, func() bool { return h.door.taken() == 1 })
	h.well(h.token(token.Rights{Tenant: "quick"}), "pages", `{}`)
	if g := h.answer(h.raw(h.token(token.Rights{}), "Content-Length: 1000")); g.status != http.StatusForbidden {
		t.Errorf("a token without a tenant: %d %s", g.status, g.body)
	}
	h = newHouse(t, func(o *Options, _ *serve.Options) { o.Tenants = false })
	if g := h.answer(h.raw(h.token(token.Rights{Tenant: "a"}), "Content-Length: 1000")); g.status != http.StatusForbidden || g.code() != "SCOPE" {
		t.Errorf("a token with a tenant: %d %s", g.status, g.body)
	}
}

// TestOneTenantLeavesRoom: whatever one token of a tenant takes and does not use, by large bodies
// that never come or by many requests that stand open, others are answered, and the server is
// ready for them.
func TestOneTenantLeavesRoom(t *testing.T) {
	h := newHouse(t, func(o *Options, _ *serve.Options) { o.requests = 32 })
	idle, other := h.token(token.Rights{Tenant: "a"}), h.token(token.Rights{Tenant: "b"})
	h.raw(idle, fmt.Sprintf("Content-Length: %d", 60<<20))
	waitFor(t, func() bool { return h.door.taken() == 60<<20 })
	for range 7 {
		if g := h.answer(h.raw(idle, fmt.Sprintf("Content-Length: %d", 60<<20))); g.status != http.StatusTooManyRequests || g.header.Get("Retry-After") == "" {
			t.Errorf("an idle body that has no room: %d %s", g.status, g.body)
		}
	}
	if n := h.door.taken(); n != 60<<20 {
		t.Errorf("%d bytes of bodies are held, those of one were expected", n)
	}
	for i := range 20 {
		if g := h.send(http.MethodPost, "/rpc", other, largeCall("plan", 3000, 500, "")); g.status != 200 || g.code() != "" {
			t.Fatalf("another tenant's call %d: %d %s", i, g.status, g.body)
		}
	}
	if g := h.send(http.MethodGet, "/readyz", "", ""); g.status != 200 {
		t.Errorf("not ready for others: %d %s", g.status, g.body)
	}
	for range 40 {
		h.raw(idle, "Transfer-Encoding: chunked") // and no byte of it
	}
	if g := h.send(http.MethodPost, "/rpc", other, largeCall("plan", 3000, 500, "")); g.status != 200 || g.code() != "" {
		t.Errorf("with forty requests open: %d %s", g.status, g.body)
	}
}

// TestOneTenantAtWork: a tenant's calls work one at a time where no more are allowed, also when the
// first goes on after its client has left. Calls of another tenant work meanwhile.
func TestOneTenantAtWork(t *testing.T) {
	b := newBlocker("status")
	h := newHouse(t, func(o *Options, s *serve.Options) { o.Running, s.Watch = 1, b })
	busy, other := h.token(token.Rights{Tenant: "a"}), h.token(token.Rights{Tenant: "b"})
	text := `{"jsonrpc":"2.0","id":1,"method":"status","params":{}}`
	nc := h.raw(busy, fmt.Sprintf("Content-Length: %d", len(text)))
	io.WriteString(nc, text)
	<-b.begun
	nc.Close()
	waits := make(chan *got, 1)
	go func() { waits <- h.call(busy, "pages", `{}`) }()
	for range 5 {
		h.well(other, "search", `{"query":"harbour"}`)
	}
	select {
	case g := <-waits:
		t.Errorf("a second call of the tenant worked: %s", g.body)
	default:
	}
	close(b.release)
	if g := <-waits; g.status != http.StatusOK || g.code() != "" {
		t.Errorf("the second call: %d %s", g.status, g.body)
	}
}

// TestOneTenantsLongCall: a call that takes long holds up the others of its tenant for a while, and not
// until it ends.
func TestOneTenantsLongCall(t *testing.T) {
	b := newBlocker("status")
	h := newHouse(t, func(o *Options, s *serve.Options) { o.Running, o.turnWait, s.Watch = 1, time.Millisecond, b })
	busy := h.token(token.Rights{Tenant: "a"})
	long := make(chan *got, 1)
	go func() { long <- h.call(busy, "status", `{}`) }()
	<-b.begun
	go func() { long <- h.call(busy, "status", `{}`) }()
	<-b.begun
	h.well(busy, "pages", `{}`) // after two long calls
	close(b.release)
	for range 2 {
		if g := <-long; g.status != http.StatusOK {
			t.Errorf("a long call: %d %s", g.status, g.body)
		}
	}
}

// maxText is the longest text of a call besides its conversation.
const maxText = 4 << 20

// TestLongText: a call whose text besides its conversation is too long is refused, and so is a long
// call of a method that takes no texts. As a message of a conversation the text is taken.
func TestLongText(t *testing.T) {
	h := newHouse(t)
	secret := h.token(token.Rights{Tenant: "a"})
	long := strings.Repeat("where does the heron nest ", maxText/26+1)
	for body, path := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"method":"remember","params":{"session_key":"s","path":"memory/x.md","text":"` + long + `"}}`: "/rpc",
		`{"jsonrpc":"2.0","id":1,"method":"pages","params":{"session_key":"` + long[:1<<20] + `"}}`:                            "/rpc",
	} {
		if g := h.send(http.MethodPost, path, secret, body); g.status != http.StatusRequestEntityTooLarge {
			t.Errorf("%.60s: %d %s", body, g.status, g.body)
		}
	}
	waitFor(t, func() bool { return h.door.taken() == 0 })
	body := largeCall("observe_turn", maxText+1, maxText, "")
	if g := h.send(http.MethodPost, "/rpc", secret, body); g.status != http.StatusOK || g.code() != "" {
		t.Errorf("in a message: %d %s", g.status, g.body)
	}
}

// TestRefusedWaits: a client that is refused waits for its answer, as long as there is room to wait.
func TestRefusedWaits(t *testing.T) {
	h := newHouse(t, func(o *Options, _ *serve.Options) { o.requests, o.refusalWait = 1, time.Hour })
	answered := make(chan *got, 2)
	for range 2 {
		nc := h.raw("mkt_nobody", "Content-Length: 0")
		go func() {
			if res, err := http.ReadResponse(bufio.NewReader(nc), nil); err == nil {
				answered <- &got{status: res.StatusCode}
			}
		}()
	}
	if g := <-answered; g.status != http.StatusUnauthorized {
		t.Errorf("without room to wait: %d", g.status)
	}
	if len(h.door.refusals) != 1 || len(answered) > 0 {
		t.Error("nobody waits")
	}
}

// TestTurnsArePaidBack: while another tenant calls, a call that has waited for its tenant's last one waits
// as long again as that took. A call that comes later does not.
func TestTurnsArePaidBack(t *testing.T) {
	const took = 300 * time.Millisecond
	for _, x := range []struct {
		others, queued bool
		want           time.Duration
	}{{false, false, took}, {true, false, took}, {false, true, took}, {true, true, 2 * took}} {
		synctest.Test(t, func(t *testing.T) {
			d := New(Options{Tenants: true, Running: 1, Logger: slog.New(slog.DiscardHandler)})
			turn := func(tenant string) (end func()) {
				return d.turns(&token.Token{Rights: token.Rights{Tenant: tenant}})(t.Context())
			}
			began, end := time.Now(), turn("busy")
			if x.others {
				turn("other")()
			}
			next := make(chan time.Duration, 1)
			call := func() {
				turn("busy")()
				next <- time.Since(began)
			}
			if x.queued {
				go call()
			}
			time.Sleep(took)
			end()
			if !x.queued {
				call()
			}
			if got := <-next; got != x.want {
				t.Errorf("others call: %v, queued: %v: the next call ran after %v, want %v", x.others, x.queued, got, x.want)
			}
		})
	}
}

// faulty is a body whose second read panics.
type faulty struct {
	io.Reader
	before func()
}

func (f faulty) Read(p []byte) (int, error) {
	n, err := f.Reader.Read(p)
	if n == 0 {
		f.before()
		panic("a fault of the reader")
	}
	return n, err
}

// TestPanicGivesRoomBack: a reader that panics leaves no room taken.
func TestPanicGivesRoomBack(t *testing.T) {
	h := newHouse(t)
	r := httptest.NewRequest(http.MethodPost, "/rpc", faulty{strings.NewReader(`{"jsonrpc":"2.0"}`), func() {
		if len(h.door.rooms) == 0 {
			t.Error("it has no room while it is read")
		}
	}})
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+h.token(token.Rights{Tenant: "a"}))
	x := &exchange{d: h.door, w: httptest.NewRecorder(), r: r}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		guarded(func(x *exchange) *serve.Error {
			_, err := x.body(1 << 20)
			return err
		})(x)
	}()
	if len(h.door.rooms) != 0 {
		t.Errorf("rooms %v", h.door.rooms)
	}
}
