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

// Settings are the configuration of a workspace, and what it opens.
type Settings struct {
	// Workspace and StateDir are folders; ConfigPath is the configuration file that the
	// user named, "" if none.
	Workspace, StateDir, ConfigPath string
	// Config are the settings as they hold, ConfigFiles the files that some came from, the
	// one that counts most last.
	Config      *config.Config
	ConfigFiles []string

	// Databases opens what is kept in databases, nil in a program without.
	Databases Databases
	// TenantName is whose settings these are, "" if no tenant's.
	TenantName string

	state   Database // nil until it is used
	settled bool     // it is written down which Markdown is memory
}

// Needs are what a verb wants of the kernel beside its files.
type Needs struct {
	// Prices is the price book; nil is the embedded one.
	Prices *cachelayout.Book
	// Vectors searches and indexes by meaning, Notes lets a model make notes of turns: both
	// if the configuration names who does it.
	Vectors, Notes bool
	// Silent: what sessions come to is kept in the state folder alone, none of it in the
	// workspace's Markdown.
	Silent bool
	// Follow keeps the index up with the files, as a program that keeps running does.
	Follow bool
	// AsItIs searches the index as it is, and brings nothing up to date.
	AsItIs bool
	// Watch is told of the kernel's work; nil tells nobody.
	Watch func(context.Context, *kernel.Done)
	// Report is told of every run of the index, and has the files watched.
	Report func(api.SyncRun)
}

// Billed returns what was billed in a workspace, nil where nothing is kept of it.
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
		o.Life.Off, o.Life.Flush.Off = true, true
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

// MemoryOn refuses what can't be done while memory is switched off.
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
