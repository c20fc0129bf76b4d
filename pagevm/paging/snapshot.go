package paging

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/pagevm"
)

// SnapshotFormat is the version of the snapshots that are written. Older ones load.
//
//	1: configuration, turn and the page table, without residency: all sessions
//	   begin their next turn with nothing but their rules
//	2: sessions with residency, dirty pages and known calls; counts
const SnapshotFormat = 2

// ErrNewer is wrapped by the error for a snapshot of a newer format.
var ErrNewer = errors.New("written by a newer version")

type snapshot struct {
	Format   int               `json:"format"`
	Config   Config            `json:"config"`
	Turn     int               `json:"turn"`
	Decision uint64            `json:"decision,omitempty"`
	Pages    []pageSnapshot    `json:"pages"`
	Sessions []sessionSnapshot `json:"sessions,omitempty"`
	Totals   Totals            `json:"totals,omitzero"`
}

type pageSnapshot struct {
	Page
	// Committed is the version of the last commit; absent in format 1, where the
	// page's version is.
	Committed *int `json:"committed,omitempty"`
}

type sessionSnapshot struct {
	Name      string          `json:"name"`
	Compacted bool            `json:"compacted,omitempty"`
	Entries   []entrySnapshot `json:"entries"`
	Dirty     []dirtSnapshot  `json:"dirty,omitempty"`
	Calls     []Call          `json:"tool_calls,omitempty"`
}

type entrySnapshot struct {
	Page       string       `json:"page"`
	Level      pagevm.Level `json:"level"`
	Limit      pagevm.Level `json:"limit"`
	Hold       pagevm.Level `json:"hold"`
	LastAccess int          `json:"last_access"`
	Loaded     bool         `json:"loaded,omitempty"`
	Lost       Cause        `json:"lost,omitempty"`
	Drop       uint64       `json:"drop,omitempty"`
	Dirty      bool         `json:"dirty,omitempty"`
}

type dirtSnapshot struct {
	Page string `json:"page"`
	Base int    `json:"base"`
}

// Snapshot writes the engine's whole state between two turns as one JSON document.
// An engine restored from it goes on exactly as this one.
func (e *Engine) Snapshot() ([]byte, error) {
	doc := snapshot{Format: SnapshotFormat, Config: e.cfg, Turn: e.turn, Decision: e.seq, Pages: []pageSnapshot{}, Totals: e.totals}
	for i := range e.rows {
		if r := &e.rows[i]; !r.gone {
			doc.Pages = append(doc.Pages, pageSnapshot{Page: *r.page, Committed: &r.committed})
		}
	}
	for _, s := range e.sessions {
		doc.Sessions = append(doc.Sessions, e.sessionSnapshot(s))
	}
	data, err := json.Marshal(doc)
	if err != nil {
		return nil, fmt.Errorf("paging: snapshot: %w", err)
	}
	return data, nil
}

func (e *Engine) sessionSnapshot(s *session) sessionSnapshot {
	out := sessionSnapshot{Name: s.name, Compacted: s.compacted, Entries: []entrySnapshot{}}
	for i := range s.entries {
		en := &s.entries[i]
		dirty := slices.ContainsFunc(s.dirty, func(d dirt) bool { return d.row == en.row })
		out.Entries = append(out.Entries, entrySnapshot{Page: e.rows[en.row].page.ID, Level: en.level, Limit: en.limit, Hold: en.hold,
			LastAccess: int(en.last), Loaded: en.loaded, Lost: en.lost, Drop: en.drop, Dirty: dirty})
	}
	for _, d := range s.dirty {
		out.Dirty = append(out.Dirty, dirtSnapshot{Page: e.rows[d.row].page.ID, Base: d.base})
	}
	for _, sig := range slices.Sorted(maps.Keys(s.calls)) {
		out.Calls = append(out.Calls, Call{Signature: sig, Page: s.calls[sig]})
	}
	return out
}

