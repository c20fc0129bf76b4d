package ui

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/document"
	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/billing"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/journal"
	"github.com/memkernel/memkernel/replay"
)

// Handler returns the handler of all requests. It is for programs with a listener of their own.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /assets/", serveAsset)
	get := func(path string, f func(r *http.Request) (any, error)) {
		mux.HandleFunc("GET /api/"+path, func(w http.ResponseWriter, r *http.Request) {
			doc, err := f(r)
			s.answer(w, r, doc, err)
		})
	}
	get("sessions", func(r *http.Request) (any, error) { return s.sessions(r.Context()) })
	get("session", s.oneSession)
	get("talk", s.talkOf)
	get("timeline", s.timelineOf)
	get("call", s.callOf)
	get("whatif", s.whatIf)
	get("page", s.pageOf)
	get("replay", s.replayOf)
	get("gain", s.gain)
	get("stats", s.stats)
	get("status", s.status)
	get("list", s.list)
	get("read", s.read)
	get("search", s.search)
	get("audit", s.audit)
	get("why", s.why)
	get("history", s.history)
	get("doctor", s.doctor)
	get("check", s.check)
	mux.HandleFunc("POST /api/remember", s.changes(s.remember))
	mux.HandleFunc("POST /api/edit", s.changes(s.edit))
	mux.HandleFunc("POST /api/undo", s.changes(s.undo))
	mux.HandleFunc("GET /api/live", s.live)
	mux.HandleFunc("GET /api/", func(w http.ResponseWriter, r *http.Request) {
		refuse(w, http.StatusNotFound, "there is no such document")
	})
	mux.HandleFunc("GET /", func(w http.ResponseWriter, r *http.Request) { showShell(w, &s.o) })
	return s.gate.guard(mux)
}

// mistake is the error of an invalid request.
type mistake struct{ error }

func mistakef(format string, args ...any) error { return mistake{fmt.Errorf(format, args...)} }

// answer sends a document, or the error for which there is no document.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, doc any, err error) {
	var wrong mistake
	var none *api.NoSessionError
	var stale *api.StaleError
	switch {
	case err == nil:
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(true)
		enc.Encode(doc) // who asked is gone if it fails
	case r.Context().Err() != nil:
	case errors.As(err, &wrong):
		refuse(w, http.StatusBadRequest, s.o.mask(err.Error()))
	case errors.Is(err, errNoSession), errors.As(err, &none):
		refuse(w, http.StatusNotFound, err.Error())
	case errors.Is(err, errNotYet), errors.As(err, &stale):
		refuse(w, http.StatusConflict, err.Error())
	default:
		refuse(w, http.StatusInternalServerError, s.o.mask(err.Error()))
	}
}

// Sessions is the list of all sessions that the window can show.
type Sessions struct {
	Schema string `json:"schema"`
	// Sessions are the sessions, the last changed one first.
	Sessions []SessionRow `json:"sessions"`
}

// SessionRow is a session in the list.
type SessionRow struct {
	// ID names it in addresses.
	ID string `json:"id"`
	// Name is the key of the session, or the file of the transcript.
	Name string `json:"name"`
	// Source is transcript (a host's file) or kept (in the state folder).
	Source string `json:"source"`
	// Path is the path of the transcript.
	Path     string    `json:"path"`
	Modified time.Time `json:"modified"`
	// Live reports whether the session changed within five minutes.
	Live bool `json:"live"`
	// Host is the program whose session it is, Prompt the beginning of the first prompt, Prompts and
	// Calls are counts, and Begun is the time of the first message. All are empty until the session
	// was read.
	Host    string    `json:"host"`
	Prompt  string    `json:"prompt"`
	Prompts int       `json:"prompts"`
	Calls   int       `json:"calls"`
	Begun   time.Time `json:"begun,omitzero"`
	// BilledUSD is the bill of the calls that memkernel planned, and WithoutUSD the estimate of the
	// same calls without memkernel. They are null if memkernel planned none, or if a price is
	// unknown. Planned tells the two apart.
	Planned    bool     `json:"planned"`
	BilledUSD  *float64 `json:"billed_usd"`
	WithoutUSD *float64 `json:"without_usd"`
}

