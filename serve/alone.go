package serve

import (
	"context"
	"fmt"
	"sync"

	"github.com/memkernel/memkernel/kernel/api"
)

// Caller is a client that sends each message by itself, without a stream, as over HTTP.
type Caller struct {
	// Name tells callers apart. Each caller has bounds of its own, and may use only the held
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
	// Method is the method that the message names.
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
	out := Reply{Method: msg.method}
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
	// The last call to end encodes the answer in its own turn.
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

// ErrScope refuses a call that the caller may not make.
func ErrScope(message, hint string) *Error { return newError(codeScope, "SCOPE", message, hint) }

// ErrToken refuses an unknown caller.
func ErrToken(message, hint string) *Error { return newError(codeToken, "TOKEN", message, hint) }

// ErrBusy refuses a message because the server is full.
func ErrBusy(message, hint string) *Error { return newError(codeBusy, "BUSY", message, hint) }

// ErrStopping refuses a message because the server ends.
func ErrStopping() *Error {
	return newError(codeStopping, "STOPPING", "the server is stopping", "connect again: a new daemon serves the same state")
}

// ErrRequest refuses a message because of its transport.
func ErrRequest(code, message, hint string) *Error { return newError(codeRequest, code, message, hint) }

// ErrTooLong refuses a message that is longer than most bytes.
func ErrTooLong(most int) *Error {
	return newError(codeTooLong, "LINE_TOO_LONG", fmt.Sprintf("the line is longer than %d bytes", most), "hand in what is new of a conversation alone, by conversation.base")
}
