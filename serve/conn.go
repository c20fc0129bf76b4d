package serve

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/memkernel/memkernel/internal/jsonl"
)

// conn is one client.
type conn struct {
	s *Server
	r *bufio.Reader
	// alone is the caller of a message that came without a stream. It is nil on a stream.
	alone *Caller
	// gone ends when no caller waits for answers any more. Calls that have not begun by that time
	// are not carried out. On a stream it never ends.
	gone context.Context

	writing sync.Mutex
	w       io.Writer
	failed  bool

	mu sync.Mutex
	// calls are the unanswered calls, by id.
	calls map[string]*call
	room  *room
	wait  sync.WaitGroup
}

// room counts the calls of a client that have not ended, including notifications.
type room struct {
	taken atomic.Int64
	open  int // messages of the caller that are being answered; guarded by the server's mu
}

// The stages of a call.
const (
	callWaits int32 = iota
	callRuns
	// callLeft means that the caller went away before the call began.
	callLeft
)

// call is a request that is being carried out.
type call struct {
	*desk
	c      *conn
	id     string
	ctx    context.Context // of what the job does
	cancel context.CancelFunc
	stage  atomic.Int32
	once   sync.Once
	reply  func(*response)
}

func newConn(s *Server, r io.Reader, w io.Writer) *conn {
	return &conn{s: s, r: bufio.NewReaderSize(r, 64<<10), w: w, calls: map[string]*call{}, room: &room{}, gone: context.Background()}
}

// receive adds to the caller's conversation of a session and branch.
func (cl *call) receive(session, branch string, handed *conversation) (*held, error) {
	key := heldKey{session: session, branch: branch}
	if who := cl.c.alone; who != nil {
		key.caller = who.Name
	}
	return cl.held.receive(key, handed)
}

// close ends the connection, if there is one.
func (c *conn) close() {
	if nc, ok := c.w.(net.Conn); ok {
		nc.Close()
	}
}

