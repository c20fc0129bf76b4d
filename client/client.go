package client

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/memkernel/memkernel/client/protocol"
)

// version is the protocol that the client speaks.
const version = 1

// Options say how to reach a daemon or a server. The zero value reaches the daemon of the current
// folder.
type Options struct {
	// Workspace is the project's folder. Default: the current folder.
	Workspace string
	// StateDir is where the daemon keeps its state. Default: .memkernel in the workspace.
	StateDir string
	// Socket is a socket to connect to. If it is set, no daemon is started.
	Socket string
	// URL is the address of a server, memkernel-server serve --listen. With a URL the client
	// calls no daemon on this machine. Token authorises the client at the server.
	URL, Token string
	// HTTP sends the requests to the server. Default: the zero http.Client.
	HTTP *http.Client
	// Insecure lets a token travel over plain http to another machine.
	Insecure bool
	// Binary is the program to start. Default: memkernel.
	Binary string
	// Args are further arguments for a daemon that the client starts.
	Args []string
	// Idle is the time without use after which a daemon that the client started ends. Default: 15
	// minutes.
	Idle time.Duration
	// StartTimeout bounds the wait until a started daemon listens. Default: 15 s.
	StartTimeout time.Duration
	// Timeout bounds each call whose context has no deadline. Default: a minute. If it is
	// negative, such calls have no bound.
	Timeout time.Duration
	// Retries is how often a call is delivered again after its connection was lost, or because
	// the daemon was busy or ending. Default: 3. If it is negative, calls are not delivered
	// again.
	Retries int
	// Name is the name under which the client introduces itself to the daemon.
	Name string
}

// Client is a client of a daemon. It may be used by several goroutines.
type Client struct {
	Methods
	opt Options

	reaching sync.Mutex
	// conn is the newest connection to the daemon, which may be lost. server is the daemon's
	// description of itself.
	conn   way
	server protocol.Initialized
	// ended is the reason why the client makes no further connection.
	ended error
}

// way is a connection to a daemon or a server.
type way interface {
	// call decodes the answer into result, which must be a pointer. A nil result drops the
	// answer.
	call(ctx context.Context, method string, params, result any) error
	alive() bool
	end(why string)
}

// Connect connects to the daemon of a workspace, and starts a daemon if none listens. With
// [Options.URL] it connects to a server.
func Connect(ctx context.Context, o Options) (*Client, error) {
	o.Workspace = cmp.Or(o.Workspace, ".")
	o.Binary = cmp.Or(o.Binary, "memkernel")
	o.Idle = cmp.Or(o.Idle, 15*time.Minute)
	o.StartTimeout = cmp.Or(o.StartTimeout, 15*time.Second)
	o.Timeout = cmp.Or(o.Timeout, time.Minute)
	o.Retries = cmp.Or(o.Retries, 3)
	o.Name = cmp.Or(o.Name, "memkernel-go")
	c := &Client{opt: o}
	c.Methods.call = c.Call
	if o.URL == "" {
		o.Retries = -1 // reach tries again by itself
	}
	if err := o.deliver(ctx, func() error {
		_, err := c.reach(ctx)
		return err
	}); err != nil {
		return nil, err
	}
	return c, nil
}

// Close ends the connection. Calls that wait for an answer fail. The daemon continues to run.
func (c *Client) Close() error {
	c.end(&Error{Code: CodeClosed, Message: "the client was closed", final: true})
	return nil
}

func (c *Client) end(why error) {
	c.reaching.Lock()
	defer c.reaching.Unlock()
	if c.ended == nil {
		c.ended = why
	}
	if c.conn != nil {
		c.conn.end("the client was closed")
	}
}

// Server returns the daemon's description of itself from the newest connection.
func (c *Client) Server() protocol.Initialized {
	c.reaching.Lock()
	defer c.reaching.Unlock()
	return c.server
}

