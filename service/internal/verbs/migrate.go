package verbs

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/internal/cli"
)

// migrateFlags are the flags of migrate.
type migrateFlags struct {
	to   string
	wait time.Duration
	// state moves the state of sessions, memory moves the workspace's Markdown, and remove
	// deletes it at its source.
	state, memory, remove bool
}

// Migrate is the verb migrate.
func Migrate(a *cli.App) *cobra.Command {
	m := &migrateFlags{}
	cmd := &cobra.Command{
		Long: `With --state migrate moves what sessions hold: journals, blobs, checkpoints and backups,
to the database of store.postgres or back to files of the state folder. Nobody may use
either meanwhile. All of it is compared by hash at the end, and the source stays as it is
without --remove-source. Cut short it goes on when it is run again, and until then nothing
opens the half that is there.

With --memory it copies the workspace's Markdown: to the database of store.postgres,
where store.workspace: rows has every machine find it, or back to the project's folder.
All of it is compared by hash. A file that is there with another text is never written
over: it is named, and nothing is copied. --remove-source takes it out of the database,
and never out of a folder.

An index is not moved: set index.backend, and reindex makes it from the files.`,
		Example: `  memkernel-server migrate --state --to postgres --config team.yaml
  memkernel-server migrate --memory --to postgres --config team.yaml`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case m.state && m.memory:
				return cli.Usagef("--state and --memory are two moves: give one of them, then the other")
			case m.memory:
				return moveMemory(cmd.Context(), a, m)
			case m.state:
				return moveState(cmd.Context(), a, m)
			}
			return cli.UsageWith("migrate needs to know what to move: --state or --memory", "an index is not moved: set index.backend, and 'memkernel reindex' makes it from the files")
		},
	}
	f := cmd.Flags()
	f.StringVar(&m.to, "to", "", "the `store` that gets it: files or postgres")
	f.BoolVar(&m.state, "state", false, "move what sessions hold")
	f.BoolVar(&m.memory, "memory", false, "move the workspace's Markdown")
	f.BoolVar(&m.remove, "remove-source", false, "remove it from where it was when all of it is there")
	f.DurationVar(&m.wait, "wait", 20*time.Second, "how long to wait for others that use either place")
	return cmd
}