// serve reads until the stream ends and everything is answered.
func (c *conn) serve() error {
	defer c.wait.Wait()
	for {
		var line []byte
		size, err := jsonl.NextLine(c.r, c.s.opt.LineBytes, func(part []byte) { line = append(line, part...) })
		switch line = bytes.TrimSpace(line); {
		case size > c.s.opt.LineBytes:
			c.write(answer("", nil, ErrTooLong(c.s.opt.LineBytes)))
		case len(line) > 0:
			c.take(parse(line), func(r *response) {
				if r != nil {
					c.write(r)
				}
			})
		}
		if err == io.EOF || c.s.ending() && err != nil {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// take carries out a message. It calls reply once, with nil for a notification.
func (c *conn) take(p parsed, reply func(*response)) {
	to := func(result any, err *Error) {
		if p.id == "" {
			reply(nil)
			return
		}
		reply(answer(p.id, result, err))
	}
	switch {
	case p.err != nil:
		c.s.refused(p.err)
		reply(answer(p.id, nil, p.err))
		return
	case p.method == "$/cancelRequest":
		to(struct{}{}, c.cancelCall(p.params))
		return
	}
	m, ok := c.s.methods[p.method]
	if !ok {
		err := newError(codeMethod, "UNKNOWN_METHOD", fmt.Sprintf("there is no method %q", p.method), "initialize lists the methods")
		c.s.refused(err)
		to(nil, err)
		return
	}
	args := m.params()
	if err := decode(&p, args); err != nil {
		c.s.refused(err)
		to(nil, err)
		return
	}
	if c.alone != nil && c.alone.May != nil {
		// A caller's rights are checked only here, for every method.
		if err := c.alone.May(asked(m, args)); err != nil {
			c.s.refused(err)
			to(nil, err)
			return
		}
	}
	c.start(p.id, m, args, reply)
}

// start begins a call, or replies with the reason why the call can't begin.
func (c *conn) start(id string, m method, args params, reply func(*response)) {
	cl := &call{desk: c.s.desk, c: c, id: id, reply: reply}
	if err := c.admit(cl); err != nil {
		c.s.refused(err)
		cl.answer(nil, err)
		return
	}
	if d := args.deadline(); d > 0 {
		cl.ctx, cl.cancel = context.WithTimeout(cl.ctx, d)
	}
	ctx := cl.ctx
	unwatch := context.AfterFunc(ctx, func() {
		err := asError(ctx.Err())
		err.Data.Started = cl.stage.Load() == callRuns
		cl.answer(nil, err)
	})
	unmind := context.AfterFunc(c.gone, func() {
		if cl.stage.CompareAndSwap(callWaits, callLeft) {
			cl.cancel()
		}
	})
	job := func() {
		defer c.done()
		defer unmind()
		defer cl.cancel()
		free := c.alone.turn(cl.ctx)
		if free == nil {
			return // answered already
		}
		defer free()
		if cl.ctx.Err() != nil || !cl.stage.CompareAndSwap(callWaits, callRuns) {
			return // answered already
		}
		began, code := time.Now(), ""
		if c.s.opt.Watch != nil {
			cl.ctx = c.s.opt.Watch.Begin(cl.ctx, m.name)
		}
		result, err := m.run(cl, args)
		if err != nil {
			code = asError(err).Data.Code
		}
		if c.s.opt.Watch != nil {
			c.s.opt.Watch.End(cl.ctx, m.name, code, began)
		}
		if unwatch(); err != nil {
			e := asError(err)
			e.Data.Started = e.Code == codeCancelled || e.Code == codeDeadline
			cl.answer(nil, e)
			return
		}
		cl.answer(result, nil)
	}
	if lane := args.lane(); lane != "" {
		c.s.lanes.run(lane, job)
		return
	}
	go job()
}

// refused reports to Options.Watch a message for which no method was called.
func (s *Server) refused(err *Error) {
	if s.opt.Watch != nil {
		s.opt.Watch.Refused(err.Data.Code)
	}
}

// admit makes room for a call.
func (c *conn) admit(cl *call) *Error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch taken := c.room.taken.Load(); {
	case taken >= int64(c.s.opt.InFlight):
		return newError(codeBusy, "BUSY", fmt.Sprintf("%d calls of this client have not ended", taken), "wait for answers before calling again")
	case cl.id != "" && cl.id != "null" && c.calls[cl.id] != nil:
		return newError(codeRequest, "ID_IN_USE", fmt.Sprintf("the call %s has not been answered", cl.id), "give every call an id of its own")
	case !c.s.begin():
		return ErrStopping()
	}
	cl.ctx, cl.cancel = context.WithCancel(c.s.base)
	c.room.taken.Add(1)
	c.wait.Add(1)
	if cl.id != "" && cl.id != "null" {
		c.calls[cl.id] = cl
	}
	return nil
}

func (c *conn) done() {
	c.room.taken.Add(-1)
	c.s.end()
	c.wait.Done()
}

// answer sends the answer, once.
func (cl *call) answer(result any, err *Error) {
	cl.once.Do(func() {
		cl.c.mu.Lock()
		if cl.c.calls[cl.id] == cl {
			delete(cl.c.calls, cl.id)
		}
		cl.c.mu.Unlock()
		if cl.id == "" {
			if err != nil {
				cl.c.s.opt.Logger.Info("notification failed", "error", err.Message)
			}
			cl.reply(nil)
			return
		}
		cl.reply(answer(cl.id, result, err))
	})
}

// notify reports a call's progress to its caller.
func (cl *call) notify(method string, params any) {
	n := notification{"2.0", method, params}
	switch who := cl.c.alone; {
	case cl.id == "":
	case who == nil:
		cl.c.write(n)
	case who.Notify != nil:
		who.Notify(Reply{JSON: encode(n)})
	}
}

// cancelCall ends an unanswered call. It ignores the id of a call that has been answered.
func (c *conn) cancelCall(raw json.RawMessage) *Error {
	var p struct {
		ID json.RawMessage `json:"id"`
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil || len(p.ID) == 0 {
		return badParams(`name it, such as {"id":7}`, "$/cancelRequest: there is no id")
	}
	c.mu.Lock()
	cl := c.calls[strings.TrimSpace(string(p.ID))]
	c.mu.Unlock()
	if cl != nil {
		cl.cancel()
	}
	return nil
}

// writePiece bounds one write, so that a wait for a slow reader can see progress.
const writePiece = 64 << 10 // 64 KiB

// write sends a message on a line of its own. It does not fail for a slow reader, as long as the
// reader reads at all: each piece has the same time.
func (c *conn) write(v any) {
	line := encode(v)
	c.writing.Lock()
	defer c.writing.Unlock()
	if c.failed {
		return
	}
	var err error
	for n := 0; len(line) > 0 && err == nil; line = line[n:] {
		if nc, ok := c.w.(net.Conn); ok {
			_ = nc.SetWriteDeadline(time.Now().Add(writeWait)) // if it fails, so does the write
		}
		n, err = c.w.Write(line[:min(len(line), writePiece)])
	}
	if err != nil {
		c.failed = true // half a line is out: nothing may follow
		c.s.opt.Logger.Info("client does not read", "error", err)
		c.close()
	}
}

// lanes run the jobs of one lane one after the other, in the order of their arrival. Jobs of
// different lanes run in parallel.
type lanes struct {
	mu sync.Mutex
	// last has the channel that the newest job of each lane closes at its end.
	last map[string]chan struct{}
}

// run adds f to the lane of a key.
func (l *lanes) run(key string, f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before, done := l.last[key], make(chan struct{})
	l.last[key] = done
	go func() {
		if before != nil {
			<-before
		}
		f()
		l.mu.Lock()
		defer l.mu.Unlock()
		if close(done); l.last[key] == done {
			delete(l.last, key)
		}
	}()
}
