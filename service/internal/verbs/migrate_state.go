package verbs

import (
	"context"

	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/service/token"
)

// moveState moves the state of the sessions.
func moveState(ctx context.Context, a *cli.App, f *migrateFlags) error {
	if err := checkMove(f, "--state"); err != nil {
		return err
	}
	release, err := cli.NoDaemon(a.StateDir)
	if err != nil {
		return err
	}
	defer release()
	database, err := a.State(ctx)
	if err != nil {
		return err
	}
	from, to := kernel.Files(a.StateDir), kernel.Store(database)
	if f.to == "files" {
		from, to = to, from
	}
	r, err := kernel.MoveState(ctx, from, to, kernel.MoveOptions{Also: []string{token.Folder}, RemoveSource: f.remove, Wait: max(f.wait, 1),
		Progress: func(what string, done, all int) { a.Step(what, done, all, "document") }})
	a.ProgressDone()
	if err != nil {
		return err
	}
	doc := &movedState{"memkernel/migrate_state/v1", r.From, r.To, r.Documents, r.Copied, r.Bytes, r.Removed}
	if a.JSON {
		err = a.WriteJSON(doc)
	} else {
		err = showMoved(a.Out, "documents", doc, nil, a.Style())
	}
	if err == nil && a.Config.Store.Backend != f.to {
		a.Tip("set store.backend to %s to use it", f.to)
	}
	return err
}
