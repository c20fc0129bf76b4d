// Package proxy sits between a client of a model's API and the API: it plans each
// request on its way through and streams the answer back as it comes. It is for
// clients that can be given another base URL and nothing else.
//
//	client ── guard ── read body ── plan ── write body ──► upstream
//	   ▲                  │ in doubt: the client's own bytes    │
//	   └──────────── the answer's bytes, flushed as they come ◄─┘
//	                                    │ a copy, in bounded memory
//	                                 observe, when the answer has ended
//
// Its rules:
//
//   - Only the Anthropic Messages API (with count_tokens, and as Bedrock and Vertex have
//     it), OpenAI's chat completions and responses, and Gemini's generateContent are
//     read. Every other path passes as it is.
//   - In doubt the proxy sends the bytes that the client wrote: for a request that can't be
//     read, that has its history elsewhere, or that is no conversation. The answer's
//     X-Memkernel header and the log name the reason.
//   - If the kernel has no plan, or not in time (Options.Deadline), the proxy sends the
//     newest plan's messages followed by the new ones, so that the provider's cache is
//     read, and tells the next plan. Without an earlier plan it sends the bytes that the
//     client wrote.
//   - A planned request keeps everything but its conversation byte for byte, and in the
//     conversation every message that is kept in full. A request that the plan does not
//     change is sent unchanged.
//   - The answer is never changed, held back or decoded on its way, but for the count of
//     its input while the proxy drains.
//   - The usage in an answer, and the turn that it ends, is observed once it has
//     come whole. An answer that was broken off is not.
//   - Upstreams are fixed when the proxy is made. Keys and bodies pass through and
//     are neither kept nor logged.
//
// It decides nothing about prompts: that is package kernel's.
package proxy

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"sync/atomic"
	"time"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/transcript"
)

// Planner makes the proxy's plans: a [kernel.Kernel], or a client of one.
type Planner interface {
	PlanContext(context.Context, api.PlanRequest) (*api.ContextPlan, error)
	Peek(context.Context, api.PlanRequest) (*api.ContextPlan, error)
	ObserveTurn(context.Context, api.Turn) (*api.Observation, error)
	ObserveToolResult(context.Context, api.Turn) (*api.Observation, error)
}

var _ Planner = (*kernel.Kernel)(nil)

// DefaultDeadline is the default of Options.Deadline. A plan of a long history on a busy
// machine took one second.
const DefaultDeadline = 3 * time.Second

// maxBody is the largest request that is taken: 64 MiB.
const maxBody = 64 << 20

// Options make a proxy. The zero value of a field means its default.
type Options struct {
	// Upstream is the API that requests go to, such as https://api.anthropic.com. A
	// path precedes every request's.
	Upstream string
	// Upstreams are further upstreams for some of the requests. A glob of models has priority
	// over a path, and a longer one over a shorter one. A client's key goes only to the upstream
	// of the path: a request that its model leads to another upstream goes there without the key.
	Upstreams []Upstream
	// AllowInsecure lets plain http leave this machine, AllowRemote lets clients of
	// other machines in.
	AllowInsecure, AllowRemote bool
	// AllowOrigins are web pages and applications whose requests are taken, as browsers
	// name them in the header Origin: http://localhost:3000, app://obsidian.md.
	AllowOrigins []string
	// Private: the sessions are one person's own.
	Private bool
	// ContextWindow and Reserve are as in [api.PlanRequest].
	ContextWindow, Reserve int
	// Prices is the price book, by which the proxy knows windows and tokenizers; nil is the
	// embedded one. For the window of a model that it lacks the proxy asks the upstream.
	Prices *cachelayout.Book
	// Resolver is the tool by which the model can follow pointers, if the request has
	// it. [MemkernelGet] means a shell tool that runs Command, to which the
	// session is added. "" shows nothing as a pointer.
	Resolver, Command string
	// Deadline is how long a request waits for its plan. Then the plan is cancelled, and the
	// newest plan's messages are sent with the new ones after them.
	Deadline time.Duration
	// FlushTurns lets the proxy ask the model, when a plan says that it is due, which facts
	// should outlive the next cut. It sends a request of its own with the client's path, model
	// and key, and the client pays for its tokens. The client does not see it, and a request that
	// fails is not made again.
	FlushTurns bool
	// ProviderCompaction has the provider compact a conversation where a cut is near, by a
	// request of its own with the client's path, model and key, for whose tokens the client pays.
	ProviderCompaction bool
	// Billed is told of every call that was answered with a bill, also of those that passed, once
	// it was. It must allow calls by several goroutines at once. Nil tells nobody.
	Billed func(Billed)
	// Bill returns the bill of the calls so far, for [Status]; it may be nil.
	Bill func() Bill
	// Watch is told of every request that is read as a call of a model; nil tells nobody.
	Watch Watcher
	// Logger gets a line per planned request. Nil discards.
	Logger *slog.Logger
	// Transport reaches the upstream. Default: [http.Transport] with certificates
	// checked and no limit on how long an answer may take.
	Transport http.RoundTripper
	// Now is the clock. Default: time.Now.
	Now func() time.Time
}

