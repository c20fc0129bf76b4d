package scriptedhost

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/transcript"
)

// Host follows a script. It keeps its conversation as hosts do, by itself, and has
// the kernel's workspace below Dir.
type Host struct {
	Dir    string
	Window int
	// Options are the kernel's; nil is what a host that sets nothing gets. The
	// clock is the script's.
	Options *kernel.Options
	Hooks   Hooks
	// Shallow checks leave out Kernel.Check, which reads every page there is.
	Shallow bool
	Ledger  Ledger
	// Faults counts what the kernel's calls named, by code.
	Faults map[fault.Code]int

	k    *kernel.Kernel
	msgs []memkernel.Message
	// ended is the conversation at the end of the last turn that was committed.
	ended []memkernel.Message
	now   *Step
}

// Hooks let a test add to what a host does and looks at; each may be nil.
type Hooks struct {
	// Request may change what a call asks for; behind a surprise Step.Overflow is set.
	Request func(*api.PlanRequest, *Step)
	// Planned and Passed look at an answer.
	Planned func(*Step, *api.ContextPlan) error
	Passed  func(*Step, *api.Passed) error
	// Look looks at the state, beside what a check looks at.
	Look func(*Sight) error
}

// New makes a host whose script has not begun.
func New(dir string, s Setup) *Host {
	s.setDefaults()
	return &Host{Dir: dir, Window: s.Window, Faults: map[fault.Code]int{}}
}

// Workspace returns the folder of the Markdown.
func (h *Host) Workspace() string { return filepath.Join(h.Dir, "workspace") }

// Open opens the kernel.
func (h *Host) Open(ctx context.Context) error {
	if err := os.MkdirAll(h.Workspace(), 0o700); err != nil {
		return err
	}
	var o kernel.Options
	if h.Options != nil {
		o = *h.Options
	}
	o.Now, o.Memory.Store.Now, o.Memory.Store.Timezone = h.clock, h.clock, time.UTC
	k, err := kernel.Open(ctx, h.Workspace(), &o)
	h.k = k
	return err
}

// clock returns the script's clock: the time of the step at hand.
func (h *Host) clock() time.Time {
	if h.now == nil {
		return begun
	}
	return h.now.Now
}

// Close ends the kernel as a host's orderly end does.
func (h *Host) Close() error {
	if h.k == nil {
		return nil
	}
	k := h.k
	h.k = nil
	return k.Close()
}

// Do carries out a step and takes it as acknowledged.
func (h *Host) Do(ctx context.Context, st *Step) error {
	h.hear(st)
	if err := h.call(ctx, st); err != nil {
		return fmt.Errorf("turn %d, %s %s: %w", st.Turn, st.Kind, st.Key, err)
	}
	return h.acknowledge(st)
}

// Skip takes a step as acknowledged that another process carried out.
func (h *Host) Skip(st *Step) error {
	h.hear(st)
	return h.acknowledge(st)
}

// hear adds what was said before a step.
func (h *Host) hear(st *Step) {
	h.now = st
	stay := len(h.msgs) - st.Drop
	h.msgs = append(h.msgs[:stay:stay], st.Add...)
}

func (h *Host) acknowledge(st *Step) error {
	h.Ledger = h.Ledger.after(st)
	switch st.Kind {
	case Turn:
		h.ended = h.msgs
	case Reset:
		h.msgs, h.ended = nil, nil
	case Shrink:
		return h.shrink(st)
	}
	return nil
}

func (h *Host) call(ctx context.Context, st *Step) error {
	switch st.Kind {
	case Plan:
		return h.plan(ctx, st)
	case Result, Turn:
		return h.observe(ctx, st)
	case Write:
		r, err := h.k.Write(ctx, api.WriteRequest{SessionKey: session, Key: st.Key, Updates: st.Updates, Now: st.Now})
		if err == nil && len(r.Rejected) > 0 {
			err = fmt.Errorf("rejected: %+v", r.Rejected)
		}
		return err
	case Remember:
		_, err := h.k.Remember(ctx, api.RememberRequest{SessionKey: session, ID: st.Key, Text: st.Text, Now: st.Now})
		return err
	case Answer:
		_, err := h.k.ObserveFlush(ctx, api.FlushReply{SessionKey: session, Text: st.Text, Now: st.Now})
		return err
	case Restart:
		if err := h.Close(); err != nil {
			return err
		}
		return h.Open(ctx)
	case Look:
		return nil
	}
	return h.boundary(ctx, st)
}

// resolver is the tool by which the host's model follows pointers.
const resolver = "memory_get"

// request returns the request of the next call.
func (h *Host) request(st *Step) api.PlanRequest {
	req := api.PlanRequest{SessionKey: session, Model: model, ContextWindow: h.Window, Messages: h.msgs, Now: st.Now,
		Resolver: resolver, Private: true}
	if h.Hooks.Request != nil {
		h.Hooks.Request(&req, st)
	}
	return req
}

