package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/memkernel/memkernel/internal/rendezvous"
)

// connection is a connection to a daemon's socket. A goroutine reads its lines. waiting has the
// channel of each waiting call by the call's id.
type connection struct {
	nc net.Conn

	writing sync.Mutex

	mu      sync.Mutex
	waiting map[uint64]chan answer
	next    uint64
	closed  string // the reason why it is closed, "" while it is open
}

type answer struct {
	result json.RawMessage
	err    error
}

// connect makes a connection.
func (o *Options) connect(ctx context.Context) (way, error) {
	if o.URL != "" {
		return o.remote()
	}
	nc, err := o.open(ctx)
	if err != nil {
		return nil, err
	}
	c := &connection{nc: nc, waiting: map[uint64]chan answer{}}
	go c.read()
	return c, nil
}

func (o *Options) open(ctx context.Context) (net.Conn, error) {
	if o.Socket != "" {
		nc, err := rendezvous.Dial(o.Socket)
		return nc, o.unreached(err)
	}
	state := o.StateDir
	if state == "" {
		state = filepath.Join(o.Workspace, ".memkernel")
	}
	state, err := filepath.Abs(state)
	if err != nil {
		return nil, err
	}
	nc, _, err := rendezvous.Find(state)
	if err == nil || errors.As(err, new(*rendezvous.Error)) {
		return nc, o.unreached(err)
	}
	socket, err := o.start(ctx, state)
	if err != nil {
		return nil, err
	}
	nc, err = rendezvous.Dial(socket)
	return nc, o.unreached(err)
}

// unreached returns the client's error for a socket's error.
func (o *Options) unreached(err error) error {
	var refused *rendezvous.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused):
		return &Error{Code: codeUntrusted, Message: refused.Error()}
	case errors.Is(err, fs.ErrNotExist) && o.Socket != "":
		return &Error{Code: CodeClosed, Message: "no daemon listens at " + o.Socket, Hint: "run memkernel serve"}
	}
	return &Error{Code: CodeClosed, Message: err.Error(), Hint: "run memkernel serve", Started: o.Socket == ""}
}

// start runs a daemon that outlives this process, and returns its socket. The socket is the first
// line that the program prints, even if another daemon was faster.
func (o *Options) start(ctx context.Context, state string) (string, error) {
	workspace, err := filepath.Abs(o.Workspace)
	if err != nil {
		return "", err
	}
	args := append([]string{"serve", "--workspace", workspace, "--state-dir", state, "--idle", o.Idle.String()}, o.Args...)
	cmd := exec.Command(o.Binary, args...)
	cmd.SysProcAttr = rendezvous.OwnSession()
	// The client makes the pipes itself, because with exec's own pipes Wait would wait for the
	// daemon to end.
	out, outEnd, err := os.Pipe()
	if err != nil {
		return "", err
	}
	defer out.Close()
	said, saidEnd, err := os.Pipe()
	if err != nil {
		return "", errors.Join(err, outEnd.Close())
	}
	defer said.Close()
	cmd.Stdout, cmd.Stderr = outEnd, saidEnd
	err = cmd.Start()
	outEnd.Close()
	saidEnd.Close()
	if err != nil {
		return "", &Error{Code: CodeClosed, Message: fmt.Sprintf("run %s: %v", o.Binary, err), Hint: "name the program by Options.Binary"}
	}
	go cmd.Wait() // nobody waits for the daemon; it must not stay as a zombie
	ctx, cancel := context.WithTimeout(ctx, o.StartTimeout)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { out.SetReadDeadline(time.Now()) })
	defer stop()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err == nil {
		return strings.TrimSuffix(line, "\n"), nil
	}
	if ctx.Err() != nil {
		return "", &Error{Code: "DEADLINE", Message: "the daemon did not begin to listen in time", Hint: "see what memkernel serve says, or set Options.StartTimeout"}
	}
	text, _ := io.ReadAll(io.LimitReader(said, 64<<10)) // an incomplete output is reported, too
	message := strings.TrimSpace(string(text))
	if message == "" {
		message = o.Binary + " serve ended without a word"
	}
	return "", &Error{Code: CodeClosed, Message: message}
}

func (c *connection) alive() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed == ""
}

// end closes the connection. All waiting calls fail with the message why.
func (c *connection) end(why string) {
	c.mu.Lock()
	if c.closed != "" {
		c.mu.Unlock()
		return
	}
	c.closed = why
	waiting := c.waiting
	c.waiting = nil
	c.mu.Unlock()
	c.nc.Close()
	for _, w := range waiting {
		w <- answer{err: &Error{Code: CodeClosed, Message: why, Hint: "deliver the call again", Started: true}}
	}
}

// call sends a call and waits for its answer.
func (c *connection) call(ctx context.Context, method string, params, result any) error {
	body, err := withDeadline(ctx, params)
	if err != nil {
		return fmt.Errorf("memkernel: %s: parameters: %w", method, err)
	}
	done := make(chan answer, 1)
	c.mu.Lock()
	if c.closed != "" {
		c.mu.Unlock()
		return &Error{Code: CodeClosed, Message: c.closed, Started: true}
	}
	c.next++
	id := c.next
	c.waiting[id] = done
	c.mu.Unlock()
	if err := ctx.Err(); err != nil {
		c.forget(id)
		return err
	}
	c.send(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": body})
	select {
	case a := <-done:
		if a.err != nil || result == nil {
			return a.err
		}
		return json.Unmarshal(a.result, result)
	case <-ctx.Done():
	}
	c.forget(id)
	c.send(map[string]any{"jsonrpc": "2.0", "method": "$/cancelRequest", "params": map[string]any{"id": id}})
	return fmt.Errorf("memkernel: %s: %w", method, ctx.Err())
}

// withDeadline adds the context's deadline to parameters.
func withDeadline(ctx context.Context, params any) (json.RawMessage, error) {
	body := json.RawMessage("{}")
	if params != nil {
		var err error
		if body, err = json.Marshal(params); err != nil {
			return nil, err
		}
	}
	end, ok := ctx.Deadline()
	if !ok || len(body) < 2 || body[0] != '{' {
		return body, nil
	}
	left := max(1, time.Until(end).Milliseconds())
	head := fmt.Appendf(nil, `{"deadline_ms":%d`, left)
	if string(body) != "{}" {
		head = append(head, ',')
	}
	return append(head, body[1:]...), nil
}

func (c *connection) send(message any) {
	line, _ := json.Marshal(message) // parameters were marshalled before
	c.writing.Lock()
	defer c.writing.Unlock()
	if _, err := c.nc.Write(append(line, '\n')); err != nil {
		c.end("the daemon closed the connection")
	}
}

func (c *connection) forget(id uint64) chan answer {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := c.waiting[id]
	delete(c.waiting, id)
	return w
}

// message is a line from the daemon.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Error  *wireError      `json:"error"`
}

func (c *connection) read() {
	r := bufio.NewReaderSize(c.nc, 64<<10)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			c.end("the daemon closed the connection")
			return
		}
		var m message
		if json.Unmarshal(line, &m) != nil {
			c.end("the daemon sent what is no JSON")
			return
		}
		var id uint64
		if m.Method != "" || json.Unmarshal(m.ID, &id) != nil {
			continue // a notification, or no answer to a call of ours
		}
		if w := c.forget(id); w != nil { // otherwise the caller has given up
			a := answer{result: m.Result}
			if m.Error != nil {
				a.err = m.Error.error()
			}
			w <- a
		}
	}
}
