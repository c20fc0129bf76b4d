package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"
)

// hangupGrace is how long a client that has hung up may still wait for its answers: one
// that was cancelled has none.
const hangupGrace = 30 * time.Second

// unanswered counts the requests of a pair of streams that wait for their answer, so that a
// client which writes its requests and closes its end still gets all of them.
type unanswered struct {
	ctx  context.Context
	mu   sync.Mutex
	open map[string]bool
	none chan struct{} // closed when the last was answered, nil if nobody waits
}

func newUnanswered(ctx context.Context) *unanswered {
	return &unanswered{ctx: ctx, open: map[string]bool{}}
}

// frame takes note of a request, or of an answer.
func (u *unanswered) frame(line []byte) {
	var f struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if json.Unmarshal(line, &f) != nil || len(f.ID) == 0 {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if f.Method != "" {
		u.open[string(f.ID)] = true
		return
	}
	if delete(u.open, string(f.ID)); len(u.open) == 0 && u.none != nil {
		close(u.none)
		u.none = nil
	}
}

// wait returns when all are answered, or nothing is worth waiting for any more.
func (u *unanswered) wait() {
	u.mu.Lock()
	if len(u.open) == 0 {
		u.mu.Unlock()
		return
	}
	none := make(chan struct{})
	u.none = none
	u.mu.Unlock()
	late := time.NewTimer(hangupGrace)
	defer late.Stop()
	select {
	case <-none:
	case <-u.ctx.Done():
	case <-late.C:
	}
}

// framed hands the lines of a stream to see.
type framed struct {
	rest []byte
	see  func(line []byte)
}

func (f *framed) take(p []byte) {
	f.rest = append(f.rest, p...)
	for {
		i := bytes.IndexByte(f.rest, '\n')
		if i < 0 {
			return
		}
		f.see(f.rest[:i])
		f.rest = f.rest[i+1:]
	}
}

// requests is a client's stream; its end waits for the answers.
type requests struct {
	io.ReadCloser
	framed
	of *unanswered
}

func (r *requests) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	r.take(p[:n])
	if n == 0 && errors.Is(err, io.EOF) {
		r.see(r.rest)
		r.rest = nil
		r.of.wait()
	}
	return n, err
}

// answers is the stream to the client.
type answers struct {
	io.Writer
	framed
}

func (a *answers) Write(p []byte) (int, error) {
	n, err := a.Writer.Write(p)
	a.take(p[:n])
	return n, err
}
