package embed

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"
)

// Error says why there are no vectors. It never holds the key.
type Error struct {
	// Endpoint is the base URL, Model the model's name there.
	Endpoint, Model string
	// Status is the HTTP status of the answer; 0 if there was none, or if its
	// status was fine and its content was not.
	Status int
	// Tries is how often the request was sent.
	Tries int
	// RetryAfter is how long the server asked to wait; 0 if it did not.
	RetryAfter time.Duration
	// Texts tells that the texts were refused and not the request as such:
	// other texts may do.
	Texts bool
	// Hint is the way out, a sentence for the user.
	Hint string
	// Err is what happened.
	Err error

	transient bool // the same request may succeed later
}

func (e *Error) Error() string {
	var tries string
	if e.Tries > 1 {
		tries = fmt.Sprintf(" (tried %d times)", e.Tries)
	}
	return fmt.Sprintf("embed with %s at %s: %v%s: %s", e.Model, e.Endpoint, e.Err, tries, e.Hint)
}

func (e *Error) Unwrap() error { return e.Err }

// refusal is the Error of an answer whose status is not 2xx.
func (o *openAI) refusal(resp *http.Response) *Error {
	e := &Error{Status: resp.StatusCode, RetryAfter: retryAfter(resp.Header, time.Now())}
	said := message(resp.Body)
	switch s := resp.StatusCode; {
	case s >= 300 && s < 400:
		said = "it redirects to " + where(resp)
		e.Hint = "redirects are not followed; if you trust that address, set base_url to it"
	case s == http.StatusUnauthorized && o.key == "":
		e.Hint = "no key was sent: set api_key_env to the environment variable that holds it"
	case s == http.StatusUnauthorized:
		e.Hint = fmt.Sprintf("check that the environment variable %s holds a valid key for this server", o.cfg.APIKeyEnv)
	case s == http.StatusForbidden:
		e.Hint = "the account may not use this model: choose another model, or another key by api_key_env"
	case s == http.StatusNotFound || s == http.StatusMethodNotAllowed:
		e.Hint = "check model, and base_url, which ends in /v1 for most servers"
	case s == http.StatusBadRequest || s == http.StatusRequestEntityTooLarge || s == http.StatusUnprocessableEntity:
		e.Texts = true
		e.Hint = "if a text is too long for the model, lower max_text_bytes; if the request is, lower batch_size; leave out dimensions if the model has only one length"
	case s == http.StatusTooManyRequests:
		// This code means an account without credit, which no waiting fills.
		e.transient = !strings.Contains(said, "insufficient_quota")
		e.Hint = "the limit of requests or the credit is used up: try again later, or check the account"
	case s == http.StatusInternalServerError && strings.Contains(said, "too large to process"):
		// llama.cpp's server says so of a text beyond its batch size.
		e.Texts = true
		e.Hint = "lower max_text_bytes, or raise the server's batch size"
	case s >= 500 && s != http.StatusNotImplemented || s == http.StatusRequestTimeout:
		e.transient = true
		e.Hint = "the server has a problem: try again later"
	default:
		e.Hint = "check base_url, and the account at this server"
	}
	e.Err = errors.New(strings.TrimSuffix(fmt.Sprintf("%d %s: %s", e.Status, http.StatusText(e.Status), o.clean(said)), ": "))
	return e
}

// maxRefusalBytes is how much of a refusal is read, maxSaidBytes how much of it
// is passed on.
const (
	maxRefusalBytes = 64 << 10 // 64 KiB
	maxSaidBytes    = 300
)

// message finds what a server says in its refusal. OpenAI writes
// {"error":{"message","code"}}; others {"error":"…"}, {"message":"…"},
// {"detail":"…"} or plain text.
func message(body io.Reader) string {
	raw, _ := io.ReadAll(io.LimitReader(body, maxRefusalBytes))
	var said struct {
		Error, Message, Detail json.RawMessage
	}
	if json.Unmarshal(raw, &said) != nil {
		return string(raw)
	}
	for _, field := range []json.RawMessage{said.Error, said.Message, said.Detail} {
		var text string
		var inner struct {
			Message string
			Code    any
		}
		switch {
		case json.Unmarshal(field, &text) == nil && text != "":
			return text
		case json.Unmarshal(field, &inner) == nil && inner.Message != "":
			if code, ok := inner.Code.(string); ok && !strings.Contains(inner.Message, code) {
				return inner.Message + " [" + code + "]"
			}
			return inner.Message
		}
	}
	return string(raw)
}

// where names a redirect's target without what may be secret in it.
func where(resp *http.Response) string {
	to, err := resp.Location()
	if err != nil {
		return "no address"
	}
	return (&url.URL{Scheme: to.Scheme, Host: to.Host, Path: to.Path}).String()
}

// clean makes a server's words fit for a message: without the key, on one line,
// without control characters, and short. The key goes first, or half of it
// could stand before the cut.
func (o *openAI) clean(s string) string {
	if o.key != "" {
		s = strings.ReplaceAll(s, o.key, "[key]")
	}
	s = strings.Map(func(r rune) rune {
		if !unicode.IsGraphic(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	s = strings.Join(strings.Fields(s), " ")
	if short, cut := cutText(s, maxSaidBytes); cut {
		return short + "…"
	}
	return s
}

// explain makes an Error of whatever kept a try from giving vectors.
func (o *openAI) explain(err error) *Error {
	e := new(Error)
	if !errors.As(err, &e) {
		e = o.broken(err)
	}
	e.Endpoint, e.Model = o.base, o.cfg.Model
	return e
}

// broken is the Error of a connection or an answer that broke off or makes no
// sense.
func (o *openAI) broken(err error) *Error {
	var outer *url.Error
	if errors.As(err, &outer) {
		err = outer.Err // it repeats method and URL
	}
	var (
		dial  *net.OpError
		large *http.MaxBytesError
		netw  net.Error
		cert  *tls.CertificateVerificationError
	)
	switch {
	case errors.As(err, &large):
		err = fmt.Errorf("the answer is larger than %d bytes", large.Limit)
		return &Error{Err: err, Hint: "check that base_url is an embeddings API"}
	case isJSON(err):
		return &Error{Err: fmt.Errorf("the answer can't be read: %w", o.scrub(err)), Hint: "check that base_url is an embeddings API; it ends in /v1 for most servers"}
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &netw) && netw.Timeout():
		err = fmt.Errorf("no answer within %v: %w", o.cfg.Timeout, o.scrub(err))
		return &Error{Err: err, transient: true, Hint: "raise timeout, or lower batch_size"}
	case errors.As(err, &cert):
		return &Error{Err: o.scrub(err), Hint: "check base_url, and that this machine trusts the server's certificate"}
	case errors.As(err, &dial) && dial.Op == "dial":
		return &Error{Err: o.scrub(err), Hint: "check base_url, and that the server runs and can be reached"}
	}
	return &Error{Err: fmt.Errorf("the connection broke: %w", o.scrub(err)), transient: true, Hint: "check base_url and the network, then try again"}
}

func isJSON(err error) bool {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	return errors.As(err, &syntax) || errors.As(err, &kind)
}

// scrub keeps an error as it is if its text is clean.
func (o *openAI) scrub(err error) error {
	if text := err.Error(); o.clean(text) != text {
		return errors.New(o.clean(text))
	}
	return err
}
