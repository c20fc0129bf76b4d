package otlp

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"time"

	"github.com/memkernel/memkernel/internal/endpoint"
)

// client sends one signal's messages.
type client struct {
	t    *Target
	http *http.Client
	// first is how long a failed export waits before it is tried again, twice that the
	// next time.
	first time.Duration
}

func newClient(t *Target) *client {
	way := &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: t.tls, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 2,
		IdleConnTimeout: 90 * time.Second, TLSHandshakeTimeout: 10 * time.Second}
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse } // headers are keys
	return &client{t: t, http: &http.Client{Transport: way, CheckRedirect: stay}, first: time.Second}
}

// send delivers a message, and tries again while the collector says that it may.
func (c *client) send(ctx context.Context, message []byte) error {
	ctx, cancel := context.WithTimeout(ctx, c.t.timeout)
	defer cancel()
	if c.t.gzip {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		if _, err := z.Write(message); err != nil {
			return err
		}
		if err := z.Close(); err != nil {
			return err
		}
		message = b.Bytes()
	}
	for wait := c.first; ; wait *= 2 {
		after, err := c.try(ctx, message)
		if err == nil || after < 0 {
			return err
		}
		pause := max(after, wait/2+rand.N(wait/2+1))
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
	}
}

// maxRefusal is how much of an answer is read, so that the connection can be used again.
const maxRefusal = 64 << 10 // 64 KiB

// try delivers a message once. After is when it may be tried again, negative for never.
func (c *client) try(ctx context.Context, message []byte) (after time.Duration, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.t.url.String(), bytes.NewReader(message))
	if err != nil {
		return -1, c.failure(err)
	}
	r.Header = c.t.header.Clone()
	r.Header.Set("User-Agent", "memkernel")
	r.Header.Set("Content-Type", "application/x-protobuf")
	if c.t.gzip {
		r.Header.Set("Content-Encoding", "gzip")
	}
	res, err := c.http.Do(r)
	if err != nil {
		return 0, c.failure(err)
	}
	defer res.Body.Close()
	_, _ = io.CopyN(io.Discard, res.Body, maxRefusal) // what it says is not needed
	switch res.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return endpoint.RetryAfter(res.Header, time.Now()), c.failure(errors.New(res.Status))
	}
	if res.StatusCode/100 != 2 {
		return -1, c.failure(errors.New(res.Status))
	}
	return 0, nil
}

// failure names the host alone: the rest of the address may hold a key.
func (c *client) failure(err error) error {
	if u := (*url.Error)(nil); errors.As(err, &u) {
		err = u.Err
	}
	return fmt.Errorf("export %s to %s: %w", c.t.Signal, c.t.url.Host, err)
}
