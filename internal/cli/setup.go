package cli

import (
	"fmt"
	"math"
	"net/url"
	"time"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/embed"
	"github.com/memkernel/memkernel/internal/config"
	"github.com/memkernel/memkernel/internal/document"
	"github.com/memkernel/memkernel/internal/endpoint"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/pagevm/mask"
	"github.com/memkernel/memkernel/pagevm/represent"
	"github.com/memkernel/memkernel/retrieval"
)

// memoryOptions are the settings of memory as the kernel takes them. Where a zero
// means its default, zero itself is spelled as the nearest value that does not.
func memoryOptions(c *config.Config) kernel.MemoryOptions {
	w, r := &c.Workspace, &c.Retrieval
	o := kernel.MemoryOptions{
		Off: !w.Enabled, Store: storeSettings(c), Bootstrap: document.List(w.Bootstrap), WorkspaceTokens: int(w.MaxTokens), RecallTokens: int(r.MaxTokens),
		Ranking: Ranking(r), Sessions: pastSessions(&r.Sessions), MediaPaths: c.Embedding.MediaPaths, EmbedLimit: api.EmbedLimit{USD: confirmUSD, Tokens: confirmTokens},
	}
	o.Ranking.EmbedTimeout = time.Duration(c.Embedding.QueryTimeout)
	if !r.Enabled {
		o.RecallTokens = -1
	}
	return o
}

// A reindex may send text that costs confirmUSD, or has confirmTokens, to another machine
// without --yes.
const (
	confirmUSD    = .5
	confirmTokens = 10_000_000
)

// Ranking is how hits are ranked.
func Ranking(r *config.Retrieval) retrieval.Options {
	o := retrieval.Options{VectorWeight: r.VectorWeight, KeywordWeight: math.Round((1-r.VectorWeight)*1e6) / 1e6, HalfLife: time.Duration(r.HalfLife), Lambda: max(r.MMRLambda, math.SmallestNonzeroFloat64)}
	if r.HalfLife == 0 {
		o.HalfLife = -1
	}
	return o
}

func orNone(n int) int {
	if n == 0 {
		return -1
	}
	return n
}

// OnThisMachine tells whether an address is this machine's by its spelling; names
// other than localhost are not looked up. "" is the provider's own.
func OnThisMachine(address string) bool {
	u, err := url.Parse(address)
	return err == nil && endpoint.Loopback(u)
}

// KernelOptions are all settings of the kernel, with a price book and a provider of vectors;
// either may be nil.
func (s *Settings) KernelOptions(book *cachelayout.Book, p embed.Provider) (*kernel.Options, error) {
	o := &kernel.Options{StateDir: s.StateDir, Prices: book, Economy: s.Config.Economy, Memory: memoryOptions(s.Config),
		Life: kernel.LifeOptions{Off: !s.Config.Checkpoint.Enabled, Show: s.Config.Checkpoint.ShowAt, Checkpoint: s.Config.Checkpoint.At,
			Compact: s.Config.Checkpoint.CompactAt, Flush: kernel.FlushOptions{Off: !s.Config.Flush.Enabled},
			StateFile: kernel.StateFileOptions{Off: !s.Config.SessionState.Enabled},
			Buffer:    kernel.BufferOptions{Off: !s.Config.WorkingBuffer.Enabled}},
		Represent: represent.Options{Whole: !s.Config.Plan.Door},
		Redact:    mask.Options{Allow: s.Config.Redact.Allow, Disable: s.Config.Redact.DisableRules}}
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
