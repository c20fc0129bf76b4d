package embed

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// step is what the server does with one request.
type step func(*http.Request) (*http.Response, error)

func good(r *http.Request) (*http.Response, error) {
	return response(r, 200, nil, goodAnswer([]string{"a"})), nil
}

func status(code int, retryAfter, body string) step {
	return func(r *http.Request) (*http.Response, error) {
		h := http.Header{}
		if retryAfter != "" {
			h.Set("Retry-After", retryAfter)
		}
		return response(r, code, h, body), nil
	}
}

func fails(err error) step {
	return func(*http.Request) (*http.Response, error) { return nil, err }
}

// hangs answers nothing until the client gives up.
func hangs(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// slowBody sends its headers at once and its body never.
func slowBody(r *http.Request) (*http.Response, error) {
	resp := response(r, 200, nil, "")
	resp.Body = io.NopCloser(readerFunc(func([]byte) (int, error) {
		<-r.Context().Done()
		return 0, r.Context().Err()
	}))
	return resp, nil
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// play lets a provider ask for one vector while the server takes the steps, the
// last of them for ever, and returns how many requests came and how much time
// of the bubble's clock went by.
func play(t *testing.T, ctx context.Context, change func(*Config), steps ...step) (requests int, took time.Duration, err error) {
	t.Helper()
	o := openAt(t, "https://embeddings.example/v1", change)
	o.http.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
		requests++
		return steps[min(requests, len(steps))-1](r)
	})
	start := time.Now()
	_, err = o.EmbedQuery(ctx, "a")
	return requests, time.Since(start), err
}

var tooMany = `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}`

func TestRetries(t *testing.T) {
	refused := &net.OpError{Op: "dial", Err: errors.New("connection refused")}
	for _, c := range []struct {
		name     string
		steps    []step
		requests int
		min, max time.Duration
		want     string // in the error; "" is no error
	}{
		{"good at once", []step{good}, 1, 0, 0, ""},
		{"429 with seconds", []step{status(429, "7", ""), good}, 2, 7 * time.Second, 7 * time.Second, ""},
		// The clock of a bubble begins at midnight UTC 2000-01-01.
		{"429 with a date", []step{status(429, "Sat, 01 Jan 2000 00:00:09 GMT", ""), good}, 2, 9 * time.Second, 9 * time.Second, ""},
		{"a date gone by", []step{status(503, "Fri, 31 Dec 1999 00:00:00 GMT", ""), good}, 2, 250 * time.Millisecond, 500 * time.Millisecond, ""},
		{"no sense in Retry-After", []step{status(429, "soon", ""), good}, 2, 250 * time.Millisecond, 500 * time.Millisecond, ""},
		{"500 then good", []step{status(500, "", "oops"), good}, 2, 250 * time.Millisecond, 500 * time.Millisecond, ""},
		{"growing waits", []step{status(502, "", ""), status(503, "", ""), status(529, "", ""), good}, 4, 1750 * time.Millisecond, 3500 * time.Millisecond, ""},
		{"bounded tries", []step{status(500, "", "oops")}, 5, 3750 * time.Millisecond, 7500 * time.Millisecond, "500 Internal Server Error: oops (tried 5 times)"},
		{"asked to wait too long", []step{status(429, "3600", ""), good}, 1, 0, 0, "429 Too Many Requests"},
		{"overflowing Retry-After", []step{status(429, "99999999999999999999", ""), good}, 2, 250 * time.Millisecond, 500 * time.Millisecond, ""},
		{"no credit", []step{status(429, "", tooMany), good}, 1, 0, 0, "exceeded your current quota"},
		{"timeout then good", []step{hangs, good}, 2, 30*time.Second + 250*time.Millisecond, 30*time.Second + 500*time.Millisecond, ""},
		{"slow body", []step{slowBody, good}, 2, 30*time.Second + 250*time.Millisecond, 30*time.Second + 500*time.Millisecond, ""},
		{"timeouts only", []step{hangs}, 5, 5*30*time.Second + 3750*time.Millisecond, 5*30*time.Second + 7500*time.Millisecond, "no answer within 30s"},
		{"broken connection", []step{fails(io.ErrUnexpectedEOF), good}, 2, 250 * time.Millisecond, 500 * time.Millisecond, ""},
		{"half an answer", []step{status(200, "", `{"data":[{"embed`), good}, 2, 250 * time.Millisecond, 500 * time.Millisecond, ""},
		{"nobody listens", []step{fails(refused), good}, 1, 0, 0, "check base_url, and that the server runs"},
		{"nobody answers", []step{fails(&net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded}), good}, 2, 250 * time.Millisecond, 500 * time.Millisecond, ""},
		{"unknown certificate", []step{fails(&tls.CertificateVerificationError{Err: errors.New("unknown authority")}), good}, 1, 0, 0, "trusts the server's certificate"},
		{"bad request", []step{status(400, "", ""), good}, 1, 0, 0, "400 Bad Request"},
		{"not implemented", []step{status(501, "", ""), good}, 1, 0, 0, "501 Not Implemented"},
		{"no JSON", []step{status(200, "", "<html>"), good}, 1, 0, 0, "the answer can't be read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n, took, err := play(t, t.Context(), nil, c.steps...)
				if n != c.requests || took < c.min || took > c.max {
					t.Errorf("%d requests in %v, want %d in %v to %v", n, took, c.requests, c.min, c.max)
				}
				switch {
				case err != nil && strings.Contains(err.Error(), "Post"):
					t.Errorf("the error says everything twice: %v", err)
				case c.want == "" && err != nil:
					t.Error(err)
				case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
					t.Errorf("error %v, want %q in it", err, c.want)
				}
			})
		})
	}
}

