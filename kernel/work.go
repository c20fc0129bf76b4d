package kernel

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/kernel/internal/ids"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/journal"
	"github.com/memkernel/memkernel/transcript"
)

// work is one plan in the making. It reads the session and writes to nothing but
// itself.
type work struct {
	*ingest.Batch
	ctx             context.Context // of the searches and compressions that a plan may ask for
	memory          *memory
	req             PlanRequest
	s               *session
	prev            *branch.State // the line before; never changed
	next            *branch.State // the line being made
	model           cachelayout.Model
	priced, durable bool
	ratio           float64 // calibrated tokens per counted token
	spread          float64 // upper bound per calibrated token

	// kind says how far the counts can be trusted.
	kind budget.Kind

	// asked are window and reserve as the request or the price book has them, the
	// others as refusals have them.
	asked           struct{ window, reserve int }
	window, reserve int
	lowWater        int // see Options.LowWater
	hard            int // window minus reserve, the counts' own error taken off
	fixed           int // tools, system and what the host does not show

	places []pagevm.Place
	seen   []pagevm.Seen
	align  pagevm.Alignment
	texts  map[string]string // kernel blocks made by this plan
	faults []Fault
	alerts []Fault
	spans  map[string]string // the span that a message left with, made by spanOf
	left   []Excluded        // what was found and not recalled
	stats  Stats

	// What hosts wrote: shared is what all sessions share, pinned what stands.
	shared, pinned []journal.StoredPage
	pinsRead       bool
	// What is known of the workspace's files, read when it is wanted.
	files           []source
	read, stateRead bool
	stateFile       source
	carried         []pagevm.Block // the workspace's part of the carry block
	carriedMade     bool
	// leadGone: the host's first messages do not stand; carriedGone: carried was
	// made for that.
	leadGone, carriedGone bool
	standing              int // its size, calibrated
	squeezed              int // what it has to give way, calibrated
	// pressed are pages that were sent, must stand, and have to be shown shorter.
	pressed map[string]pagevm.Level

	proj     *pagevm.Projection
	decision pagevm.Decision
	// wishes and granted are what proj was asked for with.
	wishes  pagevm.Wishes
	granted pagevm.Cache
	cut     cachelayout.Cut
	worth   *appraisal // nil until a cut is chosen
	decided []decided  // for the trace
	cold    bool
	clock   string
	before  int // planned input had nothing been cut
	// reading is the gauge, crossed the highest level that this plan crossed, and
	// trigger why a checkpoint is due.
	reading checkpoint.Reading
	crossed checkpoint.Level
	trigger checkpoint.Trigger
	flush   string // why the host should run a flush turn
	behind  bool   // an earlier conversation left state that no checkpoint holds
	// captured is the working state with this plan's messages, made from capturedOf.
	captured   *checkpoint.State
	capturedOf *life

	blocks      []cachelayout.Block
	breakpoints []cachelayout.Breakpoint
	change      cachelayout.Change
	bill        cachelayout.Bill
	notes       []string
	lifetimes   lifetimes
	advice      cachelayout.Advice

	// demand is a compaction that comes with no call, nil for a plan. held: the breaker
	// kept the plan from cutting.
	demand *demand
	held   bool
	// refusal is what a provider said of the last request, refused that this plan
	// answers it, learned that the line has learned from it: refusedCount counted
	// tokens were refusedActual.
	refusal                     *budget.Overflow
	refused, learned            bool
	refusedCount, refusedActual int
	refusedProj                 *pagevm.Projection
	// fixedAs is the last call where system and tools are known by size alone.
	fixedAs *branch.Call

	split                    budget.Plan
	toolTokens, systemTokens int
	toolHash, systemHash     string
}

// newWork resolves the request's defaults.
func (k *Kernel) newWork(ctx context.Context, s *session, req PlanRequest, durable bool) (*work, error) {
	if req.Now.IsZero() {
		req.Now = k.now()
	}
	w := &work{req: req, s: s, lowWater: k.lowWater, texts: map[string]string{}, ratio: 1, spread: 1}
	w.model, w.priced = k.prices.Lookup(req.Model, req.Now)
	w.window = req.ContextWindow
	if w.window == 0 {
		w.window = w.model.ContextWindow
	}
	if w.window <= 0 {
		return nil, &WindowError{Model: req.Model}
	}
	w.reserve = req.Reserve
	if w.reserve == 0 {
		w.reserve = budget.DefaultReserve(w.window)
	}
	w.asked.window, w.asked.reserve = w.window, w.reserve
	m, err := newMaker(ctx, k, s, w.model, req.Branch, req.Model)
	if err != nil {
		return nil, fmt.Errorf("plan %s: %w", req.SessionKey, err)
	}
	m.Resolver, m.Durable = req.Resolver, durable
	m.Stopped = func() bool { return ctx.Err() != nil }
	m.Large = budget.LargeResult(w.window)
	w.Batch = &ingest.Batch{Maker: m}
	if lost := s.projectionLost(lineKey{req.Branch, req.Model}); lost != "" {
		w.faults = append(w.faults, Fault{Code: FaultProjectionLost, Detail: lost})
	}
	w.prev = s.line(req.Branch, req.Model)
	if w.prev.Private && !req.Private {
		return nil, fmt.Errorf("plan %s: %w", req.SessionKey, ErrPrivate)
	}
	next := *w.prev
	next.Plan, next.Private = "", req.Private
	w.next = &next
	return w, nil
}

