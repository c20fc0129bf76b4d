// Package web serves package serve's servers over HTTP, for bearers of tokens. A request holds one
// message, and its response body holds the answer. The package plans nothing and keeps nothing. Only the token selects the server. One function ([Door.refusal]) decides which calls a
// token may make, by the parsed parameters of a call and never by their spelling.
//
//	request ─► token, tenant's name ─► room ─► body ─► tenant's server ─► rights ─► lanes, kernel
package web

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"mime"
	"net"
	"net/http"
	"runtime"
	"slices"
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

const (
	// bodyRate is how many bytes of a body must arrive a second. writeWait is how long a client may
	// take to read a piece of an answer.
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
	// Ready returns an error if the server can't answer calls now.
	Ready func(context.Context) error
	// PastSessions reports that private sessions may find the conversations of other sessions.
	PastSessions bool
	// Running is how many calls of a tenant work at the same time, and how many bodies of a
	// tenant are parsed at the same time. The other calls and bodies wait, but not for long. The
	// default is half of the processors.
	Running int
	// Quotas are the quotas of each tenant, or of all calls if there are no tenants.
	Quotas Quotas
	// Logger gets a line for every request, without content; nil discards it.
	Logger *slog.Logger
	// bounds are the usual ones if they are nil. Tests set others.
	*bounds
}

// bounds are the bounds of a door.
type bounds struct {
	requests int   // the most requests at one time
	bytes    int64 // the most bytes of all requests' bodies in memory
	maxBody  int64 // the most bytes of one body
	// A body may take bodyWait to arrive, plus the time that it takes at bodyRate.
	bodyWait time.Duration
	// turnWait is how long a call waits for another call of its tenant to end. After that the
	// waiting call may use the tenant's late turn, because a long call must not hold up all other
	// calls.
	turnWait time.Duration
	// refusalWait is how long a refused client waits for its answer. A client that tries again at
	// once would take the processors from other clients.
	refusalWait time.Duration
	now         func() time.Time
}

