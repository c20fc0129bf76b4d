package paging

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/paging"
)

// Workload is a recorded or made-up demand on an agent's memory. It has pages, and turns that
// need, make and change pages. Its file is one JSON document, such as testdata/morning.json.
type Workload struct {
	Name     string   `json:"name"`
	Sessions []string `json:"sessions"`
	Pages    []Page   `json:"pages"`
	Turns    []Turn   `json:"turns"`
}

// Page is a page of a workload. A page that a tool call names exists from the first such call on.
// Any other page exists from the start. Pin and Scope are optional, and their defaults are none
// and session.
type Page struct {
	ID            string          `json:"id"`
	Session       string          `json:"session"`
	Type          pagevm.Type     `json:"type"`
	Pin           paging.Pin      `json:"pin"`
	Scope         memkernel.Scope `json:"scope"`
	Tokens        paging.Tokens   `json:"tokens"`
	RecomputeCost float64         `json:"recompute_cost"`
	Fields        Fields          `json:"fields,omitzero"`
}

// Fields are the optional fields of a page in addition to its costs. Unknown members are the
// author's own.
type Fields struct {
	// Version is the version of the content when the run begins.
	Version int `json:"version,omitempty"`
	// Supersedes names an older page that this page replaces.
	Supersedes string `json:"supersedes,omitempty"`
}

// Turn is one model call. Turns are in the order of their numbers.
type Turn struct {
	Turn    int    `json:"turn"`
	Session string `json:"session"`
	// Demand names pages that the call needs. Dirty names pages that the call changes.
	Demand []string `json:"demand,omitempty"`
	// Calls are the tool calls that the turn runs. Equal calls have equal signatures.
	Calls []Call   `json:"tool_calls,omitempty"`
	Dirty []string `json:"dirty,omitempty"`
	// Begin and End name pages of work in flight, such as a running tool call. The pages are
	// neither evicted nor lowered between their Begin and their End.
	Begin []string `json:"begin,omitempty"`
	End   []string `json:"end,omitempty"`
	// Events happen after the call, in order.
	Events []Event `json:"events,omitempty"`
	// Recall has lookups in memory with their outcomes.
	Recall []Recall `json:"recall,omitempty"`
}

// names returns all pages that a turn names.
func (t *Turn) names() []string {
	names := slices.Concat(t.Demand, t.Dirty, t.Begin, t.End)
	for _, c := range t.Calls {
		if c.Page != "" {
			names = append(names, c.Page)
		}
	}
	return names
}

// Event is something that happens to a session's context.
type Event string

// The events. A compaction or reset destroys the content of the context; a flush only commits.
const (
	EventFlush      Event = "flush"
	EventCompaction Event = "compaction"
	EventReset      Event = "reset"
	EventSessionEnd Event = "session_end"
)

// Call is a tool call by its canonical signature, with the page of its result ("" if the call
// makes no page).
type Call struct {
	Signature string `json:"signature"`
	Page      string `json:"page"`
}

// Outcomes of a lookup in memory, as its backend reports them.
const (
	RecallOK      = "ok"
	RecallNoMatch = "no_match"
	RecallDenied  = "denied"
	RecallError   = "error"
)

// Recall is a lookup in memory.
type Recall struct {
	Query   string `json:"query"`
	Outcome string `json:"outcome"`
}

// maxWorkload is the largest workload file that is read, in bytes.
const maxWorkload = 256 << 20

// Read reads and checks a workload. Errors quote name. An unknown member is an error, except in a
// page's fields. A workload that can't be run is an error too.
func Read(r io.Reader, name string) (*Workload, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxWorkload+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read workload %s: %w", name, err)
	case len(data) > maxWorkload:
		return nil, fmt.Errorf("workload %s: over %d bytes: cut it into several", name, maxWorkload)
	}
	var w Workload
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	err = dec.Decode(&w)
	if err == nil {
		if _, more := dec.Token(); more != io.EOF {
			err = errors.New("something follows the document: a file holds one workload")
		}
	}
	if err == nil {
		err = w.check()
	}
	if err != nil {
		return nil, fmt.Errorf("workload %s%s: %w", name, lineOf(data, err), err)
	}
	return &w, nil
}

