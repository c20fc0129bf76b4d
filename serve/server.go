package serve

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
)

// The bounds of a server, where Options say none.
const (
	// MaxMessage bounds a message in bytes: 64 MiB.
	MaxMessage = 64 << 20
	// MaxText bounds a message or a batch in bytes, without the messages of its conversations: 4 MiB.
	MaxText = 4 << 20

	defaultInFlight    = 64 // calls of one connection
	defaultConnections = 256
	defaultHeldBytes   = 256 << 20 // 256 MiB
	maxBatch           = 1000
	// writeWait is how long a client may keep the server from writing an answer.
	writeWait = 30 * time.Second
	// acceptWait is how long nobody is let in after the system refused a connection.
	acceptWait = 100 * time.Millisecond
)

// Options are settings of a Server. Nil, or the zero value, means the defaults.
type Options struct {
	// Workspace is the folder that the kernel is of, and StateDir its state directory,
	// for callers to see.
	Workspace, StateDir string
	// Private: a caller may say that a session is private. Without it all are shared.
	Private bool
	// Prices is the price book that the kernel has; nil is the embedded one.
	Prices *cachelayout.Book
	// Tools makes the tools of a session; nil has none.
	Tools ToolMaker
	// ToolWrites reports whether a tool changes anything; nil takes it of all.
	ToolWrites func(name string) bool
	// Retain has the ages after which a call of retain removes data. Apply and Now come from the
	// call.
	Retain api.RetainRequest
	// Location is where days begin in a report of usage; nil is UTC.
	Location *time.Location
	// LineBytes bounds a message. InFlight bounds the unanswered calls of a connection.
	// Connections bounds the open connections. HeldBytes bounds the conversations that are held.
	// Defaults: 64 MiB, 64, 256, 256 MiB.
	LineBytes, InFlight, Connections int
	HeldBytes                        int64
	// Version is the program's.
	Version string
	// Logger logs events that no caller is told of; nil discards them.
	Logger *slog.Logger
	// Watch is told of every call; nil tells nobody.
	Watch Watcher
}

// Watcher is told of the calls of a server's methods. It must allow calls by several goroutines
// at once, must be quick, and must change nothing.
type Watcher interface {
	// Begin is called when a call is carried out. The context that it returns is the one of
	// all that is done for it.
	Begin(ctx context.Context, method string) context.Context
	// End is called when it was, with that context; code is that of its error, "" if it
	// has none.
	End(ctx context.Context, method, code string, began time.Time)
	// Refused is called for a message that no method was called for.
	Refused(code string)
}

// Toolset is the tools that a model of one session can call.
type Toolset interface {
	// Definitions returns a JSON list in a provider's format.
	Definitions(format string, all bool) (json.RawMessage, error)
	// Call answers a call. An argument that is wrong is an error.
	Call(ctx context.Context, name string, arguments json.RawMessage) (json.RawMessage, error)
	// Memory answers a call of Anthropic's memory tool, and reports whether the call
	// failed.
	Memory(ctx context.Context, input json.RawMessage) (text string, isError bool, err error)
}

// ToolMaker binds the tools to a session.
type ToolMaker func(sessionKey string, private bool) (Toolset, error)

