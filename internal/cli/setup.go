package cli

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/embed"
	"github.com/memkernel/memkernel/internal/config"
	"github.com/memkernel/memkernel/internal/document"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/pagevm/mask"
	"github.com/memkernel/memkernel/retrieval"
	"github.com/memkernel/memkernel/sessions"
)

// memoryOptions returns the settings of memory in the kernel's form. Where a zero has the meaning of a
// default in that form, memoryOptions replaces a zero by the nearest other value.
func memoryOptions(c *config.Config) kernel.MemoryOptions {
	w, r := &c.Workspace, &c.Retrieval
	o := kernel.MemoryOptions{
		Off: !w.Enabled, Store: storeSettings(c), Bootstrap: document.List(w.Bootstrap), WorkspaceTokens: int(w.MaxTokens), RecallTokens: int(r.MaxTokens),
		Ranking: Ranking(c), Sessions: pastSessions(c), MediaPaths: c.Embedding.MediaPaths, EmbedLimit: api.EmbedLimit{USD: confirmUSD, Tokens: confirmTokens},
	}
	o.Ranking.EmbedTimeout = time.Duration(c.Embedding.QueryTimeout)
	if !r.Enabled {
		o.RecallTokens = -1
	}
	return o
}

// Without --yes, a reindex sends text to another machine only if it costs at most confirmUSD and
// has at most confirmTokens tokens.
const (
	confirmUSD    = .5
	confirmTokens = 10_000_000
)

// Ranking returns the options for the ranking of hits.
func Ranking(c *config.Config) retrieval.Options {
	r := &c.Retrieval
	return retrieval.Options{VectorWeight: r.VectorWeight, KeywordWeight: math.Round((1-r.VectorWeight)*1e6) / 1e6, HalfLife: cmp.Or(time.Duration(r.HalfLife), -1), Lambda: max(r.MMRLambda, math.SmallestNonzeroFloat64)}
}

// KernelOptions returns all settings of the kernel, with a price book and a provider of vectors.
// Either may be nil.
func (s *Settings) KernelOptions(book *cachelayout.Book, p embed.Provider) (*kernel.Options, error) {
	o := &kernel.Options{StateDir: s.StateDir, Prices: book, Economy: s.Config.Economy, Memory: memoryOptions(s.Config),
		Life: kernel.LifeOptions{Off: !s.Config.Checkpoint.Enabled, Show: s.Config.Checkpoint.ShowAt, Checkpoint: s.Config.Checkpoint.At,
			Compact: s.Config.Checkpoint.CompactAt, NoFlush: !s.Config.Flush.Enabled,
			NoStateFile: !s.Config.SessionState.Enabled,
			NoBuffer:    !s.Config.WorkingBuffer.Enabled},
		WholeResults: !s.Config.Plan.Door,
		Redact:       mask.Options{Allow: s.Config.Redact.Allow, Disable: s.Config.Redact.DisableRules}}
	o.Memory.Embedder, o.Memory.Store = p, s.storeOptions()
	o.Memory.Edits = api.EditRule(s.Config.Workspace.AgentEdits)
	for i := range o.Memory.Sessions.Sources {
		src := &o.Memory.Sessions.Sources[i]
		src.Path = s.inWorkspace(src.Path)
	}
	if !s.Config.Workspace.Enabled {
		return o, nil
	}
	if len(o.Memory.MediaPaths) > 0 {
		if err := NotInRows(s, fmt.Sprintf("%s: embedding.media_paths are folders of the workspace", s.Config.Origin("embedding.media_paths"))); err != nil {
			return nil, err
		}
	}
	o.Memory.Folders = s.folders()
	var err error
	o.Memory.Backend, err = s.backend()
	return o, err
}

// Retention returns the configured times for which the kernel keeps data.
func (s *Settings) Retention() api.RetainRequest {
	c := &s.Config.Retention
	days := func(n int) time.Duration { return time.Duration(n) * 24 * time.Hour }
	return api.RetainRequest{Sessions: days(c.SessionsDays), Blobs: days(c.Days), Usage: days(c.Days), Traces: days(c.Days), Backups: days(c.Days)}
}

// PruneOptions returns the limits of the host. The parameter include names further entries that
// may leave.
func (s *Settings) PruneOptions(include []string) api.PruneOptions {
	host := s.auditHost()
	return api.PruneOptions{OwnerChars: host.Ample(), Include: include}
}

// auditHost returns the host whose limits apply.
func (s *Settings) auditHost() consolidation.Host {
	h, _ := consolidation.HostByName(s.Config.Audit.Host)
	return h
}

// AuditOptions returns the options of an audit. It uses the limits of auditHost, and reads the
// records of jobs in addition to those in the state folder.
func (s *Settings) AuditOptions(jobs []string) api.AuditOptions {
	return api.AuditOptions{Host: s.auditHost(), JobFiles: jobs}
}

// pastSessions returns the settings of past sessions in the kernel's form.
func pastSessions(c *config.Config) kernel.PastOptions {
	s := &c.Retrieval.Sessions
	o := kernel.PastOptions{Enabled: s.Enabled, DeltaBytes: int64(s.DeltaBytes)}
	for _, f := range s.Folders {
		agent, path, ok := strings.Cut(f, "=")
		if !ok || strings.ContainsAny(agent, `/\`) {
			agent, path = "", f
		}
		o.Sources = append(o.Sources, sessions.Source{Path: path, Agent: agent})
	}
	return o
}
