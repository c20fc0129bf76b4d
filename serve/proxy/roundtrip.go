package proxy

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httputil"
)

// RoundTripper is a proxy for clients of this process: an [http.RoundTripper] in place of a
// handler. It has no upstream, because a request goes where its client sends it. Make it with
// [NewRoundTripper].
type RoundTripper struct{ x *Proxy }

// NewRoundTripper makes a RoundTripper. It does not read the options that name upstreams or
// judge other programs' requests.
func NewRoundTripper(p Planner, opt Options) (*RoundTripper, error) {
	x, err := newProxy(p, opt, &upstreams{})
	return &RoundTripper{x}, err
}

// Tend is [Proxy.Tend]. Close is [Proxy.Close].
func (t *RoundTripper) Tend(ctx context.Context)        { t.x.Tend(ctx) }
func (t *RoundTripper) Close(ctx context.Context) error { return t.x.Close(ctx) }

// RoundTrip sends one request of this process, and plans it if it calls a model. It reads and
// closes the body of r and changes nothing else in r. It returns the transport's own errors. The
// caller must read the answer's body to its end or close it.
func (t *RoundTripper) RoundTrip(r *http.Request) (*http.Response, error) {
	x := t.x
	in, e, err := takeBody(r)
	if err != nil {
		return nil, err
	}
	if e == nil {
		x.account.pass(passPath)
		in = in.WithContext(withLead(in.Context(), ownLead(r.URL)))
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
	}
	switch {
	case e == nil || e.watched == nil:
	case err != nil:
		x.answeredAll(e)
	default:
		res.Body = &tee{ReadCloser: res.Body, done: func([]byte, error) { x.answeredAll(e) }}
	}
	if err != nil {
		return nil, err
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
