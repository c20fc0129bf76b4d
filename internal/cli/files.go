package cli

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/markdownstore"
)

// inRows reports whether the workspace's Markdown is kept in the database.
func inRows(s *Settings) bool { return s.Config.Store.Workspace == "rows" }

// NotInRows returns an error if the Markdown is kept in the database. The parameter what names
// the feature that needs a folder.
func NotInRows(s *Settings, what string) error {
	if !inRows(s) {
		return nil
	}
	return Hint(fmt.Errorf("%s, and the workspace's Markdown is in the database: %s", what, s.Config.Origin(workspaceKey)),
		"'memkernel-server migrate --memory --to files --workspace FOLDER' writes it to a folder")
}

const workspaceKey = "store.workspace"

// Keep sets the configured stores for a kernel's state and for the workspace's files.
func Keep(ctx context.Context, s *Settings, o *kernel.Options) (err error) {
	if s.Config.Store.Backend == "postgres" {
		if o.Store, err = s.State(ctx); err != nil {
			return err
		}
	}
	o.Memory.Files, err = keptFiles(ctx, s)
	return err
}

// keptFiles returns the store of the workspace's Markdown, nil if it is kept in the folder.
func keptFiles(ctx context.Context, s *Settings) (markdownstore.Files, error) {
	if !inRows(s) || !s.Config.Workspace.Enabled {
		return nil, nil
	}
	db, err := s.State(ctx)
	if err != nil {
		return nil, err
	}
	return db.Workspace(), nil
}

// OpenStore opens the workspace's files, with private ones if private is true. It returns nil if
// memory is off.
func (s *Settings) OpenStore(ctx context.Context, private bool) (*markdownstore.Store, error) {
	if !s.Config.Workspace.Enabled {
		return nil, nil
	}
	o := s.storeOptions()
	o.Private, o.Now = private, time.Now
	if files, err := keptFiles(ctx, s); err != nil {
		return nil, err
	} else if files != nil {
		return markdownstore.New(files, &o), nil
	}
	st, err := markdownstore.Open(s.Workspace, &o)
	if err != nil {
		return nil, fmt.Errorf("open workspace %s: %w", s.Workspace, err)
	}
	return st, nil
}

// Places returns the store of the workspace's folder and the store of the workspace's rows in the
// database. It returns both, no matter which store the configuration uses. The folder's memory is
// the Markdown that include matches. In rows all Markdown is memory.
func Places(ctx context.Context, s *Settings) (folder, rows *markdownstore.Store, include []string, err error) {
	c := *s.Config
	c.Store.Workspace = "folder"
	local := &Settings{Workspace: s.Workspace, StateDir: s.StateDir, ConfigPath: s.ConfigPath, ConfigFiles: s.ConfigFiles, Config: &c, Databases: s.Databases}
	o := local.storeOptions()
	o.Private, o.Settle = true, nil
	if folder, err = markdownstore.Open(s.Workspace, &o); err != nil {
		return nil, nil, nil, fmt.Errorf("open workspace %s: %w", s.Workspace, err)
	}
	db, err := s.State(ctx)
	if err != nil {
		folder.Close()
		return nil, nil, nil, err
	}
	all := o
	all.Include, all.Exclude, all.NoGitignore = slices.Concat(markdownstore.Everything(), o.Include), nil, true
	return folder, markdownstore.New(db.Workspace(), &all), o.Include, nil
}