// Head is the present state of a session.
type Head struct {
	Model string `json:"model"`
	// Calls is the number of the session's calls.
	Calls int `json:"calls"`
	// Planned is the number of calls that are planned by now.
	Planned int `json:"planned"`
	// Done reports whether all calls are planned.
	Done  bool   `json:"done"`
	Error string `json:"error"`
	// Window is the model's window in tokens.
	Window int `json:"context_window"`
	// Input is the size of the newest prompt.
	Input int `json:"input_tokens"`
	// WarmUntil is the time until which the provider keeps the newest prompt in its cache, null
	// if it is unknown.
	WarmUntil *time.Time `json:"warm_until"`
	// CostUSD is the session's bill. It comes from the session's record.
	CostUSD *float64 `json:"cost_usd"`
	// WithoutUSD estimates the bill without memkernel. It also comes from the session's record.
	WithoutUSD *float64 `json:"without_usd"`
	// Simulated reports whether a replay computed both costs, because memkernel did not plan the
	// session.
	Simulated bool `json:"simulated"`
	// Cuts and Cold also come from the session's record, or else from the replay.
	Cuts        int `json:"cuts"`
	Cold        int `json:"cold_calls"`
	Compactions int `json:"host_compactions"`
	Faults      int `json:"faults"`
}

func (s *Server) sessions(ctx context.Context) (*Sessions, error) {
	list, _, err := s.shelf.all(ctx)
	if err != nil {
		return nil, err
	}
	usage, err := s.usage(ctx)
	if err != nil {
		return nil, err
	}
	out := &Sessions{Schema: "memkernel/ui_sessions/v1", Sessions: []SessionRow{}}
	for i := range list {
		if list[i].again {
			continue
		}
		row := s.rowOf(&list[i])
		row.bill(usage.Session(list[i].hostID()))
		out.Sessions = append(out.Sessions, row)
	}
	return out, nil
}

// usage reads the bills of the workspace, at most every two seconds.
func (s *Server) usage(ctx context.Context) (*billing.Report, error) {
	doc, err := s.slow.get("usage", 2*time.Second, func() (any, error) {
		return s.o.Kernel.Usage(ctx, billing.Options{Location: s.o.Location})
	})
	if err != nil {
		return nil, err
	}
	return doc.(*billing.Report), nil
}

// hostID returns the name by which bills know a session.
func (f *found) hostID() string { return cmp.Or(f.key, f.brief.id, f.name) }

// rowOf describes a session without its bill.
func (s *Server) rowOf(f *found) SessionRow {
	now, b := s.o.Now(), &f.brief
	return SessionRow{ID: f.id, Name: f.name, Source: f.source, Path: f.path, Modified: f.modified.UTC(), Live: now.Sub(f.modified) < liveFor && f.modified.Before(now.Add(liveFor)),
		Host: b.host, Prompt: s.o.head(b.prompt, rowText), Prompts: b.prompts, Calls: b.calls, Begun: b.begun.UTC()}
}

// rowText bounds the first prompt in the list of sessions.
const rowText = 240

// bill adds the bill of a session that memkernel planned.
func (r *SessionRow) bill(st *billing.Report) {
	if r.Planned = st != nil; r.Planned {
		r.BilledUSD, r.WithoutUSD = st.Total.BilledUSD, st.Total.WithoutUSD
	}
}

// head returns the present state of a track.
func (t *track) head() *Head {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.steps == nil {
		h := &Head{Done: t.done}
		if t.err != nil {
			h.Error = t.err.Error()
		}
		return h
	}
	rows := t.rows[:t.total]
	h := &Head{Model: t.steps.Model(), Calls: len(t.rows), Planned: len(rows), Done: t.done, Window: t.steps.Window()}
	if t.err != nil {
		h.Error = t.err.Error()
	}
	h.CostUSD, h.WithoutUSD = new(float64), new(float64)
	last := -1
	for i := range rows {
		w := &rows[i]
		h.CostUSD, h.WithoutUSD = sum(h.CostUSD, w.whole()), sum(h.WithoutUSD, w.withoutSum())
		h.count(w)
		if w.reason == "" {
			last = i
		}
	}
	if h.Simulated = t.own == nil; !h.Simulated {
		own := &t.own.Total
		h.CostUSD, h.WithoutUSD, h.Cuts, h.Cold = own.BilledUSD, own.WithoutUSD, own.Cuts, own.ColdSeen
	}
	if last < 0 {
		return h
	}
	h.Input = rows[last].input
	if at := t.advice.ExpiresAt; !at.IsZero() {
		h.WarmUntil = &at
	}
	return h
}

