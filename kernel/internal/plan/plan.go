// Package plan decides the messages of one model call. [Make] is a function of the prior state,
// the request, a reader of the session and a reader of the workspace:
//
//	take ── measure ── open ── fit ── decide ── append ── lay out ── Result
//
// Each stage is a function from the results of earlier stages to a result of its own, and no
// later stage changes a result. The logs of new pages, faults and decisions only grow. They also
// keep the entries of an attempt that was given up. The package opens no session, writes no file,
// and uses neither clock nor network. The caller must record the result or discard it.
//
// The methods of [Result] describe the plan for its host: the messages to send, the tokens of each
// region, the outcome of every page and the expected bill.
package plan

import (
	"context"
	"fmt"
	"time"

	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/journal"
	"github.com/memkernel/memkernel/retrieval"
	"github.com/memkernel/memkernel/summary"
	"github.com/memkernel/memkernel/transcript"
)

// Prior is the state before a call. The plan does not change it.
type Prior struct {
	// Key is the session's key. Name is the name of the session's folder, from which page ids
	// derive.
	Key, Name string
	// Before is the state of the conversation.
	Before *branch.State
	// Texts finds representations and kernel blocks by hash.
	Texts map[string]string
	// Last is the conversation as it was shown to another model, if that model had the newest
	// request and this model had no request. It is nil otherwise.
	Last *branch.State
	// Maker makes the pages. The plan sets its Large.
	Maker ingest.Maker
	// Releveled counts the pages whose representations were replaced.
	Releveled int
	// Observed is the summary of the observed turns.
	Observed summary.State
	// Calibration is the known ratio of the model's counts.
	Calibration budget.Calibration
	// Pinned are the pages that every prompt of the branch shows.
	Pinned []journal.StoredPage
	// Pending counts the boundaries that requested a cut.
	Pending int
	// Compacted are the times of the host's own compactions.
	Compacted []time.Time
	Life      Life
	Memory    Memory
	// Economy applies to calls that name no preference.
	Economy cachelayout.Economy
}

// Life sets how the working state of sessions is kept.
type Life struct {
	Off, NoRestore bool
	// Thresholds returns the thresholds of the gauge in a window with a reserve.
	Thresholds func(window, reserve int) checkpoint.Thresholds
	// FlushOff switches flush turns off.
	FlushOff bool
}

// Memory limits the text that is taken from the workspace, in tokens, items and shares. With a
// negative limit no such text is taken.
type Memory struct {
	Bootstrap            []string
	NoRemembered         bool
	NoDailyLogs, NoSpans bool
	// CarryTokens limits the part of pins and files in a carry block.
	WorkspaceTokens, CarryTokens int
	RecallTokens                 int
}

// Request is the call that a host is about to make, with the kernel's own settings for it.
type Request struct {
	api.PlanRequest
	// Price is the price book's row of the model.
	Price cachelayout.Model
	// LowWater is the size of the conversation that a cut keeps, in tokens. With 0 the cut
	// planner chooses the size.
	LowWater int
	// Demand is a compaction without a call, nil for a plan. A compaction appends nothing and
	// does not change the ledger of the provider's cache.
	Demand *Demand
}

// Demand is a compaction on demand.
type Demand struct {
	api.CompactWish
	// Boundary is the number of the session's boundary that requests the compaction, counted from
	// 1. It is 0 if the boundary is not known. The number is recorded with the cut.
	Boundary int
}

// session reads data of the session that most plans do not need.
type session interface {
	// Notes returns a model's notes on the branch.
	Notes() (summary.Notes, error)
	// WorkState returns the working state.
	WorkState() (*WorkState, error)
	// Searchable returns the messages that left the session's prompts, and the given pages. The
	// parameter shown returns a page, and the page's text if it is still in the host's messages.
	Searchable(pages []string, shown func(id string) (p *pagevm.Page, text string, here bool)) (*retrieval.Spans, []fault.Fault)
	// Earlier returns the paces of the agent's earlier sessions. These paces hold only the
	// pauses.
	Earlier() []cachelayout.Pace
	// Neighbour returns the workspace's other session that spoke last, nil if there is no other
	// session.
	Neighbour() *Neighbour
}

// Neighbour is another session of the workspace. A prompt names the session, and shows its state
// only if the user wants to continue from that session.
type Neighbour struct {
	Key string
	At  time.Time
	// State reads the state of the session's work. It returns nil if no state is stored.
	State func() (*checkpoint.Checkpoint, error)
}

// WorkState is the last stored working state of a session.
type WorkState struct {
	// State is the captured state.
	State checkpoint.State
	// Latest is the newest record of the state, nil if there is no record. Written is the newest
	// checkpoint, nil if there is no checkpoint.
	Latest, Written *checkpoint.Checkpoint
	// Input returns the content of the plan's checkpoint, except for the state.
	Input func(checkpoint.Trigger, checkpoint.Reading) checkpoint.Input
	// Source names the record from which a restore text is made.
	Source func(*checkpoint.Checkpoint) string
}

