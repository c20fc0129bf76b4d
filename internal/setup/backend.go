package setup

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/index/postgres"
	"github.com/memkernel/memkernel/index/qmd"
	"github.com/memkernel/memkernel/internal/fail"
	"github.com/memkernel/memkernel/kernel/indexing"
	"github.com/memkernel/memkernel/markdownstore"
)

// indexPath is the SQLite file.
func (s *Settings) indexPath() string { return filepath.Join(s.StateDir, "index.sqlite") }

// backend is what keeps the index, as it is configured. Nothing is opened yet.
func (s *Settings) backend() (indexing.Backend, error) {
	switch s.Config.Index.Backend {
	case "postgres":
		o, err := s.PostgresOptions()
		if err != nil {
			return indexing.Backend{}, err
		}
		return postgresBackend(o), nil
	case "qmd":
		return s.qmdBackend()
	}
	return indexing.SQLite(s.indexPath()), nil
}

// leaveAlone is how long a database that could not be opened is not asked again.
const leaveAlone = 15 * time.Second

func postgresBackend(o postgres.Options) indexing.Backend {
	some := func(ix *postgres.Index, err error) (indexing.Index, error) {
		if err != nil {
			return nil, err
		}
		return ix, nil
	}
	return indexing.Backend{Name: "postgres", Place: o.Place(), Shared: true, LeaveAlone: leaveAlone,
		Open: func(ctx context.Context, i *index.Options) (indexing.Index, error) {
			return some(postgres.Open(ctx, o, i))
		},
		Rebuild: func(ctx context.Context, i *index.Options) (indexing.Index, error) {
			return some(postgres.Rebuild(ctx, o, i))
		}}
}

// PostgresOptions are those of the configuration.
func (s *Settings) PostgresOptions() (postgres.Options, error) {
	p := &s.Config.Index.Postgres
	o := postgres.Options{DSN: string(p.DSN), Workspace: p.Workspace, Agent: p.Agent,
		Private: func(path string) bool {
			c, ok := markdownstore.Classify(path)
			return !p.Share || !ok || !c.Memory || c.Private
		}}
	if p.DSNEnv != "" {
		o.DSN = os.Getenv(string(p.DSNEnv))
		if o.DSN == "" {
			return o, fail.Hint(fmt.Errorf("%s: the variable %s is empty", s.Config.Origin("index.postgres.dsn_env"), p.DSNEnv), "put the DSN into it, such as postgres://me:secret@host/memory")
		}
	}
	switch {
	case o.DSN == "":
		return o, fail.Hint(fmt.Errorf("no database is named"), "set index.postgres.dsn, or index.postgres.dsn_env if it holds a password")
	case o.Workspace == "":
		return o, fail.Hint(fmt.Errorf("the workspace has no name in the database"), "set index.postgres.workspace, alike on every host that shares it")
	}
	return o, nil
}

func (s *Settings) qmdOptions() (qmd.Options, error) {
	q := &s.Config.Index.QMD
	dir, err := filepath.Abs(s.Workspace)
	return qmd.Options{Command: q.Command, Mode: q.Mode, Collection: cmp.Or(q.Collection, filepath.Base(dir)), Dir: dir}, err
}

// qmdBackend is the SQLite file with QMD before it.
func (s *Settings) qmdBackend() (indexing.Backend, error) {
	o, err := s.qmdOptions()
	if err != nil {
		return indexing.Backend{}, err
	}
	file := indexing.SQLite(s.indexPath())
	beside := func(ix indexing.Index, err error) (indexing.Index, error) {
		if err != nil {
			return nil, err
		}
		return qmd.Beside(ix.(*index.Index), o), nil
	}
	return indexing.Backend{Name: "qmd", Place: file.Place,
		Open: func(ctx context.Context, i *index.Options) (indexing.Index, error) { return beside(file.Open(ctx, i)) },
		Rebuild: func(ctx context.Context, i *index.Options) (indexing.Index, error) {
			return beside(file.Rebuild(ctx, i))
		}}, nil
}