// lineOf returns the line of the file that has a syntax or type error.
func lineOf(data []byte, err error) string {
	var syntax *json.SyntaxError
	var typ *json.UnmarshalTypeError
	at := int64(-1)
	switch {
	case errors.As(err, &syntax):
		at = syntax.Offset
	case errors.As(err, &typ):
		at = typ.Offset
	}
	if at < 0 || at > int64(len(data)) {
		return ""
	}
	return fmt.Sprintf(", line %d", 1+bytes.Count(data[:at], []byte("\n")))
}

// UnmarshalJSON reads the known members and ignores the others.
func (f *Fields) UnmarshalJSON(b []byte) error {
	type plain Fields
	return json.Unmarshal(b, (*plain)(f))
}

// check fills in the defaults of a workload. It returns the fault of a workload that can't be run.
func (w *Workload) check() error {
	if len(w.Sessions) == 0 {
		return errors.New(`it names no session: list them in "sessions"`)
	}
	pages := make(map[string]*Page, len(w.Pages))
	for i := range w.Pages {
		p := &w.Pages[i]
		if _, ok := pages[p.ID]; ok {
			return fmt.Errorf("page %q stands twice: ids are unique over all sessions", p.ID)
		}
		pages[p.ID] = p
		if err := w.checkPage(p); err != nil {
			return err
		}
	}
	for _, p := range w.Pages {
		if p.Fields.Supersedes == "" {
			continue
		}
		switch q, ok := pages[p.Fields.Supersedes]; {
		case !ok:
			return fmt.Errorf("page %q supersedes %q, which is no page of this workload", p.ID, p.Fields.Supersedes)
		case p.Fields.Version <= q.Fields.Version:
			return fmt.Errorf("versions out of order: page %q (version %d) supersedes %q (version %d): give it a higher one", p.ID, p.Fields.Version, q.ID, q.Fields.Version)
		}
	}
	return w.checkTurns(pages)
}

// maxTokens is the largest cost of a representation. It keeps sums far from overflow.
const maxTokens = 1 << 30

// types in the order of the paper's Table 1.
var types = []pagevm.Type{pagevm.Bootstrap, pagevm.Constraint, pagevm.Plan, pagevm.Preference, pagevm.Evidence, pagevm.Conversation}

// checkPage fills in the defaults of a page, and returns an error if the page is invalid.
func (w *Workload) checkPage(p *Page) error {
	p.Pin, p.Scope = cmp.Or(p.Pin, paging.PinNone), cmp.Or(p.Scope, memkernel.ScopeSession)
	switch {
	case p.ID == "":
		return errors.New("page without id: give it a stable one")
	case !slices.Contains(types, p.Type):
		return fmt.Errorf("page %q: unknown type %q, use one of %v", p.ID, p.Type, types)
	case p.Pin != paging.PinNone && p.Pin != paging.PinSoft && p.Pin != paging.PinHard:
		return fmt.Errorf("page %q: unknown pin %q, use none, soft or hard", p.ID, p.Pin)
	case p.Scope != memkernel.ScopeSession && p.Scope != memkernel.ScopeProject:
		return fmt.Errorf("page %q: unknown scope %q, use session or project", p.ID, p.Scope)
	case p.Scope == memkernel.ScopeSession && p.Session == "":
		return fmt.Errorf("page %q is private and names no session: name one, or share it with scope project", p.ID)
	case p.Session != "" && !slices.Contains(w.Sessions, p.Session):
		return fmt.Errorf(`page %q belongs to session %q, which is not in "sessions"`, p.ID, p.Session)
	case p.Fields.Version < 0:
		return fmt.Errorf("page %q: version %d is negative", p.ID, p.Fields.Version)
	case math.IsNaN(p.RecomputeCost) || math.IsInf(p.RecomputeCost, 0) || p.RecomputeCost < 0:
		return fmt.Errorf("page %q: recompute cost %v is no cost, give a number from 0", p.ID, p.RecomputeCost)
	case p.Tokens.Full <= 0:
		return fmt.Errorf("page %q: full costs %d tokens, want at least 1", p.ID, p.Tokens.Full)
	}
	above, cost := pagevm.Full, p.Tokens.Full
	for l := pagevm.Full; l >= pagevm.Pointer; l-- {
		n := p.Tokens.At(l)
		switch {
		case n < 0 || n > maxTokens:
			return fmt.Errorf("page %q: %v costs %d tokens, want 0 to %d", p.ID, l, n, maxTokens)
		case n == 0:
		case n > cost:
			return fmt.Errorf("page %q is over its own budget: %v costs %d tokens, %v only %d; leave %v out (0)", p.ID, l, n, above, cost, l)
		default:
			above, cost = l, n
		}
	}
	return nil
}

