// Package web serves package serve's servers over HTTP, for bearers of tokens. A request holds
// one message or a batch, and its response body holds the answer. The package plans nothing and
// keeps nothing. Only the token selects the server. One function ([Door.may]) decides which calls
// a token may make, by the parsed parameters of a call and never by their spelling.
//
//	request ─► token, tenant's name ─► room ─► body ─► tenant's server ─► rights ─► lanes, kernel
package web

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/serve"
	"github.com/memkernel/memkernel/service/token"
)

// The default bounds of a door.
const (
	defaultRequests = 256
	defaultBytes    = 512 << 20 // 512 MiB
	// turnWait is how long a call waits for another call of its tenant to end. After that the
	// waiting call may use the tenant's late turn, because a long call must not hold up all other
	// calls.
	turnWait = 5 * time.Second
	// refusalWait is how long a refused client waits for its answer. A client that tries again at
	// once would take the processors from other clients.
	refusalWait = time.Second / 4
	// A body may take bodyWait to arrive, plus the time that it takes at bodyRate bytes a second.
	// writeWait is how long a client may take to read a piece of an answer.
	bodyWait  = 10 * time.Second
	bodyRate  = 16 << 10
	writeWait = 30 * time.Second
	// A tenant gets at most a tenantShare-th part of the room, and each of its tokens at most a
	// tokenShare-th part of the tenant's room. Each tenant and token gets at least leastRequests.
	// So one tenant or token can't keep the others out.
	tenantShare, tokenShare = 4, 2
	leastRequests           = 4
	// refusedLog is how many refused tokens are logged a second, after a burst of a hundred.
	refusedLog = 1
	// retryBusy and retryStopping are how many seconds a client should wait, when the server is
	// busy and when it is stopping.
	retryBusy     = 1
	retryStopping = 2
)

// Options are the options of a door.
type Options struct {
	// Tokens holds the accepted tokens.
	Tokens *token.Tokens
	// Tenants reports whether each token must name a tenant. If Tenants is false, no token may
	// name a tenant.
	Tenants bool
	// Server opens the server of a tenant, "" for the only one. It also returns the function
	// that releases it.
	Server func(ctx context.Context, tenant string) (*serve.Server, func(), error)
	// Ready returns an error if calls could not be answered.
	Ready func(context.Context) error
	// PastSessions reports that private sessions may find the conversations of other sessions.
	PastSessions bool
	// Requests bounds the requests at one time. The default is 256.
	Requests int
	// Bytes bounds the memory for the requests' bodies, and MaxBody one body. The defaults are
	// 512 MiB and [serve.MaxMessage].
	Bytes, MaxBody int64
	// Running is how many calls of a tenant work at the same time, and how many bodies of a
	// tenant are parsed at the same time. The other calls and bodies wait, but not for long. The
	// default is half of the processors.
	Running int
	// Quotas are the quotas of each tenant, or of all calls if there are no tenants.
	Quotas Quotas
	// Logger gets a line for every request, without content; nil discards it.
	Logger *slog.Logger
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// bodyWait, turnWait and refusalWait are the constants of these names. Tests set other
	// values.
	bodyWait, turnWait, refusalWait time.Duration
}

// Door answers requests. It is safe for concurrent use.
type Door struct {
	o        Options
	http     *http.Server
	draining atomic.Bool

	mu sync.Mutex
	// rooms holds the room that is taken: in total, by each tenant, and by each token of a
	// tenant.
	rooms map[string]taken
	// running holds the turns of each tenant that was called. It keeps the turns of all tenants
	// because calls may outlive their requests.
	running map[string]*turns
	// newest holds the newest calls of two tenants.
	newest [2]struct {
		tenant string
		at     time.Time
	}
	// refusals has a place for each refused client that waits for its answer.
	refusals chan struct{}
	// spent is how much of its quotas each tenant has used.
	spent map[string]*spending
	// refused bounds the log lines about refused tokens.
	refused *rate.Limiter
}

// turns has a place for each call of a tenant that may work at the same time.
type turns struct {
	now chan struct{}
	// waiting counts the calls that wait for a place.
	waiting atomic.Int64
	// late has one place, for a call that has waited for turnWait.
	late chan struct{}
}

// taken is room for requests and for the bytes of their bodies.
type taken struct {
	open  int
	bytes int64
}

