// Package notes asks a model for notes on a session, in addition to the mechanical summary.
//
//	ObserveTurn ── is the delta large or old enough? no cool-down? ── masked text
//	                                                                    │
//	      the background: lock of the notes, ask the model once  ◄──────┘
//	                          │
//	      operations ── journal: one writeback with the mark of the delta ── memory
//	                          │
//	      the next cut renders them after the mechanical lines
//
// The mark and the operations are one commit, so that a delta is noted once or not at all. A
// delta that was not committed is part of the next delta. After any failure the mechanical
// summary remains as it is without a model.
//
// The package never opens a session and never writes to its journal. The caller hands it the text
// to ask about, and the [session] commits the answer. Only [Taker.Stop] waits for a model, and
// only for a limited time.
package notes

import (
	"context"
	"sync"
	"time"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/api"
)

// maxAsking is the number of requests of one kernel that may be under way.
const maxAsking = 2

// Taker asks the model in the background. A nil Taker asks no model.
type Taker struct {
	opt   api.SummaryOptions
	now   func() time.Time
	calm  *cooldowns
	ctx   context.Context
	abort context.CancelFunc

	mu      sync.Mutex      // guards asking and closed
	asking  map[string]bool // sessions by folder
	closed  bool
	running sync.WaitGroup
}

// NewTaker returns a Taker that keeps cool-downs in a state directory. All options are taken as
// they are.
func NewTaker(o api.SummaryOptions, state store.Store, now func() time.Time) *Taker {
	n := &Taker{opt: o, now: now, calm: OpenCooldowns(state), asking: map[string]bool{}}
	n.ctx, n.abort = context.WithCancel(context.Background())
	return n
}

// Start asks the model about a job in the background. It does nothing if a request for the
// session is under way already, if too many requests are under way, or if the taker was stopped.
func (n *Taker) Start(job *Job, s session) {
	name := job.Folder.Where("")
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed || n.asking[name] || len(n.asking) >= maxAsking {
		return
	}
	n.asking[name] = true
	n.running.Go(func() {
		defer n.end(name)
		n.ask(n.ctx, job, s)
	})
}

func (n *Taker) end(name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.asking, name)
}

// Busy reports whether Start would refuse a job of the session in a folder.
func (n *Taker) Busy(folder store.Store) bool {
	if n == nil {
		return true
	}
	session := folder.Where("")
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.closed || n.asking[session] || len(n.asking) >= maxAsking
}

// cancelWait is how long Stop waits for a cancelled request to end. A request that does not end
// is abandoned. It can't write any more.
const cancelWait = time.Second

// Stop ends the background's work for good. Running requests may end by themselves for a while,
// and are then cancelled.
func (n *Taker) Stop() {
	if n == nil {
		return
	}
	n.mu.Lock()
	n.closed = true
	n.mu.Unlock()
	idle := make(chan struct{})
	go func() {
		n.running.Wait()
		close(idle)
	}()
	ended := waited(idle, n.opt.CloseWait)
	if n.abort(); !ended {
		waited(idle, cancelWait)
	}
}

// waited reports whether done was closed within d.
func waited(done <-chan struct{}, d time.Duration) bool {
	t := time.NewTimer(max(d, 0))
	defer t.Stop()
	select {
	case <-done:
		return true
	case <-t.C:
		return false
	}
}