func (h *Head) count(w *row) {
	if w.cut != "" {
		h.Cuts++
	}
	if w.cold {
		h.Cold++
	}
	if w.compaction {
		h.Compactions++
	}
	h.Faults += w.faults
}

// headOf returns the present state of a session in the state folder, from its bills.
func headOf(f *found, rows []row) *Head {
	h := &Head{Done: true, Calls: len(rows), Planned: len(rows), CostUSD: new(float64), WithoutUSD: new(float64)}
	for i := range rows {
		h.CostUSD, h.WithoutUSD, h.Input = sum(h.CostUSD, rows[i].whole()), sum(h.WithoutUSD, rows[i].withoutSum()), rows[i].input
		h.count(&rows[i])
	}
	if f.status != nil {
		h.Compactions, h.Faults = f.status.Life.Compactions, f.status.Paging.ExplicitFaults
		for _, l := range f.status.Lines {
			h.Model = cmp.Or(h.Model, l.Model)
		}
	}
	return h
}

// Session is one session, with the settings by which it is planned.
type Session struct {
	Schema string `json:"schema"`
	SessionRow
	Head *Head `json:"head"`
	// Plan has the settings of the session's plans. 0 and "" are defaults.
	Plan PlanSetting `json:"plan"`
	// Recorded is the provider's bill to the host. It is null for a session in the state folder.
	Recorded *replay.Recorded `json:"recorded"`
}

// PlanSetting has the settings by which a session is planned. 0 and "" are defaults.
type PlanSetting struct {
	Window   int    `json:"context_window"`
	Model    string `json:"model"`
	Economy  string `json:"economy"`
	Resolver string `json:"resolver"`
}

// planOf reads a visitor's settings for the plans of a session.
func (s *Server) planOf(r *http.Request) (Plan, error) {
	p, q := s.o.Plan, r.URL.Query()
	var err error
	if v := q.Get("window"); v != "" {
		if p.Window, err = strconv.Atoi(v); err != nil || p.Window < 0 {
			return p, mistakef("window=%s is no number of tokens", v)
		}
	}
	if v := q.Get("economy"); v != "" {
		e := cachelayout.Economy(v)
		if err := e.Check(); err != nil {
			return p, mistake{err}
		}
		p.Economy = e
	}
	if v := q.Get("model"); v != "" {
		p.Model = v
	}
	if q.Has("resolver") {
		p.Resolver = q.Get("resolver")
	}
	return p, nil
}

// asked returns the session that a request names, and the session's track if it has one.
func (s *Server) asked(r *http.Request) (found, *track, error) {
	f, err := s.shelf.find(r.Context(), r.URL.Query().Get("session"))
	if err != nil || f.source != fromTranscript {
		return f, nil, err
	}
	p, err := s.planOf(r)
	if err != nil {
		return f, nil, err
	}
	t, err := s.shelf.track(f, p)
	return f, t, err
}

func (s *Server) oneSession(r *http.Request) (any, error) {
	f, t, err := s.asked(r)
	if err != nil {
		return nil, err
	}
	out := s.row(f)
	if t == nil {
		rows, err := s.keptRows(r.Context(), f)
		if err != nil {
			return nil, err
		}
		out.Head = headOf(&f, rows)
		return out, nil
	}
	return s.document(f, t), nil
}

// document returns the document of a session that is planned or is being planned.
func (s *Server) document(f found, t *track) *Session {
	out := s.row(f)
	out.Head = t.head()
	out.Head.Error = s.o.mask(out.Head.Error)
	t.mu.Lock()
	defer t.mu.Unlock()
	if recorded := t.recorded; t.steps != nil {
		out.Recorded = &recorded
	}
	out.Plan = PlanSetting{t.plan.Window, t.plan.Model, string(t.plan.Economy), t.plan.Resolver}
	return out
}

// row returns the beginning of a session's document.
func (s *Server) row(f found) *Session {
	out := &Session{Schema: "memkernel/ui_session/v1", SessionRow: s.rowOf(&f)}
	if usage, err := s.usage(context.Background()); err == nil { // the report has no bills
		out.bill(usage.Session(f.hostID()))
	}
	return out
}