// shares returns whose room a request of a token takes: everybody's, its tenant's and its own.
// The value is the divisor of the door's room for each of them.
func shares(t *token.Token) map[string]int64 {
	out := map[string]int64{"": 1}
	if t.Tenant != "" {
		out["tenant "+t.Tenant], out["token "+t.ID] = tenantShare, tenantShare*tokenShare
	}
	return out
}

// New makes a door.
func New(o Options) *Door {
	if o.Requests <= 0 {
		o.Requests = defaultRequests
	}
	if o.Bytes <= 0 {
		o.Bytes = defaultBytes
	}
	if o.Running <= 0 {
		o.Running = max(1, runtime.GOMAXPROCS(0)/2)
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	o.bodyWait, o.turnWait, o.refusalWait, o.MaxBody = cmp.Or(o.bodyWait, bodyWait), cmp.Or(o.turnWait, turnWait), cmp.Or(o.refusalWait, refusalWait), cmp.Or(o.MaxBody, serve.MaxMessage)
	d := &Door{o: o, rooms: map[string]taken{}, running: map[string]*turns{}, refusals: make(chan struct{}, o.Requests), spent: map[string]*spending{}, refused: rate.NewLimiter(refusedLog, 100)}
	d.http = &http.Server{Handler: d, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10,
		ErrorLog: slog.NewLogLogger(o.Logger.Handler(), slog.LevelDebug)}
	return d
}

// Listen listens at an address. If cert and key name a certificate and its key, both in PEM, it
// listens for TLS.
func Listen(address, cert, key string) (net.Listener, error) {
	var conf *tls.Config
	if cert != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return nil, fmt.Errorf("read certificate %s and key %s: %w", cert, key, err)
		}
		conf = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}}
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", address, err)
	}
	if conf != nil {
		l = tls.NewListener(l, conf)
	}
	return l, nil
}

// Serve answers the connections of a listener until Close is called.
func (d *Door) Serve(l net.Listener) error {
	if err := d.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve %s: %w", l.Addr(), err)
	}
	return nil
}

// Drain refuses requests from now on. Requests that were accepted before continue.
func (d *Door) Drain() { d.draining.Store(true) }

// Close stops listening, and waits until the answers in progress or ctx have ended.
func (d *Door) Close(ctx context.Context) error {
	d.Drain()
	if err := d.http.Shutdown(ctx); err != nil {
		return errors.Join(err, d.http.Close())
	}
	return nil
}

// exchange is a request in progress, with the values for its log line.
type exchange struct {
	w      http.ResponseWriter
	r      *http.Request
	token  *token.Token
	began  time.Time
	method string
	// session is the session of the first call.
	session string
	code    string
	calls   int
	in, out int
	status  int
	// wait is how many seconds a client over its quota should wait.
	wait int
	// detail reports that errors have the form that mem0's clients read.
	detail bool
}

// ServeHTTP answers a request.
func (d *Door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &exchange{w: w, r: r, began: d.o.Now(), method: r.Method + " " + pathOf(r.URL.Path)}
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	defer d.log(x)
	handlers, known := d.routes(r.URL.Path)
	if !known {
		x.refuse(http.StatusNotFound, "NOT_FOUND", "there is nothing at this path", "calls go to POST /rpc; /openapi.json describes it")
		return
	}
	handle, ok := handlers[r.Method]
	if !ok {
		var allowed []string
		for _, m := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete} {
			if handlers[m] != nil {
				allowed = append(allowed, m)
			}
		}
		h.Set("Allow", strings.Join(allowed, ", "))
		x.refuse(http.StatusMethodNotAllowed, "METHOD", "this path takes "+strings.Join(allowed, ", "), "")
		return
	}
	handle(x)
}

type handler func(*exchange)

// routes returns the methods of a path and their handlers. It returns false for an unknown path.
func (d *Door) routes(path string) (map[string]handler, bool) {
	switch path {
	case "/rpc":
		return map[string]handler{http.MethodPost: d.guarded(d.rpc)}, true
	case "/openapi.json":
		return map[string]handler{http.MethodGet: openAPI}, true
	case "/healthz":
		return map[string]handler{http.MethodGet: func(x *exchange) { x.json(http.StatusOK, []byte(`{"status":"ok"}`+"\n")) }}, true
	case "/readyz":
		return map[string]handler{http.MethodGet: d.ready}, true
	}
	return d.mem0Route(path)
}

