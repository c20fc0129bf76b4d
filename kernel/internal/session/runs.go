package session

import (
	"cmp"
	"time"

	"github.com/memkernel/memkernel/kernel/internal/upkeep"
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
	u, err := entryUpdate(upkeep.PageType, upkeep.Page, upkeep.PageField, e.ID, e.Value, p.s.Evidence())
	if err != nil {
		return err
	}
	return cmp.Or(p.s.commitEntry("upkeep", e.ID, u, "the run was promised with other contents", now), p.s.Sync())
}

func (p runs) Unfinished() error { return p.s.upkeepErr }
func (p runs) Stands() error     { return p.s.Stands() }
func (p runs) Forget()           { p.s.Invalidate() }
