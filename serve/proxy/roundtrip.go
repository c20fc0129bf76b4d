package proxy

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httputil"
)

// NewRoundTripper makes a proxy for clients of this process, of which only RoundTrip, Tend and Close
// are to be used. It has no upstream, because a request goes where its client sends it. It does not
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