// usual returns the bounds of a door outside tests.
func usual() *bounds {
	return &bounds{256, 512 << 20, serve.MaxMessage, 10 * time.Second, 5 * time.Second, time.Second / 4, time.Now}
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
	// refilled holds when each quota is full again, by tenant and quota.
	refilled map[[2]string]time.Time
	// named holds when each session was last counted against the quota of sessions, by tenant and
	// session. For a minute after that, the session is not counted again.
	named map[[2]string]time.Time
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

// New makes a door.
func New(o Options) *Door {
	o.bounds = cmp.Or(o.bounds, usual())
	o.Running = cmp.Or(o.Running, max(1, runtime.GOMAXPROCS(0)/2))
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	d := &Door{o: o, rooms: map[string]taken{}, running: map[string]*turns{}, refusals: make(chan struct{}, o.requests),
		refilled: map[[2]string]time.Time{}, named: map[[2]string]time.Time{}, refused: rate.NewLimiter(refusedLog, 100)}
	d.http = &http.Server{Handler: d, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10,
		ErrorLog: slog.NewLogLogger(o.Logger.Handler(), slog.LevelDebug)}
	return d
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
	d      *Door
	w      http.ResponseWriter
	r      *http.Request
	token  *token.Token
	began  time.Time
	method string
	// session is the session of the first call.
	session string
	code    string
	calls   int
	// in is how many bytes of the body have arrived, and held is for how many bytes the request has
	// taken room. It takes room for all bytes that the client announced before it reads any.
	in, held int64
	out      int
	status   int
	// wait is how many seconds a refused client should wait, if that is known.
	wait int
}

// handler answers a request, or returns the error to answer with.
type handler func(*exchange) *serve.Error

// routes are the handlers of each path, by the method of the request.
var routes = map[string]map[string]handler{
	"/rpc":          {http.MethodPost: guarded(rpc)},
	"/openapi.json": {http.MethodGet: fixed(description)},
	"/healthz":      {http.MethodGet: fixed([]byte(`{"status":"ok"}` + "\n"))},
	"/readyz":       {http.MethodGet: ready},
}

// description is the OpenAPI description, which bench/clients makes from the table of methods.
//
//go:embed openapi.json
var description []byte

// ServeHTTP answers a request.
func (d *Door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := r.URL.Path
	named := path // the path for the log, without the parts that a client chose
	if routes[path] == nil {
		named = "other"
	}
	x := &exchange{d: d, w: w, r: r, began: d.o.now(), method: r.Method + " " + named}
	defer x.log()
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	err := serve.NewError("NOT_FOUND", "there is nothing at this path", "calls go to POST /rpc; /openapi.json describes it")
	if methods := routes[path]; methods[r.Method] != nil {
		err = methods[r.Method](x)
	} else if methods != nil {
		allowed := strings.Join(slices.Sorted(maps.Keys(methods)), ", ")
		w.Header().Set("Allow", allowed)
		err = serve.NewError("METHOD", "this path takes "+allowed, "")
	}
	if err != nil {
		x.refuse(err, serve.Refusal(err).JSON)
	}
}

// fixed answers with a body that does not change.
func fixed(body []byte) handler {
	return func(x *exchange) *serve.Error {
		x.json(http.StatusOK, body)
		return nil
	}
}

func ready(x *exchange) *serve.Error {
	if x.d.draining.Load() {
		return serve.ErrStopping()
	}
	if x.d.full() {
		x.wait = retryBusy
		return serve.NewError("NOT_READY", "there is no room for further requests", "wait as long as Retry-After says")
	}
	if err := x.d.o.Ready(x.r.Context()); err != nil {
		return serve.NewError("NOT_READY", err.Error(), "'memkernel doctor' says what is wrong")
	}
	return fixed([]byte(`{"status":"ready"}` + "\n"))(x)
}

// guarded runs next for bearers of valid tokens, while there is room.
func guarded(next handler) handler {
	return func(x *exchange) *serve.Error {
		d := x.d
		if x.r.ContentLength != 0 {
			x.w.Header().Set("Connection", "close") // stays unless the body is read
		}
		if d.draining.Load() {
			return serve.ErrStopping()
		}
		tok, err := d.bearer(x.r)
		if err != nil {
			x.delay()
			return err
		}
		x.token = tok
		if (tok.Tenant != "") != d.o.Tenants {
			return serve.NewError("SCOPE", "the token is not for this server", "a server with --tenants takes tokens with a tenant, any other those without")
		}
		if !d.take(tok, 1, 0) {
			x.delay()
			return errBusy("there are too many requests")
		}
		defer func() {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.add(tok, -1, -x.held)
		}()
		if err := x.spend("calls", d.o.Quotas.Calls, 1); err != nil {
			return err
		}
		return next(x)
	}
}

// delay makes a client that will be refused wait for refusalWait, unless too many clients wait
// already.
func (x *exchange) delay() {
	select {
	case x.d.refusals <- struct{}{}:
	default:
		return
	}
	defer func() { <-x.d.refusals }()
	select {
	case <-time.After(x.d.o.refusalWait):
	case <-x.r.Context().Done():
	}
}

// bearer returns the token of a request. It refuses a request that does not have exactly one
// Authorization header.
func (d *Door) bearer(r *http.Request) (*token.Token, *serve.Error) {
	const hint = "send the header Authorization: Bearer and a token of 'memkernel token create'"
	scheme, secret, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if len(r.Header.Values("Authorization")) != 1 || !strings.EqualFold(scheme, "Bearer") {
		return nil, serve.NewError("TOKEN", "the request has no token", hint)
	}
	tok, err := d.o.Tokens.Find(secret, d.o.now())
	switch {
	case err == nil:
		return tok, nil
	case token.Invalid(err):
		return nil, serve.NewError("TOKEN", err.Error(), hint)
	}
	d.o.Logger.Error("tokens can't be read", "error", err.Error())
	if store.Again(err) {
		return nil, serve.NewError("TRY_AGAIN", "tokens can't be read", "deliver the call again: what keeps them was out of reach")
	}
	return nil, serve.NewError("NOT_READY", "tokens can't be read", "")
}

// shares returns the keys in [Door.rooms] from which a request of a token takes room: the total, its
// tenant's and its own. Each value is the divisor of the door's whole room.
func shares(t *token.Token) map[string]int64 {
	out := map[string]int64{"": 1}
	if t.Tenant != "" {
		out["tenant "+t.Tenant], out["token "+t.ID] = tenantShare, tenantShare*tokenShare
	}
	return out
}

// take takes room for a token's requests and for the bytes of their bodies. It returns false if
// there is not enough room in total, for the tenant or for the token. A request always gets room
// for its body if no other request that shares the room has a body.
func (d *Door) take(t *token.Token, requests int, bytes int64) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for who, part := range shares(t) {
		has := d.rooms[who]
		if has.open+requests > max(min(d.o.requests, leastRequests), d.o.requests/int(part)) || bytes > 0 && has.open > 1 && has.bytes+bytes > d.o.bytes/part {
			return false
		}
	}
	d.add(t, requests, bytes)
	return true
}

