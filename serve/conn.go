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
	"github.com/memkernel/memkernel/kernel/api"
)

// conn is one client: a connection, a stream, or the sender of a single message.
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
	open  int // the number of the caller's messages that are being answered; guarded by the server's mu
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
	ctx    context.Context // the context of the work on the call
	cancel context.CancelFunc
	stage  atomic.Int32
	once   sync.Once
	reply  func(*response)
}

func newConn(s *Server, r io.Reader, w io.Writer) *conn {
	return &conn{s: s, r: bufio.NewReaderSize(r, 64<<10), w: w, calls: map[string]*call{}, room: &room{}, gone: context.Background()}
}

// receive adds the messages that were handed in to the held conversation of a session and branch,
// and returns that conversation.
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
		switch line = bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\ufeff"))); {
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
		err := NewError("UNKNOWN_METHOD", fmt.Sprintf("there is no method %q", p.method), "initialize lists the methods")
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
			e.Data.Started = e.Data.Code == "CANCELLED" || e.Data.Code == "DEADLINE"
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
		return NewError("BUSY", fmt.Sprintf("%d calls of this client have not ended", taken), "wait for answers before calling again")
	case cl.id != "" && cl.id != "null" && c.calls[cl.id] != nil:
		return NewError("ID_IN_USE", fmt.Sprintf("the call %s has not been answered", cl.id), "give every call an id of its own")
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

// writePiece is the size of one write in bytes. Each piece may take writeWait, so that a slow reader is
// not cut off while it reads on.
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

// Caller is a client that sends each message by itself, without a stream, as over HTTP.
type Caller struct {
	// Name identifies the caller. Each caller has its own limits, and may use only the held
	// conversations that it handed in itself.
	Name string
	// May refuses a call before the call has any effect. A nil May allows all calls.
	May func(Asked) *Error
	// Notify gets the notifications of a call before the call's answer. It must allow calls by
	// several goroutines at once, and calls shortly after the answer. A nil Notify drops them.
	Notify func(Reply)
	// Turn waits until the caller's work may use a processor, and returns the function that ends
	// the work. It returns nil if ctx ends first. A nil Turn never waits.
	Turn func(ctx context.Context) (done func())
}

// turn calls Turn unless Turn is nil.
func (c *Caller) turn(ctx context.Context) (done func()) {
	if c == nil || c.Turn == nil {
		return func() {}
	}
	return c.Turn(ctx)
}

// Reply is the answer to a message that came without a stream.
type Reply struct {
	// JSON is the answer on a line. It is nil if there is none, as for notifications.
	JSON []byte
	// Error is the error of the message, nil if it succeeded.
	Error *Error
	// Method is the method that the message names, "" if there is no such method.
	Method string
	// Session is the session that the message names, "" if it names none.
	Session string
}

// Answer carries out one message in the same way as a line of a stream. If ctx ends,
// Answer stops waiting. A call that has not begun is not carried out. A call that has begun is
// completed.
func (s *Server) Answer(ctx context.Context, message []byte, who Caller) Reply {
	done := who.turn(ctx)
	if done == nil {
		return Refusal(asError(ctx.Err()))
	}
	// Calls wait for turns of their own after this turn has ended.
	done = sync.OnceFunc(done)
	defer done()
	msg := parse(message)
	room, leave := s.roomOf(who.Name)
	defer leave()
	out := Reply{Method: s.methods[msg.method].name}
	may := who.May
	who.May = func(a Asked) *Error {
		if out.Session == "" && len(a.Sessions) > 0 {
			out.Session = a.Sessions[0]
		}
		if may == nil {
			return nil
		}
		return may(a)
	}
	c := &conn{s: s, alone: &who, gone: ctx, calls: map[string]*call{}, room: room}
	// The call itself encodes its answer, before its own turn ends.
	answered := make(chan struct{})
	c.take(msg, func(r *response) {
		defer close(answered)
		if r != nil {
			out.JSON, out.Error = encode(r), r.Error
		}
	})
	done()
	<-answered
	// A call that was answered at its deadline may still run. Stop waits for such a call.
	return out
}

// Refusal returns the answer to a message that is refused before it is parsed.
func Refusal(err *Error) Reply { return Reply{JSON: encode(answer("", nil, err)), Error: err} }

// roomOf returns the counter of a caller's calls.
func (s *Server) roomOf(name string) (*room, func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.rooms[name]
	if r == nil {
		r = &room{}
		s.rooms[name] = r
	}
	r.open++
	return r, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		// Calls that outlive their answer also keep the counter, so that they still count.
		if r.open--; r.open == 0 && r.taken.Load() == 0 {
			delete(s.rooms, name)
		}
	}
}

// Ready returns an error if the server takes no calls or its index can't be searched.
func (s *Server) Ready(ctx context.Context) error {
	if s.ending() {
		return ErrStopping()
	}
	switch st := s.desk.k.IndexStatus(ctx); st.State {
	case api.IndexForeign, api.IndexNewer, api.IndexOlder, api.IndexDamaged, api.IndexFailed:
		return fmt.Errorf("the index is %s", st.State)
	}
	return ctx.Err()
}

// Release releases sessions that had no call for a while.
func (s *Server) Release() { s.desk.k.ReleaseIdle(releaseIdle) }
