package client

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"sync/atomic"
	"time"

	"github.com/memkernel/memkernel/internal/endpoint"
)

// remote is a server that is reached by a URL. Each call is a request of its own.
type remote struct {
	rpc, token string
	http       *http.Client
	next       atomic.Uint64
	closed     atomic.Bool
}

// maxAnswer bounds the bytes of an answer. It equals the bound of a line.
const maxAnswer = 64 << 20

// remote returns a way to the server of a URL.
func (o *Options) remote() (way, error) {
	u, err := url.Parse(o.URL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return nil, &Error{Code: codeUntrusted, Message: fmt.Sprintf("%q is no URL of a server", o.URL), Hint: "it is scheme, host, port and path, such as https://memory.example:8443"}
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, &Error{Code: codeUntrusted, Message: "the URL is scheme, host, port and path alone", Hint: "give the token by Options.Token"}
	case u.Scheme == "http" && o.Token != "" && !o.Insecure && !endpoint.Loopback(u):
		return nil, &Error{Code: codeUntrusted, Message: u.Host + " is reached by plain http: the token would travel in the clear", Hint: "use https, or set Options.Insecure"}
	}
	h := http.Client{}
	if o.HTTP != nil {
		h = *o.HTTP
	}
	// A redirect could take the token elsewhere.
	h.CheckRedirect = func(*http.Request, []*http.Request) error { return errors.New("it redirects") }
	return &remote{rpc: strings.TrimRight(o.URL, "/") + "/rpc", token: o.Token, http: &h}, nil
}

func (r *remote) alive() bool { return !r.closed.Load() }

func (r *remote) end(string) {
	r.closed.Store(true)
	r.http.CloseIdleConnections()
}

func (r *remote) call(ctx context.Context, method string, params, result any) error {
	if r.closed.Load() {
		return &Error{Code: CodeClosed, Message: "the client was closed"}
	}
	body, err := withDeadline(ctx, params)
	if err != nil {
		return fmt.Errorf("memkernel: %s: parameters: %w", method, err)
	}
	data, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": r.next.Add(1), "method": method, "params": body}) // it was marshalled before
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.rpc, bytes.NewReader(data))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	if r.token != "" {
		req.Header.Set("Authorization", "Bearer "+r.token)
	}
	if key := sessionOf(params); key != "" {
		// A load balancer sees 16 hex digits of the key's SHA-256, and can send all calls of the session
		// to one server.
		sum := sha256.Sum256([]byte(key))
		req.Header.Set("Memkernel-Session", hex.EncodeToString(sum[:8]))
	}
	res, err := r.http.Do(req)
	if err == nil {
		defer res.Body.Close()
		data, err = io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return fmt.Errorf("memkernel: %s: %w", method, ctx.Err())
	case err != nil:
		return &Error{Code: CodeClosed, Message: err.Error(), Hint: "deliver the call again", Started: true}
	}
	return r.answer(res, data, result)
}

// sessionOf is the session that a call's parameters name, "" if they name none.
func sessionOf(params any) string {
	if m, ok := params.(map[string]any); ok {
		key, _ := m["session_key"].(string)
		return key
	}
	if v := reflect.Indirect(reflect.ValueOf(params)); v.Kind() == reflect.Struct {
		if f := v.FieldByName("SessionKey"); f.IsValid() && f.Kind() == reflect.String {
			return f.String()
		}
	}
	return ""
}

// answer reads a server's answer. It decodes the result in place, because a plan may be large.
func (r *remote) answer(res *http.Response, data []byte, result any) error {
	if result == nil {
		result = new(json.RawMessage)
	}
	m := struct {
		Version string     `json:"jsonrpc"`
		Result  any        `json:"result"`
		Error   *wireError `json:"error"`
	}{Result: result}
	wait := endpoint.RetryAfter(res.Header, time.Now())
	err := json.Unmarshal(data, &m)
	switch {
	case err == nil && m.Error != nil && m.Error.Data.Code != "":
		e := m.Error.error()
		e.wait = wait
		return e
	case err == nil && m.Error == nil && m.Version == "2.0" && m.Result != nil && res.StatusCode == http.StatusOK:
		return nil
	case errors.As(err, new(*json.UnmarshalTypeError)) && m.Version == "2.0" && res.StatusCode == http.StatusOK:
		return err
	case res.StatusCode == http.StatusTooManyRequests || res.StatusCode >= http.StatusBadGateway && res.StatusCode <= http.StatusGatewayTimeout:
		return &Error{Code: CodeClosed, Message: r.rpc + ": " + res.Status, Hint: "deliver the call again", Started: true, wait: wait}
	}
	return &Error{Code: codeUntrusted, Message: r.rpc + ": " + res.Status + ", and no answer of memkernel's", Hint: "is this the URL of memkernel-server serve --listen?"}
}
