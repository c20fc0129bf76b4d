package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/memkernel/memkernel/internal/endpoint"
	"github.com/memkernel/memkernel/summary"
)

// server describes a server, the model to use on it, and the server's protocol.
type server struct {
	base, model string
	key, keyEnv string
	timeout     time.Duration
	own         bool // the provider's own host
	http        *http.Client
}

// Name implements [summary.Model].
func (e *server) Name() string { return e.model + " at " + e.base }

// Format keeps the key out of every print.
func (e *server) Format(f fmt.State, _ rune) { io.WriteString(f, e.Name()) }

// maxRefusalBytes is how much of a refusal is read.
const maxRefusalBytes = 64 << 10

// clean returns a text of the server in a form that an error message may show, without the key.
func (e *server) clean(s string) string { return endpoint.Clean(s, e.key) }

// wrapping is the factor by which JSON and headers may enlarge the bytes of an answer's text.
// Each byte may be escaped, and there is a frame round the text.
const wrapping = 6

// do sends a request and returns the answer, bounded to limit bytes of text.
func (e *server) do(req *http.Request, limit int64) (*http.Response, error) {
	resp, err := e.http.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode/100 != 2 {
		defer resp.Body.Close()
		return nil, e.refusal(resp)
	}
	resp.Body = http.MaxBytesReader(nil, resp.Body, wrapping*limit+(64<<10))
	return resp, nil
}

// refusal returns the error of an answer whose status is not 2xx.
func (e *server) refusal(resp *http.Response) error {
	raw, _ := io.ReadAll(io.LimitReader(resp.Body, maxRefusalBytes))
	out := &summary.ModelError{Reason: summary.ReasonRefused, RetryAfter: endpoint.RetryAfter(resp.Header, time.Now())}
	switch s := resp.StatusCode; {
	case s == http.StatusTooManyRequests:
		out.Reason = summary.ReasonRateLimited
	case s == http.StatusRequestTimeout:
		out.Reason = summary.ReasonTimeout
	case s >= 500:
		out.Reason = summary.ReasonServer
	}
	hint := "check base_url and the account"
	switch {
	case resp.StatusCode/100 == 3:
		hint = "redirects are not followed; if you trust that address, set base_url to it"
	case resp.StatusCode == http.StatusUnauthorized && e.keyEnv == "":
		hint = "no key was sent: set api_key_env"
	case resp.StatusCode == http.StatusUnauthorized:
		hint = "check the key in " + e.keyEnv
	case resp.StatusCode == http.StatusNotFound:
		hint = "check model and base_url"
	case out.Reason != summary.ReasonRefused:
		hint = "it is asked again later"
	}
	out.Err = fmt.Errorf("%s: %d %s: %s: %s", e.Name(), resp.StatusCode, http.StatusText(resp.StatusCode), e.clean(message(raw)), hint)
	return out
}

// message returns the server's text in its refusal, which most servers put in
// {"error":{"message"}}.
func message(raw []byte) string {
	var said struct {
		Error struct{ Message string }
	}
	if json.Unmarshal(raw, &said) == nil && said.Error.Message != "" {
		return said.Error.Message
	}
	return string(raw)
}

// explain turns the error of a request without an answer into a [*summary.ModelError]. ctx is the
// request's context, and parent is the caller's context.
func (e *server) explain(parent, ctx context.Context, err error) error {
	var known *summary.ModelError
	if errors.As(err, &known) {
		return known
	}
	var outer *url.Error
	unanswered := errors.As(err, &outer)
	if unanswered {
		err = outer.Err // it repeats method and URL
	}
	out := &summary.ModelError{Reason: summary.ReasonUnreachable, Err: fmt.Errorf("%s: the connection broke: %s", e.Name(), e.clean(err.Error()))}
	var large *http.MaxBytesError
	switch {
	case parent.Err() != nil:
		return summary.Explain(parent.Err())
	case ctx.Err() != nil:
		out.Reason, out.Err = summary.ReasonTimeout, fmt.Errorf("%s: no answer within %v", e.Name(), e.timeout)
	case errors.As(err, &large):
		out.Reason, out.Err = summary.ReasonTooLarge, fmt.Errorf("%s: the answer is larger than %d bytes", e.Name(), large.Limit)
	case notJSON(err) && !unanswered:
		out.Reason, out.Err = summary.ReasonInvalid, fmt.Errorf("%s: the server's answer can't be read: %s", e.Name(), e.clean(err.Error()))
	}
	return out
}

// notJSON reports whether err comes from an answer that is not valid JSON, or whose JSON ends
// early although the connection held.
func notJSON(err error) bool {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	return errors.As(err, &syntax) || errors.As(err, &kind) || errors.Is(err, io.EOF)
}

// text checks a server's answer as the model's text.
func (e *server) text(text string, cutOff, declined bool, p summary.Prompt) (string, error) {
	switch {
	case declined:
		return "", &summary.ModelError{Reason: summary.ReasonRefused, Err: fmt.Errorf("%s: the model declined", e.Name())}
	case int64(len(text)) > p.Limit:
		return "", &summary.ModelError{Reason: summary.ReasonTooLarge, Err: fmt.Errorf("%s: the answer has %d bytes, at most %d are read", e.Name(), len(text), p.Limit)}
	case cutOff:
		return "", &summary.ModelError{Reason: summary.ReasonTooLarge, Err: fmt.Errorf("%s: the answer was cut off at %d tokens", e.Name(), p.MaxTokens)}
	case strings.TrimSpace(text) == "":
		return "", &summary.ModelError{Reason: summary.ReasonEmpty, Err: fmt.Errorf("%s: the answer has no text", e.Name())}
	}
	return text, nil
}
