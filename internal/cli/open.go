package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/embed"
	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/index/qmd"
	"github.com/memkernel/memkernel/internal/config"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/pagevm/mask"
	"github.com/memkernel/memkernel/summary/model"
)

// Settings has the configuration of a workspace, and opens its stores.
type Settings struct {
	// Workspace and StateDir are folders. ConfigPath is the configuration file that the user
	// named, "" if none.
	Workspace, StateDir, ConfigPath string
	// Config has the effective settings. ConfigFiles are the files that set some of these
	// settings. Later files override earlier files.
	Config      *config.Config
	ConfigFiles []string

	// Databases opens stores in databases. It is nil in a program without them.
	Databases databases
	// TenantName is the name of the tenant that has these settings, "" if the settings are not a
	// tenant's.
	TenantName string

	state Database // nil until it is used
}

// Needs are a verb's requirements for the kernel, in addition to the workspace's files.
type Needs struct {
	// Prices is the price book. nil stands for the embedded book.
	Prices *cachelayout.Book
	// Vectors searches and indexes by meaning. Notes lets a model make notes of turns. Both need
	// a provider in the configuration.
	Vectors, Notes bool
	// Silent keeps the results of sessions only in the state folder, and writes nothing to the
	// workspace's Markdown.
	Silent bool
	// Follow updates the index whenever the files change, for a program that keeps running.
	Follow bool
	// AsItIs searches the index without an update.
	AsItIs bool
	// Watch is called with the kernel's work. It may be nil.
	Watch func(context.Context, *api.Done)
}

// Kernel opens the workspace's kernel.
func (s *Settings) Kernel(ctx context.Context, n Needs) (*kernel.Kernel, error) {
	var p embed.Provider
	var err error
	if n.Vectors {
		if p, err = s.Embedder(); err != nil {
			return nil, err
		}
	}
	o, err := s.KernelOptions(n.Prices, p)
	if err != nil {
		return nil, err
	}
	if err := Keep(ctx, s, o); err != nil {
		return nil, err
	}
	o.Watch = n.Watch
	if n.Silent {
		o.Life.Off, o.Life.NoFlush = true, true
	}
	if n.Follow {
		o.Memory.Sync = syncOptions(s.Config)
	}
	if n.AsItIs {
		o.Memory.Sync.Wait = -1
	}
	if n.Notes {
		if o.Summary, err = s.summaryOptions(); err != nil {
			return nil, err
		}
	}
	k, err := kernel.Open(ctx, s.Workspace, o)
	if i, statErr := os.Stat(s.Workspace); err != nil && (statErr != nil || !i.IsDir()) {
		return nil, Hint(err, "name the project's folder with --workspace")
	}
	return k, err
}

// MemoryOn returns an error if memory is switched off.
func (s *Settings) MemoryOn() error {
	if s.Config.Workspace.Enabled {
		return nil
	}
	return Hint(errors.New("memory is switched off"), "set workspace.enabled to true: it is false at %s", s.Config.Origin("workspace.enabled"))
}

// syncOptions are the settings of programs that keep running.
func syncOptions(c *config.Config) kernel.SyncOptions {
	s := &c.Index.Sync
	return kernel.SyncOptions{OnStart: s.OnSessionStart, OnSearch: s.OnSearch, Interval: time.Duration(s.Interval), Watch: s.Watch}
}

// databases opens the stores that a configuration keeps in databases. Only memkernel-server has
// it.
type databases interface {
	// State opens the database that keeps the state.
	State(context.Context, *Settings) (Database, error)
	// Index returns the index in a database. It does not open the database.
	Index(*Settings) (api.Backend, error)
}

var errNoDatabases = errors.New("memkernel keeps state and index in files; memkernel-server keeps them in PostgreSQL")

// Database keeps the state, and may keep the workspace's Markdown.
type Database interface {
	kernel.Store
	io.Closer
	// Workspace is the workspace's Markdown.
	Workspace() markdownstore.Files
}

// Stored returns the configured store of the state.
func (s *Settings) Stored(ctx context.Context) (store.Store, error) {
	if s.Config.Store.Backend != "postgres" {
		return store.Files(s.StateDir), nil
	}
	db, err := s.State(ctx)
	if err != nil {
		return nil, err
	}
	return db.State(), nil
}

