package setup

import (
	"context"
	"path/filepath"

	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/index/qmd"
	"github.com/memkernel/memkernel/kernel/indexing"
)

// indexPath is the SQLite file.
func (s *Settings) indexPath() string { return filepath.Join(s.StateDir, "index.sqlite") }

// backend is what keeps the index, as it is configured. Nothing is opened yet.
func (s *Settings) backend() (indexing.Backend, error) {
	switch s.Config.Index.Backend {
	case "postgres":
		if s.Databases == nil {
			return indexing.Backend{}, errNoDatabases
		}
		return s.Databases.Index(s)
	case "qmd":
		return s.qmdBackend()
	}
	return indexing.SQLite(s.indexPath()), nil
}

func (s *Settings) qmdOptions() (qmd.Options, error) {
	dir, err := filepath.Abs(s.Workspace)
	return qmd.Options{Command: s.Config.Index.QMD.Command, Collection: filepath.Base(dir), Dir: dir}, err
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
