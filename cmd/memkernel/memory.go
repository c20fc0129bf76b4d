package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/embed"
	"github.com/memkernel/memkernel/internal/config"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/pagevm"
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
		Bootstrap: list(w.Bootstrap), WorkspaceTokens: int(w.MaxTokens), NoRemembered: !w.Memory, NoDailyLogs: !w.DailyLogs,
		RecallTokens: int(r.MaxTokens), RecallItems: r.MaxItems, RecallScore: r.MinScore, RecallShare: r.MinShare, NoSpans: !r.SessionSpans,
		Ranking: ranking(r), BusyTimeout: time.Duration(c.Index.BusyTimeout), Sessions: pastSessions(&r.Sessions),
	}
	o.Ranking.EmbedTimeout = time.Duration(c.Embedding.QueryTimeout)
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

// embedder makes the provider of vectors, nil if there is none. It sends nothing.
func (a *app) embedder() (embed.Provider, error) {
	if err := a.trustEmbedding(); err != nil {
		return nil, err
	}
	e := &a.config.Embedding
	p, err := embed.FromConfig(embed.Config{Provider: e.Provider, BaseURL: string(e.BaseURL), Model: e.Model, Dimensions: e.Dimensions,
		APIKeyEnv: string(e.APIKeyEnv), QueryPrefix: e.QueryPrefix, DocumentPrefix: e.DocumentPrefix, BatchSize: e.BatchSize,
		MaxTextBytes: e.MaxTextBytes, Timeout: time.Duration(e.Timeout), AllowInsecure: e.AllowInsecure})
	if err != nil {
		return nil, hint(fmt.Errorf("read configuration: %s: %w", a.config.Origin("embedding.provider"), err),
			"mend the section embedding, or say embedding.provider: none to search by words alone")
	}
	return p, nil
}

// trustEmbedding refuses to send anything anywhere on the word of the state
// folder's own file: that may have come with a repository of somebody else's. What
// --config names is the user's choice.
func (a *app) trustEmbedding() error {
	e := &a.config.Embedding
	if a.configPath != "" || e.Provider == "none" {
		return nil
	}
	refuse := func(key, why string) error {
		return hint(fmt.Errorf("%s: %s: %s, and this file may have come with the project", a.config.Origin(key), key, why),
			"if you want that, say so by --config %s; else set embedding.provider to none", a.configFile)
	}
	switch {
	case !onThisMachine(string(e.BaseURL)):
		return refuse("embedding.provider", "text of the workspace would be sent to "+first(host(string(e.BaseURL)), "api.openai.com"))
	case e.APIKeyEnv != "":
		return refuse("embedding.api_key_env", "a variable of the environment would be sent to "+host(string(e.BaseURL)))
	}
	return nil
}

// onThisMachine tells whether an address is this machine's by its spelling; names
// other than localhost are not looked up. "" is the provider's own.
func onThisMachine(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	name := strings.ToLower(u.Hostname())
	ip := net.ParseIP(name)
	return name == "localhost" || ip != nil && ip.IsLoopback()
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
	k, err := kernel.Open(ctx, a.workspace, a.kernelOptions(book, p))
	if err != nil {
		return nil, hint(err, "name the project's folder with --workspace")
	}
	return k, nil
}

func (a *app) kernelOptions(book *cachelayout.Book, p embed.Provider) *kernel.Options {
	o := &kernel.Options{StateDir: a.stateDir, Prices: book, Memory: memoryOptions(a.config),
		Life: kernel.LifeOptions{Off: !a.config.Checkpoint.Enabled, Show: a.config.Checkpoint.ShowAt, Checkpoint: a.config.Checkpoint.At,
			Compact: a.config.Checkpoint.CompactAt, RestoreTokens: int(a.config.Checkpoint.RestoreTokens), Flush: flushOptions(a.config), Progress: progressOptions(a.config),
			NoCheckpoints: !a.config.Checkpoint.Save,
			StateFile:     kernel.StateFileOptions{Off: !a.config.SessionState.Enabled, MaxBytes: int(a.config.SessionState.MaxSize)},
			Buffer:        kernel.BufferOptions{Off: !a.config.WorkingBuffer.Enabled, At: a.config.WorkingBuffer.At, MaxBytes: int64(a.config.WorkingBuffer.MaxSize)}},
		Trace:  kernel.TraceOptions{Off: !a.config.Trace.Enabled, MaxBytes: int64(a.config.Trace.MaxBytes)},
		Redact: pagevm.MaskOptions{Allow: a.config.Redact.Allow, Disable: a.config.Redact.DisableRules}}
	o.Memory.Embedder = p
	for i := range o.Memory.Sessions.Sources {
		src := &o.Memory.Sessions.Sources[i]
		src.Path = a.inWorkspace(src.Path)
	}
	return o
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
