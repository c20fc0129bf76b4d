package main

import (
	"context"
	"errors"
	"math"
	"net/url"
	"time"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/embed"
	"github.com/memkernel/memkernel/internal/config"
	"github.com/memkernel/memkernel/internal/document"
	"github.com/memkernel/memkernel/internal/endpoint"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/pagevm/mask"
	"github.com/memkernel/memkernel/retrieval"
)

// memoryOptions are the settings of memory as the kernel takes them. Where a zero
// means its default, zero itself is spelled as the nearest value that does not.
func memoryOptions(c *config.Config) kernel.MemoryOptions {
	w, r := &c.Workspace, &c.Retrieval
	o := kernel.MemoryOptions{
		Off: !w.Enabled,
		Store: markdownstore.Options{Timezone: w.Timezone.Location(), MaxFileBytes: int64(w.MaxFileSize),
			ChunkTokens: int(c.Chunking.Tokens), OverlapTokens: orNone(int(c.Chunking.Overlap))},
		Bootstrap: document.List(w.Bootstrap), WorkspaceTokens: int(w.MaxTokens), NoRemembered: !w.Memory, NoDailyLogs: !w.DailyLogs,
		RecallTokens: int(r.MaxTokens), RecallItems: r.MaxItems, RecallScore: r.MinScore, RecallShare: r.MinShare, NoSpans: !r.SessionSpans,
		Ranking: ranking(r), BusyTimeout: time.Duration(c.Index.BusyTimeout), Sessions: pastSessions(&r.Sessions),
	}
	o.Ranking.EmbedTimeout = time.Duration(c.Embedding.QueryTimeout)
	o.MediaPaths = c.Embedding.MediaPaths
	o.EmbedLimit = kernel.EmbedLimit{USD: c.Embedding.ConfirmCost, Tokens: int(c.Embedding.ConfirmTokens)}
	if r.MinShare == 0 {
		o.RecallShare = -1
	}
	if !r.Enabled {
		o.RecallItems = -1
	}
	return o
}

func ranking(r *config.Retrieval) retrieval.Options {
	o := retrieval.Options{VectorWeight: r.VectorWeight, KeywordWeight: r.KeywordWeight, Pool: r.Candidates,
		HalfLife: time.Duration(r.HalfLife), Floor: r.DecayFloor, Lambda: max(r.MMRLambda, math.SmallestNonzeroFloat64)}
	if r.DecayFloor == 0 {
		o.Floor = -1
	}
	if !r.Decay {
		o.HalfLife = -1
	}
	if !r.MMR {
		o.Lambda = 1
	}
	return o
}

func orNone(n int) int {
	if n == 0 {
		return -1
	}
	return n
}

// onThisMachine tells whether an address is this machine's by its spelling; names
// other than localhost are not looked up. "" is the provider's own.
func onThisMachine(address string) bool {
	u, err := url.Parse(address)
	return err == nil && endpoint.Loopback(u)
}

func host(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}

// kernel opens the workspace's kernel for what needs no vectors.
func (a *app) kernel(ctx context.Context, book *cachelayout.Book) (*kernel.Kernel, error) {
	return a.openKernel(ctx, book, nil)
}

// searcher opens it for what searches or indexes.
func (a *app) searcher(ctx context.Context, book *cachelayout.Book) (*kernel.Kernel, error) {
	p, err := a.embedder()
	if err != nil {
		return nil, err
	}
	return a.openKernel(ctx, book, p)
}

func (a *app) openKernel(ctx context.Context, book *cachelayout.Book, p embed.Provider) (*kernel.Kernel, error) {
	o, err := a.kernelOptions(book, p)
	if err != nil {
		return nil, err
	}
	k, err := kernel.Open(ctx, a.workspace, o)
	if err != nil {
		return nil, hint(err, "name the project's folder with --workspace")
	}
	return k, nil
}

func (a *app) kernelOptions(book *cachelayout.Book, p embed.Provider) (*kernel.Options, error) {
	o := &kernel.Options{StateDir: a.stateDir, Prices: book, Memory: memoryOptions(a.config),
		Life: kernel.LifeOptions{Off: !a.config.Checkpoint.Enabled, Show: a.config.Checkpoint.ShowAt, Checkpoint: a.config.Checkpoint.At,
			Compact: a.config.Checkpoint.CompactAt, RestoreTokens: int(a.config.Checkpoint.RestoreTokens), Flush: flushOptions(a.config), Progress: progressOptions(a.config),
			NoCheckpoints: !a.config.Checkpoint.Save,
			Source:        kernel.Source{File: a.config.Checkpoint.SessionFile, Channel: a.config.Checkpoint.Channel, Agent: a.config.Checkpoint.Agent},
			StateFile:     kernel.StateFileOptions{Off: !a.config.SessionState.Enabled, MaxBytes: int(a.config.SessionState.MaxSize)},
			Buffer:        kernel.BufferOptions{Off: !a.config.WorkingBuffer.Enabled, At: a.config.WorkingBuffer.At, MaxBytes: int64(a.config.WorkingBuffer.MaxSize)}},
		Trace:  kernel.TraceOptions{Off: !a.config.Trace.Enabled, MaxBytes: int64(a.config.Trace.MaxBytes)},
		Redact: mask.Options{Allow: a.config.Redact.Allow, Disable: a.config.Redact.DisableRules}}
	o.Memory.Embedder = p
	if o.Memory.LossShare = a.config.Upkeep.LossShare; o.Memory.LossShare == 0 {
		o.Memory.LossShare = math.SmallestNonzeroFloat64
	}
	for i := range o.Memory.Sessions.Sources {
		src := &o.Memory.Sessions.Sources[i]
		src.Path = a.inWorkspace(src.Path)
		if err := a.trustFolder(src.Path); err != nil {
			return nil, err
		}
	}
	if !a.config.Workspace.Enabled {
		return o, nil
	}
	var err error
	o.Memory.Backend, err = a.backend()
	return o, err
}

// sharedFlag adds --shared to a verb that shows memory. It stands over
// workspace.private.
func (a *app) sharedFlag(set interface {
	BoolVar(p *bool, name string, value bool, usage string)
}) {
	set.BoolVar(&a.shared, "shared", false, "as a shared session sees it: without MEMORY.md and USER.md")
}

// memoryOn refuses what can't be done while memory is switched off.
func (a *app) memoryOn() error {
	if a.config.Workspace.Enabled {
		return nil
	}
	return hint(errors.New("memory is switched off"), "set workspace.enabled to true: it is false at %s", a.config.Origin("workspace.enabled"))
}

// private tells whether private files are there.
func (a *app) private() bool { return a.config.Workspace.Private && !a.shared }