func TestContextEndsEverythingAtOnce(t *testing.T) {
	for name, s := range map[string]step{
		"while waiting to try again": status(429, "20", ""),
		"while the server thinks":    hangs,
		"while the answer comes":     slowBody,
	} {
		tries := 1
		if strings.Contains(name, "again") {
			tries = 2
		}
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(3*time.Second, cancel)
				n, took, err := play(t, ctx, func(c *Config) { c.MaxTries = tries }, s)
				var e *Error // would blame the server
				if n != 1 || took != 3*time.Second || !errors.Is(err, context.Canceled) || errors.As(err, &e) {
					t.Errorf("%d requests in %v: %v", n, took, err)
				}
			})
		})
	}
}

// A wait that could not end in time is not begun, and the error is the server's.
func TestNoWaitBeyondTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		n, took, err := play(t, ctx, nil, status(429, "5", ""), good)
		var e *Error
		if n != 1 || took != 0 || !errors.As(err, &e) || e.Status != 429 || e.RetryAfter != 5*time.Second {
			t.Errorf("%d requests in %v: %v", n, took, err)
		}
	})
}

func TestRetriesAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := openAt(t, "https://embeddings.example/v1", nil)
		n := 0
		o.http.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
			if n++; n < 3 {
				return response(r, 500, nil, ""), nil
			}
			return good(r)
		})
		res, err := o.EmbedDocuments(t.Context(), []string{"a"})
		if want := (Usage{Requests: 3, Tokens: 7}); err != nil || res.Usage != want {
			t.Errorf("%+v, %v, want %+v", res.Usage, err, want)
		}
	})
}

func TestTriesAndTimeoutAreSettings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		change := func(c *Config) { c.MaxTries, c.Timeout = 1, time.Second }
		if n, took, err := play(t, t.Context(), change, hangs); n != 1 || took != time.Second || err == nil {
			t.Errorf("%d requests in %v: %v", n, took, err)
		}
	})
}

// A server that doesn't answer questions is left alone for a while, and longer the
// longer that goes on; an answer, or a refusal, ends it.
func TestSlowServersAreLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := openAt(t, "https://embeddings.example/v1", nil)
		requests, answer := 0, step(hangs)
		o.http.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
			requests++
			return answer(r)
		})
		ask := func(wantRequests int, want string) {
			t.Helper()
			ctx, cancel := contextWithin(t, time.Second)
			defer cancel()
			start := time.Now()
			_, err := o.EmbedQuery(ctx, "a")
			if requests != wantRequests || (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Fatalf("%d requests, %v; want %d, %q", requests, err, wantRequests, want)
			}
			if strings.HasPrefix(want, "left alone") && time.Since(start) != 0 {
				t.Errorf("that took %v", time.Since(start))
			}
		}
		ask(1, "deadline")
		ask(1, "left alone for 10s: it did not answer the last question in time")
		time.Sleep(11 * time.Second)
		ask(2, "deadline")
		time.Sleep(11 * time.Second)
		ask(2, "left alone for 9s")
		time.Sleep(10 * time.Second)
		answer = good
		ask(3, "")
		answer = status(401, "", "")
		ask(4, "401")
		ask(5, "401")
		answer = hangs
		ask(6, "deadline")
		ask(6, "left alone for 10s")
		if res, err := o.EmbedDocuments(shortly(t), []string{"a"}); err == nil || res.Requests == 0 {
			t.Errorf("texts don't wait for questions: %+v, %v", res, err)
		}
	})
}

// shortly ends after a second.
func shortly(t *testing.T) context.Context {
	ctx, cancel := contextWithin(t, time.Second)
	t.Cleanup(cancel)
	return ctx
}

func TestGeminiDelay(t *testing.T) {
	for body, want := range map[string]time.Duration{
		`{"error":{"details":[{"retryDelay":"37s"}]}}`: 37 * time.Second,
		`{"retryDelay": "0.5s"}`:                       500 * time.Millisecond,
		`{"retryDelay":"soon"}`:                        0,
		``:                                             0,
	} {
		if got := retryDelay([]byte(body)); got != want {
			t.Errorf("%s: %v", body, got)
		}
	}
}