// absorb makes the request valid, lays it over the projection and ingests what is
// new.
func (w *work) absorb() error {
	m, r := w.Maker, &w.req
	b, err := ingest.Repair(m, w.prev, ingest.Request{Messages: r.Messages, Prompt: r.Prompt, Turn: r.Turn, Now: r.Now, Lead: w.format() == transcript.FormatAnthropic})
	if err != nil && (w.demand == nil || !errors.Is(err, ErrAnswered)) {
		return err
	}
	if w.Batch = b; !b.Absorb() {
		return w.ctx.Err()
	}
	for _, f := range b.Faults {
		w.faults = append(w.faults, Fault(f))
	}
	w.next.Raw, w.next.Removed, w.next.Adopted, w.next.Calls = b.Raw, b.Removed, b.Adopted, b.Calls
	w.stats.Ingested, w.stats.LiftedBytes = len(b.Out.New), b.LiftedBytes
	w.places = ingest.Places(w.prev.Places, b.Absorbed, b.Msgs)
	w.align = pagevm.Align(w.prev.Proj, w.Hosts)
	w.next.Msgs, w.next.Places = w.Msgs, w.places
	if w.align.Rewrite != pagevm.RewriteNone {
		w.faults = append(w.faults, Fault{Code: string(w.align.Rewrite), Key: keyAt(w.Hosts, w.align.First),
			Detail: fmt.Sprintf("the host's messages differ from message %d on", w.align.First+1)})
	}
	return nil
}

// ingester makes pages for this plan, by what counts as large now.
func (w *work) ingester() *ingest.Maker {
	g := w.Maker
	g.Large = w.unscale(budget.LargeResult(w.window))
	return &g
}

// hostKey is the key that the host knows a message by.
func (w *work) hostKey(key string) string { return branch.HostKey(w.Adopted, key) }

func freshSeen(hosts []pagevm.HostMessage) []pagevm.Seen {
	out := make([]pagevm.Seen, len(hosts))
	for i := range hosts {
		out[i] = pagevm.Seen{Key: hosts[i].Key, Hash: hosts[i].Hash}
	}
	return out
}

func keyAt(hosts []pagevm.HostMessage, i int) string {
	if i < len(hosts) {
		return hosts[i].Key
	}
	return ""
}

// measure fixes what the plan may spend: the calibration, the fixed part, and the
// hard limit with the counts' own error taken off. A plan that learns from a refusal
// measures twice, each time from what it was asked for.
func (w *work) measure() {
	w.window, w.reserve = w.asked.window, w.asked.reserve
	w.calibrate()
	w.applyRefusals()
	w.measureFixed()
	w.hard = w.next.Overflow.Tightened(w.withMargin(w.window-w.reserve), w.fixed)
}

// withMargin takes the counts' own error off a limit. The fixed part that the
// host measured itself needs none.
func (w *work) withMargin(limit int) int {
	return w.fixed + int(float64(limit-w.fixed)/w.spread)
}

// measureFixed counts what always stands in full.
func (w *work) measureFixed() {
	w.toolHash, w.systemHash = "", ""
	for i := range w.req.Tools {
		w.toolHash = ids.Hash(w.toolHash + w.req.Tools[i].Raw)
	}
	for i := range w.req.System {
		w.systemHash = ids.Hash(w.systemHash + w.req.System[i].Text)
	}
	w.systemHash = ids.Hash(w.systemHash + strconv.Itoa(w.req.FixedTokens))
	w.toolTokens = w.scale(w.Count.Tools(w.req.Tools))
	w.systemTokens = w.req.FixedTokens + w.scale(w.Count.System(w.req.System)+w.Count.Overheads.Base)
	if c := w.fixedAs; c != nil {
		w.toolTokens, w.systemTokens, w.toolHash, w.systemHash = c.ToolTokens, c.SystemTokens, c.ToolHash, c.SystemHash
	} else {
		w.systemTokens += w.next.Overflow.Hidden
	}
	w.fixed = w.toolTokens + w.systemTokens
}

// scale turns counted tokens into calibrated ones, rounding up.
func (w *work) scale(tokens int) int {
	return branch.Scaled(tokens, w.ratio)
}

// unscale is the inverse of scale for budgets, rounding down.
func (w *work) unscale(tokens int) int { return int(float64(tokens) / w.ratio) }

// planned is the whole input of a projection, calibrated and anchored.
func (w *work) planned(p *pagevm.Projection) int {
	return w.fixed + w.conversation(p) + w.anchorShift(p)
}

func (w *work) conversation(p *pagevm.Projection) int {
	n := 0
	for i := range p.Carry {
		n += w.scale(p.Carry[i].Tokens)
	}
	for i := range p.Items {
		n += w.scale(p.Items[i].Tokens)
	}
	return n
}
