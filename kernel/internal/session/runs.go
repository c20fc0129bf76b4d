package session

import (
	"cmp"
	"encoding/json"
	"errors"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel/internal/upkeep"
	"github.com/memkernel/memkernel/pagevm/journal"
)

// RunsIn returns the runs over memory's files that the project's session holds.
func RunsIn(s *Session) upkeep.Journal { return runs{s} }

type runs struct{ s *Session }

func (p runs) Entries() []upkeep.Entry {
	page, ok := p.s.Page(upkeep.Page)
	if !ok {
		return nil
	}
	f, _ := page.Field(upkeep.PageField)
	out := make([]upkeep.Entry, 0, len(f.Entries))
	for _, e := range f.Entries {
		out = append(out, upkeep.Entry{ID: e.ID, Value: e.Current().Value})
	}
	return out
}

func (p runs) Append(e upkeep.Entry, now time.Time) error {
	value, err := json.Marshal([]upkeep.Entry{e})
	if err != nil {
		return err
	}
	out, err := p.s.Writeback(journal.Transaction{Key: "upkeep:" + e.ID, Time: now, Point: journal.PointFlush,
		By: journal.Principal{Name: "upkeep", Session: p.s.Name},
		Updates: []journal.Update{{Key: upkeep.Page, Type: upkeep.PageType, Field: upkeep.PageField, Op: journal.OpAppend, Value: value,
			Scope: memkernel.ScopeSession, EvidenceRef: p.s.Evidence()}}})
	if err == nil && len(out.Rejected) > 0 {
		err = &journal.RejectionError{Code: out.Rejected[0].Code, Detail: out.Rejected[0].Detail}
	}
	if err == nil && out.Outcome == journal.Conflict {
		err = errors.New("the run was promised with other contents")
	}
	return cmp.Or(err, p.s.Sync())
}

func (p runs) Unfinished() error { return p.s.upkeepErr }
func (p runs) Stands() error     { return p.s.Stands() }
func (p runs) Forget()           { p.s.Invalidate() }