func (o *Options) setDefaults() {
	if o.Prices == nil {
		o.Prices = cachelayout.DefaultBook()
	}
	if o.LineBytes <= 0 {
		o.LineBytes = MaxMessage
	}
	if o.InFlight <= 0 {
		o.InFlight = defaultInFlight
	}
	if o.Connections <= 0 {
		o.Connections = defaultConnections
	}
	if o.HeldBytes <= 0 {
		o.HeldBytes = defaultHeldBytes
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
}

// Server answers calls for one kernel. It is safe for concurrent use.
type Server struct {
	opt     Options
	desk    *desk
	methods map[string]method
	lanes   *lanes
	// base is the context of all calls; it ends when a stop does not wait any longer.
	base   context.Context
	cancel context.CancelFunc
	// shutdown is closed when a caller asks for the end.
	shutdown chan struct{}

	mu       sync.Mutex
	stopping bool
	active   int           // calls that run or wait
	quiet    chan struct{} // closed when stopping and active is 0
	conns    map[*conn]struct{}
	// rooms are those of callers without a connection, by their names, while they have calls.
	rooms map[string]*room
	// last is when there was last a connection or a call.
	last time.Time
}

// New makes a server of a kernel. The caller must close the kernel after [Server.Stop].
func New(k *kernel.Kernel, opt *Options) *Server {
	s := &Server{methods: map[string]method{}, lanes: newLanes(), shutdown: make(chan struct{}), quiet: make(chan struct{}), conns: map[*conn]struct{}{}, rooms: map[string]*room{}, last: time.Now()}
	if opt != nil {
		s.opt = *opt
	}
	s.opt.setDefaults()
	s.desk = &desk{k, &s.opt, newShelf(s.opt.HeldBytes), sync.OnceFunc(func() { close(s.shutdown) })}
	s.base, s.cancel = context.WithCancel(context.Background())
	for _, m := range table() {
		s.methods[m.name] = m
	}
	return s
}

// ServeStream answers the calls of one stream until it ends and all of them are
// answered.
func (s *Server) ServeStream(r io.Reader, w io.Writer) error {
	c := newConn(s, r, w)
	if err := s.join(c); err != nil {
		c.write(answer("", nil, err))
		return err
	}
	defer s.leave(c)
	return c.serve()
}

// accept answers the calls of all who connect, until Stop. It closes the listener.
func (s *Server) accept(l net.Listener) error {
	stop := context.AfterFunc(s.base, func() { l.Close() })
	defer stop()
	for {
		nc, err := l.Accept()
		if err != nil {
			if s.ending() || errors.Is(err, net.ErrClosed) {
				return nil
			}
			// Too many open files, as a rule: other connections continue, and accepting continues
			// after a pause.
			s.opt.Logger.Warn("accept", "error", err)
			select {
			case <-s.base.Done():
				return nil
			case <-time.After(acceptWait):
			}
			continue
		}
		go func() {
			defer nc.Close()
			if err := s.ServeStream(nc, nc); err != nil {
				s.opt.Logger.Info("connection ended", "error", err)
			}
		}()
	}
}

// Stop takes no further calls, waits for those that were taken, or for the end of ctx,
// and closes the connections.
func (s *Server) Stop(ctx context.Context) error {
	s.mu.Lock()
	if !s.stopping {
		s.stopping = true
		if s.active == 0 {
			close(s.quiet)
		}
	}
	s.mu.Unlock()
	var err error
	select {
	case <-s.quiet:
	case <-ctx.Done():
		err = ctx.Err()
	}
	s.cancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		c.close()
	}
	return err
}

// idleSince is since when there is neither a connection nor a call; false if there is
// one.
func (s *Server) idleSince() (time.Time, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last, len(s.conns) == 0 && s.active == 0
}

func (s *Server) ending() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stopping
}

func (s *Server) join(c *conn) *Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.stopping:
		return errStopping()
	case len(s.conns) >= s.opt.Connections:
		return newError(codeBusy, "BUSY", "there are too many connections", "close one, or use one for several sessions")
	}
	s.conns[c] = struct{}{}
	return nil
}

func (s *Server) leave(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
	s.last = time.Now()
}

// begin counts a call, false if none is taken any more.
func (s *Server) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopping {
		return false
	}
	s.active++
	return true
}

func (s *Server) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.active--
	s.last = time.Now()
	if s.stopping && s.active == 0 {
		close(s.quiet)
	}
}

func errStopping() *Error {
	return newError(codeStopping, "STOPPING", "the server is stopping", "connect again: a new daemon serves the same state")
}