// Proxy is an [http.Handler]. Make it with [New]; [Proxy.Close] waits until all answers are
// observed.
type Proxy struct {
	planner   Planner
	opt       Options
	upstreams *upstreams
	log       *slog.Logger
	reverse   *httputil.ReverseProxy
	lines     lines
	reader    transcript.BodyReader
	work      jobs // plans and observations under way
	guard     guard
	draining  atomic.Bool
	account   account
	windows   windows
}

// New makes a proxy.
func New(p Planner, opt Options) (*Proxy, error) {
	u, err := newUpstreams(opt.Upstream, opt.Upstreams, opt.AllowInsecure)
	if err != nil {
		return nil, err
	}
	return newProxy(p, opt, u)
}

func newProxy(p Planner, opt Options, u *upstreams) (*Proxy, error) {
	var err error
	if err := (&api.PlanRequest{ContextWindow: opt.ContextWindow, Reserve: opt.Reserve}).Check(); err != nil {
		return nil, fmt.Errorf("proxy options: %w", err)
	}
	if opt.Deadline < 0 {
		return nil, fmt.Errorf("proxy options: Deadline %s is negative: leave it 0 for the default", opt.Deadline)
	}
	if opt.AllowOrigins, err = checkOrigins(opt.AllowOrigins); err != nil {
		return nil, err
	}
	if opt.Prices == nil {
		opt.Prices = cachelayout.DefaultBook()
	}
	if opt.Deadline == 0 {
		opt.Deadline = DefaultDeadline
	}
	if opt.Logger == nil {
		opt.Logger = slog.New(slog.DiscardHandler)
	}
	if opt.Transport == nil {
		opt.Transport = defaultTransport()
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	x := &Proxy{planner: p, opt: opt, upstreams: u, log: opt.Logger, guard: guard{opt.AllowRemote, opt.AllowOrigins}}
	x.account.open(opt.Now(), opt.Prices)
	x.windows.opt, x.windows.several = &x.opt, u.several
	// Hop-by-hop headers, trailers, upgrades and cancelling are the standard library's.
	x.reverse = &httputil.ReverseProxy{
		Rewrite:        x.rewrite,
		Transport:      roundTrip(x.send),
		ModifyResponse: x.answered,
		ErrorHandler:   x.failed,
		FlushInterval:  -1, // every chunk by itself
		ErrorLog:       slog.NewLogLogger(x.log.Handler(), slog.LevelDebug),
	}
	return x, nil
}

// defaultTransport checks certificates, follows no redirect and leaves encodings
// alone. Answers may take as long as they do: only dialling and the handshake are
// bounded.
func defaultTransport() http.RoundTripper {
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		ForceAttemptHTTP2:     true,
		MaxIdleConnsPerHost:   64,
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   15 * time.Second,
		ExpectContinueTimeout: time.Second,
		DisableCompression:    true,
	}
}

// Close waits until all that was answered is observed, or until ctx ends.
func (x *Proxy) Close(ctx context.Context) error {
	if err := x.work.wait(ctx); err != nil {
		return fmt.Errorf("wait for observations: %w", err)
	}
	return nil
}

// releaseIdle is the time without a request after which Tend releases a conversation's data in
// memory.
const releaseIdle = 15 * time.Minute

// Tend frees memory now and then until ctx ends: that of conversations without a request for
// 15 minutes, which the next one reads again. [Proxy.Serve] calls it. A process that hands
// requests to a Proxy by itself must run it in a goroutine.
func (x *Proxy) Tend(ctx context.Context) {
	tick, clean := time.NewTicker(releaseIdle), time.NewTicker(time.Minute)
	defer tick.Stop()
	defer clean.Stop()
	for {
		select {
		case <-tick.C:
			x.forget(releaseIdle)
		case <-clean.C:
			releaseSessions(x.planner, releaseIdle)
		case <-ctx.Done():
			return
		}
	}
}

// forget drops conversations that had no request for that long, and read messages that did not
// occur since it was last called.
func (x *Proxy) forget(idle time.Duration) {
	x.reader.Age()
	x.lines.release()
	releaseSessions(x.planner, idle)
}

func releaseSessions(p Planner, idle time.Duration) {
	if k, ok := p.(interface{ ReleaseIdle(time.Duration) int }); ok {
		k.ReleaseIdle(idle)
	}
}

// Serve answers on l until ctx ends. Then no new request is taken, those under way
// are finished and observed, for as long as grace allows.
func (x *Proxy) Serve(ctx context.Context, l net.Listener, grace time.Duration) error {
	s := &http.Server{Handler: x, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 256 << 10,
		ErrorLog: slog.NewLogLogger(x.log.Handler(), slog.LevelDebug)}
	failed := make(chan error, 1)
	go func() { failed <- s.Serve(l) }()
	tending, stop := context.WithCancel(ctx)
	defer stop()
	go x.Tend(tending)
	select {
	case err := <-failed:
		return fmt.Errorf("serve %s: %w", l.Addr(), err)
	case <-ctx.Done():
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	err := s.Shutdown(end)
	if err != nil {
		err = fmt.Errorf("stop serving: some answers were still under way and were broken off: %w", errors.Join(err, s.Close()))
	}
	return errors.Join(err, x.Close(end))
}