// pathOf returns a path for the log. An unknown path is replaced, because it may hold anything.
func pathOf(path string) string {
	switch path {
	case "/rpc", "/openapi.json", "/healthz", "/readyz":
		return path
	}
	if isMem0(path) {
		return "mem0"
	}
	return "other"
}

func (d *Door) ready(x *exchange) {
	if d.draining.Load() {
		x.fail(serve.ErrStopping())
		return
	}
	if d.full() {
		x.retry(retryBusy)
		x.refuse(http.StatusServiceUnavailable, "NOT_READY", "there is no room for further requests", "wait as long as Retry-After says")
		return
	}
	if err := d.o.Ready(x.r.Context()); err != nil {
		x.retry(retryStopping)
		x.refuse(http.StatusServiceUnavailable, "NOT_READY", err.Error(), "'memkernel doctor' says what is wrong")
		return
	}
	x.json(http.StatusOK, []byte(`{"status":"ready"}`+"\n"))
}

// guarded runs next for bearers of valid tokens, while there is room.
func (d *Door) guarded(next handler) handler {
	return func(x *exchange) {
		if d.draining.Load() {
			x.fail(serve.ErrStopping())
			return
		}
		var err error
		if x.token, err = d.bearer(x.r); err != nil {
			d.delay(x)
			d.unknown(x, err)
			return
		}
		if (x.token.Tenant != "") != d.o.Tenants {
			x.w.Header().Set("Connection", "close") // its body is not read
			x.fail(serve.ErrScope("the token is not for this server", "a server with --tenants takes tokens with a tenant, any other those without"))
			return
		}
		if !d.take(x.token, 1, 0) {
			d.delay(x)
			x.fail(serve.ErrBusy("there are too many requests", "wait as long as Retry-After says, and deliver it again"))
			return
		}
		defer d.give(x.token, 1, 0)
		if err := d.spend(x, 1, 0, ""); err != nil {
			x.w.Header().Set("Connection", "close") // its body is not read
			x.fail(err)
			return
		}
		next(x)
	}
}

// delay makes a client that will be refused wait for refusalWait, unless too many clients wait
// already.
func (d *Door) delay(x *exchange) {
	select {
	case d.refusals <- struct{}{}:
	default:
		return
	}
	defer func() { <-d.refusals }()
	select {
	case <-time.After(d.o.refusalWait):
	case <-x.r.Context().Done():
	}
}

// errNoToken reports a request without a token, or with more than one.
var errNoToken = errors.New("the request has no token")

// bearer finds the token of a request, only by its one Authorization header.
func (d *Door) bearer(r *http.Request) (*token.Token, error) {
	said := r.Header.Values("Authorization")
	if len(said) != 1 {
		return nil, errNoToken
	}
	scheme, secret, ok := strings.Cut(said[0], " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") && !(strings.EqualFold(scheme, "Token") && isMem0(r.URL.Path)) {
		return nil, errNoToken
	}
	return d.o.Tokens.Find(secret, d.o.Now())
}

func (d *Door) unknown(x *exchange, err error) {
	for _, known := range []error{errNoToken, token.ErrUnknown, token.ErrRevoked, token.ErrExpired} {
		if errors.Is(err, known) {
			x.w.Header().Set("WWW-Authenticate", `Bearer realm="memkernel"`)
			x.w.Header().Set("Connection", "close") // its body is not read
			x.fail(serve.ErrToken(known.Error(), "send the header Authorization: Bearer and a token of 'memkernel token create'"))
			return
		}
	}
	d.o.Logger.Error("tokens can't be read", "error", err.Error())
	x.retry(retryStopping)
	if store.Again(err) {
		x.refuse(http.StatusServiceUnavailable, "TRY_AGAIN", "tokens can't be read", "deliver the call again: what keeps them was out of reach")
		return
	}
	x.refuse(http.StatusServiceUnavailable, "NOT_READY", "tokens can't be read", "")
}

// take takes room for a token's requests and for the bytes of their bodies. It returns false if
// there is not enough room in total, for the tenant or for the token. A request always gets room
// for its body if no other request that shares the room has a body.
func (d *Door) take(t *token.Token, requests int, bytes int64) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	of := shares(t)
	for who, part := range of {
		has := d.rooms[who]
		if has.open+requests > max(min(d.o.Requests, leastRequests), d.o.Requests/int(part)) || bytes > 0 && has.open > 1 && has.bytes+bytes > d.o.Bytes/part {
			return false
		}
	}
	for who := range of {
		has := d.rooms[who]
		d.rooms[who] = taken{has.open + requests, has.bytes + bytes}
	}
	return true
}

