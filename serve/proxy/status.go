package proxy

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/cachelayout"
)

// PathStatus is the proxy's own path: GET it for a [Status]. It is only for programs of this machine.
const PathStatus = "/status"

// statusSchema is the schema of [Status].
const statusSchema = "memkernel/proxy_status/v1"

// Status describes a proxy's work since its start. It has no text of a conversation.
type Status struct {
	Schema string `json:"schema"`
	// Instance tells this run from all others.
	Instance string `json:"instance"`
	// Since is the time at which the proxy was started.
	Since time.Time `json:"since"`
	// Upstreams are where requests go.
	Upstreams []StatusUpstream `json:"upstreams"`
	// Planned counts the requests that went out with a plan's messages.
	Planned int `json:"planned"`
	// Extended counts the requests that went out with the newest plan's messages followed by new
	// messages.
	Extended int `json:"extended"`
	// Passed counts the requests that went out unchanged, by reason.
	Passed []StatusPassed `json:"passed"`
	// Refused counts the requests that were not sent on.
	Refused int `json:"refused"`
	// Unfit describes the newest request whose system prompt and tools alone don't fit the
	// window. It has their size and a hint. It is "" if there was no such request.
	Unfit string `json:"unfit,omitempty"`
	// WholeTokens estimates the tokens of the sessions' requests as clients wrote them.
	WholeTokens int `json:"whole_tokens"`
	// SentTokens are the tokens of the sessions' requests that were billed.
	SentTokens int `json:"sent_tokens"`
	// Bill is the bill of all calls, including those that passed.
	Bill *Bill `json:"bill,omitempty"`
	// Sessions are conversations that had an answer, the newest first.
	Sessions []Session `json:"sessions"`
}

// StatusUpstream is an upstream with the requests that go to it.
type StatusUpstream struct {
	// For says which requests: a path, or * for all others.
	For string `json:"for"`
	URL string `json:"url"`
}

// StatusPassed counts requests that passed for a reason.
type StatusPassed struct {
	// Reason is one of the reasons in doc/proxy.md. The reason path is a request that is not a
	// call of a model.
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

// Session is a conversation that this run of the proxy has seen.
type Session struct {
	// Session and Branch are the kernel's keys.
	Session string `json:"session"`
	Branch  string `json:"branch"`
	// Conversation is the conversation's name in the log.
	Conversation string `json:"conversation"`
	// Client is the product that sent the requests, as it calls itself. It is "" if the client
	// does not name itself.
	Client string `json:"client"`
	Model  string `json:"model"`
	// Calls is the number of answered calls. WholeTokens and SentTokens are sums over these
	// calls.
	Calls       int `json:"calls"`
	WholeTokens int `json:"whole_tokens"`
	SentTokens  int `json:"sent_tokens"`
	// Last is the time of the newest answer.
	Last time.Time `json:"last"`
	// NowTokens estimates the tokens that the client would send without the proxy, including the
	// newest answer.
	NowTokens int `json:"now_tokens"`
	// WindowTokens is the model's window, or the window of --context-window. It is 0 if nothing
	// was planned.
	WindowTokens int `json:"window_tokens"`
	// ReserveTokens is the part of the window that an answer needs.
	ReserveTokens int `json:"reserve_tokens"`
	// OverTokens is the number of NowTokens that do not fit into the window together with an
	// answer. It is 0 if all fit.
	OverTokens int `json:"over_tokens"`
	// Note tells the user which step is needed before the conversation continues without the
	// proxy. It is "" if no step is needed.
	Note string `json:"note,omitempty"`
}

// compacts has notes that tell a person how to make a host summarise its conversation. client is
// the prefix by which the host's requests name themselves.
var compacts = []struct{ client, note string }{
	{"claude-cli", "run /compact in Claude Code, then say one more thing"},
	{"codex", "run /compact in Codex, then say one more thing"},
	{"geminicli", "run /compress in Gemini CLI, then say one more thing"},
}

func noteFor(client string) string {
	for _, c := range compacts {
		if strings.HasPrefix(strings.ToLower(client), c.client) {
			return c.note
		}
	}
	return "have its client summarise the conversation, then say one more thing"
}

// product is the first word of a User-Agent.
func product(agent string) string {
	name, _, _ := strings.Cut(agent, "/")
	name, _, _ = strings.Cut(name, " ")
	return name[:min(len(name), 40)]
}

// account adds up the requests so far.
type account struct {
	instance string
	since    time.Time
	counted  *budget.Cache
	prices   *cachelayout.Book

	mu                         sync.Mutex
	planned, extended, refused int
	passed                     map[string]int
	unfit                      string
}

func (a *account) open(now time.Time, prices *cachelayout.Book) {
	var b [8]byte
	rand.Read(b[:]) // never fails
	a.instance, a.since, a.prices, a.counted, a.passed = hex.EncodeToString(b[:]), now, prices, budget.NewCache(0), map[string]int{}
}

func (a *account) pass(reason string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.passed[reason]++
}

func (a *account) unfits(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.unfit = err.Error()
}

func (a *account) refuse() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.refused++
}

