package web

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/memkernel/memkernel/serve"
	"github.com/memkernel/memkernel/service/token"
)

// quotaHouse has a clock that the test moves.
func quotaHouse(t *testing.T, q Quotas) (h *house, pass func(time.Duration)) {
	var ahead atomic.Int64
	began := time.Now()
	h = newHouse(t, func(o *Options, _ *serve.Options) {
		o.Quotas, o.now = q, func() time.Time { return began.Add(time.Duration(ahead.Load())) }
	})
	return h, func(d time.Duration) { ahead.Add(int64(d)) }
}

// over fails the test unless an answer names a quota and when to come back.
func over(t *testing.T, g *got, quota, seconds string) {
	t.Helper()
	if g.status != http.StatusTooManyRequests || !strings.Contains(g.body, `"code":"BUSY"`) || g.header.Get("Retry-After") != seconds || !strings.Contains(g.body, quota) {
		t.Errorf("want the quota of %s, and to wait %s s: %d, %s s, %s", quota, seconds, g.status, g.header.Get("Retry-After"), g.body)
	}
}

// TestQuotaOfCalls: all tokens of a tenant share its calls, and a call that waits as long as it is
// told is answered. Another tenant has its own.
func TestQuotaOfCalls(t *testing.T) {
	h, pass := quotaHouse(t, Quotas{Calls: 6})
	first, second, other := h.token(token.Rights{Tenant: "mill"}), h.token(token.Rights{Tenant: "mill"}), h.token(token.Rights{Tenant: "quay"})
	for range 2 {
		h.well(first, "pages", `{}`)
		h.well(second, "pages", `{}`)
	}
	h.well(second, "pages", `{}`)
	h.well(second, "pages", `{}`)
	over(t, h.call(first, "pages", `{}`), "6 calls", "10")
	h.well(other, "pages", `{}`)
	pass(10 * time.Second)
	h.well(first, "pages", `{}`)
	over(t, h.call(first, "pages", `{}`), "6 calls", "10")
}

// TestQuotaOfBytes: a body counts whether or not its length is said. One above the quota is taken
// when nothing was used, and paid back.
func TestQuotaOfBytes(t *testing.T) {
	h, pass := quotaHouse(t, Quotas{Bytes: 6000})
	mill := h.token(token.Rights{Tenant: "mill"})
	text := `{"jsonrpc":"2.0","id":1,"method":"pages","params":{}}` + strings.Repeat(" ", 4000)
	h.send("POST", "/rpc", mill, text)
	over(t, h.send("POST", "/rpc", mill, text), "6000 bytes", "22")
	unsaid := func(r *http.Request) { r.ContentLength = -1 }
	over(t, h.send("POST", "/rpc", mill, text, unsaid), "6000 bytes", "22")
	waitFor(t, func() bool { return h.door.taken() == 0 })
	pass(time.Minute)
	if g := h.send("POST", "/rpc", mill, text+strings.Repeat(" ", 8000)); g.status != 200 {
		t.Errorf("one of twice the quota: %d %s", g.status, g.body)
	}
	pass(time.Minute)
	over(t, h.send("POST", "/rpc", mill, text), "6000 bytes", "42")
}

// TestQuotaOfSessions: a session counts once a minute, however many calls it has.
func TestQuotaOfSessions(t *testing.T) {
	h, pass := quotaHouse(t, Quotas{Sessions: 2})
	mill := h.token(token.Rights{Tenant: "mill"})
	for _, key := range []string{"one", "two", "one", "two"} {
		h.well(mill, "observe_turn", turn(key, "plain"))
	}
	over(t, h.call(mill, "observe_turn", turn("three", "plain")), "2 sessions", "30")
	h.well(mill, "pages", `{"session_key":"two"}`)
	pass(time.Minute)
	h.well(mill, "observe_turn", turn("three", "plain"))
}