// give returns the room that take took.
func (d *Door) give(t *token.Token, requests int, bytes int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for who := range shares(t) {
		has := d.rooms[who]
		if has = (taken{has.open - requests, has.bytes - bytes}); has == (taken{}) {
			delete(d.rooms, who)
		} else {
			d.rooms[who] = has
		}
	}
}

// turns returns the [serve.Caller.Turn] of a token's calls, nil without tenants.
func (d *Door) turns(t *token.Token) func(context.Context) func() {
	if t.Tenant == "" {
		return nil
	}
	d.mu.Lock()
	of := d.running[t.Tenant]
	if of == nil {
		of = &turns{now: make(chan struct{}, d.o.Running), late: make(chan struct{}, 1)}
		d.running[t.Tenant] = of
	}
	d.mu.Unlock()
	return func(ctx context.Context) func() {
		patience := time.NewTimer(d.o.turnWait)
		defer patience.Stop()
		of.waiting.Add(1)
		defer of.waiting.Add(-1)
		var late chan struct{} // nil, and so never ready, until turnWait has passed
		for {
			select {
			case of.now <- struct{}{}:
				began := time.Now()
				return func() {
					if !d.othersCall(t.Tenant) || of.waiting.Load() == 0 {
						<-of.now
						return
					}
					// The tenant's waiting calls wait as long again as this call took, so that
					// other tenants can use the machine. A tenant that makes one call after the
					// other does not keep the machine busy.
					time.AfterFunc(min(time.Since(began), time.Second), func() { <-of.now })
				}
			case late <- struct{}{}:
				// A second long call must not hold up the other calls either.
				free := sync.OnceFunc(func() { <-of.late })
				time.AfterFunc(d.o.turnWait, free)
				return free
			case <-patience.C:
				late = of.late
			case <-ctx.Done():
				return nil
			}
		}
	}
}

// othersCall records a call of a tenant, and reports whether another tenant has called within the
// last second.
func (d *Door) othersCall(tenant string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	if d.newest[0].tenant != tenant {
		d.newest[1] = d.newest[0]
	}
	d.newest[0].tenant, d.newest[0].at = tenant, now
	return now.Sub(d.newest[1].at) < time.Second
}

// full reports whether there is no room for any request.
func (d *Door) full() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.rooms[""].open >= d.o.Requests || d.rooms[""].bytes >= d.o.Bytes
}

// rpc answers a request with a message or a batch.
func (d *Door) rpc(x *exchange) {
	var m *serve.Message
	free, ok := d.body(x, func(r io.Reader) (err error) {
		m, err = serve.ReadMessage(r, x.r.ContentLength)
		return err
	})
	if !ok {
		return
	}
	defer free()
	s, done, ok := d.server(x)
	if !ok {
		return
	}
	defer done()
	who := serve.Caller{Name: x.token.ID, May: d.asks(x), Turn: d.turns(x.token)}
	var events *eventStream
	if wantsEvents(x.r) {
		events = &eventStream{x: x}
		who.Notify = events.tell
	}
	reply := s.Answer(x.r.Context(), m, who)
	x.took(reply)
	if events == nil || !events.end(reply) {
		x.answer(reply)
	}
}

// answer writes the answer to a message.
func (x *exchange) answer(reply serve.Reply) {
	switch {
	case reply.Error != nil:
		x.failWith(reply.Error, reply.JSON())
	case reply.Empty():
		x.status = http.StatusNoContent
		x.w.WriteHeader(x.status)
	default:
		x.head(http.StatusOK, "application/json; charset=utf-8", reply.Size())
		_, _ = reply.WriteTo(x) // the client has gone
	}
}

// took keeps the values of an answered call for the log line.
func (x *exchange) took(r serve.Reply) {
	x.calls, x.session = len(r.Methods), r.Session
	switch len(r.Methods) {
	case 0:
	case 1:
		x.method = r.Methods[0]
	default:
		x.method = "batch"
	}
	if !serve.IsMethod(x.method) && x.method != "batch" {
		x.method = "unknown"
	}
}

