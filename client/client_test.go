package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/memkernel/memkernel/client/protocol"
	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/internal/verbs"
)

const model = "claude-sonnet-4-6"

// TestMain runs the real program in a process that a client starts.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "serve" {
		program := cli.Program{Name: "memkernel", Opening: verbs.Opening, Groups: verbs.Groups(verbs.Serve, verbs.Proxy(nil))}
		os.Exit(program.Main())
	}
	os.Exit(m.Run())
}

// connected is a client of a workspace of its own, whose daemon ends with the test.
func connected(t *testing.T, o Options) (*Client, string) {
	t.Helper()
	bin, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if o.Workspace == "" {
		o.Workspace = t.TempDir()
	}
	o.Binary, o.Idle = bin, 2*time.Second
	c, err := Connect(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		pid := processOf(t, o.Workspace)
		if _, err := c.Shutdown(ctx, nil); err != nil && !errors.As(err, new(*Error)) {
			t.Error(err)
		}
		c.Close()
		for ; ctx.Err() == nil && runs(pid); time.Sleep(10 * time.Millisecond) {
		}
	})
	return c, o.Workspace
}

func processOf(t *testing.T, workspace string) *os.Process {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(workspace, ".memkernel", "serve.json"))
	var r struct {
		PID int `json:"pid"`
	}
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err != nil {
		t.Fatal(err)
	}
	p, err := os.FindProcess(r.PID)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func says(role, text string) json.RawMessage {
	m, _ := json.Marshal(map[string]string{"role": role, "content": text})
	return m
}

// TestSession: what a plan sends are the host's own bytes, a turn is committed, and a daemon
// that is killed between calls, or while they run, costs the caller nothing.
func TestSession(t *testing.T) {
	c, ws := connected(t, Options{})
	if s := c.Server(); s.Protocol != version || len(s.Capabilities.Methods) == 0 {
		t.Errorf("the daemon said %+v", s)
	}
	s := c.Session("s", SessionOptions{Model: model, Private: true})
	var messages []json.RawMessage
	for i := range 6 {
		messages = append(messages, says("user", fmt.Sprintf("question %d", i)))
		plan, err := s.Plan(t.Context(), messages, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.EqualFunc(plan.Messages, messages, func(a, b json.RawMessage) bool { return &a[0] == &b[0] }); !got {
			t.Fatalf("to be sent are not the host's own: %s", plan.Messages)
		}
		messages = append(messages, says("assistant", fmt.Sprintf("answer %d", i)))
		if i%2 == 1 { // this turn's delivery finds nobody
			if err := processOf(t, ws).Kill(); err != nil {
				t.Fatal(err)
			}
		}
		o, err := s.ObserveTurn(t.Context(), messages, &protocol.TurnParams{PlanID: plan.PlanID})
		if err != nil {
			t.Fatal(err)
		}
		if o.Turns != int64(i+1) {
			t.Errorf("turn %d: %d are committed (%s)", i, o.Turns, o.Outcome)
		}
	}
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			if _, err := c.Remember(t.Context(), &protocol.RememberParams{SessionKey: "s", Private: true, Path: "memory/facts.md", Text: fmt.Sprintf("The fact number %d is kept.", i)}); err != nil {
				t.Error(err)
			}
		})
	}
	processOf(t, ws).Kill()
	all.Wait()
	text, err := os.ReadFile(filepath.Join(ws, "memory", "facts.md"))
	lost, doubled := 0, 0
	for i := range 20 {
		n := strings.Count(string(text), fmt.Sprintf("number %d is", i))
		if n != 1 {
			t.Errorf("fact %d stands %d times (%v)", i, n, err)
		}
		lost, doubled = lost+max(1-n, 0), doubled+max(n-1, 0)
	}
	suite.Tell(t, 4, lost, doubled)
	found, err := c.Search(t.Context(), &protocol.SearchParams{Query: "fact number 7", SessionKey: "s", Private: true})
	if err != nil || len(found.Results) == 0 {
		t.Errorf("%+v, %v", found, err)
	}
}

