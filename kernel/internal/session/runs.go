package session

import (
	"cmp"
	"context"
	"time"

	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/kernel/internal/upkeep"
)

// Runs returns the journal that all sessions share, for runs over memory's files.
func (t *Table) Runs() projectRuns { return projectRuns{t} }

type projectRuns struct{ table *Table }

// Open opens the journal for a run of upkeep. The caller must call the returned function when
// the run is over.
func (p projectRuns) Open(ctx context.Context, write bool) (upkeep.Journal, func(), error) {
	open := p.table.Project
	if !write {
		open = func(ctx context.Context) (*Session, func(), error) { return p.table.ReadFolder(ctx, folder.Project) }
	}
	s, end, err := open(ctx)
	if err != nil {
		return nil, nil, err
	}
	return runs{s}, end, nil
}

type runs struct{ s *Session }

func (p runs) Entries() []upkeep.Entry {
	page, ok := p.s.Page(upkeepKey)
	if !ok {
		return nil
	}
	f, _ := page.Field(runsField)
	out := make([]upkeep.Entry, 0, len(f.Entries))
	for _, e := range f.Entries {
		out = append(out, upkeep.Entry{ID: e.ID, Value: e.Current().Value})
	}
	return out
}

func (p runs) Append(e upkeep.Entry, now time.Time) error {
	u, err := entryUpdate(upkeepType, upkeepKey, runsField, e.ID, e.Value, p.s.Evidence())
	if err != nil {
		return err
	}
	return cmp.Or(p.s.commitEntry("upkeep", e.ID, u, "the run was promised with other contents", now), p.s.Sync())
}

func (p runs) Unfinished() error { return p.s.upkeepErr }
func (p runs) Stands() error     { return p.s.Stands() }
func (p runs) Forget()           { p.s.Invalidate() }