// reach returns a connection on which initialize was answered.
func (c *Client) reach(ctx context.Context) (way, error) {
	c.reaching.Lock()
	defer c.reaching.Unlock()
	if c.ended != nil {
		return nil, c.ended
	}
	if c.conn != nil && c.conn.alive() {
		return c.conn, nil
	}
	for tries := 1; ; tries++ {
		conn, err := c.opt.connect(ctx)
		if err == nil {
			var server protocol.Initialized
			hello := map[string]any{"protocol": version, "client": map[string]string{"name": c.opt.Name, "version": "0.1.0"}}
			if err = conn.call(ctx, "initialize", hello, &server); err == nil {
				c.conn, c.server = conn, server
				return conn, nil
			}
			conn.end("the connection was closed")
		}
		// The daemon may be ending just now. A further attempt starts a new daemon.
		if e := (*Error)(nil); c.opt.Socket != "" || c.opt.URL != "" || tries == 3 || !errors.As(err, &e) || !e.lost() {
			return nil, err
		}
	}
}

// again are the codes of failures after which a call is delivered again.
var again = []string{CodeClosed, "STOPPING", "BUSY", "TRY_AGAIN"}

// Call calls a method of any name, and reads its answer into result, which may be nil.
func (c *Client) Call(ctx context.Context, method string, params, result any) error {
	if _, ok := ctx.Deadline(); !ok && c.opt.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.opt.Timeout)
		defer cancel()
	}
	if method == "shutdown" {
		err := c.once(ctx, method, params, result)
		if err == nil {
			c.end(&Error{Code: CodeClosed, Message: "the daemon was shut down", final: true})
		}
		return err
	}
	return c.opt.deliver(ctx, func() error { return c.once(ctx, method, params, result) })
}

// deliver calls the function once, and calls it again after an error that a retry may fix.
func (o *Options) deliver(ctx context.Context, once func() error) error {
	for tries := 0; ; tries++ {
		err := once()
		var e *Error
		if err == nil || !errors.As(err, &e) || !slices.Contains(again, e.Code) || e.final || tries >= o.Retries {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(max(e.wait, time.Duration(float64(20*time.Millisecond<<tries)*(1+rand.Float64())))):
		}
	}
}

func (c *Client) once(ctx context.Context, method string, params, result any) error {
	conn, err := c.reach(ctx)
	if err != nil {
		return err
	}
	return conn.call(ctx, method, params, result)
}

func answered[R any](ctx context.Context, m *Methods, method string, params any) (*R, error) {
	r := new(R)
	if err := m.call(ctx, method, params, r); err != nil {
		return nil, err
	}
	return r, nil
}

// Codes of failures that the client notices itself. The daemon's codes are in doc/rpc.md.
const (
	// CodeClosed means that the connection was lost, or can't be made.
	CodeClosed = "CLOSED"
	// codeUntrusted means that the file at the socket's path must not be used.
	codeUntrusted = "UNTRUSTED"
)

// Error is an error of the daemon, or the loss of the connection.
type Error struct {
	// Number is the code of JSON-RPC, 0 if the error is not the daemon's.
	Number int
	// Code is the reason in one word, such as BUDGET_INSUFFICIENT or CLOSED. Hint says how to fix
	// the error.
	Code, Message, Hint string
	// Started reports whether the call may have been carried out in spite of the error.
	Started bool
	// MissingTokens is the number of further tokens that a plan would need.
	MissingTokens int
	// final reports whether the client makes no further connection.
	final bool
	// wait is how long the client should wait before its next call, as the server asked.
	wait time.Duration
}

func (e *Error) Error() string {
	if e.Hint != "" {
		return "memkernel: " + e.Message + ": " + e.Hint
	}
	return "memkernel: " + e.Message
}

// lost reports whether the client was connected to a daemon that has ended.
func (e *Error) lost() bool {
	return (e.Code == CodeClosed || e.Code == "STOPPING") && (e.Number != 0 || e.Started)
}

// wireError is the JSON form of an error.
type wireError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    struct {
		Code          string `json:"code"`
		Hint          string `json:"hint"`
		Started       bool   `json:"started"`
		MissingTokens int    `json:"missing_tokens"`
	} `json:"data"`
}

func (w *wireError) error() *Error {
	return &Error{Number: w.Code, Code: w.Data.Code, Message: w.Message, Hint: w.Data.Hint, Started: w.Data.Started, MissingTokens: w.Data.MissingTokens}
}
