package embed

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/memkernel/memkernel/internal/endpoint"
)

// Error is the error of a request for vectors. It never holds the key.
type Error struct {
	// Endpoint is the base URL. Model is the model's name at that server.
	Endpoint, Model string
	// Status is the HTTP status of the answer. It is 0 if there was no answer, or if the status
	// was fine but the content was unusable.
	Status int
	// Tries is how often the request was sent.
	Tries int
	// RetryAfter is the wait that the server requested, or 0.
	RetryAfter time.Duration
	// Texts reports whether the texts were the cause of the refusal. Other texts may be accepted.
	Texts bool
	// Hint tells the user the remedy.
	Hint string
	// Err is the error.
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

// where returns the target of a redirect without its user and query, which may be secret.
func where(resp *http.Response) string {
	to, err := resp.Location()
	if err != nil {
		return "no address"
	}
	return (&url.URL{Scheme: to.Scheme, Host: to.Host, Path: to.Path}).String()
}

// clean returns a server's text in a form that a message may show, without the key.
func (o *remote) clean(s string) string { return endpoint.Clean(s, o.key) }

// explain returns the Error for any error because of which a try returned no vectors.
func (o *remote) explain(err error) *Error {
	e := new(Error)
	if !errors.As(err, &e) {
		e = o.broken(err)
	}
	e.Endpoint, e.Model = o.base, o.cfg.Model
	return e
}

// broken returns the Error for a failed connection, or for an answer that can't be read.
func (o *remote) broken(err error) *Error {
	var outer *url.Error
	if errors.As(err, &outer) {
		err = outer.Err // the outer error repeats method and URL
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
		return &Error{Err: err, transient: true, Hint: "raise embedding.timeout"}
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

// scrub returns err, or an error with the cleaned text if clean changes the text.
func (o *remote) scrub(err error) error {
	if text := err.Error(); o.clean(text) != text {
		return errors.New(o.clean(text))
	}
	return err
}
