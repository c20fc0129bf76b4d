package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/serve"
	"github.com/memkernel/memkernel/service/postgres"
	"github.com/memkernel/memkernel/service/token"
)

// house is a server of tenants, and what is logged.
type house struct {
	t       *testing.T
	root    string
	tenants *Tenants
	tokens  *token.Tokens
	door    *Door
	url     string
	past    bool
	// state is where a tenant's state is, if not in its folder.
	state func(ctx context.Context, tenant string) (*postgres.Store, error)
	// blobs and rows are what a tenant has there: hashes of blobs, and of all that has a name.
	blobs func(tenant string) []string
	rows  func(tenant string) map[string]string

	mu  sync.Mutex
	log bytes.Buffer
}

func (h *house) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.log.Write(p)
}

func (h *house) logged() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.log.String()
}

// newHouse serves tenants until the test ends.
func newHouse(t *testing.T, change ...func(*Options, *serve.Options)) *house {
	t.Helper()
	return serveHouse(t, &house{t: t, root: t.TempDir()}, change...)
}

// serveHouse serves what is set up so far.
func serveHouse(t *testing.T, h *house, change ...func(*Options, *serve.Options)) *house {
	t.Helper()
	if h.tokens == nil {
		h.tokens = token.In(store.Files(h.root))
	}
	// Bodies get an hour: a test that stops in the middle of one must not fail on a busy machine.
	// Calls that a test holds back must not keep the tenant's others from work.
	o := Options{Tenants: true, Running: 64, bounds: usual(), Tokens: h.tokens, Logger: slog.New(slog.NewJSONHandler(h, nil)), Ready: func(context.Context) error { return nil }, PastSessions: true}
	o.bodyWait, o.turnWait, o.refusalWait = time.Hour, time.Hour, time.Nanosecond
	so := serve.Options{Private: true}
	for _, c := range change {
		c(&o, &so)
	}
	h.tenants = &Tenants{Root: h.root, Open: func(ctx context.Context, name, workspace, state string) (*serve.Server, func() error, error) {
		ko := &kernel.Options{StateDir: state, Memory: kernel.MemoryOptions{Sessions: kernel.PastOptions{Enabled: true}}}
		shut := func() error { return nil }
		if h.state != nil {
			st, err := h.state(ctx, name)
			if err != nil {
				return nil, nil, err
			}
			ko.Store, shut = st, st.Close
		}
		k, err := kernel.Open(ctx, workspace, ko)
		if err != nil {
			return nil, nil, err
		}
		own := so
		return serve.New(k, &own), func() error { return errors.Join(k.Close(), shut()) }, nil
	}}
	o.Server = h.tenants.Server
	h.door = New(o)
	s := httptest.NewServer(h.door)
	h.url = s.URL
	t.Cleanup(func() {
		s.Close()
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := h.tenants.Close(ctx); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return h
}

// token makes a token.
func (h *house) token(r token.Rights) string {
	h.t.Helper()
	if r.Access == "" {
		r.Access = token.Write
	}
	_, secret, err := h.tokens.Create(r, time.Now())
	if err != nil {
		h.t.Fatal(err)
	}
	return secret
}

func (h *house) workspace(tenant string) string {
	return filepath.Join(h.root, "tenants", tenant, "workspace")
}

// got is what came back.
type got struct {
	status int
	header http.Header
	body   string
}

// code is the code of the error, "" if there is none.
func (g *got) code() string {
	var m struct {
		Error *serve.Error `json:"error"`
	}
	if json.Unmarshal([]byte(g.body), &m) != nil || m.Error == nil {
		return ""
	}
	return m.Error.Data.Code
}

func (g *got) result(t *testing.T) map[string]any {
	t.Helper()
	var m struct {
		Result map[string]any `json:"result"`
	}
	if err := json.Unmarshal([]byte(g.body), &m); err != nil || m.Result == nil {
		t.Fatalf("no result: %d %s", g.status, g.body)
	}
	return m.Result
}

// send sends a request; change may add to it.
func (h *house) send(method, path, secret, body string, change ...func(*http.Request)) *got {
	h.t.Helper()
	r, err := http.NewRequest(method, h.url+path, strings.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	if secret != "" {
		r.Header.Set("Authorization", "Bearer "+secret)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, c := range change {
		c(r)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		h.t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	return &got{res.StatusCode, res.Header, string(data)}
}

// call calls a method.
func (h *house) call(secret, method, params string) *got {
	h.t.Helper()
	return h.send("POST", "/rpc", secret, `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":`+params+`}`)
}

// well calls a method that has to go well.
func (h *house) well(secret, method, params string) map[string]any {
	h.t.Helper()
	g := h.call(secret, method, params)
	if g.status != http.StatusOK || g.code() != "" {
		h.t.Fatalf("%s %s: %d %s", method, params, g.status, g.body)
	}
	return g.result(h.t)
}
