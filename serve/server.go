package serve

import (
	"cmp"
	"context"
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

// The bounds of a server whose Options have none.
const (
	// MaxMessage bounds a message in bytes: 64 MiB.
	MaxMessage = 64 << 20
	// maxText bounds the parameters of a call in bytes, without the messages of a conversation:
	// 4 MiB.
	maxText = 4 << 20

	defaultInFlight    = 64 // calls of one connection
	defaultConnections = 256
	defaultHeldBytes   = 256 << 20 // 256 MiB
	// writeWait is how long a client may keep the server from writing an answer.
	writeWait = 30 * time.Second
	// acceptWait is the pause after the system refused a connection.
	acceptWait = 100 * time.Millisecond
)

// Options are settings of a Server. Nil, or the zero value, means the defaults.
type Options struct {
	// Workspace is the folder of the kernel, and StateDir is its state directory. Both are only
	// reported to callers.
	Workspace, StateDir string
	// Private means that a caller may say that a session is private. Without Private all sessions
	// are shared.
	Private bool
	// Prices is the price book of the kernel. If it is nil, the server uses the embedded price
	// book.
	Prices *cachelayout.Book
	// Retain has the ages after which a call of retain removes data. Apply and Now come from the
	// call.
	Retain api.RetainRequest
	// Location is the time zone of the days in a report of usage. A nil Location is UTC.
	Location *time.Location
	// LineBytes bounds a message in bytes. Default: 64 MiB. InFlight bounds the unanswered calls
	// of a connection. Default: 64. Connections bounds the open connections. Default: 256.
	LineBytes, InFlight, Connections int
	// HeldBytes bounds the held conversations in bytes. Default: 256 MiB.
	HeldBytes int64
	// Version is the program's.
	Version string
	// Logger logs events that are not reported to a caller. A nil Logger discards them.
	Logger *slog.Logger
	// Watch observes every call. It may be nil.
	Watch Watcher
}

// Watcher observes the calls of a server's methods. It must allow calls by several goroutines at
// once, must be quick, and must change nothing.
type Watcher interface {
	// Begin is called before a call is carried out. The call is carried out with the context that
	// Begin returns.
	Begin(ctx context.Context, method string) context.Context
	// End is called after a call was carried out, with the context that Begin returned. The
	// argument code is the code of the call's error, "" if the call succeeded.
	End(ctx context.Context, method, code string, began time.Time)
	// Refused is called for a message that is refused before a method is called.
	Refused(code string)
}

// Server answers calls for one kernel. It is safe for concurrent use.
type Server struct {
	opt     Options
	desk    *desk
	methods map[string]method
	lanes   lanes
	// base is the context of all calls. It ends when a stop does not wait any longer.
	base   context.Context
	cancel context.CancelFunc
	// shutdown is closed when a caller requests the end of the server.
	shutdown chan struct{}

	mu       sync.Mutex
	stopping bool
	active   int           // calls that run or wait
	quiet    chan struct{} // closed when stopping and active is 0
	conns    map[*conn]struct{}
	// rooms are the counters of callers without a connection, by the caller's name. A caller has
	// a counter while it has calls.
	rooms map[string]*room
	// last is the last time at which there was a connection or a call. It begins in the future,
	// so that the first client has time to come.
	last time.Time
}

// New makes a server of a kernel. The caller must close the kernel after [Server.Stop].
func New(k *kernel.Kernel, opt *Options) *Server {
	s := &Server{methods: map[string]method{}, lanes: lanes{last: map[string]chan struct{}{}}, shutdown: make(chan struct{}), quiet: make(chan struct{}), conns: map[*conn]struct{}{}, rooms: map[string]*room{}, last: time.Now().Add(firstWait)}
	if opt != nil {
		s.opt = *opt
	}
	o := &s.opt
	if o.Prices == nil {
		o.Prices = cachelayout.DefaultBook()
	}
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	o.LineBytes, o.InFlight = cmp.Or(max(o.LineBytes, 0), MaxMessage), cmp.Or(max(o.InFlight, 0), defaultInFlight)
	o.Connections, o.HeldBytes = cmp.Or(max(o.Connections, 0), defaultConnections), cmp.Or(max(o.HeldBytes, 0), defaultHeldBytes)
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

// accept answers the calls of all connections, until Stop. It closes the listener.
func (s *Server) accept(l net.Listener) error {
	stop := context.AfterFunc(s.base, func() { l.Close() })
	defer stop()
	for {
		nc, err := l.Accept()
		if err != nil {
			if s.ending() || errors.Is(err, net.ErrClosed) {
				return nil
			}
			// The usual cause is too many open files. Other connections continue, and accepting
			// continues after a pause.
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

// Stop refuses further calls, waits until the accepted calls or ctx end, and closes the
// connections.
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

// idleSince returns the time since which there is neither a connection nor a call. It returns
// false if there is a connection or a call.
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
		return ErrStopping()
	case len(s.conns) >= s.opt.Connections:
		return NewError("BUSY", "there are too many connections", "close one, or use one for several sessions")
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

// begin counts a call. It returns false if the server takes no more calls.
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
