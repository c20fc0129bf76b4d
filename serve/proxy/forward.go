package proxy

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httputil"
	"strings"
	"sync"

	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/kernel/api"
)

// roundTrip is a function as an [http.RoundTripper].
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// rewrite directs an outgoing request to its upstream, and removes the proxy's own headers from it.
func (x *Proxy) rewrite(p *httputil.ProxyRequest) {
	out, in := p.Out, p.In
	e := exchangeOf(in.Context())
	e.apply(p, x.upstreams.several)
	for _, name := range []string{headerSession, headerFile, headerChannel, headerAgent} {
		out.Header.Del(name)
	}
	if e.out == nil {
		return
	}
	setBody(out, e.out.body)
	if (e.line != nil || x.opt.Billed != nil || x.opt.Watch != nil) && !e.count {
		readable(out.Header)
	}
}

func setBody(r *http.Request, body []byte) {
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	r.ContentLength, r.TransferEncoding = int64(len(body)), nil
	r.Header.Del("Content-Length")
}

// readable narrows the encodings that a client accepts to the encodings that the proxy can
// decode.
func readable(h http.Header) {
	accepts := strings.Join(h.Values("Accept-Encoding"), ",")
	if accepts == "" {
		return
	}
	for _, part := range strings.Split(accepts, ",") {
		name, weight, _ := strings.Cut(strings.TrimSpace(part), ";")
		if strings.TrimSpace(name) == "gzip" && !strings.HasPrefix(strings.ReplaceAll(weight, " ", ""), "q=0") {
			h.Set("Accept-Encoding", "gzip")
			return
		}
	}
	h.Set("Accept-Encoding", "identity")
}

// send makes the call. It makes the call once more if the provider refused it as too long or for
// thinking whose prefix has changed.
func (x *Proxy) send(r *http.Request) (*http.Response, error) {
	e := exchangeOf(r.Context())
	res, err := x.opt.roundTrip(r)
	if err != nil || e.line == nil || e.count || e.tries > 0 ||
		res.StatusCode != http.StatusBadRequest && res.StatusCode != http.StatusRequestEntityTooLarge {
		return res, err
	}
	e.tries++
	head, _ := io.ReadAll(io.LimitReader(res.Body, maxRefusal)) // a reader of the body gets the error again
	res.Body = &joined{io.MultiReader(bytes.NewReader(head), res.Body), res.Body}
	said, err := decoded(res.Header.Get("Content-Encoding"), head, maxRefusal)
	if err != nil {
		said = nil
	}
	text, why := string(said), "refused as too long"
	if budget.RefusesThinking(text) {
		why = "refused for its thinking"
	} else if _, over := budget.ParseOverflow(text); !over {
		return res, nil
	}
	again := x.mended(r.Context(), e, why, text)
	if again == nil {
		return res, nil
	}
	second := r.Clone(r.Context())
	setBody(second, again.body)
	res2, err := x.opt.roundTrip(second)
	if err != nil {
		x.log.Warn("another request could not be sent", "error_kind", kind(err))
		return res, nil
	}
	res.Body.Close()
	e.out = again
	return res2, nil
}

// roundTrip makes a call. It sets the answer's field Request, which not every transport does.
func (o *Options) roundTrip(r *http.Request) (*http.Response, error) {
	res, err := o.Transport.RoundTrip(r)
	if err == nil {
		res.Request = r
	}
	return res, err
}

// mended plans a request that should succeed after a refusal. It returns nil if there is no such
// plan.
func (x *Proxy) mended(ctx context.Context, e *exchange, why, text string) *outcome {
	over := &api.Overflow{Text: text}
	if e.out.plan != nil {
		over.PlanID = e.out.plan.ID
	}
	o := x.planned(ctx, e, over)
	if o.plan == nil || bytes.Equal(o.body, e.out.body) {
		x.log.Warn(why, "retry", "none", "reason", o.reason, "detail", o.detail)
		return nil
	}
	x.log.Info(why, "retry", "planned anew", "cut", cutOf(o.plan), "bytes_out", len(o.body),
		"planned_input_tokens", o.plan.Budgets.PlannedInputTokens)
	return o
}

// maxRefusal bounds the part of a refusal that is read.
const maxRefusal = 64 << 10 // 64 KiB

// joined is a body of which the beginning was read and put back.
type joined struct {
	io.Reader
	io.Closer
}