func (h *Host) plan(ctx context.Context, st *Step) error {
	p, err := h.k.PlanContext(ctx, h.request(st))
	if err != nil {
		return err
	}
	if h.Hooks.Planned != nil {
		if err := h.Hooks.Planned(st, p); err != nil {
			return err
		}
	}
	return h.fits(p)
}

// fits holds a plan against what is true of any.
func (h *Host) fits(p *api.ContextPlan) error {
	if b := p.Budgets; b.PlannedInputTokens+b.ReserveTokens > b.ContextWindow {
		return fmt.Errorf("planned %d and a reserve of %d are more than the window of %d", b.PlannedInputTokens, b.ReserveTokens, b.ContextWindow)
	}
	if v := transcript.Validate(transcript.FormatAnthropic, &transcript.Request{Model: p.Model, Messages: p.Messages, Markers: p.Markers}); len(v) > 0 {
		return fmt.Errorf("the request is invalid: %+v", v)
	}
	return h.blame(p.Faults)
}

func (h *Host) observe(ctx context.Context, st *Step) error {
	t := api.Turn{SessionKey: session, Model: model, Messages: h.msgs, Now: st.Now}
	if st.Kind == Result {
		o, err := h.k.ObserveToolResult(ctx, t)
		if err != nil {
			return err
		}
		return h.blame(o.Faults)
	}
	o, err := h.k.ObserveTurn(ctx, t)
	if err != nil {
		return err
	}
	if o.Outcome != api.Committed && o.Outcome != api.Duplicate || o.Turns != h.Ledger.Turns+1 {
		return fmt.Errorf("outcome %s of turn %d, want turn %d", o.Outcome, o.Turns, h.Ledger.Turns+1)
	}
	return h.blame(o.Faults)
}

func (h *Host) boundary(ctx context.Context, st *Step) error {
	b := api.Boundary{SessionKey: session, Model: model, Messages: h.msgs, Key: st.Key, Now: st.Now}
	pass := map[Kind]func(context.Context, api.Boundary) (*api.Passed, error){
		Compact: h.k.Compact, Shrink: h.k.Compact, Reset: h.k.Reset, Flush: h.k.Flush}[st.Kind]
	p, err := pass(ctx, b)
	if err != nil {
		return err
	}
	epoch := h.Ledger.Epoch
	if st.Kind == Reset {
		epoch++
	}
	if len(p.Rejected) > 0 || p.Epoch != epoch || p.Turns != h.Ledger.Turns {
		return fmt.Errorf("epoch %d and %d turns, want %d and %d; rejected %+v", p.Epoch, p.Turns, epoch, h.Ledger.Turns, p.Rejected)
	}
	if st.Kind == Shrink {
		if err := h.keepSummary(ctx, st); err != nil {
			return err
		}
	}
	if h.Hooks.Passed != nil {
		if err := h.Hooks.Passed(st, p); err != nil {
			return err
		}
	}
	return h.blame(p.Faults)
}

// forbidden are faults that no step may show: something that has to be shown was not.
var forbidden = map[fault.Code]bool{"flush_miss": true, "post_compaction_bootstrap": true, "pinned_invariant_miss": true,
	fault.SilentRecall: true, fault.Checkpoint: true, fault.FlushSkipped: true, fault.NotRecorded: true,
	"not_traced": true, "projection_lost": true, "project_unreadable": true}

// blame counts faults, and fails on those that are forbidden.
func (h *Host) blame(faults []fault.Fault) error {
	for _, f := range faults {
		h.Faults[f.Code]++
		if forbidden[f.Code] {
			return fmt.Errorf("fault %+v", f)
		}
	}
	return nil
}

// A host that compacts its history puts what the kernel gave it to go on from in the
// place of all but its last two turns. It has that text in a file of its own.
const kept = 2

func (h *Host) summaryFile(st *Step) string { return filepath.Join(h.Dir, "host-"+st.Key+".txt") }

func (h *Host) keepSummary(ctx context.Context, st *Step) error {
	r, err := h.k.Restore(ctx, api.RestoreRequest{SessionKey: session, Occasion: checkpoint.AfterCompaction, Resolver: resolver})
	if err != nil {
		return err
	}
	file := h.summaryFile(st)
	if err := os.WriteFile(file+".new", []byte(r.Text), 0o600); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}

func (h *Host) shrink(st *Step) error {
	text, err := os.ReadFile(h.summaryFile(st))
	if err != nil {
		return fmt.Errorf("read the host's own summary: %w", err)
	}
	at := len(h.msgs)
	for n := 0; at > 0 && n < kept; {
		if at--; transcript.PlainUser(h.msgs[at]) {
			n++
		}
	}
	m := memkernel.Message{Key: "summary-" + st.Key, Role: memkernel.RoleUser, Origin: memkernel.OriginSummary, Time: st.Now,
		Parts: []memkernel.Part{{Kind: memkernel.PartText, Text: "This session goes on from an earlier conversation.\n" + string(text)}}}
	h.msgs = append([]memkernel.Message{m}, h.msgs[at:]...)
	return nil
}
