// Package proxy sits between a client of a model's API and the API. It plans each request on its
// way through and streams the answer back as it comes. It is for clients in which only the base
// URL can be changed.
//
//	client ── guard ── read body ── plan ── write body ──► upstream
//	   ▲                  │ in doubt: the client's own bytes    │
//	   └──────────── the answer's bytes, flushed as they come ◄─┘
//	                                    │ a copy, in bounded memory
//	                                 observe, when the answer has ended
//
// Its rules:
//
//   - The proxy reads only the Anthropic Messages API (with count_tokens, and in the forms of
//     Bedrock and Vertex), OpenAI's chat completions and responses, and Gemini's
//     generateContent. Requests to other paths pass unchanged.
//   - In doubt the proxy sends the bytes that the client wrote. This applies to a request that
//     can't be read, that has its history elsewhere, or that is not a conversation. The
//     answer's X-Memkernel header and the log name the reason.
//   - If the kernel has no plan in time (Options.Deadline), the proxy sends the newest plan's
//     messages followed by the new messages, so that the provider's cache is read. The next
//     plan takes this request into account. Without an earlier plan the proxy sends the bytes
//     that the client wrote.
//   - A planned request keeps everything except its conversation byte for byte. In the
//     conversation, every message that is kept in full also stays byte for byte. A request that
//     the plan does not change is sent unchanged.
//   - The answer is never changed, held back or decoded on its way.
//   - The usage in an answer, and the turn that the answer ends, are observed once the answer
//     is complete. An interrupted answer ends no turn.
//   - Upstreams are fixed when the proxy is made. Keys and bodies pass through and are neither
//     kept nor logged.
//
// It decides nothing about prompts. Package kernel decides.
package proxy

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"sync"
	"time"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/transcript"
)

// Planner makes the proxy's plans: a [kernel.Kernel], or a fake one in tests.
type Planner interface {
	PlanContext(context.Context, api.PlanRequest) (*api.ContextPlan, error)
	Peek(context.Context, api.PlanRequest) (*api.ContextPlan, error)
	ObserveTurn(context.Context, api.Turn) (*api.Observation, error)
	ObserveToolResult(context.Context, api.Turn) (*api.Observation, error)
}

var _ Planner = (*kernel.Kernel)(nil)

// defaultDeadline is the default of Options.Deadline. A plan of a long history on a busy
// machine took one second.
const defaultDeadline = 3 * time.Second

// maxBody is the largest request that is taken: 64 MiB.
const maxBody = 64 << 20

// Options make a proxy. The zero value of a field means its default.
type Options struct {
	// Upstream is the API that requests go to, such as https://api.anthropic.com. If the address
	// has a path, it precedes the path of every request.
	Upstream string
	// Upstreams are further upstreams for some of the requests. A longer path has priority over a
	// shorter one. A client's key goes only to the upstream of the path.
	Upstreams []Upstream
	// AllowInsecure allows plain http to an upstream on another machine. AllowRemote allows
	// clients on other machines.
	AllowInsecure, AllowRemote bool
	// AllowOrigins are the origins of web pages and applications whose requests are taken. They
	// have the form of the Origin header, such as http://localhost:3000 or app://obsidian.md.
	AllowOrigins []string
	// Private means that the sessions belong to one person.
	Private bool
	// ContextWindow and Reserve are as in [api.PlanRequest].
	ContextWindow, Reserve int
	// Prices is the price book, with the windows and tokenizers of models. If it is nil, the
	// proxy uses the embedded price book. For a model that the book lacks, the proxy asks the
	// upstream for the window.
	Prices *cachelayout.Book
	// Resolver is the tool by which the model can follow pointers, if the request has it.
	// [MemkernelGet] means a shell tool that runs Command. The proxy adds the session to Command.
	// If Resolver is "", nothing is shown as a pointer.
	Resolver, Command string
	// Deadline is how long a request waits for its plan. After that time the plan is cancelled,
	// and the newest plan's messages are sent, followed by the new messages.
	Deadline time.Duration
	// ProviderCompaction has the provider compact a conversation if a cut is near. The proxy
	// sends a request of its own with the client's path, model and key, and the client pays for
	// the tokens.
	ProviderCompaction bool
	// Billed is called after every call that was answered with a bill, including calls that
	// passed. It must allow calls by several goroutines at once. It may be nil.
	Billed func(Billed)
	// Bill returns the bill of the calls so far, for [Status]. It may be nil.
	Bill func() Bill
	// Watch observes every request that is read as a call of a model. It may be nil.
	Watch Watcher
	// Logger gets a line per planned request. A nil Logger discards the lines.
	Logger *slog.Logger
	// Transport reaches the upstream. Default: [http.Transport] with certificates
	// checked and no limit on how long an answer may take.
	Transport http.RoundTripper
	// Now is the clock. Default: time.Now.
	Now func() time.Time
}

