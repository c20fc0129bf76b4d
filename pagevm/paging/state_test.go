package paging

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/memkernel/memkernel/pagevm"
)

type snapshot struct {
	Config   Config            `json:"config"`
	Turn     int               `json:"turn"`
	Decision uint64            `json:"decision,omitempty"`
	Pages    []pageSnapshot    `json:"pages"`
	Sessions []sessionSnapshot `json:"sessions,omitempty"`
	Totals   Totals            `json:"totals,omitzero"`
}

type pageSnapshot struct {
	Page
	// Committed is the version of the last commit.
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

// state is the engine's whole state between two turns, to be compared.
func (e *Engine) state() []byte {
	doc := snapshot{Config: e.cfg, Turn: e.turn, Decision: e.seq, Pages: []pageSnapshot{}, Totals: e.totals}
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
		panic(err)
	}
	return data
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