// server opens the server of the token's tenant. Callers must have read the body first. A slow
// body would keep the tenant open, and so keep another tenant from being opened.
func (d *Door) server(x *exchange) (*serve.Server, func(), bool) {
	s, done, err := d.o.Server(x.r.Context(), x.token.Tenant)
	var refused *serve.Error
	switch {
	case errors.As(err, &refused):
		x.fail(refused)
	case err != nil:
		d.o.Logger.Error("tenant can't be opened", "tenant", x.token.Tenant, "error", err.Error())
		x.retry(retryStopping)
		x.refuse(http.StatusServiceUnavailable, "NOT_READY", "what the token is for can't be opened", "")
	}
	return s, done, err == nil
}

// body reads a body, once and to its end. Callers must call free to return the room that the body
// takes. If ok is false, the body was refused.
func (d *Door) body(x *exchange, read func(io.Reader) error) (free func(), ok bool) {
	x.w.Header().Set("Connection", "close") // as long as a part of the body was not read
	kind, params, err := mime.ParseMediaType(x.r.Header.Get("Content-Type"))
	if charset := params["charset"]; err != nil || kind != "application/json" || charset != "" && !strings.EqualFold(charset, "utf-8") {
		x.refuse(http.StatusUnsupportedMediaType, "MEDIA_TYPE", "the body is not application/json in UTF-8", "send Content-Type: application/json")
		return nil, false
	}
	if e := x.r.Header.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		x.refuse(http.StatusUnsupportedMediaType, "MEDIA_TYPE", "the body is encoded, and none is taken so", "send it as it is")
		return nil, false
	}
	in := &incoming{x: x, d: d, size: x.r.ContentLength, began: time.Now(), turn: d.turns(x.token)}
	if in.size > d.o.MaxBody {
		x.fail(serve.ErrTooLong(int(d.o.MaxBody)))
		return nil, false
	}
	if err := d.spend(x, 0, max(in.size, 0), ""); err != nil {
		x.fail(err)
		return nil, false
	}
	if in.size > 0 && !d.take(x.token, 0, in.size) {
		d.delay(x)
		x.fail(errNoRoom())
		return nil, false
	}
	in.held = max(in.size, 0)
	give := func() { d.give(x.token, 0, in.held) }
	defer func() {
		if !ok { // the reading failed or panicked
			give()
		}
	}()
	err = func() error {
		defer in.done()
		return read(in)
	}()
	x.in = int(in.came)
	if err != nil {
		var why *serve.Error
		if errors.As(err, &why) {
			x.fail(why)
		} else {
			x.refuse(http.StatusBadRequest, "INVALID_REQUEST", "the body ended too soon, or took too long", "deliver it again")
		}
		return nil, false
	}
	_ = http.NewResponseController(x.w).SetReadDeadline(time.Time{})
	x.w.Header().Del("Connection")
	return give, true
}

func errNoRoom() *serve.Error {
	return serve.ErrBusy("there are too many large requests", "wait as long as Retry-After says, and deliver it again")
}

// incoming is a body that is being received. Reading fails with a [serve.Error] if the body is
// larger than allowed or larger than the free room.
type incoming struct {
	x *exchange
	d *Door
	// size is the announced number of bytes, -1 if none was announced. came is how many bytes have
	// arrived. held is the number of bytes that have room: from the beginning all announced ones.
	size, came, held int64
	began            time.Time
	// turn takes a turn of the tenant. The body holds the turn, which end returns, while a
	// received piece is parsed, and not while the next piece is awaited.
	turn func(context.Context) func()
	end  func()
}

// done returns the turn.
func (in *incoming) done() {
	if in.end != nil {
		in.end()
		in.end = nil
	}
}

func (in *incoming) Read(p []byte) (int, error) {
	// Arriving bytes extend the deadline, but too few bytes do not extend it enough.
	by := in.began.Add(in.d.o.bodyWait + time.Duration(in.came)*time.Second/bodyRate)
	_ = http.NewResponseController(in.x.w).SetReadDeadline(by) // if this fails, the read fails too
	in.done()
	n, err := in.x.r.Body.Read(p)
	if in.turn != nil {
		if in.end = in.turn(in.x.r.Context()); in.end == nil {
			return 0, in.x.r.Context().Err()
		}
	}
	switch in.came += int64(n); {
	case in.came > in.d.o.MaxBody:
		return 0, serve.ErrTooLong(int(in.d.o.MaxBody))
	case in.came > in.held && !in.d.take(in.x.token, 0, in.came-in.held):
		return 0, errNoRoom()
	}
	in.held = max(in.held, in.came)
	if in.size < 0 {
		if err := in.d.spend(in.x, 0, int64(n), ""); err != nil {
			return 0, err
		}
	}
	if err == io.EOF && in.came < in.size {
		return n, io.ErrUnexpectedEOF
	}
	return n, err
}

