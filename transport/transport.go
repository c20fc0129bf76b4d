// Package transport plans the model calls of a Go program that uses a provider's SDK. Its
// [Transport] is an [http.RoundTripper], which every SDK takes in its HTTP client:
//
//	client := &http.Client{Transport: &transport.Transport{Kernel: k}}
//
// The Transport plans requests to the Messages API, chat completions, responses and Gemini's
// generateContent with the proxy's own code. It opens no port. Every other request passes
// unchanged.
package transport

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/serve/proxy"
)

// Transport is an [http.RoundTripper]. Its fields must not change after its first request. It
// can be used by several clients and goroutines at once.
type Transport struct {
	// Kernel plans the requests. It stays open when the Transport is closed.
	Kernel *kernel.Kernel
	// Private means that the conversations belong to one person, and may show and fill that
	// person's memory.
	Private bool
	// ContextWindow and Reserve are as in [api.PlanRequest].
	ContextWindow, Reserve int
	// Resolver is the tool by which the model can follow pointers, if a request has it. If it
	// is empty, nothing is shown as a pointer.
	Resolver string
	// Deadline is how long a request waits for its plan. Default: 3 s, as in package proxy. If the
	// plan is not ready in time, the newest plan's messages are sent, followed by the new messages.
	Deadline time.Duration
	// ProviderCompaction is as in [proxy.Options].
	ProviderCompaction bool
	// Base sends the requests. Default: [http.DefaultTransport].
	Base http.RoundTripper
	// Logger gets a line per request that calls a model, without content. A nil Logger discards
	// the lines.
	Logger *slog.Logger

	once   sync.Once
	proxy  *proxy.Proxy
	failed error
	stop   context.CancelFunc
}

// headerSession is the proxy's header that names the session of a request.
const headerSession = "X-Memkernel-Session"

type sessionKey struct{}

// WithSession returns a context whose requests belong to the session of that key. Without a key
// the request names the session, or else the session is a hash of the system prompt and the first
// message. Callers must set a key if two conversations begin with the same words.
func WithSession(ctx context.Context, key string) context.Context {
	return context.WithValue(ctx, sessionKey{}, key)
}

func (t *Transport) open() error {
	t.once.Do(func() {
		if t.Kernel == nil {
			t.failed = errors.New("transport: Kernel is nil: set it to a kernel that kernel.Open returned")
			return
		}
		t.proxy, t.failed = proxy.NewRoundTripper(t.Kernel, proxy.Options{Private: t.Private, ContextWindow: t.ContextWindow, Reserve: t.Reserve,
			Resolver: t.Resolver, Deadline: t.Deadline, ProviderCompaction: t.ProviderCompaction, Transport: cmp.Or(t.Base, http.DefaultTransport), Logger: t.Logger})
		if t.failed != nil {
			t.failed = fmt.Errorf("transport: %w", t.failed)
			return
		}
		var ctx context.Context
		ctx, t.stop = context.WithCancel(context.Background())
		go t.proxy.Tend(ctx)
	})
	return t.failed
}

// RoundTrip implements [http.RoundTripper]. The answer's header X-Memkernel names the outcome of
// a request that calls a model.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := t.open(); err != nil {
		if r.Body != nil {
			r.Body.Close()
		}
		return nil, err
	}
	key, _ := r.Context().Value(sessionKey{}).(string)
	if key == "" || r.Header == nil || r.Header.Get(headerSession) != "" {
		return t.proxy.RoundTrip(r)
	}
	named := r.Clone(r.Context())
	named.Header.Set(headerSession, key)
	res, err := t.proxy.RoundTrip(named)
	if err == nil {
		res.Request = r
	}
	return res, err
}

// closeTime is how long Close waits.
const closeTime = time.Minute

// Close waits at most a minute until the kernel has observed every answer that was read to its
// end. Callers must call Close before they close the kernel. Otherwise the last turns may be
// missing. Requests after Close are planned as before.
func (t *Transport) Close() error {
	if t.open() != nil {
		return nil // it was never used
	}
	t.stop()
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	return t.proxy.Close(ctx)
}

// CloseIdleConnections is called by [http.Client.CloseIdleConnections].
func (t *Transport) CloseIdleConnections() {
	if c, ok := cmp.Or(t.Base, http.DefaultTransport).(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}
