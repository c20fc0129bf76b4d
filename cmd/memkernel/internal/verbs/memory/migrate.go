package memory

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/cmd/memkernel/internal/cli"
	"github.com/memkernel/memkernel/cmd/memkernel/internal/fail"
	"github.com/memkernel/memkernel/cmd/memkernel/internal/setup"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/internal/document"
	"github.com/memkernel/memkernel/kernel/indexing"
)

// migrateFlags are the flags of migrate.
type migrateFlags struct {
	to, from string
	wait     time.Duration
	// state moves the state in place of the index, memory the workspace's Markdown, and
	// remove takes it out of its source.
	state, memory, remove bool
}

// Migrate is the verb migrate.
func Migrate(a *cli.App) *cobra.Command {
	m := &migrateFlags{}
	cmd := &cobra.Command{
		Long: `migrate makes one backend's index hold what another's holds: the chunks, and all
vectors, so that nothing is embedded twice. The source stays as it is. Counts, and a
sample of chunks and vectors, are compared afterwards. Run again, it goes on where it
was cut short.

The Markdown stays the truth: where there is no index to copy, or its chunks were cut
by other rules, the target is made from the files, and an index that is damaged or
of an older version is made anew first. Where the database is stands in the
configuration, under index.postgres; index.backend says which backend is used. sqlite
is the file in the state folder, sqlite:FILE one elsewhere.

With --state it moves what sessions hold instead: journals, blobs, checkpoints and
backups, to the database of store.postgres or back to files of the state folder. Nobody
may use either meanwhile. All of it is compared by hash at the end, and the source stays
as it is without --remove-source. Cut short it goes on when it is run again, and
until then nothing opens the half that is there.

With --memory it copies the workspace's Markdown: to the database of store.postgres,
where store.workspace: rows has every machine find it, or back to the project's folder.
All of it is compared by hash. A file that is there with another text is never written
over: it is named, and nothing is copied. --remove-source takes it out of the database,
and never out of a folder.`,
		Example: `  memkernel migrate --to postgres --config team.yaml
  memkernel migrate --from postgres --to sqlite --config team.yaml
  memkernel migrate --state --to postgres --config team.yaml
  memkernel migrate --memory --to postgres --config team.yaml`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case m.state && m.memory:
				return fail.Usagef("--state and --memory are two moves: give one of them, then the other")
			case m.memory:
				return moveMemory(cmd.Context(), a, m)
			case m.state:
				return moveState(cmd.Context(), a, m)
			case m.remove:
				return fail.Usagef("--remove-source goes with --state or --memory: an index is copied, and stays")
			}
			return runMigrate(cmd.Context(), a, m)
		},
	}
	f := cmd.Flags()
	f.StringVar(&m.to, "to", "", "the `backend` that gets the index: sqlite, sqlite:FILE or postgres; with --state or --memory, files or postgres")
	f.BoolVar(&m.state, "state", false, "move the state of the sessions in place of the index")
	f.BoolVar(&m.memory, "memory", false, "move the workspace's Markdown in place of the index")
	f.BoolVar(&m.remove, "remove-source", false, "with --state or --memory, remove it from where it was when all of it is there")
	f.StringVar(&m.from, "from", "", "the `backend` that it is copied from (default the other of sqlite and postgres)")
	f.DurationVar(&m.wait, "wait", 20*time.Second, "how long to wait for others that use either place")
	return cmd
}

// sqliteFile begins a backend that is a file elsewhere than in the state folder.
const sqliteFile = "sqlite:"

// isBackend tells whether an index can move there.
func isBackend(name string) bool {
	return name == "sqlite" || name == "postgres" || len(name) > len(sqliteFile) && strings.HasPrefix(name, sqliteFile)
}

func (m *migrateFlags) check() error {
	if m.to == "" {
		return fail.Usagef("migrate needs to know where to: --to sqlite or --to postgres")
	}
	if m.from == "" {
		m.from = "sqlite"
		if m.to == "sqlite" {
			m.from = "postgres"
		}
	}
	switch {
	case !isBackend(m.to):
		return fail.Usagef("--to %q is none of sqlite, sqlite:FILE, postgres", m.to)
	case !isBackend(m.from):
		return fail.Usagef("--from %q is none of sqlite, sqlite:FILE, postgres", m.from)
	case m.to == m.from:
		return fail.Usagef("--from and --to are both %s", m.to)
	case m.wait < 0:
		return fail.Usagef("--wait %v: give how long to wait, such as 30s", m.wait)
	}
	return nil
}

func runMigrate(ctx context.Context, a *cli.App, f *migrateFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	if err := a.MemoryOn(); err != nil {
		return err
	}
	from, err := placeOf(a, f.from)
	if err != nil {
		return err
	}
	to, err := placeOf(a, f.to)
	if err != nil {
		return err
	}
	k, err := a.Kernel(ctx, setup.Needs{})
	if err != nil {
		return err
	}
	defer k.Close()
	o := indexing.MigrateOptions{From: from, To: to, Wait: max(f.wait, 1)}
	bars := a.Bars()
	if bars != nil {
		o.Progress = bars.Show
	}
	r, err := k.Migrate(ctx, o)
	bars.Done()
	if err != nil {
		return indexError(err)
	}
	doc := document.OfMigrate(r)
	if a.JSON {
		err = a.WriteJSON(doc)
	} else {
		err = display.Migrate(a.Out, doc, a.Style())
	}
	if err == nil && r.Behind {
		a.Tip("files have changed since they were indexed: run 'memkernel reindex' with index.backend %s", f.to)
	}
	if err == nil && a.Config.Index.Backend != f.to && isConfigured(f.to) {
		a.Tip("set index.backend to %s to use it", f.to)
	}
	return err
}

// placeOf is a backend by what --from and --to say.
func placeOf(a *cli.App, name string) (indexing.Backend, error) {
	if file, ok := strings.CutPrefix(name, sqliteFile); ok {
		path, err := filepath.Abs(file)
		return indexing.SQLite(path), err
	}
	return a.BackendNamed(name)
}

// isConfigured tells whether the configuration could name it.
func isConfigured(name string) bool { return !strings.HasPrefix(name, sqliteFile) }