func (a *account) take(o *outcome) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case o.extends:
		a.extended++
	case o.plan != nil:
		a.planned++
	default:
		a.passed[o.reason]++
	}
}

// report fills in the outcomes of requests.
func (a *account) report(s *Status) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s.Instance, s.Since = a.instance, a.since
	s.Planned, s.Extended, s.Refused, s.Unfit = a.planned, a.extended, a.refused, a.unfit
	for _, reason := range slices.Sorted(maps.Keys(a.passed)) {
		s.Passed = append(s.Passed, StatusPassed{reason, a.passed[reason]})
	}
}

// Status returns the status so far.
func (x *Proxy) Status() *Status {
	s := &Status{Schema: statusSchema, Upstreams: x.upstreams.status(), Passed: []StatusPassed{}, Sessions: x.lines.sessions()}
	x.account.report(s)
	for i := range s.Sessions {
		s.WholeTokens += s.Sessions[i].WholeTokens
		s.SentTokens += s.Sessions[i].SentTokens
	}
	if x.opt.Bill != nil {
		b := x.opt.Bill()
		s.Bill = &b
	}
	return s
}

// own answers a request for one of the proxy's own paths. These paths are not for pages in
// browsers and not for other machines, even if other machines are allowed.
func (x *Proxy) own(w http.ResponseWriter, r *http.Request) bool {
	if r.Method != http.MethodGet || r.URL.Path != PathStatus {
		return false
	}
	if why := strange(r); why != "" {
		refuse(w, http.StatusForbidden, why)
		x.account.refuse()
		x.log.Warn("refused", "status", http.StatusForbidden, "reason", why)
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
	origins := r.Header.Values("Origin")
	for _, site := range r.Header.Values("Sec-Fetch-Site") {
		if site != "none" && site != "same-origin" {
			return "this path is not for web pages"
		}
	}
	if len(origins) > 0 && !sameOrigin(r, origins) {
		return "this path is not for web pages"
	}
	return ""
}

// course has the present and past sizes of a conversation. The line's mu guards it.
type course struct {
	client, model string
	calls         int
	whole, sent   int // of all calls
	now           int
	window, spare int
	last          time.Time
	tools         bool
}

// went notes an answered call of a conversation.
func (a *account) went(e *exchange, u *memkernel.Usage) (whole, sent int) {
	whole, sent = a.sizes(e, u)
	answer := 0
	if u != nil {
		answer = u.OutputTokens
	}
	ln := e.line
	ln.mu.Lock()
	defer ln.mu.Unlock()
	c := &ln.course
	c.client, c.model, c.last = e.client, strings.Clone(e.body.Model), e.began
	c.calls, c.whole, c.sent, c.now = c.calls+1, c.whole+whole, c.sent+sent, whole+answer
	c.tools = c.tools || len(e.body.Tools) > 0
	if p := e.out.plan; p != nil {
		c.window, c.spare = p.Budgets.ContextWindow, p.Budgets.ReserveTokens
	}
	return whole, sent
}

// sessions are the conversations that had an answer, the newest first. It leaves out a line
// without tools and with only one call, which is a summary that a client requested.
func (l *lines) sessions() []Session {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := []Session{}
	for _, ln := range l.known {
		ln.mu.Lock()
		c := ln.course
		ln.mu.Unlock()
		if c.calls == 0 || c.calls == 1 && !c.tools {
			continue
		}
		s := Session{Session: ln.session, Branch: ln.branch, Conversation: ln.name, Client: c.client, Model: c.model, Calls: c.calls,
			WholeTokens: c.whole, SentTokens: c.sent, Last: c.last, NowTokens: c.now, WindowTokens: c.window, ReserveTokens: c.spare}
		if s.OverTokens = max(c.now-(c.window-c.spare), 0); c.window == 0 {
			s.OverTokens = 0 // it was never planned: it goes without already
		}
		if s.OverTokens > 0 {
			s.Note = noteFor(c.client)
		}
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b Session) int {
		if c := b.Last.Compare(a.Last); c != 0 {
			return c
		}
		return strings.Compare(a.Conversation, b.Conversation)
	})
	return out
}
