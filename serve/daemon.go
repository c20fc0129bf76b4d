package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/memkernel/memkernel/internal/rendezvous"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel"
)

const (
	// lockName is the file whose lock the daemon of a state directory holds.
	lockName = "serve.lock"
	// joinWait is how long a second instance waits until the first instance listens or ends.
	joinWait = 10 * time.Second
	// firstWait is how long a daemon waits for its first connection before it is idle. Its clients
	// wait as long for its start.
	firstWait = 15 * time.Second
	// releaseIdle is how long a session that nobody calls stays in memory.
	releaseIdle = 15 * time.Minute
	// lastWait is how long a stop waits until the answers are read.
	lastWait = 2 * time.Second
	// DefaultDrain is how long a stop waits for accepted calls.
	DefaultDrain = 10 * time.Second
)

// Daemon describes how to serve a state directory.
type Daemon struct {
	StateDir string
	// Open opens the kernel. It is called once this process holds the lock.
	Open func(context.Context) (*kernel.Kernel, *Options, error)
	// Idle is the time without a connection after which the daemon ends. 0 is never. Until
	// somebody has connected it waits for 15 seconds more.
	Idle time.Duration
	// Drain is how long a stop waits for calls. Default: DefaultDrain.
	Drain time.Duration
	// Listening, if not nil, is called once the socket accepts connections. The argument joined
	// says whether another process is the daemon.
	Listening func(socket string, joined bool)
	// Beside, if not nil, opens another way to the server before Listening is called. It returns
	// the function that closes this way once the server has stopped.
	Beside func(*Server) (func(context.Context) error, error)
	// Alone makes Run return an error that wraps ErrServed if another process serves the state
	// directory. Otherwise Run joins that process.
	Alone bool
	// In and Out are the stream of a client of this process. If they are nil, the daemon serves
	// only the socket.
	In  io.Reader
	Out io.Writer
	// Logger logs events that are not reported to a caller. A nil Logger discards them.
	Logger *slog.Logger
}

// ErrServed reports that another process serves a state directory.
var ErrServed = errors.New("another process serves this state folder already")

// Run serves until ctx ends, a caller calls shutdown, the stream ends with nobody connected to
// the socket, or nobody was connected for the time Idle. If another process serves the state
// directory, Run relays its stream to that process. Without a stream it returns at once.
func (d *Daemon) Run(ctx context.Context) error {
	var err error
	if d.StateDir, err = filepath.Abs(d.StateDir); err != nil {
		return fmt.Errorf("find state directory: %w", err)
	}
	deadline := time.Now().Add(joinWait)
	for {
		release, err := Hold(d.StateDir)
		if err == nil {
			defer release()
			return d.serve(ctx)
		}
		if d.Alone || !errors.Is(err, ErrServed) {
			return err
		}
		nc, socket, err := rendezvous.Find(d.StateDir)
		if err == nil {
			return d.relay(ctx, nc, socket)
		}
		if errors.As(err, new(*rendezvous.Error)) || time.Now().After(deadline) {
			return fmt.Errorf("another process serves %s and can't be joined: %w", d.StateDir, err)
		}
		select { // it has the lock and does not listen yet, or not any more
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Hold prevents a daemon from serving a state directory until the caller calls release.
func Hold(stateDir string) (release func(), err error) {
	state := store.Files(stateDir)
	release, err = state.Lock(lockName, store.Alone)
	if errors.As(err, new(*store.LockedError)) {
		return nil, fmt.Errorf("%s: %w", stateDir, ErrServed)
	}
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", state.Where(lockName), err)
	}
	return release, nil
}

// serve runs the daemon. The caller must hold the lock.
func (d *Daemon) serve(ctx context.Context) (err error) {
	k, opt, err := d.Open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, k.Close()) }()
	l, socket, err := rendezvous.Listen(d.StateDir, protocol)
	if err != nil {
		return err
	}
	defer os.Remove(socket)
	defer l.Close()
	opt.Logger = d.Logger
	s := New(k, opt)
	defer s.cancel()
	failed := make(chan error, 1)
	go func() { failed <- s.accept(l) }()
	ended := make(chan error, 1)
	if d.In != nil {
		go func() { ended <- s.ServeStream(d.In, d.Out) }()
	}
	shut := func(context.Context) error { return nil }
	if d.Beside != nil {
		if shut, err = d.Beside(s); err != nil {
			return err
		}
	}
	if d.Listening != nil {
		d.Listening(socket, false)
	}
	err = d.wait(ctx, s, failed, ended)
	drain := cmp.Or(max(d.Drain, 0), DefaultDrain)
	// A caller must not find the socket of a daemon that takes no calls.
	os.Remove(socket)
	stop, cancel := context.WithTimeout(context.Background(), drain)
	defer cancel()
	if e := s.Stop(stop); e != nil {
		err = errors.Join(err, fmt.Errorf("stop: calls were still running after %v", drain))
	}
	// The calls have ended, but answers may not be read yet.
	last, cancel := context.WithTimeout(context.Background(), lastWait)
	defer cancel()
	return errors.Join(err, shut(last))
}

// wait returns when the daemon has to end.
func (d *Daemon) wait(ctx context.Context, s *Server, failed, ended <-chan error) error {
	tick, clean := time.NewTicker(100*time.Millisecond), time.NewTicker(time.Minute)
	defer tick.Stop()
	defer clean.Stop()
	streaming := d.In != nil
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.shutdown:
			return nil
		case err := <-failed:
			return err
		case err := <-ended:
			if err != nil {
				s.opt.Logger.Info("stream ended", "error", err)
			}
			streaming, ended = false, nil
		case <-clean.C:
			s.desk.k.ReleaseIdle(releaseIdle)
		case <-tick.C:
		}
		since, quiet := s.idleSince()
		if !streaming && quiet && (d.In != nil || d.Idle > 0 && time.Since(since) >= d.Idle) {
			return nil
		}
	}
}

// relay connects the stream of this process to the daemon of the socket.
func (d *Daemon) relay(ctx context.Context, nc net.Conn, socket string) error {
	defer nc.Close()
	if d.Listening != nil {
		d.Listening(socket, true)
	}
	if d.In == nil {
		return nil
	}
	stop := context.AfterFunc(ctx, func() { nc.Close() })
	defer stop()
	go func() {
		_, err := io.Copy(nc, d.In)
		if u, ok := nc.(*net.UnixConn); ok && err == nil {
			_ = u.CloseWrite() // the daemon answers the calls that it has, and closes
		}
	}()
	_, err := io.Copy(d.Out, nc)
	if ctx.Err() != nil {
		return nil
	}
	return err
}