// statuses holds the HTTP status of each refusal. All other errors of a call are sent as ordinary
// answers.
var statuses = map[string]int{
	"NOT_JSON": http.StatusBadRequest, "INVALID_REQUEST": http.StatusBadRequest, "TOKEN": http.StatusUnauthorized, "SCOPE": http.StatusForbidden,
	"LINE_TOO_LONG": http.StatusRequestEntityTooLarge, "BUSY": http.StatusTooManyRequests, "STOPPING": http.StatusServiceUnavailable,
	"TRY_AGAIN": http.StatusServiceUnavailable,
}

// fail answers with an error of the protocol.
func (x *exchange) fail(err *serve.Error) { x.failWith(err, x.said(err)) }

// said returns the body for an error.
func (x *exchange) said(err *serve.Error) []byte {
	if x.detail {
		return detailed(err)
	}
	return serve.Refusal(err).JSON()
}

func (x *exchange) failWith(err *serve.Error, body []byte) {
	x.code = err.Data.Code
	status, ok := statuses[x.code]
	if !ok {
		status = http.StatusOK
	}
	switch status {
	case http.StatusTooManyRequests:
		x.retry(max(retryBusy, x.wait))
	case http.StatusServiceUnavailable:
		x.retry(retryStopping)
		x.w.Header().Set("Connection", "close")
	}
	x.json(status, body)
}

// refuse answers with an error that only HTTP requests can get.
func (x *exchange) refuse(status int, code, message, hint string) {
	x.code = code
	x.json(status, x.said(serve.ErrRequest(code, message, hint)))
}

func (x *exchange) retry(seconds int) { x.w.Header().Set("Retry-After", strconv.Itoa(seconds)) }

func (x *exchange) json(status int, body []byte) {
	x.head(status, "application/json; charset=utf-8", len(body))
	_, _ = x.Write(body) // the client has gone
}

// head begins an answer. A size of -1 means that the size is unknown.
func (x *exchange) head(status int, kind string, size int) {
	h := x.w.Header()
	h.Set("Content-Type", kind)
	if size >= 0 {
		h.Set("Content-Length", strconv.Itoa(size))
	}
	x.status = status
	x.patience()
	x.w.WriteHeader(status)
}

// patience gives the reader of the answer the time for one more piece.
func (x *exchange) patience() {
	_ = http.NewResponseController(x.w).SetWriteDeadline(time.Now().Add(writeWait)) // if this fails, the write fails too
}

// Write writes a piece of an answer. A slow client gets the whole answer as long as it keeps
// reading.
func (x *exchange) Write(p []byte) (int, error) {
	x.patience()
	n, err := x.w.Write(p)
	x.out += n
	return n, err
}

// log writes a line about a request, without any of its texts.
func (d *Door) log(x *exchange) {
	tenant, id, name := "", "", ""
	if x.token != nil {
		tenant, id, name = x.token.Tenant, x.token.ID, x.token.Note
	} else if x.status == http.StatusUnauthorized && !d.refused.Allow() {
		return
	}
	level := slog.LevelInfo
	if x.method == "GET /healthz" || x.method == "GET /readyz" {
		level = slog.LevelDebug
	}
	d.o.Logger.Log(context.Background(), level, "call", "method", x.method, "calls", x.calls, "tenant", tenant, "token", id, "name", name, "address", x.r.RemoteAddr, "session", hashOf(tenant, x.session),
		"status", x.status, "code", x.code, "ms", d.o.Now().Sub(x.began).Milliseconds(), "bytes_in", x.in, "bytes_out", x.out)
}

// hashOf tells sessions apart in a log without naming them.
func hashOf(tenant, session string) string {
	if session == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(tenant + "\x00" + session))
	return hex.EncodeToString(sum[:6])
}