// keptRows returns the calls of a session in the state folder, as they were planned and billed.
func (s *Server) keptRows(ctx context.Context, f found) ([]row, error) {
	rows, err := s.slow.get("rows "+f.key, 2*fresh, func() (any, error) { return s.readRows(ctx, f) })
	if err != nil {
		return nil, err
	}
	return rows.([]row), nil
}

// readRows reads them.
func (s *Server) readRows(ctx context.Context, f found) ([]row, error) {
	st, err := s.o.Kernel.Usage(ctx, billing.Options{Session: f.key, Location: s.o.Location})
	if err != nil {
		return nil, err
	}
	rows := make([]row, 0, len(st.Calls))
	for i := range st.Calls {
		c := &st.Calls[i]
		b := c.Billed()
		w := row{time: c.Time, index: i, input: b.InputTokens, read: b.CacheReadTokens, write: b.CacheWrite5mTokens + b.CacheWrite1hTokens, plain: b.UncachedTokens, cost: cmp.Or(c.BilledUSD, c.BilledCostUSD),
			answer: new(float64), billed: b.InputTokens, without: cmp.Or(c.Without(), c.BilledCostUSD)}
		if p, ok := c.Expected(); ok {
			w.predicted = p.InputTokens
			if c.Planned.Cut {
				w.cut = "cut"
			}
		} else {
			w.predicted = c.PlannedInputTokens
		}
		if c.ColdSeen != nil {
			w.cold = *c.ColdSeen
		}
		rows = append(rows, w)
	}
	return rows, nil
}

// rowsOf calls f with the rows of the session that a request names.
func (s *Server) rowsOf(r *http.Request, f func(rows []row, all int, t *track)) (found, error) {
	which, t, err := s.asked(r)
	if err != nil {
		return which, err
	}
	if t != nil {
		t.look(func(rows []row, all int) { f(rows, all, t) })
		return which, nil
	}
	rows, err := s.keptRows(r.Context(), which)
	if err == nil {
		f(rows, len(rows), nil)
	}
	return which, err
}

// number reads a number of a request.
func number(r *http.Request, name string, def int) (int, error) {
	v := r.URL.Query().Get(name)
	if v == "" {
		return def, nil
	}
	n, err := strconv.Atoi(v)
	if err != nil {
		return 0, mistakef("%s=%s is no number", name, v)
	}
	return n, nil
}

func (s *Server) timelineOf(r *http.Request) (any, error) {
	from, err1 := number(r, "from", 0)
	to, err2 := number(r, "to", 0)
	points, err3 := number(r, "points", 400)
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, mistake{err}
	}
	var out *Timeline
	f, err := s.rowsOf(r, func(rows []row, all int, t *track) {
		out = timeline(rows, all, from, to, points)
		if t != nil && t.steps != nil {
			out.Window = t.steps.Window()
		} else if t == nil {
			out.Regions, out.Kinds = []series{}, []series{} // nobody wrote them down
		}
	})
	if err != nil {
		return nil, err
	}
	out.Session = f.id
	return out, nil
}

// callAsked returns the call that a request names, counted from 0.
func callAsked(r *http.Request) (int, error) {
	n, err := number(r, "call", 1)
	if err == nil && n < 1 {
		err = mistakef("call=%d: calls are counted from 1", n)
	}
	return n - 1, err
}

var errKept = errors.New("the prompts of a session in the state folder are not kept, its transcript would be needed: start memkernel ui with --transcript")

func (s *Server) callOf(r *http.Request) (any, error) {
	n, err := callAsked(r)
	if err != nil {
		return nil, err
	}
	f, t, err := s.asked(r)
	if err != nil {
		return nil, err
	}
	if t == nil {
		return nil, mistake{errKept}
	}
	out, err := t.call(r.Context(), &s.o, n)
	if err != nil {
		return nil, err
	}
	out.Session = f.id
	return out, nil
}

