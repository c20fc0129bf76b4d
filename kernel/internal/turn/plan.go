package turn

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/kernel/internal/memory"
	"github.com/memkernel/memkernel/kernel/internal/plan"
	"github.com/memkernel/memkernel/kernel/internal/session"
	"github.com/memkernel/memkernel/kernel/internal/workstate"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/journal"
	"github.com/memkernel/memkernel/retrieval"
	"github.com/memkernel/memkernel/summary"
)

// PlanCall plans a call and records the plan. If recording fails, the plan reports that, and the
// session is read again.
func (d *Desk) PlanCall(ctx context.Context, s *session.Session, req *api.PlanRequest) (*Planned, error) {
	pl, err := d.plan(ctx, s, req, how{})
	if err != nil {
		// The doctor reports that system prompt and tools alone don't fit. It is no error if this
		// can't be stored.
		if small, ok := errors.AsType[*budget.TooSmallError](err); ok && small.Always() {
			_ = s.Learn(req.Model, func(cal *budget.Calibration) bool {
				cal.Unfit = &budget.Unfit{At: d.Now(), System: small.System, Tools: small.Tools, Window: small.Window, Reserve: small.Reserve}
				return true
			})
		}
		return nil, err
	}
	if err := record(ctx, s, pl); err != nil {
		s.Invalidate()
		return d.Unrecorded(ctx, s, req, err)
	}
	pl.Stats = s.TakeSpent()
	pl.Stats.Ingested, pl.Stats.LiftedBytes = pl.Ingested, pl.LiftedBytes
	if len(pl.Prev.Proj.Seen) == 0 && d.Memory != nil {
		d.Memory.Sync.SessionStarts()
	}
	// The pauses help to plan the agent's next session. It is no error if they can't be stored.
	if paused := pausesOf(pl.Next.Pace); pl.Request.Branch == "" && !slices.Equal(paused, pausesOf(pl.Prev.Pace)) {
		_ = d.Habits.Note(pl.Request.Source.Agent, pl.Session.Name, paused)
	}
	pl.Faults = append(pl.Faults, s.Life.Damages()...)
	return pl, nil
}

// Unrecorded plans when nothing can be written, as on a full or read-only disk, because a model
// call should not fail for that reason. Content that is not durable stays in full. If the full
// content does not fit, Unrecorded returns the error that prevented the writing.
func (d *Desk) Unrecorded(ctx context.Context, s *session.Session, req *api.PlanRequest, cause error) (*Planned, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := s.Refresh(false); err != nil { // earlier records are valid
		s.Invalidate()
	}
	pl, err := d.plan(ctx, s, req, how{peek: true, unwritten: true})
	if err != nil {
		return nil, errors.Join(cause, err)
	}
	pl.Faults = append(pl.Faults, fault.Fault{Code: fault.NotRecorded, Detail: cause.Error()})
	return pl, nil
}

// PeekCall makes a plan without writing anything.
func (d *Desk) PeekCall(ctx context.Context, s *session.Session, req *api.PlanRequest) (*Planned, error) {
	return d.plan(ctx, s, req, how{peek: true})
}

// Planned is a finished plan, with the results of recording it. It refers to data of the session,
// so only the session's holder may use it.
type Planned struct {
	*plan.Result
	Session *session.Session
	Stats   api.Stats
	// Withheld are parts of memory that a shared session may not see.
	Withheld []retrieval.Withheld
}

// how configures the making of a plan.
type how struct {
	// peek forbids writing the index.
	peek bool
	// unwritten reports that pages ingested now will not be on disk before the plan is used.
	unwritten bool
	// demand is a compaction on demand, nil for a plan.
	demand *plan.Demand
}

// plan reads the session and plans. It writes nothing.
func (d *Desk) plan(ctx context.Context, s *session.Session, asked *api.PlanRequest, h how) (*Planned, error) {
	ctx = markdownstore.Since(ctx, time.Now())
	req := plan.Request{PlanRequest: *asked, LowWater: d.LowWater, Demand: h.demand}
	req.Now = d.At(req.Now)
	req.Price, _ = d.Prices.Lookup(req.Model, req.Now)
	prior, faults, err := d.prior(ctx, s, &req)
	if err != nil {
		return nil, err
	}
	prior.Maker.Durable = !h.unwritten
	from := reader{s, &req, d, h.peek}
	var files plan.Workspace // nil if memory is off
	if d.Memory != nil {
		files = from
	}
	r, err := plan.Make(ctx, prior, &req, from, files)
	if err != nil {
		return nil, err
	}
	var withheld []retrieval.Withheld
	if d.Memory != nil {
		withheld = d.Memory.Withheld(req.Private, "")
	}
	r.Faults = append(faults, r.Faults...)
	return &Planned{Result: r, Session: s, Withheld: withheld, Stats: api.Stats{Ingested: r.Ingested, LiftedBytes: r.LiftedBytes}}, nil
}