// State opens the database that keeps the state. Later calls return the same database. Close
// closes it.
func (s *Settings) State(ctx context.Context) (Database, error) {
	if s.state != nil {
		return s.state, nil
	}
	if s.Databases == nil {
		return nil, errNoDatabases
	}
	db, err := s.Databases.State(ctx, s)
	if err == nil {
		s.state = db
	}
	return s.state, err
}

// Close closes the database that keeps the state, if it was opened.
func (s *Settings) Close() error {
	if s.state == nil {
		return nil
	}
	defer func() { s.state = nil }()
	return s.state.Close()
}

// daemonLock is the lock that a running 'memkernel serve' holds in the state folder.
const daemonLock = "serve.lock"

// NoDaemon prevents the start of a daemon for a state folder until the caller calls release. It
// returns an error if a daemon runs.
func NoDaemon(stateDir string) (release func(), err error) {
	release, err = store.Files(stateDir).Lock(daemonLock, store.Alone)
	if held := (*store.LockedError)(nil); errors.As(err, &held) {
		return nil, Hint(fmt.Errorf("'memkernel serve' is running for %s", stateDir), "end it, and run this again")
	}
	return release, err
}

// Tenant returns the settings of a tenant's workspace. The tenant has a state folder of its own,
// and a root of its own in the database if the state is kept there. The tenant's configuration is
// a copy of the configuration in s. A configuration in the tenant's workspace has no effect.
func (s *Settings) Tenant(name, workspace, state string) (*Settings, error) {
	own := &Settings{TenantName: name, Databases: s.Databases, Workspace: workspace, StateDir: s.StateDir, ConfigPath: s.ConfigPath}
	if err := own.Read(); err != nil {
		return nil, err
	}
	own.StateDir = state
	return own, CheckTenants(own)
}

// CheckTenants returns an error for settings that would lead all tenants to one place.
func CheckTenants(s *Settings) error {
	c := s.Config
	for key, shared := range map[string]bool{"index.folders": len(c.Index.Folders) > 0, "retrieval.sessions.folders": len(c.Retrieval.Sessions.Folders) > 0,
		"index.backend": c.Index.Backend != "sqlite"} {
		if shared {
			return Hint(fmt.Errorf("%s: %s: all tenants would find the same there", c.Origin(key), key), "take it out: tenants share nothing, and each has an index of its own on every machine")
		}
	}
	return nil
}

// Masker returns a masker that removes the same secrets from texts as the kernel.
func (s *Settings) Masker() (*mask.Masker, error) {
	o, err := s.KernelOptions(nil, nil)
	if err != nil {
		return nil, err
	}
	return mask.NewMasker(o.Redact)
}

// summaryOptions returns the settings of the model that makes notes, the zero value if there is
// none. It sends nothing.
func (s *Settings) summaryOptions() (api.SummaryOptions, error) {
	m, err := model.FromConfig(s.summaryConfig())
	if err != nil {
		return api.SummaryOptions{}, Hint(fmt.Errorf("read configuration: %s: %w", s.Config.Origin("summary.model.provider"), err),
			"mend the section summary.model, or say summary.model.provider: none for the mechanical summary alone")
	}
	return api.SummaryOptions{Model: m}, nil
}

func (s *Settings) summaryConfig() model.Config {
	c := &s.Config.Summary.Model
	return model.Config{Provider: c.Provider, BaseURL: string(c.BaseURL), Model: c.Name, APIKeyEnv: string(c.APIKeyEnv), AllowInsecure: c.AllowInsecure}
}

// Embedder returns the provider of vectors, nil if none is configured. It sends nothing.
func (s *Settings) Embedder() (embed.Provider, error) {
	p, err := embed.FromConfig(s.embedConfig())
	if err != nil {
		return nil, Hint(fmt.Errorf("read configuration: %s: %w", s.Config.Origin("embedding.provider"), err),
			"mend the section embedding, or say embedding.provider: none to search by words alone")
	}
	return p, nil
}

func (s *Settings) embedConfig() embed.Config {
	e := &s.Config.Embedding
	return embed.Config{Provider: e.Provider, BaseURL: string(e.BaseURL), Model: e.Model, ModelDir: string(e.ModelDir), Dimensions: e.Dimensions,
		APIKeyEnv: string(e.APIKeyEnv), QueryPrefix: e.QueryPrefix, DocumentPrefix: e.DocumentPrefix,
		Timeout: time.Duration(e.Timeout), AllowInsecure: e.AllowInsecure}
}

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
