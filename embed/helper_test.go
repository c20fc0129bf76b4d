package embed

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/memkernel/memkernel/internal/endpoint"
)

const testKey = "sk-test-0123456789abcdefghijklmnop"

// asked is a request as the server saw it.
type asked struct {
	Input      []string
	Model      string
	Dimensions int
	path, auth string
}

// server answers embedding requests and notes them.
type server struct {
	*httptest.Server
	mu    sync.Mutex
	asked []asked
}

// serve starts a server whose answers come from answer; nil is goodAnswer.
func serve(t *testing.T, answer func(w http.ResponseWriter, a asked, nth int)) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := readAsked(t, r)
		s.mu.Lock()
		s.asked = append(s.asked, a)
		nth := len(s.asked)
		s.mu.Unlock()
		if answer == nil {
			io.WriteString(w, goodAnswer(a.Input))
			return
		}
		answer(w, a, nth)
	}))
	t.Cleanup(s.Close)
	return s
}

func readAsked(t *testing.T, r *http.Request) asked {
	a := asked{path: r.URL.Path, auth: r.Header.Get("Authorization")}
	if err := json.NewDecoder(r.Body).Decode(&a); err != nil {
		t.Errorf("the request is no JSON: %v", err)
	}
	return a
}

// vectorOf is a vector that only this text has (as far as tests go).
func vectorOf(text string) []float32 {
	var sum int
	for i, b := range []byte(text) {
		sum += (i + 1) * int(b)
	}
	return []float32{float32(sum), float32(len(text)), 1}
}

// entry is one vector of an answer.
func entry(index int, v []float32) string {
	b, _ := json.Marshal(v)
	return fmt.Sprintf(`{"object":"embedding","index":%d,"embedding":%s}`, index, b)
}

func answerOf(entries ...string) string {
	return `{"object":"list","data":[` + strings.Join(entries, ",") + `],"usage":{"prompt_tokens":7,"total_tokens":7}}`
}

func goodAnswer(inputs []string) string {
	var es []string
	for i, text := range inputs {
		es = append(es, entry(i, vectorOf(text)))
	}
	return answerOf(es...)
}

// openAt is a provider for a base URL, with the key and without an environment.
func openAt(t *testing.T, base string, change func(*Config)) *remote {
	t.Helper()
	c := Config{Provider: "openai", BaseURL: base, Model: "m", APIKeyEnv: "TEST_KEY"}
	if change != nil {
		change(&c)
	}
	u, err := endpoint.Parse(subject, c.BaseURL, c.AllowInsecure)
	if err != nil {
		t.Fatal(err)
	}
	c.setDefaults(openAI, u)
	if err := c.validate(); err != nil {
		t.Fatal(err)
	}
	return newRemote(openAI, c, u, testKey)
}

// roundTrip answers requests without a network, so that a bubble of synctest
// may hold it.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func response(r *http.Request, status int, header http.Header, body string) *http.Response {
	if header == nil {
		header = http.Header{}
	}
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(body)), Request: r}
}

func mustParse(t *testing.T, raw string) *url.URL {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func contextWithin(t *testing.T, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(t.Context(), d)
}