// add adds to the room that is taken. Callers must hold d.mu.
func (d *Door) add(t *token.Token, requests int, bytes int64) {
	for who := range shares(t) {
		has := d.rooms[who]
		has.open += requests
		has.bytes += bytes
		d.rooms[who] = has
		if has == (taken{}) {
			delete(d.rooms, who)
		}
	}
}

// turns returns the [serve.Caller.Turn] of a token's calls. Without tenants no call waits.
func (d *Door) turns(t *token.Token) func(context.Context) func() {
	if t.Tenant == "" {
		return func(context.Context) func() { return func() {} }
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

// othersCall records a call of tenant. It reports whether another tenant has made a call within the
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
	return d.rooms[""].open >= d.o.requests || d.rooms[""].bytes >= d.o.bytes
}

// rpc answers a request with a message.
func rpc(x *exchange) *serve.Error {
	m, err := x.body(x.d.o.maxBody)
	if err != nil {
		return err
	}
	events := &eventStream{x: x, over: !wantsEvents(x.r)}
	reply, err := x.call(m, events.tell)
	if err != nil {
		return err
	}
	x.method = cmp.Or(reply.Method, "unknown")
	switch {
	case events.end(reply):
	case reply.Error != nil:
		x.refuse(reply.Error, reply.JSON)
	case reply.JSON == nil:
		x.status = http.StatusNoContent
		x.w.WriteHeader(x.status)
	default:
		x.json(http.StatusOK, reply.JSON)
	}
	return nil
}

// call passes a message to the server of the token's tenant. Callers must have read the body first.
// A slow body would keep the tenant open, and so keep another tenant from being opened.
func (x *exchange) call(m []byte, notify func(serve.Reply)) (serve.Reply, *serve.Error) {
	s, done, err := x.d.o.Server(x.r.Context(), x.token.Tenant)
	if refused, ok := errors.AsType[*serve.Error](err); ok {
		return serve.Reply{}, refused
	}
	if err != nil {
		x.d.o.Logger.Error("tenant can't be opened", "tenant", x.token.Tenant, "error", err.Error())
		return serve.Reply{}, serve.NewError("NOT_READY", "what the token is for can't be opened", "")
	}
	defer done()
	reply := s.Answer(x.r.Context(), m, serve.Caller{Name: x.token.ID, May: x.asks(), Notify: notify, Turn: x.d.turns(x.token)})
	if reply.Method != "" {
		x.calls++
	}
	x.session = cmp.Or(x.session, reply.Session)
	return reply, nil
}

// body reads a body of at most most bytes, once and to its end.
func (x *exchange) body(most int64) ([]byte, *serve.Error) {
	d := x.d
	kind, params, err := mime.ParseMediaType(x.r.Header.Get("Content-Type"))
	if charset := cmp.Or(params["charset"], "utf-8"); err != nil || kind != "application/json" || !strings.EqualFold(charset, "utf-8") {
		return nil, serve.NewError("MEDIA_TYPE", "the body is not application/json in UTF-8", "send Content-Type: application/json")
	}
	if e := x.r.Header.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		return nil, serve.NewError("MEDIA_TYPE", "the body is encoded, and none is taken so", "send it as it is")
	}
	size := max(x.r.ContentLength, 0)
	if size > most {
		return nil, serve.ErrTooLong(int(most))
	}
	if err := x.spend("bytes", d.o.Quotas.Bytes, size); err != nil {
		return nil, err
	}
	if !d.take(x.token, 0, size) {
		x.delay()
		return nil, errBusy("there are too many large requests")
	}
	x.held = size
	var data bytes.Buffer
	data.Grow(int(size) + 32<<10) // for a body without a length, the first read takes 32 KiB
	_, err = data.ReadFrom(&incoming{x, most, time.Now()})
	if refused, ok := errors.AsType[*serve.Error](err); ok {
		return nil, refused
	}
	if err != nil {
		return nil, serve.NewError("INVALID_REQUEST", "the body ended too soon, or took too long", "deliver it again")
	}
	_ = http.NewResponseController(x.w).SetReadDeadline(time.Time{})
	x.w.Header().Del("Connection")
	return data.Bytes(), nil
}

func errBusy(message string) *serve.Error {
	return serve.NewError("BUSY", message, "wait as long as Retry-After says, and deliver it again")
}

// incoming is a body that is being received. Reading fails with a [serve.Error] if the body is
// larger than allowed or larger than the free room.
type incoming struct {
	x     *exchange
	most  int64
	began time.Time
}

