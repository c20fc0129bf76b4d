package paging

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

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
	Fields        *Fields         `json:"fields,omitempty"`
}

// Fields are the optional fields of a page in addition to its costs. Unknown members are the
// author's own.
type Fields struct {
	// Version is the version of the content when the run begins.
	Version int `json:"version,omitempty"`
	// Supersedes names an older page that this page replaces. Group names a group of pages that
	// exclude each other.
	Supersedes string `json:"supersedes,omitempty"`
	Group      string `json:"group,omitempty"`
	// DerivedFrom lists the pages from which this page was made.
	DerivedFrom []string `json:"derived_from,omitempty"`
}

// Turn is one model call. Turns are in the order of their numbers.
type Turn struct {
	Turn    int    `json:"turn"`
	Session string `json:"session"`
	// Demand names pages that the call needs. Dirty names pages that the call changes.
	Demand []string `json:"demand,omitempty"`
	// Calls are the tool calls that the turn runs. Equal calls have equal signatures.
	Calls []paging.Call `json:"tool_calls,omitempty"`
	Dirty []string      `json:"dirty,omitempty"`
	// Begin and End name pages of work in flight, such as a running tool call. The pages are
	// neither evicted nor lowered between their Begin and their End.
	Begin []string `json:"begin,omitempty"`
	End   []string `json:"end,omitempty"`
	// Events happen after the call, in order.
	Events []paging.Event `json:"events,omitempty"`
	// Recall has lookups in memory with their outcomes.
	Recall []paging.Recall `json:"recall,omitempty"`
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

// check returns the fault of a workload, or nil if the workload can be run.
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
	if err := checkLinks(pages, w.Pages); err != nil {
		return err
	}
	return w.checkTurns(pages)
}

func (w *Workload) checkPage(p *Page) error {
	ep := p.page()
	if err := ep.Check(); err != nil {
		return err
	}
	if p.Session != "" && !slices.Contains(w.Sessions, p.Session) {
		return fmt.Errorf(`page %q belongs to session %q, which is not in "sessions"`, p.ID, p.Session)
	}
	return nil
}

// page returns the page in the engine's form.
func (p *Page) page() paging.Page {
	out := paging.Page{ID: p.ID, Type: p.Type, Scope: p.Scope, Session: p.Session, Pin: p.Pin, Tokens: p.Tokens, RecomputeCost: p.RecomputeCost}
	if out.Pin == "" {
		out.Pin = paging.PinNone
	}
	if out.Scope == "" {
		out.Scope = memkernel.ScopeSession
	}
	if f := p.Fields; f != nil {
		out.Version, out.Supersedes, out.Group = f.Version, f.Supersedes, f.Group
		out.Provenance.From = f.DerivedFrom
	}
	return out
}

// links returns the pages that a page supersedes or was made from.
func (p *Page) links() []string {
	if p.Fields == nil {
		return nil
	}
	out := slices.Clone(p.Fields.DerivedFrom)
	if s := p.Fields.Supersedes; s != "" {
		out = append(out, s)
	}
	return out
}

// checkLinks returns an error for links to missing pages, for cycles, and for versions out of
// order.
func checkLinks(pages map[string]*Page, all []Page) error {
	for i := range all {
		p := &all[i]
		for _, id := range p.links() {
			q, ok := pages[id]
			switch {
			case !ok:
				return fmt.Errorf("page %q comes from %q, which is no page of this workload", p.ID, id)
			case id == p.Fields.Supersedes && q.Fields != nil && p.Fields.Version <= q.Fields.Version:
				return fmt.Errorf("versions out of order: page %q (version %d) supersedes %q (version %d): give it a higher one", p.ID, p.Fields.Version, id, q.Fields.Version)
			}
		}
	}
	done := map[string]bool{}
	for i := range all {
		if circle := follow(pages, all[i].ID, nil, done); circle != nil {
			return fmt.Errorf("cyclic provenance: %s: take one of these links out", strings.Join(circle, " comes from "))
		}
	}
	return nil
}

// follow walks a page's links and returns a cycle if it finds one.
func follow(pages map[string]*Page, id string, path []string, done map[string]bool) []string {
	if at := slices.Index(path, id); at >= 0 {
		return append(slices.Clone(path[at:]), id)
	}
	if done[id] {
		return nil
	}
	path = append(path, id)
	for _, next := range pages[id].links() {
		if c := follow(pages, next, path, done); c != nil {
			return c
		}
	}
	done[id] = true
	return nil
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
	names := slices.Concat(t.Demand, t.Dirty, t.Begin, t.End)
	for _, c := range t.Calls {
		if c.Signature == "" {
			return errors.New("a tool call has no signature")
		}
		if c.Page != "" {
			names = append(names, c.Page)
		}
	}
	for _, id := range names {
		p, ok := pages[id]
		switch {
		case !ok:
			return fmt.Errorf(`unknown page %q: list it in "pages"`, id)
		case p.Scope != memkernel.ScopeProject && p.Session != t.Session:
			return fmt.Errorf(`page %q is private to session %q: share it with "scope": "project"`, id, p.Session)
		}
	}
	for _, e := range t.Events {
		if !slices.Contains([]paging.Event{paging.EventCompaction, paging.EventReset, paging.EventFlush, paging.EventSessionEnd}, e) {
			return fmt.Errorf("unknown event %q, use compaction, reset, flush or session_end", e)
		}
	}
	for _, r := range t.Recall {
		if !slices.Contains([]string{paging.RecallOK, paging.RecallNoMatch, paging.RecallDenied, paging.RecallError}, r.Outcome) {
			return fmt.Errorf("recall of %q: unknown outcome %q, use ok, no_match, denied or error", r.Query, r.Outcome)
		}
	}
	return nil
}
