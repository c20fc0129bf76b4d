package ui

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/document"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/billing"
	"github.com/memkernel/memkernel/pagevm"
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
	get("sessions", s.sessions)
	get("session", s.oneSession)
	get("find", s.find)
	get("talk", s.talkOf)
	get("timeline", s.timelineOf)
	get("call", s.callOf)
	get("page", s.pageOf)
	get("list", s.list)
	get("read", s.read)
	get("search", s.search)
	get("audit", s.audit)
	get("why", s.why)
	get("history", s.history)
	get("doctor", s.doctor)
	mux.HandleFunc("POST /api/remember", s.changes(s.remember))
	mux.HandleFunc("POST /api/edit", s.changes(s.edit))
	mux.HandleFunc("POST /api/undo", s.changes(s.undo))
	mux.HandleFunc("GET /api/", func(w http.ResponseWriter, r *http.Request) {
		refuse(w, http.StatusNotFound, "there is no such document")
	})
	mux.HandleFunc("GET /", func(w http.ResponseWriter, r *http.Request) { showPage(w, shell, &s.o) })
	return s.gate.guard(mux)
}

// mistake is the error of an invalid request.
type mistake struct{ error }

func mistakef(format string, args ...any) error { return mistake{fmt.Errorf(format, args...)} }

// wrong returns an error as the error of an invalid request, nil for nil.
func wrong(err error) error {
	if err == nil {
		return nil
	}
	return mistake{err}
}

// answer sends the document, or the error with the HTTP status that fits it.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, doc any, err error) {
	var invalid mistake
	var none *api.NoSessionError
	var stale *api.StaleError
	switch {
	case err == nil:
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(true)
		enc.Encode(doc) // it fails only if the client has gone
	case r.Context().Err() != nil:
	case errors.As(err, &invalid):
		refuse(w, http.StatusBadRequest, s.o.mask(err.Error()))
	case errors.Is(err, errNoSession), errors.As(err, &none):
		refuse(w, http.StatusNotFound, err.Error())
	case errors.Is(err, errNotYet), errors.As(err, &stale):
		refuse(w, http.StatusConflict, err.Error())
	default:
		refuse(w, http.StatusInternalServerError, s.o.mask(err.Error()))
	}
}

// sessionsJSON is the list of all sessions that the window can show.
type sessionsJSON struct {
	Schema string `json:"schema"`
	// Sessions are the sessions, the last changed one first.
	Sessions []sessionRow   `json:"sessions"`
	Saved    document.Saved `json:"saved"`
}

// sessionRow is a session in the list.
type sessionRow struct {
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
	// Host is the program that recorded the session. Prompt is the beginning of the first prompt.
	// Prompts and Calls count prompts and model calls. Begun is the time of the first message. All
	// are empty until the session was read.
	Host    string    `json:"host"`
	Prompt  string    `json:"prompt"`
	Prompts int       `json:"prompts"`
	Calls   int       `json:"calls"`
	Begun   time.Time `json:"begun,omitzero"`
	// BilledUSD is the bill of the calls that memkernel planned, and WithoutUSD the estimate of the
	// same calls without memkernel. They are null if memkernel planned no call of the session, in
	// which case Planned is false, or if a price is unknown.
	Planned    bool     `json:"planned"`
	BilledUSD  *float64 `json:"billed_usd"`
	WithoutUSD *float64 `json:"without_usd"`
}

// head is the present state of a session.
type head struct {
	Model string `json:"model"`
	// Calls is the number of the session's calls.
	Calls int `json:"calls"`
	// Planned is the number of calls that are planned by now.
	Planned int `json:"planned"`
	// Done reports whether all calls are planned.
	Done  bool   `json:"done"`
	Error string `json:"error"`
	// HostUSD is the bill of the host's own calls, answers included. It is null if memkernel planned
	// the session, or if no bill or a price is unknown.
	HostUSD *float64 `json:"host_usd"`
	// SimulatedUSD is the cost with memkernel, and LateUSD the cost under append-late. A replay
	// computed both for a session that memkernel did not plan. They are null for other sessions.
	SimulatedUSD *float64 `json:"simulated_usd"`
	LateUSD      *float64 `json:"append_late_usd"`
	// Cuts and Cold also come from the session's record, or else from the replay.
	Cuts        int `json:"cuts"`
	Cold        int `json:"cold_calls"`
	Compactions int `json:"host_compactions"`
	Faults      int `json:"faults"`
}

func (s *Server) sessions(r *http.Request) (any, error) {
	list, err := s.shelf.all(r.Context())
	if err != nil {
		return nil, err
	}
	usage, err := s.usage(r.Context())
	if err != nil {
		return nil, err
	}
	out := &sessionsJSON{Schema: "memkernel/ui_sessions/v1", Sessions: []sessionRow{}, Saved: document.OfSaved(usage, s.o.Location)}
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
	return cached(&s.slow, "usage", "", 2*time.Second, func() (*billing.Report, error) {
		return s.o.Kernel.Usage(ctx, billing.Options{Location: s.o.Location})
	})
}

