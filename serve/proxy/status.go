package proxy

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// pathStatus is the proxy's own path: GET it for a [Status]. It is only for programs of this machine.
const pathStatus = "/status"

// statusSchema is the schema of [Status].
const statusSchema = "memkernel/proxy_status/v1"

// Status describes a proxy's work since its start. It has no text of a conversation.
type Status struct {
	Schema string `json:"schema"`
	// Instance is a random id of this run.
	Instance string `json:"instance"`
	// Since is the time at which the proxy was started.
	Since time.Time `json:"since"`
	// Upstreams are where requests go.
	Upstreams []Upstream `json:"upstreams"`
	// Planned counts the requests that went out with a plan's messages.
	Planned int `json:"planned"`
	// Extended counts the requests that went out with the newest plan's messages followed by new
	// messages.
	Extended int `json:"extended"`
	// Passed counts the requests that went out unchanged, by reason.
	Passed []statusPassed `json:"passed"`
	// Refused counts the requests that were not sent on.
	Refused int `json:"refused"`
	// Unfit describes the newest request whose system prompt and tools alone don't fit the
	// window. It has their size and a hint. It is "" if there was no such request.
	Unfit string `json:"unfit,omitempty"`
	// Bill is the bill of all calls, including those that passed.
	Bill *Bill `json:"bill,omitempty"`
}

// statusPassed counts requests that passed for a reason.
type statusPassed struct {
	// Reason is one of the reasons in doc/proxy.md. The reason "path" means that the request is not
	// a call of a model.
	Reason string `json:"reason"`
	Count  int    `json:"count"`
}

// Bill is the sum of a proxy's calls.
type Bill struct {
	Calls int `json:"calls"`
	// Unpriced counts the calls of models without a price. No cost includes these calls.
	Unpriced  int     `json:"unpriced_calls"`
	BilledUSD float64 `json:"billed_usd"`
	// WithoutUSD estimates the cost of the same calls without memkernel.
	WithoutUSD float64 `json:"without_usd"`
	// Saved is the share of WithoutUSD that was not billed.
	Saved float64 `json:"saved"`
}

// account adds up the requests so far.
type account struct {
	mu     sync.Mutex
	so     Status // without the requests that passed
	passed map[string]int
}

func (a *account) open(now time.Time) {
	b := make([]byte, 8)
	rand.Read(b) // never fails
	a.so, a.passed = Status{Schema: statusSchema, Instance: hex.EncodeToString(b), Since: now}, map[string]int{}
}

// note calls f, which adds to the account.
func (a *account) note(f func(so *Status)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f(&a.so)
}

func (a *account) take(o *outcome) {
	a.note(func(so *Status) {
		switch {
		case o.extends:
			so.Extended++
		case o.plan != nil:
			so.Planned++
		default:
			a.passed[o.reason]++
		}
	})
}

// status returns the requests so far.
func (a *account) status() *Status {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.so
	s.Passed = []statusPassed{}
	for _, reason := range slices.Sorted(maps.Keys(a.passed)) {
		s.Passed = append(s.Passed, statusPassed{reason, a.passed[reason]})
	}
	return &s
}

// Status returns the status so far.
func (x *Proxy) Status() *Status {
	s := x.account.status()
	s.Upstreams = x.upstreams.status()
	if x.opt.Bill != nil {
		b := x.opt.Bill()
		s.Bill = &b
	}
	return s
}

// own answers a request for one of the proxy's own paths. These paths are not for pages in
// browsers and not for other machines, even if other machines are allowed.
func (x *Proxy) own(w http.ResponseWriter, r *http.Request) bool {
	if r.Method != http.MethodGet || r.URL.Path != pathStatus {
		return false
	}
	if why := strange(r); why != "" {
		x.refuse(w, http.StatusForbidden, why)
		return true
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	if err := e.Encode(x.Status()); err != nil {
		x.log.Info("the client went away")
	}
	return true
}

// strange returns the reason why a request may not see the proxy's own paths, "" if it may see
// them.
func strange(r *http.Request) string {
	if from, _, err := net.SplitHostPort(r.RemoteAddr); err != nil || !isLoopback(from) || !isLoopback(hostOnly(r.Host)) {
		return "this path is for programs of this machine alone"
	}
	if (&guard{}).foreignPage(r, true) != "" {
		return "this path is not for web pages"
	}
	return ""
}
