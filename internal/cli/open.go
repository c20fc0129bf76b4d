package cli

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/embed"
	"github.com/memkernel/memkernel/internal/config"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/billing"
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
	Databases Databases
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
	// Report is called after every run of the index. If it is set, the kernel watches the files.
	Report func(api.SyncRun)
}

// Billed returns the billing report of a workspace, nil if the workspace has no billing record.
func Billed(ctx context.Context, s *Settings) (*billing.Report, error) {
	if s.Config.Store.Backend == "files" && !store.Exists(store.Files(s.StateDir), "") {
		return nil, nil
	}
	k, err := s.Kernel(ctx, Needs{})
	if err != nil {
		return nil, err
	}
	defer k.Close()
	return k.Usage(ctx, billing.Options{Location: s.Config.Workspace.Timezone.Location()})
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
		o.Memory.Sync = syncOptions(&s.Config.Index.Sync)
	}
	if n.AsItIs {
		o.Memory.Sync.Wait = -1
	}
	if n.Report != nil {
		o.Memory.Sync.Watch, o.Memory.Sync.Report = true, n.Report
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
func syncOptions(s *config.Sync) kernel.SyncOptions {
	return kernel.SyncOptions{OnStart: s.OnSessionStart, OnSearch: s.OnSearch, Interval: time.Duration(s.Interval), Watch: s.Watch}
}
