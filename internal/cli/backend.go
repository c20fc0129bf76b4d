package cli

import (
	"context"
	"path/filepath"

	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/index/qmd"
	"github.com/memkernel/memkernel/kernel/api"
)

// indexPath is the SQLite file.
func (s *Settings) indexPath() string { return filepath.Join(s.StateDir, "index.sqlite") }

// backend returns the index backend that the configuration names. It does not open the index.
func (s *Settings) backend() (api.Backend, error) {
	switch s.Config.Index.Backend {
	case "postgres":
		if s.Databases == nil {
			return api.Backend{}, errNoDatabases
		}
		return s.Databases.Index(s)
	case "qmd":
		return s.qmdBackend()
	}
	return api.SQLite(s.indexPath()), nil
}

func (s *Settings) qmdOptions() (qmd.Options, error) {
	dir, err := filepath.Abs(s.Workspace)
	return qmd.Options{Command: s.Config.Index.QMD.Command, Collection: filepath.Base(dir), Dir: dir}, err
}

// qmdBackend returns a backend that uses QMD together with the SQLite file.
func (s *Settings) qmdBackend() (api.Backend, error) {
	o, err := s.qmdOptions()
	if err != nil {
		return api.Backend{}, err
	}
	file := api.SQLite(s.indexPath())
	beside := func(ix api.MemoryIndex, err error) (api.MemoryIndex, error) {
		if err != nil {
			return nil, err
		}
		return qmd.Beside(ix.(*index.Index), o), nil
	}
	return api.Backend{Name: "qmd", Place: file.Place,
		Open: func(ctx context.Context, i *index.Options) (api.MemoryIndex, error) { return beside(file.Open(ctx, i)) },
		Rebuild: func(ctx context.Context, i *index.Options) (api.MemoryIndex, error) {
			return beside(file.Rebuild(ctx, i))
		}}, nil
}
