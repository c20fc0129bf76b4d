package proxy

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/transcript"
)

// Watcher observes the requests that are read as calls of a model. It must allow calls by several
// goroutines at once, must be quick, and must change nothing.
type Watcher interface {
	// Begin is called when a request has been read. The proxy and the kernel use the context that
	// Begin returns for all work on the request.
	Begin(*http.Request) context.Context
	// End is called once for each request, with the context that Begin returned, after the
	// request was answered and its bill was read.
	End(context.Context, *Call)
}

// Call describes a request and its answer, without their content.
type Call struct {
	API   transcript.Format
	Model string // "" if the request was not read
	// Count reports whether the request only counts tokens. Stream reports whether it requests a
	// streamed answer.
	Count, Stream bool
	// Outcome names the body that was sent: planned, extended or passed, or none if nothing was
	// sent. Reason is the reason why it was not a plan.
	Outcome, Reason string
	// Host is the host of the upstream, with the port if the address has one.
	Host string
	// Status is the status of the answer, 0 if no answer came.
	Status int
	// Failure is the reason why no answer came or why the answer is incomplete. It is "" for a
	// complete answer.
	Failure string
	Began   time.Time
	// FirstByte is the time from the whole request to the first byte of the answer, 0 if no
	// answer came. Took is the time to the last byte.
	FirstByte, Took time.Duration
	// Usage is the bill, nil if there was no bill.
	Usage *memkernel.Usage
}

// Operation returns the name of the call's operation in OpenTelemetry's conventions.
func (c *Call) Operation() string {
	if c.Count {
		return "count_tokens"
	}
	return "chat"
}

// Provider returns OpenTelemetry's name for the provider that defined the call's API. Another
// provider may answer the call.
func (c *Call) Provider() string {
	if c.API == transcript.FormatAnthropic {
		return "anthropic"
	}
	return "openai"
}

// Failed returns where the call failed and the code of the failure. Both are "" if the call did
// not fail.
func (c *Call) Failed() (where, code string) {
	switch {
	case c.Failure == failGone:
		return "client", c.Failure
	case c.Failure != "":
		return "upstream", strings.ReplaceAll(c.Failure, " ", "_")
	case c.Status >= http.StatusBadRequest:
		return "upstream", strconv.Itoa(c.Status)
	}
	return "", ""
}

// watched is the state of an exchange for Options.Watch.
type watched struct {
	ctx     context.Context
	began   time.Time
	first   atomic.Int64 // since began, in nanoseconds
	took    time.Duration
	status  int
	failure string
	usage   *memkernel.Usage
	// left counts the parts that still work on the exchange. The last part reports the end of the
	// exchange.
	left atomic.Int32
}

// begin reports a request to Options.Watch, and returns it with the context of its work.
func (x *Proxy) begin(r *http.Request, e *exchange) *http.Request {
	if x.opt.Watch == nil {
		return r
	}
	e.watched = &watched{ctx: x.opt.Watch.Begin(r), began: time.Now()}
	e.watched.left.Store(1)
	x.work.begin() // so that Close waits until Options.Watch is told the end of the request
	return r.WithContext(e.watched.ctx)
}

// context returns the context of work that continues after the request has ended.
func (e *exchange) context() context.Context {
	if e.watched == nil {
		return context.Background()
	}
	return context.WithoutCancel(e.watched.ctx)
}

// release ends a part of the work on an exchange. The last part reports the end of the exchange.
func (x *Proxy) release(e *exchange) {
	w := e.watched
	if w == nil || w.left.Add(-1) > 0 {
		return
	}
	c := &Call{API: e.format, Count: e.count, Outcome: "none", Host: e.url.Host, Status: w.status, Failure: w.failure, Began: w.began,
		FirstByte: time.Duration(w.first.Load()), Took: w.took, Usage: w.usage}
	if e.out != nil {
		c.Outcome, c.Reason = e.out.name(), e.out.reason
	}
	if b := e.read(""); b != nil { // the body's own model
		c.Model, c.Stream = b.Model, b.Member("stream") == "true"
	}
	x.opt.Watch.End(w.ctx, c)
}

// fail notes the reason why an answer did not come or is incomplete.
func (w *watched) fail(why string) {
	if w != nil && w.failure == "" {
		w.failure = why
	}
}

// The reasons why an answer did not end properly, for [Call.Failure], in addition to the
// network's errors.
const (
	failGone   = "client_gone"
	failBroken = "broken_off"
)

// broken notes that the copy of an answer is incomplete. It does not count an answer that is only
// too large to copy.
func (e *exchange) broken(err error) {
	if !errors.Is(err, errTooLarge) {
		e.watched.fail(failBroken)
	}
}

// answer notes an answer and the time of its first byte.
func (w *watched) answer(res *http.Response) {
	if w == nil {
		return
	}
	if w.status = res.StatusCode; w.status == http.StatusSwitchingProtocols {
		return // its body is a connection
	}
	res.Body = &timed{res.Body, w}
}

// answeredAll notes that the last byte went to the client.
func (x *Proxy) answeredAll(e *exchange) {
	if e.watched == nil {
		return
	}
	e.watched.took = time.Since(e.watched.began)
	x.release(e)
	x.work.done()
}

// timed notes the time at which the first byte of a body was read.
type timed struct {
	io.ReadCloser
	w *watched
}

func (t *timed) Read(p []byte) (int, error) {
	n, err := t.ReadCloser.Read(p)
	if n > 0 {
		t.w.first.CompareAndSwap(0, int64(max(time.Since(t.w.began), 1)))
	}
	return n, err
}