// floor returns the lowest level at which the page may be shown while it is held (Table 1):
// structured for bootstrap, constraint and plan, and the handle for all others. If the page lacks
// that level, floor returns the next better level of the page.
func (p *Page) floor() pagevm.Level {
	if p.Type == pagevm.Plan {
		return p.has(pagevm.Structured)
	}
	return p.has(pagevm.Floor(p.Type, true))
}

// has returns the page's lowest level on its degradation path that is not below l.
func (p *Page) has(l pagevm.Level) pagevm.Level {
	low := pagevm.Full
	for _, at := range pagevm.Path(p.Type) {
		if at >= l && p.Tokens.At(at) > 0 {
			low = at
		}
	}
	return low
}

func (w *Workload) checkTurns(pages map[string]*Page) error {
	last := 0
	flying := map[string]string{} // maps a page in flight to its session
	for i := range w.Turns {
		t := &w.Turns[i]
		switch {
		case t.Turn < last || t.Turn < 0:
			return fmt.Errorf("turn %d follows turn %d: turns stand in their order", t.Turn, last)
		case !slices.Contains(w.Sessions, t.Session):
			return fmt.Errorf(`turn %d: session %q is not in "sessions"`, t.Turn, t.Session)
		}
		last = t.Turn
		err := checkTurn(t, pages)
		if err == nil {
			err = checkFlight(t, flying)
		}
		if err != nil {
			return fmt.Errorf("turn %d: %w", t.Turn, err)
		}
	}
	return nil
}

// checkFlight checks the work in flight. A piece of work must begin once, and must end later in
// the same session. The work that a turn begins counts before the work that it ends, so one turn
// may hold both ends of a piece of work.
func checkFlight(t *Turn, flying map[string]string) error {
	for _, id := range t.Begin {
		if s, ok := flying[id]; ok {
			return fmt.Errorf(`page %q begins, and is in flight in session %q: "end" it first`, id, s)
		}
		flying[id] = t.Session
	}
	for _, id := range t.End {
		if s, ok := flying[id]; !ok || s != t.Session {
			return fmt.Errorf(`page %q ends, and is not in flight in session %q: "begin" it first`, id, t.Session)
		}
		delete(flying, id)
	}
	return nil
}

func checkTurn(t *Turn, pages map[string]*Page) error {
	for _, c := range t.Calls {
		if c.Signature == "" {
			return errors.New("a tool call has no signature")
		}
	}
	for _, id := range t.names() {
		p, ok := pages[id]
		switch {
		case !ok:
			return fmt.Errorf(`unknown page %q: list it in "pages"`, id)
		case p.Scope != memkernel.ScopeProject && p.Session != t.Session:
			return fmt.Errorf(`page %q is private to session %q: share it with "scope": "project"`, id, p.Session)
		}
	}
	for _, e := range t.Events {
		if !slices.Contains([]Event{EventCompaction, EventReset, EventFlush, EventSessionEnd}, e) {
			return fmt.Errorf("unknown event %q, use compaction, reset, flush or session_end", e)
		}
	}
	for _, r := range t.Recall {
		if !slices.Contains([]string{RecallOK, RecallNoMatch, RecallDenied, RecallError}, r.Outcome) {
			return fmt.Errorf("recall of %q: unknown outcome %q, use ok, no_match, denied or error", r.Query, r.Outcome)
		}
	}
	return nil
}
