package verbs

import (
	"context"

	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/service/internal/moving"
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
	o := moving.Options{Names: append(kernel.Stored.Names(), token.Folder), RemoveSource: f.remove, Wait: max(f.wait, 1),
		Progress: func(what string, done, all int) { a.Step(what, done, all, "document") }}
	r, err := moveFiles(ctx, a, f.to, o)
	a.ProgressDone()
	if err != nil {
		return err
	}
	doc := &movedState{"memkernel/migrate_state/v1", *r}
	err = cli.Answer(a, doc, doc, func(s *display.Sheet, d *movedState) { showMoved(s, "documents", d, nil) })
	if err == nil && a.Config.Store.Backend != f.to {
		a.Tip("set store.backend to %s to use it", f.to)
	}
	return err
}

// moveFiles moves the state between the state folder and the database.
func moveFiles(ctx context.Context, a *cli.App, to string, o moving.Options) (*moving.Report, error) {
	database, err := a.State(ctx)
	if err != nil {
		return nil, err
	}
	folder, db := store.Store(store.Files(a.StateDir)), database.State()
	if to == "files" {
		return moving.Move(ctx, db, folder, o)
	}
	return moving.Move(ctx, folder, db, o)
}