// hostID returns the name by which bills know a session.
func (f *found) hostID() string { return cmp.Or(f.key, f.brief.id, f.name) }

// rowOf describes a session without its bill.
func (s *Server) rowOf(f *found) sessionRow {
	now, b := time.Now(), &f.brief
	return sessionRow{ID: f.id, Name: f.name, Source: f.source, Path: f.path, Modified: f.modified.UTC(), Live: now.Sub(f.modified) < liveFor && f.modified.Before(now.Add(liveFor)),
		Host: b.host, Prompt: s.o.head(b.prompt, rowText), Prompts: b.prompts, Calls: b.calls, Begun: b.begun.UTC()}
}

// rowText bounds the first prompt in the list of sessions.
const rowText = 240

// bill adds the bill of a session that memkernel planned.
func (r *sessionRow) bill(st *billing.Report) {
	if r.Planned = st != nil; r.Planned {
		r.BilledUSD, r.WithoutUSD = st.Total.BilledUSD, st.Total.WithoutUSD
	}
}

// headOf sums up the planned calls of a session with the given number of calls.
func headOf(rows []row, calls int) *head {
	h := &head{Calls: calls, Planned: len(rows)}
	for i := range rows {
		w := &rows[i]
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
	return h
}

// head adds the figures of a session's replay to h.
func (t *track) head(h *head, rows []row) {
	t.mu.Lock()
	defer t.mu.Unlock()
	h.Done = t.done
	if t.err != nil {
		h.Error = t.o.mask(t.err.Error())
	}
	if t.steps == nil {
		return
	}
	h.Model, h.HostUSD, h.SimulatedUSD, h.LateUSD = t.steps.Opt.Model, t.host, new(float64), new(float64)
	for i := range rows {
		h.SimulatedUSD, h.LateUSD = sum(h.SimulatedUSD, rows[i].cost), sum(h.LateUSD, rows[i].without)
	}
}

// head adds the figures that the state folder has of a session to h.
func (f *found) head(h *head, rows []row, planned bool) {
	h.Done = true
	for i := range rows {
		if !planned && rows[i].cost != nil {
			h.HostUSD = sum(cmp.Or(h.HostUSD, new(float64)), rows[i].cost)
		}
	}
	if f.status != nil {
		h.Compactions, h.Faults = f.status.Life.Compactions, f.status.Paging.ExplicitFaults
		for _, l := range f.status.Lines {
			h.Model = cmp.Or(h.Model, l.Model)
		}
	}
}

// sessionJSON is one session.
type sessionJSON struct {
	Schema string `json:"schema"`
	sessionRow
	Head *head `json:"head"`
}

// asked returns the session that a request names. It also returns the session's track if memkernel
// did not plan the session. For a session that memkernel planned, it returns the session of the
// state folder.
func (s *Server) asked(r *http.Request) (found, *track, error) {
	f, err := s.shelf.find(r.Context(), r.FormValue("session"))
	if err != nil || f.source != fromTranscript {
		return f, nil, err
	}
	f.key = s.shelf.keyOf(cmp.Or(f.brief.id, f.name))
	if usage, err := s.usage(r.Context()); err == nil && usage.Session(f.key) != nil {
		kept, err := s.shelf.find(r.Context(), "k"+short(f.key))
		f.source, f.status = fromState, kept.status
		return f, nil, err
	}
	t, err := s.shelf.track(f)
	return f, t, err
}

func (s *Server) oneSession(r *http.Request) (any, error) {
	f, t, err := s.asked(r)
	if err != nil {
		return nil, err
	}
	out := &sessionJSON{Schema: "memkernel/ui_session/v1", sessionRow: s.rowOf(&f)}
	if usage, err := s.usage(r.Context()); err == nil { // otherwise the row has no bill
		out.bill(usage.Session(f.hostID()))
	}
	rows, calls, err := s.rows(r.Context(), f, t)
	if err != nil {
		return nil, err
	}
	if out.Head = headOf(rows, calls); t != nil {
		t.head(out.Head, rows)
	} else {
		f.head(out.Head, rows, out.Planned)
	}
	return out, nil
}

// rows returns the calls of a session that are planned by now, and the number of all its calls. The
// calls of a session in the state folder come from its record.
func (s *Server) rows(ctx context.Context, f found, t *track) ([]row, int, error) {
	if t != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		return slices.Clone(t.rows[:t.total]), len(t.rows), nil
	}
	rows, err := cached(&s.slow, "rows "+f.key, "", 2*fresh, func() ([]row, error) {
		st, err := s.o.Kernel.Usage(ctx, billing.Options{Session: f.key, Location: s.o.Location})
		if err != nil {
			return nil, err
		}
		rows := make([]row, 0, len(st.Calls))
		for i := range st.Calls {
			c := &st.Calls[i]
			b := c.Billed()
			w := row{time: c.Time, index: i, read: b.CacheReadTokens, write: b.CacheWrite5mTokens + b.CacheWrite1hTokens, plain: b.UncachedTokens, cost: c.BilledUSD, without: c.Without()}
			if c.Planned != nil && c.Planned.Cut {
				w.cut = "cut"
			}
			w.cold = c.ColdSeen != nil && *c.ColdSeen
			rows = append(rows, w)
		}
		return rows, nil
	})
	return rows, len(rows), err
}