// call describes call n.
func (t *track) call(ctx context.Context, o *Options, n int) (*Call, error) {
	t.cursor.mu.Lock()
	defer t.cursor.mu.Unlock()
	f, err := t.show(ctx, n)
	if err != nil {
		return nil, unplanned(n, err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	out := callDocument(o, f.plan, n, t.lives)
	out.Calls, out.Time = len(t.rows), t.steps.Time(n).UTC()
	answer := t.steps.Messages()[t.steps.End(n)]
	out.Answer = o.begin(messageText(&answer), 4*blockText)
	return out, nil
}

func messageText(m *memkernel.Message) string {
	var all []string
	for i := range m.Parts {
		if text := partText(&m.Parts[i]); text != "" {
			all = append(all, text)
		}
	}
	return strings.Join(all, "\n")
}

// unplanned returns the error for a call that can't be planned: a mistake of the caller, unless the
// call is not reached yet.
func unplanned(n int, err error) error {
	if errors.Is(err, errNotYet) {
		return err
	}
	return mistakef("call %d can't be planned: %w", n+1, err)
}

// WhatIf compares a call with the same call planned in another way.
type WhatIf struct {
	Schema  string     `json:"schema"`
	Session string     `json:"session"`
	Call    int        `json:"call"`
	Was     whatIfSide `json:"was"`
	Would   whatIfSide `json:"would"`
	// Changes are the pages whose levels differ between the two plans.
	Changes []Change `json:"changes"`
}

// whatIfSide is one of the two plans.
type whatIfSide struct {
	Model    string `json:"model"`
	Window   int    `json:"context_window"`
	Input    int    `json:"input_tokens"`
	Read     int    `json:"cache_read_tokens"`
	Write    int    `json:"cache_write_tokens"`
	Uncached int    `json:"uncached_tokens"`
	// Cost is the cost of the input.
	Cost      *float64 `json:"cost_usd"`
	Cut       string   `json:"cut"`
	Faults    int      `json:"faults"`
	HighWater int      `json:"high_water_tokens"`
}

func sideOf(p *api.ContextPlan) whatIfSide {
	b := &p.Layout.Bill
	out := whatIfSide{Model: p.Model, Window: p.Budgets.ContextWindow, Input: b.Total(), Read: b.ReadTokens, Write: b.Write5mTokens + b.Write1hTokens, Uncached: b.UncachedTokens,
		Cost: b.CostUSD, Faults: len(p.Faults), HighWater: p.Layout.Cut.Figures.HighWater}
	if p.Layout.Made != nil {
		out.Cut = p.Layout.Made.Reason
	}
	return out
}

func (s *Server) whatIf(r *http.Request) (any, error) {
	n, err := callAsked(r)
	if err != nil {
		return nil, err
	}
	f, err := s.shelf.find(r.Context(), r.URL.Query().Get("session"))
	if err != nil {
		return nil, err
	}
	if f.source != fromTranscript {
		return nil, mistake{errKept}
	}
	p, err := s.planOf(r)
	if err != nil {
		return nil, err
	}
	// The page compares the requested plan with the session's present plan.
	t, err := s.shelf.track(f, s.o.Plan)
	if err != nil {
		return nil, err
	}
	pin := strings.TrimSpace(r.URL.Query().Get("pin"))
	out, err := t.whatIf(r.Context(), n, p, pin)
	if err != nil {
		return nil, unplanned(n, err)
	}
	out.Session = f.id
	return out, nil
}

// whatIf plans call n in another way. The earlier calls keep their plans.
func (t *track) whatIf(ctx context.Context, n int, p Plan, pin string) (*WhatIf, error) {
	t.cursor.mu.Lock()
	defer t.cursor.mu.Unlock()
	was, err := t.show(ctx, n)
	if err != nil {
		return nil, err
	}
	would, err := t.fork(ctx, n, func(req *api.PlanRequest) {
		req.Economy, req.Resolver = p.Economy, p.Resolver
		if p.Window > 0 {
			req.ContextWindow = p.Window
		}
		if p.Model != "" {
			req.Model = p.Model
		}
	}, func(k *kernel.Kernel) error { return pinned(ctx, k, pin) })
	if err != nil {
		return nil, err
	}
	defer would.close()
	out := &WhatIf{Schema: "memkernel/ui_whatif/v1", Call: n + 1, Was: sideOf(was.plan), Would: sideOf(would.plan), Changes: differ(was.plan, would.plan)}
	return out, nil
}

// pinned adds a rule to every prompt of a temporary session.
func pinned(ctx context.Context, k *kernel.Kernel, text string) error {
	if text == "" {
		return nil
	}
	raw, err := json.Marshal(text)
	if err != nil {
		return err
	}
	got, err := k.Write(ctx, api.WriteRequest{SessionKey: session, Updates: []journal.Update{{Key: "what-if", Type: pagevm.Constraint, Field: "text", Op: journal.OpSetWithVersion, Value: raw,
		Scope: memkernel.ScopeSession, EvidenceRef: "session:" + session}}})
	if err == nil && len(got.Rejected) > 0 {
		return mistakef("the pin is refused: %s", got.Rejected[0].Detail)
	}
	return err
}

// differ returns the pages whose level differs between two plans.
func differ(was, would *api.ContextPlan) []Change {
	out := []Change{}
	before := map[string]int{}
	for i := range was.Table.Pages {
		before[was.Table.Pages[i].ID] = i
	}
	for i := range would.Table.Pages {
		p := &would.Table.Pages[i]
		c := Change{Page: p.ID, Type: string(p.Type), Tool: textutil.Visible(p.Tool), Path: textutil.Visible(p.Path), To: p.Level, Tokens: p.ShownTokens, Kind: "changed", From: pagevm.Gone}
		if j, ok := before[p.ID]; ok {
			c.From = was.Table.Pages[j].Level
			delete(before, p.ID)
		} else {
			c.Kind = "came"
		}
		if c.From != c.To {
			out = append(out, c)
		}
	}
	for id, i := range before {
		if p := &was.Table.Pages[i]; p.Level != pagevm.Gone {
			out = append(out, Change{Page: id, Type: string(p.Type), Tool: textutil.Visible(p.Tool), Path: textutil.Visible(p.Path), From: p.Level, To: pagevm.Gone, Tokens: p.ShownTokens, Kind: "left"})
		}
	}
	sortChanges(out)
	return out
}

// Page is the life of one page.
type Page struct {
	Schema  string `json:"schema"`
	Session string `json:"session"`
	Call    int    `json:"call"`
	Page    string `json:"page"`
	Reason  string `json:"reason"`
	Type    string `json:"type"`
	Tool    string `json:"tool"`
	Path    string `json:"path"`
	Key     string `json:"message_key"`
	Bytes   int64  `json:"bytes"`
	// Masked is the number of secrets that are masked in the page.
	Masked int    `json:"masked"`
	Floor  string `json:"floor"`
	Pin    string `json:"pin"`
	// Created is the time that the host recorded for the content.
	Created time.Time `json:"created,omitzero"`
	// Life has the page's levels. Each level has the first call at which the page had it.
	Life []stage `json:"life"`
	// Calls is the number of the session's calls.
	Calls int `json:"calls"`
	// Levels are the page's representations.
	Levels []pageLevel `json:"levels"`
}

// pageLevel is a representation.
type pageLevel struct {
	Level  pagevm.Level `json:"level"`
	Tokens int          `json:"tokens"`
	// Shown reports whether the page is shown at this level at this call.
	Shown bool   `json:"shown"`
	Bytes int    `json:"bytes"`
	Text  string `json:"text"`
}

// levelText bounds the part of a representation that is handed out.
const levelText = 20_000

func (s *Server) pageOf(r *http.Request) (any, error) {
	n, err := callAsked(r)
	if err != nil {
		return nil, err
	}
	f, t, err := s.asked(r)
	if err != nil {
		return nil, err
	}
	id := r.URL.Query().Get("page")
	if t == nil {
		return s.keptPage(r.Context(), f, id)
	}
	t.cursor.mu.Lock()
	defer t.cursor.mu.Unlock()
	k, err := t.show(r.Context(), n)
	if err != nil {
		return nil, unplanned(n, err)
	}
	out, err := pageDocument(r.Context(), &s.o, k.kernel, session, id)
	if err != nil {
		return nil, err
	}
	out.Session, out.Call = f.id, n+1
	for i := range k.plan.Table.Pages {
		p := &k.plan.Table.Pages[i]
		if p.ID != id {
			continue
		}
		out.Floor, out.Pin = p.Floor.String(), string(p.Pin)
		tokens := map[pagevm.Level]int{pagevm.Full: p.Tokens.Full, pagevm.Compressed: p.Tokens.Compressed, pagevm.Structured: p.Tokens.Structured, pagevm.Pointer: p.Tokens.Pointer}
		for j := range out.Levels {
			l := &out.Levels[j]
			l.Tokens, l.Shown = tokens[l.Level], l.Level == p.Level
		}
		if out.Type == "" {
			out.Type, out.Tool, out.Path = string(p.Type), textutil.Visible(p.Tool), textutil.Visible(p.Path)
		}
	}
	t.mu.Lock()
	out.Life = append([]stage{}, t.lives[id]...)
	out.Calls = len(t.rows)
	t.mu.Unlock()
	return out, nil
}

// keptPage returns a page of a session in the state folder.
func (s *Server) keptPage(ctx context.Context, f found, id string) (any, error) {
	out, err := pageDocument(ctx, &s.o, s.o.Kernel, f.key, id)
	if err == nil {
		out.Session = f.id
	}
	return out, err
}

// pageDocument returns a kernel's data of a page.
func pageDocument(ctx context.Context, o *Options, k *kernel.Kernel, key, id string) (*Page, error) {
	c, err := k.Get(ctx, key, id)
	if err != nil {
		return nil, err
	}
	out := &Page{Schema: "memkernel/ui_page/v1", Page: id, Reason: c.Reason, Life: []stage{}, Levels: []pageLevel{}}
	add := func(l pagevm.Level, text string) {
		out.Levels = append(out.Levels, pageLevel{Level: l, Bytes: len(text), Text: o.begin(text, levelText)})
	}
	add(pagevm.Full, c.Text)
	if p := c.Page; p != nil {
		out.Type, out.Tool, out.Path, out.Key, out.Bytes, out.Masked, out.Created = string(p.Type), textutil.Visible(p.Tool), textutil.Visible(p.Path), p.MessageKey, p.Bytes, p.Masked, p.Created.UTC()
		for i := range p.Reps {
			if p.Reps[i].Level != pagevm.Full {
				add(p.Reps[i].Level, p.Reps[i].Text)
			}
		}
	}
	return out, nil
}

func (s *Server) status(r *http.Request) (any, error) {
	_, report, err := s.shelf.all(r.Context())
	if err != nil {
		return nil, err
	}
	return document.OfStatus(report), nil
}

func (s *Server) stats(r *http.Request) (any, error) {
	st, err := s.o.Kernel.Usage(r.Context(), billing.Options{Location: s.o.Location})
	if err != nil {
		return nil, err
	}
	doc := document.OfUsage(st)
	doc.Calls = doc.Calls[:0] // the sums are enough for a page
	return doc, nil
}

// replayOf replays a session under many policies.
func (s *Server) replayOf(r *http.Request) (any, error) {
	f, err := s.shelf.find(r.Context(), r.URL.Query().Get("session"))
	if err != nil {
		return nil, err
	}
	if f.source != fromTranscript {
		return nil, mistake{errKept}
	}
	p, err := s.planOf(r)
	if err != nil {
		return nil, err
	}
	t, err := s.shelf.track(f, p)
	if err != nil {
		return nil, err
	}
	name := fmt.Sprint("replay ", f.id, p, f.modified)
	return s.slow.get(name, time.Hour, func() (any, error) { return t.replay(r.Context(), replay.Policies()) })
}

// replay returns the document of a replay under policies, without the document's calls.
func (t *track) replay(ctx context.Context, policies []string) (*replay.Document, error) {
	t.mu.Lock()
	session := t.session
	t.mu.Unlock()
	if session == nil {
		return nil, errNotYet
	}
	doc := replay.NewDocument(session, t.options().View, t.book)
	for _, name := range policies {
		scratch, err := os.MkdirTemp(t.dir, "replay-")
		if err != nil {
			return nil, fmt.Errorf("replay %s: %w", name, err)
		}
		o := t.options()
		o.Scratch = scratch
		err = doc.Add(ctx, session, name, o)
		os.RemoveAll(scratch)
		if err != nil {
			return nil, err
		}
	}
	doc.End()
	for i, r := range doc.Results { // the sums are enough for a page
		bare := *r
		bare.Calls = []replay.Call{}
		doc.Results[i] = &bare
	}
	return doc, nil
}
