package verbs

import (
	"context"
	"errors"
	"slices"

	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/internal/document"
	"github.com/memkernel/memkernel/service/internal/moving"
)

// moveMemory copies the workspace's Markdown between its folder and the database.
func moveMemory(ctx context.Context, a *cli.App, f *migrateFlags) error {
	if err := checkMove(f, "--memory"); err != nil {
		return err
	}
	if f.remove && f.to == "postgres" {
		return cli.UsageWith("--remove-source takes no Markdown out of a project's folder", "take it out yourself if it is to be in the database alone")
	}
	if err := a.MemoryOn(); err != nil {
		return err
	}
	release, err := cli.NoDaemon(a.StateDir)
	if err != nil {
		return err
	}
	defer release()
	folder, rows, include, err := cli.Places(ctx, &a.Settings)
	if err != nil {
		return err
	}
	defer folder.Close()
	from, to, setting := folder, rows, "rows"
	if f.to == "files" {
		from, to, setting = rows, folder, "folder"
	}
	r, left, err := moving.Markdown(ctx, from, to, moving.Options{RemoveSource: f.remove, Wait: max(f.wait, 1),
		Progress: func(what string, done, all int) { a.Step(what, done, all, "file") }})
	a.ProgressDone()
	var conflict *moving.ConflictError
	if errors.As(err, &conflict) {
		return cli.Hint(err, "make each the same in both places, or take it out of one, and run it again")
	}
	if err != nil {
		return err
	}
	doc := &movedFiles{movedState{"memkernel/migrate_memory/v1", *r}, document.List(left)}
	err = cli.Answer(a, doc, doc, func(s *display.Sheet, d *movedFiles) { showMoved(s, "files", &d.movedState, d.LeftOut) })
	if err == nil && a.Config.Store.Workspace != setting {
		a.Tip("set store.workspace to %s to use it", setting)
	}
	if err == nil && f.to == "postgres" && !slices.Equal(include, a.Config.Index.Include) {
		a.Tip("in the folder more Markdown is memory than MEMORY.md and memory/: set index.include in the file that all machines have, or only these are found in the database")
	}
	return err
}

// checkMove checks the flags of a move between files and the database.
func checkMove(f *migrateFlags, flag string) error {
	switch {
	case f.to == "":
		return cli.Usagef("migrate %s needs to know where to: --to postgres or --to files", flag)
	case f.to != "files" && f.to != "postgres":
		return cli.Usagef("--to %q is none of files, postgres", f.to)
	case f.wait < 0:
		return cli.Usagef("--wait %v: give how long to wait, such as 30s", f.wait)
	}
	return nil
}