// prior returns the state from which a plan starts, and faults for the parts that could not be
// read.
func (d *Desk) prior(ctx context.Context, s *session.Session, req *plan.Request) (*plan.Prior, []fault.Fault, error) {
	var faults []fault.Fault
	m, err := newMaker(d, s, req.Price, req.Branch, req.Model)
	if err != nil {
		return nil, nil, fmt.Errorf("plan %s: %w", req.SessionKey, err)
	}
	m.Resolver, m.Stopped = req.Resolver, func() bool { return ctx.Err() != nil }
	if lost := s.Branches.Lost(branch.Key{Branch: req.Branch, Model: req.Model}); lost != "" {
		faults = append(faults, fault.Fault{Code: "projection_lost", Detail: lost})
	}
	shared, err := d.Shared(ctx)
	faults = append(faults, fault.Of("project_unreadable", err)...)
	cal, err := s.Calibrations.Of(req.Model)
	if err != nil {
		return nil, nil, fmt.Errorf("plan %s: %w", req.SessionKey, err)
	}
	if o := req.Overflow; o != nil && budget.RefusesThinking(o.Text) {
		cal.Binding = string(cachelayout.BindingRefuses)
	}
	req.Price = req.Price.Bind(cachelayout.Binding(cal.Binding))
	p := &plan.Prior{Key: s.Key, Name: s.Name, Before: s.Branches.Of(req.Branch, req.Model), Last: s.Branches.Switched(req.Branch, req.Model), Texts: s.Texts, Maker: m, Economy: d.Economy, Releveled: s.Releveled,
		Observed: s.Account.Observed[req.Branch], Calibration: cal,
		Pinned:  plan.Standing(append(shared, s.Stored()...), req.Branch),
		Pending: s.Account.Pending[req.Branch], Compacted: s.Account.Compacted,
		Life: d.PlanLife, Memory: d.Carry}
	return p, faults, nil
}

// reader reads the workspace for a plan, and the data of the session that most plans do not need.
type reader struct {
	s    *session.Session
	req  *plan.Request
	desk *Desk
	peek bool // nothing may be written
}

func (r reader) Earlier() []cachelayout.Pace {
	if of := r.req.Source.Agent; r.s.Paces == nil || r.s.PacesOf != of {
		r.s.Paces, r.s.PacesOf = append([]cachelayout.Pace{}, r.desk.Habits.Earlier(of, r.s.Name)...), of
	}
	return r.s.Paces
}

func (r reader) Neighbour() *plan.Neighbour {
	return neighbour(r.desk.State, r.s.Life.Private, r.s.Key, r.req.Now)
}

func neighbour(state store.Store, private *markdownstore.Store, key string, now time.Time) *plan.Neighbour {
	other, at := workstate.Newest(private, key)
	if other == "" {
		return nil
	}
	return &plan.Neighbour{Key: other, At: at, State: func() (*checkpoint.Checkpoint, error) {
		return workstate.Left(folder.In(state, folder.Of(other)), other, now)
	}}
}

func (r reader) Notes() (summary.Notes, error) { return NotesOf(r.s, r.req.Branch) }

func (r reader) WorkState() (*plan.WorkState, error) {
	s, now := r.s, r.req.Now
	l, err := s.Life.Now()
	if err != nil {
		return nil, err
	}
	return &plan.WorkState{State: l.State, Latest: l.Latest, Written: l.Written(),
		Input: func(t checkpoint.Trigger, r checkpoint.Reading) checkpoint.Input {
			return s.Life.Input(t, r, now)
		},
		Source: s.Life.Source}, nil
}

func (r reader) Searchable(pages []string, shown func(id string) (*pagevm.Page, string, bool)) (*retrieval.Spans, []fault.Fault) {
	spans, unread := r.s.Left.Take(r.s.Reader(), pages, shown)
	var faults []fault.Fault
	for _, u := range unread {
		faults = append(faults, fault.Fault{Code: "not_searched", Page: u.Page, Detail: u.Err.Error()})
	}
	return spans, faults
}

func (r reader) File(path string) (plan.File, bool, error) {
	f, ok, err := r.desk.Memory.File(r.req.Private, path)
	return plan.File{Path: f.Path, Type: pagevm.Type(f.Type), Text: f.Text, Hash: f.Hash, Lines: f.Lines}, ok, err
}

func (r reader) Remembered() string {
	return r.desk.Memory.Remembered()
}

func (r reader) DailyLogs(now time.Time) (today, yesterday markdownstore.File) {
	return r.desk.Memory.DailyLogs(r.req.Private, now)
}

func (r reader) Recall(ctx context.Context, q retrieval.Query) retrieval.Result {
	began := time.Now()
	m := r.desk.Memory
	sc := m.Scope(r.req.Private, "", r.s.Key, "")
	sc.Loaded, sc.Project = r.req.Loaded, m.Project("")
	res := m.Search(ctx, sc, q, memory.Patience{Peek: r.peek})
	if r.desk.Recalled != nil {
		r.desk.Recalled(ctx, began, &res)
	}
	return res
}

// Shared returns the pages that all sessions share. A workspace without shared pages has no
// journal for such pages.
func (d *Desk) Shared(ctx context.Context) ([]journal.StoredPage, error) {
	if !d.Sessions.Holds(folder.Project) {
		if _, err := folder.In(d.State, folder.Project).Stat(folder.JournalFile); errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
	}
	p, unlock, err := d.Sessions.ReadFolder(ctx, folder.Project)
	if err != nil {
		return nil, err
	}
	defer unlock()
	return p.Stored(), nil
}

// pinnedKeys returns the keys of the pages that every prompt of the session shows.
func pinnedKeys(s *session.Session) []string {
	out := []string{}
	for _, p := range plan.Standing(s.Stored(), "") {
		out = append(out, p.Key)
	}
	return out
}