var errEncoding = errors.New("an encoding that is not read")

// decoded decodes the copy of an answer, to at most limit bytes.
func decoded(encoding string, data []byte, limit int64) ([]byte, error) {
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "", "identity":
		return data, nil
	case "gzip":
	default:
		return nil, errEncoding
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	out, err := io.ReadAll(io.LimitReader(z, limit+1))
	if err == nil && int64(len(out)) > limit {
		err = errTooLarge
	}
	return out, err
}

// answered sets the outcome header of the answer, and copies the answer to read it.
func (x *Proxy) answered(res *http.Response) error {
	if x.upstreams.several {
		res.Header.Del("Set-Cookie") // the client would send it to the other upstreams, too
	}
	e := exchangeOf(res.Request.Context())
	if e.out == nil {
		return nil
	}
	res.Header.Set(headerOutcome, e.out.header())
	e.watched.answer(res)
	if e.out.extends && !e.count && res.StatusCode == http.StatusOK {
		e.line.unplanned.Store(&api.Unplanned{Messages: e.body.Messages, Now: e.began})
	}
	if e.count || res.StatusCode != http.StatusOK || e.line == nil && x.opt.Billed == nil && x.opt.Watch == nil {
		return nil
	}
	if e.line != nil {
		x.compactDue(e, res.Request)
	}
	h := res.Header.Clone()
	res.Body = &tee{ReadCloser: res.Body, limit: maxAnswer, done: func(copy []byte, err error) { x.ended(e, h, copy, err) }}
	return nil
}

// failed answers a request that the upstream did not answer.
func (x *Proxy) failed(w http.ResponseWriter, r *http.Request, err error) {
	x.unanswered(r, err)
	if r.Context().Err() == nil {
		refuse(w, http.StatusBadGateway, "the upstream did not answer: "+kind(err))
	}
}

// unanswered notes a request that the upstream did not answer.
func (x *Proxy) unanswered(r *http.Request, err error) {
	why := kind(err)
	if r.Context().Err() != nil {
		why = failGone
		x.log.Info("the client went away")
	} else {
		x.log.Warn("the upstream did not answer", "error_kind", why)
	}
	exchangeOf(r.Context()).watched.fail(why)
}

// kind returns the kind of a network error. The error's own text must not be reported, because it
// names addresses. An address may contain parts of a client's request.
func kind(err error) string {
	var timeout interface{ Timeout() bool }
	switch {
	case errors.As(err, &timeout) && timeout.Timeout():
		return "timeout"
	case strings.Contains(err.Error(), "certificate"):
		return "its certificate is not trusted"
	case strings.Contains(err.Error(), "connection refused"):
		return "connection refused"
	case strings.Contains(err.Error(), "no such host"):
		return "no such host"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "connection closed"
	}
	return "connection failed"
}

// maxAnswer bounds the copy of an answer, in bytes. A longer answer also passes, but is not
// observed.
const maxAnswer = 8 << 20 // 8 MiB

var (
	errTooLarge = errors.New("the answer is too large to be read")
	errBroken   = errors.New("the answer was broken off")
)

// tee copies the bytes that are read, and passes the copy on when the body has ended or broken
// off. It holds back nothing and reads nothing by itself. As with any answer's body, Close may be
// called during a Read.
type tee struct {
	io.ReadCloser
	limit int
	done  func(copy []byte, err error)

	mu   sync.Mutex
	copy []byte
	over bool
}

func (t *tee) Read(p []byte) (int, error) {
	n, err := t.ReadCloser.Read(p)
	t.mu.Lock()
	if t.over = t.over || len(t.copy)+n > t.limit; t.over {
		t.copy = nil
	} else {
		t.copy = append(t.copy, p[:n]...)
	}
	t.mu.Unlock()
	switch {
	case err == io.EOF:
		t.end(nil)
	case err != nil:
		t.end(errBroken)
	}
	return n, err
}

// Close before the end means that the client has gone or needs no more of the answer.
func (t *tee) Close() error {
	err := t.ReadCloser.Close()
	t.end(errBroken)
	return err
}

func (t *tee) end(err error) {
	t.mu.Lock()
	done, copy := t.done, t.copy
	t.done, t.copy = nil, nil
	if t.over {
		err = cmp.Or(err, errTooLarge)
	}
	t.mu.Unlock()
	if done != nil {
		done(copy, err)
	}
}