// number reads a number of a request.
func number(r *http.Request, name string, def int) (int, error) {
	v := r.FormValue(name)
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
		return nil, wrong(err)
	}
	f, t, err := s.asked(r)
	if err != nil {
		return nil, err
	}
	rows, calls, err := s.rows(r.Context(), f, t)
	if err != nil {
		return nil, err
	}
	out := timeline(rows, calls, from, to, points)
	if t == nil {
		out.Regions = []series{} // the record does not have them
	}
	out.Session = f.id
	return out, nil
}

var errKept = errors.New("the prompts of a session in the state folder are not kept, its transcript would be needed: start memkernel ui with --transcript")

func (s *Server) callOf(r *http.Request) (any, error) {
	n, err := number(r, "call", 1)
	if err == nil && n < 1 {
		err = mistakef("call=%d: calls are counted from 1", n)
	}
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
	out, err := t.call(r.Context(), &s.o, n-1)
	if err != nil {
		return nil, err
	}
	out.Session = f.id
	return out, nil
}

// call describes call n.
func (t *track) call(ctx context.Context, o *Options, n int) (*callJSON, error) {
	t.cursor.mu.Lock()
	defer t.cursor.mu.Unlock()
	plan, err := t.show(ctx, n)
	if err != nil {
		if !errors.Is(err, errNotYet) {
			err = mistake{err}
		}
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	answer := t.steps.Messages[t.steps.End(n)]
	return &callJSON{Schema: "memkernel/ui_call/v1", Call: n + 1, Calls: len(t.rows), Time: t.steps.Calls[n].Start.UTC(), Model: plan.Model, Generation: plan.Generation,
		Budgets: plan.Budgets, Regions: plan.Regions, Layout: &plan.Layout, Faults: plan.Faults, Blocks: blocks(o, plan, n, t.lives),
		Answer: o.begin(messageText(&answer, shownText), 4*blockText)}, nil
}

func messageText(m *memkernel.Message, of func(*memkernel.Part) string) string {
	var all []string
	for i := range m.Parts {
		if text := of(&m.Parts[i]); text != "" {
			all = append(all, text)
		}
	}
	return strings.Join(all, "\n")
}

// pageJSON is a part of a session with its representations.
type pageJSON struct {
	Schema  string `json:"schema"`
	Session string `json:"session"`
	Page    string `json:"page"`
	Reason  string `json:"reason"`
	// Levels are the page's representations.
	Levels []pageLevel `json:"levels"`
}

// pageLevel is a representation.
type pageLevel struct {
	Level pagevm.Level `json:"level"`
	Bytes int          `json:"bytes"`
	Text  string       `json:"text"`
}

// levelText bounds the part of a representation that is handed out.
const levelText = 20_000

func (s *Server) pageOf(r *http.Request) (any, error) {
	f, t, err := s.asked(r)
	if err != nil {
		return nil, err
	}
	k, key := s.o.Kernel, f.key
	if t != nil {
		t.mu.Lock()
		k, key = t.kernel, session // nil until it is open
		t.mu.Unlock()
		if k == nil {
			return nil, errNotYet
		}
	}
	id := r.FormValue("page")
	c, err := k.Get(r.Context(), key, id)
	if err != nil {
		return nil, err
	}
	out := &pageJSON{Schema: "memkernel/ui_page/v1", Session: f.id, Page: id, Reason: c.Reason, Levels: []pageLevel{}}
	add := func(l pagevm.Level, text string) {
		out.Levels = append(out.Levels, pageLevel{Level: l, Bytes: len(text), Text: s.o.begin(text, levelText)})
	}
	add(pagevm.Full, c.Text)
	for i := 0; c.Page != nil && i < len(c.Page.Reps); i++ {
		if rep := &c.Page.Reps[i]; rep.Level != pagevm.Full {
			add(rep.Level, rep.Text)
		}
	}
	return out, nil
}
