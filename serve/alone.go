package serve

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/memkernel/memkernel/kernel/api"
)

// Caller is who sends messages that come by themselves, as over HTTP.
type Caller struct {
	// Name tells callers apart: each has bounds of its own, and may use only the held
	// conversations that it handed in itself.
	Name string
	// May refuses a call before anything is done for it; nil allows all.
	May func(Asked) *Error
	// Notify gets the notifications of a call before its answer is there. It must allow calls by
	// several goroutines at once, and calls shortly after the answer. A nil Notify drops them.
	Notify func(Reply)
	// Turn waits until the caller's work may use a processor, and returns the function that ends
	// the work. It returns nil if ctx ends first. A nil Turn never waits.
	Turn func(ctx context.Context) (done func())
}

// turn calls Turn if there is one.
func (c *Caller) turn(ctx context.Context) (done func()) {
	if c == nil || c.Turn == nil {
		return func() {}
	}
	return c.Turn(ctx)
}

// Reply is the answer to a message that came by itself.
type Reply struct {
	out *output // nil if there is none
	// Error is the error of a single message, nil if it succeeded. In a batch each answer has its
	// own.
	Error *Error
	// Methods are the methods that were named. Session is the session of the first call that
	// names one, "" if none does.
	Methods []string
	Session string
}

// Empty reports whether there is none, as to notifications.
func (r Reply) Empty() bool { return r.out == nil }

// Size is how many bytes it has, -1 if that is not known before they are written.
func (r Reply) Size() int { return r.out.size() }

// WriteTo writes it on a line, in pieces of at most 64 KiB.
func (r Reply) WriteTo(w io.Writer) (int64, error) { return r.out.WriteTo(w) }

// JSON is it in one piece.
func (r Reply) JSON() []byte {
	var b bytes.Buffer
	_, _ = r.WriteTo(&b) // a buffer takes it
	return b.Bytes()
}

// Answer carries out one message, or a batch, as a line of a stream is. If ctx ends, Answer stops
// waiting: a call that has not begun is not carried out, and one that has begun is completed.
func (s *Server) Answer(ctx context.Context, message *Message, who Caller) Reply {
	done := who.turn(ctx)
	if done == nil {
		return Refusal(asError(ctx.Err()))
	}
	// Calls wait for turns of their own once this one is done.
	done = sync.OnceFunc(done)
	defer done()
	msgs, batch, err := parse(message)
	if err != nil {
		s.refused(err)
		return Refusal(err)
	}
	room, leave := s.roomOf(who.Name)
	defer leave()
	out := Reply{}
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
	for _, m := range msgs {
		out.Methods = append(out.Methods, m.method)
	}
	// The last call to end encodes the answer in its own turn.
	answered := make(chan struct{})
	if batch {
		c.batch(msgs, func(list []*response) {
			defer close(answered)
			if len(list) > 0 {
				out.out = encode(list)
			}
		})
	} else {
		c.take(msgs[0], func(r *response) {
			defer close(answered)
			if r != nil {
				out.out, out.Error = encode(r), r.Error
			}
		})
	}
	done()
	<-answered
	// A call that was answered at its deadline may still run; Stop waits for it.
	return out
}

// Refusal is the answer to a message that was not looked at.
func Refusal(err *Error) Reply { return Reply{out: encode(answer("", nil, err)), Error: err} }

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
		// Calls that outlive their answer hold it as well, so that they still count.
		if r.open--; r.open == 0 && r.taken.Load() == 0 {
			delete(s.rooms, name)
		}
	}
}

// Ready reports whether the server takes calls, and its index can be asked.
func (s *Server) Ready(ctx context.Context) error {
	if s.ending() {
		return errStopping()
	}
	switch st := s.desk.k.IndexStatus(ctx); st.State {
	case api.IndexForeign, api.IndexNewer, api.IndexOlder, api.IndexDamaged, api.IndexFailed:
		return fmt.Errorf("the index is %s", st.State)
	}
	return ctx.Err()
}

// Release releases sessions that had no call for a while.
func (s *Server) Release() { s.desk.k.ReleaseIdle(releaseIdle) }

// ErrScope is the refusal of a call that a caller may not make.
func ErrScope(message, hint string) *Error { return newError(codeScope, "SCOPE", message, hint) }

// ErrToken is the refusal of an unknown caller.
func ErrToken(message, hint string) *Error { return newError(codeToken, "TOKEN", message, hint) }

// ErrBusy is the refusal of a message because the server is full.
func ErrBusy(message, hint string) *Error { return newError(codeBusy, "BUSY", message, hint) }

// ErrStopping is the refusal of a message by a server that ends.
func ErrStopping() *Error { return errStopping() }

// ErrRequest is the refusal of a message for how it came.
func ErrRequest(code, message, hint string) *Error { return newError(codeRequest, code, message, hint) }

// ErrTooLong is the refusal of a message that is longer than it may be.
func ErrTooLong(most int) *Error { return tooLong(most) }
