package cli

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/memkernel/memkernel/internal/config"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/retrieval"
)

// TestMemoryOptions: the defaults of the configuration are the kernel's, and every
// setting that can be none reaches it as none.
func TestMemoryOptions(t *testing.T) {
	got := memoryOptions(config.Default())
	var chunks markdownstore.Chunking
	var ranking retrieval.Options
	chunks.SetDefaults()
	ranking.SetDefaults()
	want := kernel.MemoryOptions{
		Store:     markdownstore.Options{Timezone: time.Local, ChunkTokens: chunks.Tokens, OverlapTokens: chunks.Overlap},
		Bootstrap: []string{"AGENTS.md", "SOUL.md", "IDENTITY.md", "TOOLS.md"}, WorkspaceTokens: 8000,
		RecallTokens: retrieval.DefaultPackTokens, EmbedLimit: api.EmbedLimit{USD: 0.5, Tokens: 10_000_000},
		Ranking: retrieval.Options{EmbedTimeout: ranking.EmbedTimeout, VectorWeight: ranking.VectorWeight,
			KeywordWeight: ranking.KeywordWeight, HalfLife: ranking.HalfLife, Lambda: ranking.Lambda},
		Sessions: kernel.PastOptions{Enabled: true, DeltaBytes: 100 << 10},
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(kernel.SyncOptions{}), cmp.Comparer(func(a, b *time.Location) bool { return a == b }), cmp.Comparer(func(a, b func(string) int) bool { return a == nil && b == nil }),
		cmp.Comparer(func(a, b func() time.Time) bool { return a == nil && b == nil })); diff != "" {
		t.Error(diff)
	}
	c := config.Default()
	for key, text := range map[string]string{"workspace.enabled": "false", "workspace.bootstrap": "",
		"chunking.overlap": "0", "retrieval.enabled": "false", "retrieval.half_life": "0s", "retrieval.mmr_lambda": "0", "retrieval.vector_weight": "0"} {
		if err := c.Set(key, text, ""); err != nil {
			t.Fatal(err)
		}
	}
	o := memoryOptions(c)
	if !o.Off || o.Bootstrap == nil || len(o.Bootstrap) > 0 || o.RecallTokens >= 0 || o.Store.OverlapTokens >= 0 {
		t.Errorf("what is none is %+v", o)
	}
	if r := o.Ranking; r.HalfLife >= 0 || !(r.Lambda > 0 && r.Lambda < 1e-9) || r.VectorWeight != 0 {
		t.Errorf("ranking is %+v", r)
	}
}