// Restore makes an engine from a snapshot of this format or an older one. A newer
// one is an error that wraps ErrNewer.
func Restore(data []byte) (*Engine, error) {
	var head struct {
		Format int `json:"format"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, fmt.Errorf("paging: restore: %w", err)
	}
	switch {
	case head.Format > SnapshotFormat:
		return nil, fmt.Errorf("paging: restore: snapshot of format %d: %w; this program reads up to %d", head.Format, ErrNewer, SnapshotFormat)
	case head.Format < 1:
		return nil, fmt.Errorf("paging: restore: no snapshot: it names no format")
	}
	var doc snapshot
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&doc); err != nil {
		return nil, fmt.Errorf("paging: restore: %w", err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("paging: restore: something follows the snapshot")
	}
	e, err := doc.engine()
	if err != nil {
		return nil, fmt.Errorf("paging: restore: %w", err)
	}
	return e, nil
}

func (doc *snapshot) engine() (*Engine, error) {
	e, err := New(doc.Config)
	if err != nil {
		return nil, err
	}
	if doc.Turn < 0 || doc.Turn > maxTurn {
		return nil, fmt.Errorf("turn %d is none", doc.Turn)
	}
	e.turn, e.seq, e.totals = doc.Turn, doc.Decision, doc.Totals
	for _, p := range doc.Pages {
		if err := e.admit(&p.Page, nil); err != nil {
			return nil, err
		}
		e.insertRow(p.Page)
		if p.Committed != nil {
			e.rows[e.ids[p.ID]].committed = *p.Committed
		}
	}
	for i := range doc.Sessions {
		if err := e.restoreSession(&doc.Sessions[i]); err != nil {
			return nil, fmt.Errorf("session %q: %w", doc.Sessions[i].Name, err)
		}
	}
	e.placeRest()
	return e, nil
}

// placeRest gives an entry to every page that the sessions of the snapshot do not
// list.
func (e *Engine) placeRest() {
	for i := range e.rows {
		if p := e.rows[i].page; p.Scope == memkernel.ScopeSession {
			e.session(p.Session)
		}
	}
	for i := range e.rows {
		for _, s := range e.sessions {
			if p := e.rows[i].page; p.visible(s.name) && e.entry(s, p.ID) == nil {
				e.place(s, int32(i), pagevm.Gone)
			}
		}
	}
}

func (e *Engine) restoreSession(in *sessionSnapshot) error {
	if _, ok := e.names[in.Name]; ok || in.Name == "" {
		return fmt.Errorf("stands twice, or has no name")
	}
	s := &session{id: int32(len(e.sessions)), name: in.Name, calls: map[string]string{}, compacted: in.Compacted}
	e.names[in.Name] = s.id
	e.sessions = append(e.sessions, s)
	for _, en := range in.Entries {
		i, ok := e.ids[en.Page]
		if !ok || !e.rows[i].page.visible(in.Name) || e.entry(s, en.Page) != nil {
			return fmt.Errorf("page %q: not in the table, another session's, or listed twice", en.Page)
		}
		if en.LastAccess < 0 || en.LastAccess > e.turn {
			return fmt.Errorf("page %q: last access in turn %d, the snapshot is of turn %d", en.Page, en.LastAccess, e.turn)
		}
		e.place(s, i, en.Level)
		at := &s.entries[len(s.entries)-1]
		*at = entry{row: i, last: int32(en.LastAccess), level: en.Level, limit: en.Limit, hold: en.Hold, loaded: en.Loaded, lost: en.Lost, drop: en.Drop}
		for _, l := range []pagevm.Level{en.Level, en.Hold} {
			if l != pagevm.Gone && e.rows[i].tok[l] == 0 {
				return fmt.Errorf("page %q stands at %v, a level that it does not have", en.Page, l)
			}
		}
	}
	for _, d := range in.Dirty {
		if e.entry(s, d.Page) == nil {
			return fmt.Errorf("dirty page %q: %w", d.Page, ErrUnknownPage)
		}
		s.dirty = append(s.dirty, dirt{row: e.ids[d.Page], base: d.Base})
	}
	for _, c := range in.Calls {
		s.calls[c.Signature] = c.Page
	}
	return nil
}
