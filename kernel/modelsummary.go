package kernel

import (
	"context"
	"sync"
	"time"

	"github.com/memkernel/memkernel/summary"
)

// A model's notes on a session, beside the mechanical summary:
//
//	ObserveTurn ── is the delta large or old enough? no cool-down? ── masked text
//	                                                                    │
//	      the background: lock of the notes, ask the model once  ◄──────┘
//	                          │
//	      operations ── journal: one writeback with the mark of the delta ── memory
//	                          │
//	      the next cut renders them behind the mechanical lines
//
// The mark and the operations are one commit, so that a delta is noted once or not
// at all; what was not committed is part of the next delta. Whatever goes wrong,
// the mechanical summary stands as it does without a model.

// SummaryOptions say whether a model makes notes of sessions, and when.
type SummaryOptions struct {
	// Model is asked. Nil, the default, asks nobody.
	Model summary.Model
	// Tokens is the size of a delta from which it is asked about; After is the age
	// of its oldest message from which a smaller one is. Defaults: 4,000 and
	// 15 minutes.
	Tokens int
	After  time.Duration
	// DeltaTokens bounds how much of a delta is sent in one request, about; what
	// is left goes with the next. Default: 24,000.
	DeltaTokens int
	// Timeout bounds one request. Default: a minute.
	Timeout time.Duration
	// CloseWait is how long Close waits for a request before it is cancelled.
	// Default: 2 seconds; negative does not wait.
	CloseWait time.Duration
	// NoFacts keeps what a model proposes to remember out of the daily log.
	NoFacts bool
}

// The defaults of [SummaryOptions]. Four thousand tokens are a few tool calls: a
// request per handful of turns, of which the prompt's own text is a sixth.
const (
	DefaultSummaryTokens    = 4_000
	DefaultSummaryAfter     = 15 * time.Minute
	DefaultSummaryDelta     = 24_000
	DefaultSummaryTimeout   = time.Minute
	DefaultSummaryCloseWait = 2 * time.Second
)

func (o *SummaryOptions) setDefaults() {
	if o.Tokens == 0 {
		o.Tokens = DefaultSummaryTokens
	}
	if o.After == 0 {
		o.After = DefaultSummaryAfter
	}
	if o.DeltaTokens == 0 {
		o.DeltaTokens = DefaultSummaryDelta
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultSummaryTimeout
	}
	if o.CloseWait == 0 {
		o.CloseWait = DefaultSummaryCloseWait
	}
}

// maxAsking is how many requests of one kernel may be under way.
const maxAsking = 2

// noteTaker asks the model in the background.
type noteTaker struct {
	opt   SummaryOptions
	calm  *cooldowns
	ctx   context.Context
	abort context.CancelFunc

	mu     sync.Mutex      // guards what follows
	asking map[string]bool // sessions by folder
	closed bool
	idle   chan struct{} // closed when nothing is asked any more; nil if nothing is
}

func newNoteTaker(o SummaryOptions, calm *cooldowns) *noteTaker {
	o.setDefaults()
	n := &noteTaker{opt: o, calm: calm, asking: map[string]bool{}}
	n.ctx, n.abort = context.WithCancel(context.Background())
	return n
}

// start runs f in the background, unless the session is asked about already, too
// much is, or the kernel is closed.
func (n *noteTaker) start(session string, f func(context.Context)) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed || n.asking[session] || len(n.asking) >= maxAsking {
		return false
	}
	if len(n.asking) == 0 {
		n.idle = make(chan struct{})
	}
	n.asking[session] = true
	go func() {
		defer n.end(session)
		f(n.ctx)
	}()
	return true
}

func (n *noteTaker) end(session string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if delete(n.asking, session); len(n.asking) == 0 {
		close(n.idle)
		n.idle = nil
	}
}

// busy tells whether start would refuse.
func (n *noteTaker) busy(session string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.closed || n.asking[session] || len(n.asking) >= maxAsking
}

// cancelWait is how long a model gets to notice that it was cancelled. One that
// does not is left behind: it can't write any more.
const cancelWait = time.Second

// stop ends the background's work for good: what is under way may end by itself
// for a while, and is then cancelled.
func (n *noteTaker) stop() {
	if n == nil {
		return
	}
	n.mu.Lock()
	n.closed = true
	idle := n.idle
	n.mu.Unlock()
	if idle == nil || waited(idle, n.opt.CloseWait) {
		n.abort()
		return
	}
	n.abort()
	waited(idle, cancelWait)
}

// waited tells whether done was closed within d.
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