// TestLostConversation: what another client moved on, or a daemon forgot, is sent again.
func TestLostConversation(t *testing.T) {
	c, _ := connected(t, Options{})
	messages := []json.RawMessage{says("user", "hello")}
	a, b := c.Session("s", SessionOptions{Model: model}), c.Session("s", SessionOptions{Model: model})
	for _, s := range []*Session{a, b} {
		if _, err := s.Plan(t.Context(), messages, nil); err != nil {
			t.Fatal(err)
		}
	}
	messages = append(messages, says("assistant", "good day"))
	if o, err := a.ObserveTurn(t.Context(), messages, nil); err != nil || o.Outcome != "committed" {
		t.Errorf("%+v, %v", o, err)
	}
	if o, err := b.ObserveTurn(t.Context(), messages, nil); err != nil || o.Outcome != "duplicate" {
		t.Errorf("%+v, %v", o, err)
	}
	var asked *protocol.FlushTurn
	messages = append(messages, says("user", "the heron moves to pier nine"))
	done, err := a.WriteDown(t.Context(), messages, func(ask *protocol.FlushTurn) (string, error) {
		asked = ask
		return "- [decision] The heron moves to pier nine.", nil
	})
	if err != nil || asked == nil || asked.MaxTokens == 0 || done.Path == "" {
		t.Errorf("%+v, %+v, %v", asked, done, err)
	}
}

func TestErrors(t *testing.T) {
	c, ws := connected(t, Options{})
	for name, tt := range map[string]struct {
		call func() error
		code string
	}{
		"unknown member": {func() error { return c.Call(t.Context(), "search", map[string]string{"quary": "x"}, nil) }, "INVALID_PARAMS"},
		"unknown method": {func() error { return c.Call(t.Context(), "none", nil, nil) }, "UNKNOWN_METHOD"},
		"no messages": {func() error {
			_, err := c.Plan(t.Context(), &protocol.PlanParams{SessionKey: "none", Model: model})
			return err
		}, "NO_MESSAGES"},
	} {
		var e *Error
		if err := tt.call(); !errors.As(err, &e) || e.Code != tt.code || e.Hint == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Status(stopped, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	late, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
	defer cancel()
	if _, err := c.Status(late, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	if _, err := c.Status(t.Context(), nil); err != nil { // the client is none the worse
		t.Error(err)
	}
	e := &Error{}
	c.Close()
	if _, err := c.Status(t.Context(), nil); !errors.As(err, &e) || e.Code != CodeClosed {
		t.Errorf("%v", err)
	}
	again, err := Connect(t.Context(), Options{Workspace: ws, Socket: filepath.Join(ws, ".memkernel", "serve.sock")})
	if err != nil {
		t.Fatal(err)
	}
	c.ended, c.conn = nil, again.conn // for the end of the test
}

// TestUnreached: what can't be connected to is said, and nothing is started beside it.
func TestUnreached(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "serve.sock")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		o    Options
		want string
	}{
		"no program": {Options{Workspace: dir, StateDir: filepath.Join(dir, "none"), Binary: filepath.Join(dir, "missing")}, "name the program"},
		"no socket":  {Options{Socket: filepath.Join(dir, "none.sock")}, "run memkernel serve"},
		"a file":     {Options{Socket: file}, "it is no socket"},
		"and found":  {Options{StateDir: dir}, "it is no socket"},
	} {
		if _, err := Connect(t.Context(), tt.o); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestHostileDaemon: a daemon that says what makes no sense ends the connection, and nobody
// waits for ever.
func TestHostileDaemon(t *testing.T) {
	for name, tt := range map[string]struct{ says, want string }{
		"no JSON":         {"hello\n", "no JSON"},
		"an end":          {"", "closed the connection"},
		"another's id":    {`{"jsonrpc":"2.0","id":"x","result":{}}` + "\n" + `{"jsonrpc":"2.0","id":77,"result":{}}` + "\n", "closed the connection"},
		"an odd answer":   {`{"jsonrpc":"2.0","id":1,"result":[1]}` + "\n", "cannot unmarshal"},
		"an error":        {`{"jsonrpc":"2.0","id":1,"error":{"code":-32005,"message":"another protocol","data":{"code":"PROTOCOL_VERSION"}}}` + "\n", "another protocol"},
		"an odd progress": {`{"jsonrpc":"2.0","method":"$/progress","params":{"id":[]}}` + "\n" + "x\n", "no JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, err := os.MkdirTemp("", "mk")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.RemoveAll(dir) })
			path := filepath.Join(dir, "s")
			l, err := net.Listen("unix", path)
			if err != nil {
				t.Skip("unix sockets can't be made here:", err)
			}
			defer l.Close()
			if err := os.Chmod(path, 0o600); err != nil {
				t.Fatal(err)
			}
			go func() {
				for {
					nc, err := l.Accept()
					if err != nil {
						return
					}
					bufio.NewReader(nc).ReadString('\n')
					nc.Write([]byte(tt.says))
					nc.Close()
				}
			}()
			if _, err := Connect(t.Context(), Options{Socket: path, Retries: -1}); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v", err)
			}
		})
	}
}