// Proxy is an [http.Handler]. Make it with [New]. [Proxy.Close] waits until all answers are
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
	opt.Logger = cmp.Or(opt.Logger, slog.New(slog.DiscardHandler))
	opt.Deadline = cmp.Or(opt.Deadline, defaultDeadline)
	if opt.Transport == nil {
		// The transport checks certificates, follows no redirect and leaves encodings alone. Only
		// the time for dialling and the handshake is bounded. Answers may take any time.
		t := http.DefaultTransport.(*http.Transport).Clone()
		t.MaxIdleConns, t.MaxIdleConnsPerHost, t.TLSHandshakeTimeout, t.DisableCompression = 0, 64, 15*time.Second, true
		opt.Transport = t
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	x := &Proxy{planner: p, opt: opt, upstreams: u, log: opt.Logger, guard: guard{opt.AllowRemote, opt.AllowOrigins}}
	x.account.open(opt.Now())
	x.windows.asked = map[string]func() int{}
	// The standard library handles hop-by-hop headers, trailers, upgrades and cancelled requests.
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

// Close waits until all answers are observed, or until ctx ends.
func (x *Proxy) Close(ctx context.Context) error {
	if err := x.work.wait(ctx); err != nil {
		return fmt.Errorf("wait for observations: %w", err)
	}
	return nil
}

// releaseIdle is the time without a request after which Tend releases a conversation's data in
// memory.
const releaseIdle = 15 * time.Minute

// Tend frees memory from time to time until ctx ends. It frees the memory of conversations
// without a request for 15 minutes. The next request of such a conversation reads it again.
// [Proxy.Serve] calls Tend. A process that hands requests to a Proxy by itself must run it in a
// goroutine.
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

// forget releases the sessions that had no request for the time idle, and the parsed messages that
// did not occur since the last call of forget.
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

// Serve answers on l until ctx ends. After that it takes no new request. Running requests may end
// and are observed, within the time grace.
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

// jobs counts the work that runs in parallel with the requests. Unlike with a [sync.WaitGroup],
// callers may wait while further jobs begin.
type jobs struct {
	mu   sync.Mutex
	n    int
	idle chan struct{} // closed when n comes down to 0
}

// begin counts a job, which must end with done.
func (j *jobs) begin() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.n++; j.n == 1 {
		j.idle = make(chan struct{})
	}
}

// Go runs f.
func (j *jobs) Go(f func()) {
	j.begin()
	go func() {
		defer j.done()
		f()
	}()
}

func (j *jobs) done() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.n--; j.n == 0 {
		close(j.idle)
	}
}

// wait returns when nothing runs.
func (j *jobs) wait(ctx context.Context) error {
	j.mu.Lock()
	n, idle := j.n, j.idle
	j.mu.Unlock()
	if n == 0 {
		return nil
	}
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// NewRoundTripper makes a proxy for clients of this process. Callers may use only its RoundTrip,
// Tend and Close. It has no upstream, because a request goes where its client sends it. It does not
// read the options that name upstreams or judge other programs' requests.
func NewRoundTripper(p Planner, opt Options) (*Proxy, error) {
	return newProxy(p, opt, &upstreams{})
}

// RoundTrip sends one request of this process, and plans it if it calls a model. It reads and
// closes the body of r and changes nothing else in r. It returns the transport's own errors. The
// caller must read the answer's body to its end or close it.
func (x *Proxy) RoundTrip(r *http.Request) (*http.Response, error) {
	in, e, err := takeBody(r)
	if err != nil {
		return nil, err
	}
	if e == nil {
		x.account.take(&outcome{reason: passPath})
		e = &exchange{lead: ownLead(r.URL)}
		in = e.with(in)
	} else if in = x.settle(in, e, ownLead(r.URL)); in == nil {
		x.answeredAll(e)
		return nil, context.Cause(r.Context())
	}
	out := in.Clone(in.Context())
	x.rewrite(&httputil.ProxyRequest{In: in, Out: out})
	res, err := x.send(out)
	if err == nil {
		err = x.answered(res)
	}
	if err != nil {
		x.unanswered(out, err)
		x.answeredAll(e)
		return nil, err
	}
	if e.watched != nil {
		res.Body = &tee{ReadCloser: res.Body, done: func([]byte, error) { x.answeredAll(e) }}
	}
	res.Request = r
	return res, nil
}

// takeBody reads the body of a request that calls a model. The exchange is nil for other
// requests, and for a body of more than maxBody bytes. Such requests pass unchanged.
func takeBody(r *http.Request) (*http.Request, *exchange, error) {
	e := route(r)
	if e == nil || r.Body == nil {
		return r, nil, nil
	}
	data, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err == nil && len(data) > maxBody {
		whole := r.WithContext(r.Context())
		whole.Body = &joined{io.MultiReader(bytes.NewReader(data), r.Body), r.Body}
		return whole, nil, nil
	}
	r.Body.Close()
	if err != nil {
		return nil, nil, err
	}
	e.data = data
	return r, e, nil
}