func (in *incoming) Read(p []byte) (int, error) {
	x, d := in.x, in.x.d
	// Each arriving byte extends the deadline by 1/bodyRate of a second.
	by := in.began.Add(d.o.bodyWait + time.Duration(x.in)*time.Second/bodyRate)
	_ = http.NewResponseController(x.w).SetReadDeadline(by) // if this fails, the read fails too
	n, err := x.r.Body.Read(p)
	x.in += int64(n)
	if x.in > in.most {
		return 0, serve.ErrTooLong(int(in.most))
	}
	if more := x.in - x.held; more > 0 {
		if !d.take(x.token, 0, more) {
			return 0, errBusy("there are too many large requests")
		}
		x.held = x.in
	}
	if x.r.ContentLength < 0 {
		if err := x.spend("bytes", d.o.Quotas.Bytes, int64(n)); err != nil {
			return 0, err
		}
	}
	return n, err
}

// statuses holds the HTTP status of each refusal. All other errors of a call are sent as ordinary
// answers.
var statuses = map[string]int{
	"NOT_JSON": http.StatusBadRequest, "INVALID_REQUEST": http.StatusBadRequest, "TOKEN": http.StatusUnauthorized, "SCOPE": http.StatusForbidden,
	"NOT_FOUND": http.StatusNotFound, "METHOD": http.StatusMethodNotAllowed, "MEDIA_TYPE": http.StatusUnsupportedMediaType,
	"LINE_TOO_LONG": http.StatusRequestEntityTooLarge, "BUSY": http.StatusTooManyRequests, "STOPPING": http.StatusServiceUnavailable,
	"TRY_AGAIN": http.StatusServiceUnavailable, "NOT_READY": http.StatusServiceUnavailable,
}

// refuse answers with an error. body is the whole body of the answer.
func (x *exchange) refuse(err *serve.Error, body []byte) {
	x.code = err.Data.Code
	status := cmp.Or(statuses[x.code], http.StatusOK)
	h := x.w.Header()
	switch status {
	case http.StatusUnauthorized:
		h.Set("WWW-Authenticate", `Bearer realm="memkernel"`)
	case http.StatusTooManyRequests:
		h.Set("Retry-After", strconv.Itoa(max(retryBusy, x.wait)))
	case http.StatusServiceUnavailable:
		h.Set("Retry-After", strconv.Itoa(cmp.Or(x.wait, retryStopping)))
		h.Set("Connection", "close")
	}
	x.json(status, body)
}

func (x *exchange) json(status int, body []byte) {
	x.head(status, "application/json; charset=utf-8", len(body))
	_, _ = x.Write(body) // a failure means that the client has gone
}

// head begins an answer. A size of -1 means that the size is unknown.
func (x *exchange) head(status int, kind string, size int) {
	h := x.w.Header()
	h.Set("Content-Type", kind)
	if size >= 0 {
		h.Set("Content-Length", strconv.Itoa(size))
	}
	x.status = status
	x.w.WriteHeader(status)
}

// Write writes a part of an answer. A slow client gets the whole answer as long as it keeps
// reading: each 64 KiB have writeWait.
func (x *exchange) Write(p []byte) (written int, err error) {
	for n := 0; written < len(p) && err == nil; written += n {
		_ = http.NewResponseController(x.w).SetWriteDeadline(time.Now().Add(writeWait)) // if this fails, the write fails too
		n, err = x.w.Write(p[written:min(len(p), written+64<<10)])
		x.out += n
	}
	return written, err
}

// log writes a line about a request. The line has no text of the request or of the answer.
func (x *exchange) log() {
	if x.status == http.StatusUnauthorized && !x.d.refused.Allow() {
		return
	}
	level := slog.LevelInfo
	if x.method == "GET /healthz" || x.method == "GET /readyz" {
		level = slog.LevelDebug
	}
	t := cmp.Or(x.token, &token.Token{})
	session := x.session
	if session != "" { // a hash distinguishes sessions without naming them
		sum := sha256.Sum256([]byte(t.Tenant + "\x00" + session))
		session = hex.EncodeToString(sum[:6])
	}
	x.d.o.Logger.Log(context.Background(), level, "call", "method", x.method, "calls", x.calls, "tenant", t.Tenant, "token", t.ID, "name", t.Note, "address", x.r.RemoteAddr, "session", session,
		"status", x.status, "code", x.code, "ms", x.d.o.now().Sub(x.began).Milliseconds(), "bytes_in", x.in, "bytes_out", x.out)
}
