package serve

import (
	"context"
	"encoding/json"
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
	// joinWait is how long a second instance waits for the first to listen, or to end.
	joinWait = 10 * time.Second
	// releaseIdle is how long a session that nobody calls stays in memory.
	releaseIdle = 15 * time.Minute
	// lastWait is how long a stop waits for answers to be read.
	lastWait = 2 * time.Second
	// DefaultDrain is how long a stop waits for calls that were taken.
	DefaultDrain = 10 * time.Second
)

// Daemon is how a state directory is served.
type Daemon struct {
	StateDir string
	// Open opens the kernel, once it is sure that this process is to serve.
	Open func(context.Context) (*kernel.Kernel, *Options, error)
	// Idle ends the daemon when nobody was connected for so long; 0 is never.
	Idle time.Duration
	// Drain is how long a stop waits for calls; default DefaultDrain.
	Drain time.Duration
	// Listening, if not nil, is told the socket once it can be connected to, and
	// whether another process is the daemon.
	Listening func(socket string, joined bool)
	// Beside, if not nil, opens another way to the server before Listening is called. It returns
	// the function that closes this way once the server has stopped.
	Beside func(*Server) (func(context.Context) error, error)
	// Alone: another process that serves the state directory is an error that wraps
	// ErrServed, and is not joined.
	Alone bool
	// In and Out are a client of this process; nil serves the socket alone.
	In  io.Reader
	Out io.Writer
	// Logger logs events that no caller is told of; nil discards them.
	Logger *slog.Logger
}

// ErrServed reports that another process serves a state directory.
var ErrServed = errors.New("another process serves this state folder already")

// Run serves until ctx ends, a caller asks for the end, the stream ends with nobody
// connected to the socket, or nobody was for long. If another process serves the state
// directory it joins that: it relays its stream, or, without one, returns at once.
func (d *Daemon) Run(ctx context.Context) error {
	if d.Logger == nil {
		d.Logger = slog.New(slog.DiscardHandler)
	}
	var err error
	if d.StateDir, err = filepath.Abs(d.StateDir); err != nil {
		return fmt.Errorf("find state directory: %w", err)
	}
	state := store.Files(d.StateDir)
	deadline := time.Now().Add(joinWait)
	for {
		release, err := state.Lock(lockName, store.Alone)
		if err == nil {
			defer release()
			return d.serve(ctx)
		}
		if held := (*store.LockedError)(nil); !errors.As(err, &held) {
			return fmt.Errorf("lock %s: %w", state.Where(lockName), err)
		} else if d.Alone {
			return fmt.Errorf("%s: %w", d.StateDir, ErrServed)
		}
		nc, socket, err := rendezvous.Find(d.StateDir)
		if err == nil {
			return d.relay(ctx, nc, socket)
		}
		var refused *rendezvous.Error
		if errors.As(err, &refused) || time.Now().After(deadline) {
			return fmt.Errorf("another process serves %s and can't be joined: %w", d.StateDir, err)
		}
		select { // it has the lock and does not listen yet, or not any more
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Hold keeps daemons from a state directory, until release is called.
func Hold(stateDir string) (release func(), err error) {
	state := store.Files(stateDir)
	release, err = state.Lock(lockName, store.Alone)
	if held := (*store.LockedError)(nil); errors.As(err, &held) {
		return nil, fmt.Errorf("%s: %w", stateDir, ErrServed)
	}
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", state.Where(lockName), err)
	}
	return release, nil
}

// serve returns the daemon. It holds the lock.
func (d *Daemon) serve(ctx context.Context) (err error) {
	k, opt, err := d.Open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, k.Close()) }()
	l, socket, err := listen(d.StateDir)
	if err != nil {
		return err
	}
	defer os.Remove(socket)
	defer l.Close()
	if err := writeRecord(d.StateDir, socket); err != nil {
		return err
	}
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
	drain := d.Drain
	if drain <= 0 {
		drain = DefaultDrain
	}
	// A caller must not find the socket of a daemon that takes no calls.
	os.Remove(socket)
	stop, cancel := context.WithTimeout(context.Background(), drain)
	defer cancel()
	if e := s.Stop(stop); e != nil {
		err = errors.Join(err, fmt.Errorf("stop: calls were still running after %v", drain))
	}
	// Answers are on their way, though the calls have ended.
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
				d.Logger.Info("stream ended", "error", err)
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

// relay joins the daemon at the other end.
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

func writeRecord(stateDir, socket string) error {
	data, err := json.Marshal(rendezvous.Record{Format: 1, PID: os.Getpid(), Protocol: protocol, Socket: socket})
	if err == nil {
		_, err = store.Files(stateDir).Put(store.Synced, store.Doc{Name: rendezvous.RecordName, Data: append(data, '\n')})
	}
	return err
}