// Workspace reads the workspace's files and searches memory.
type Workspace interface {
	// File reads a file. It returns false if the file does not exist.
	File(path string) (File, bool, error)
	// Remembered returns the name of MEMORY.md.
	Remembered() string
	DailyLogs(now time.Time) (today, yesterday markdownstore.File)
	Recall(ctx context.Context, q retrieval.Query) retrieval.Result
}

// Result is a plan, stage by stage.
type Result struct {
	call
	limits
	past
	decision
	appended
	layout
	// Faults are the plan's faults. Alerts are signs of trouble that no prompt could have
	// prevented.
	Faults, Alerts []fault.Fault
	// Trail holds the questions to deciders and their answers, in order.
	Trail []Step
	// Next is the state of the conversation after the plan was sent.
	Next *branch.State
}

// Make plans a call, or a compaction on demand. If workspace is nil, no workspace is used.
func Make(ctx context.Context, prior *Prior, req *Request, s session, ws Workspace) (*Result, error) {
	w, err := windowOf(prior, req)
	if err != nil {
		return nil, err
	}
	c, err := take(ctx, prior, req, s, ws, w)
	if err != nil {
		return nil, err
	}
	c, l, past, err := measure(c, w)
	if err != nil {
		return nil, err
	}
	o := open(&c, &l)
	f := fit(&c, &l, &o)
	c.Hosts = f.hosts // all later stages see the messages as they are shown
	d, err := decide(ctx, &c, &l, &past, squeeze(&c, &l, o.yielding(&f)), &f)
	if err != nil {
		return nil, err
	}
	a := appendBlocks(ctx, &c, &l, &d)
	verify(&c, &l, &a)
	if err := ctx.Err(); err != nil {
		return nil, err // if the context ended, recall may have found only a part
	}
	r := &Result{call: c, limits: l, past: past, decision: d, appended: a, layout: layOut(&c, &l, &d, &a)}
	r.Faults, r.Alerts, r.Trail = c.log.faults, c.log.alerts, c.log.trail
	r.Next = next(r)
	return r, nil
}

// window holds the window in tokens, and its source.
type window struct {
	tokens int
	from   api.WindowFrom
}

// noWindow replaces an unknown window. No prompt is cut to fit this size.
const noWindow = 1 << 30

// windowOf returns the window of a request. It returns an error for a request that can't be
// planned.
func windowOf(prior *Prior, r *Request) (window, error) {
	kept := prior.Calibration
	w := window{noWindow, api.WindowUnknown}
	switch {
	case r.ContextWindow > 0:
		w = window{r.ContextWindow, api.WindowRequest}
	case r.Price.ContextWindow > 0:
		w = window{r.Price.ContextWindow, api.WindowPrices}
	case r.ServerWindow > 0 && api.WindowFrom(kept.WindowFrom) != api.WindowRefusal:
		w = window{r.ServerWindow, api.WindowServer}
	case kept.Window > 0:
		w = window{kept.Window, api.WindowFrom(kept.WindowFrom)}
	}
	if prior.Before.Private && !r.Private {
		return w, fmt.Errorf("plan %s: %w", r.SessionKey, api.ErrPrivate)
	}
	return w, nil
}

// FormatOf returns a request's shape: the host's wish, else the format of the model's provider.
func FormatOf(wish transcript.Format, m *cachelayout.Model) transcript.Format {
	switch {
	case wish != "":
		return wish
	case m.Provider == "openai":
		return transcript.FormatOpenAI
	}
	return transcript.FormatAnthropic
}

// Text finds the bytes of a representation or kernel block by hash.
func (r *Result) Text(hash string) string { return r.text(r.Chosen.Texts, hash) }

// LargestItems returns the largest of the fixed parts and of the items in the prompt.
func (r *Result) LargestItems() []budget.Item {
	return largestItems(&r.call, &r.limits, r.Proj.Carry, r.Proj.Items)
}

// next returns the state after the plan, made of the results of all stages.
func next(r *Result) *branch.State {
	n := *r.Prev
	n.Plan, n.Private = "", r.Request.Private
	n.Raw, n.Msgs, n.Hosts, n.Places, n.Adopted, n.Removed, n.Calls = r.Raw, r.Msgs, r.Hosts, r.Places, r.Adopted, r.Removed, r.Maker.Calls
	n.Call, n.System, n.Tools = r.lastCall(), r.Request.System, r.Request.Tools
	n.Overflow, n.Ran = r.Refusal.limits, r.ran
	n.Pace, n.TTL, n.Ledger = r.Pace, r.ttl, r.layout.ledger
	n.Summary, n.Spans, n.Notes = r.Chosen.summary, r.Chosen.Spans, r.Chosen.notes
	n.Breaker, n.Compacted = r.Breaker, r.compacted
	n.Fitted, n.Settled = r.ownSize, r.settled
	n.Level, n.CutLevel, n.FlushAsked, n.FlushSeen = r.appended.level, r.appended.cutLevel, r.flushAsked, r.flushSeen
	n.Proj, n.Planned, n.Full, n.Window = r.Proj, r.Proj.Tokens(), r.Planned(r.Proj), r.KnownWindow()
	n.Before, n.Ratio = r.Before, r.Ratio
	n.Paging = n.Paging.Plus(counted(r))
	return &n
}
