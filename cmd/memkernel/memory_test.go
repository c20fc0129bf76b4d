package main

import (
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/memkernel/memkernel/internal/config"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/retrieval"
	"github.com/memkernel/memkernel/sessions"
)

// TestMemoryOptions: the defaults of the configuration are the kernel's, and every
// setting that can be none reaches it as none.
func TestMemoryOptions(t *testing.T) {
	got := memoryOptions(config.Default())
	want := kernel.MemoryOptions{
		Store: markdownstore.Options{Timezone: time.Local, MaxFileBytes: markdownstore.DefaultMaxFileBytes,
			ChunkTokens: markdownstore.DefaultChunkTokens, OverlapTokens: markdownstore.DefaultOverlapTokens},
		Bootstrap: []string{"AGENTS.md", "SOUL.md", "IDENTITY.md", "TOOLS.md"}, WorkspaceTokens: kernel.DefaultWorkspaceTokens,
		RecallTokens: kernel.DefaultRecallTokens, RecallItems: kernel.DefaultRecallItems, RecallShare: kernel.DefaultRecallShare, BusyTimeout: 5 * time.Second,
		EmbedLimit: kernel.EmbedLimit{USD: 0.5, Tokens: 10_000_000},
		Ranking: retrieval.Options{EmbedTimeout: retrieval.DefaultEmbedTimeout, VectorWeight: retrieval.DefaultVectorWeight,
			KeywordWeight: retrieval.DefaultKeywordWeight, Pool: retrieval.DefaultPool, HalfLife: retrieval.DefaultHalfLife,
			Floor: retrieval.DefaultFloor, Lambda: retrieval.DefaultLambda},
		Sessions: kernel.SessionOptions{DeltaBytes: sessions.DefaultDeltaBytes, DeltaMessages: sessions.DefaultDeltaMessages, Settle: sessions.DefaultSettle},
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(kernel.SyncOptions{}), cmp.Comparer(func(a, b *time.Location) bool { return a == b }), cmp.Comparer(func(a, b func(string) int) bool { return a == nil && b == nil }),
		cmp.Comparer(func(a, b func() time.Time) bool { return a == nil && b == nil })); diff != "" {
		t.Error(diff)
	}
	c := config.Default()
	for key, text := range map[string]string{"workspace.enabled": "false", "workspace.memory": "false", "workspace.daily_logs": "false", "workspace.bootstrap": "",
		"chunking.overlap": "0", "retrieval.enabled": "false", "retrieval.session_spans": "false", "retrieval.decay_floor": "0", "retrieval.decay": "false",
		"retrieval.mmr_lambda": "0", "retrieval.vector_weight": "0"} {
		if err := c.Set(key, text, ""); err != nil {
			t.Fatal(err)
		}
	}
	o := memoryOptions(c)
	if !o.Off || !o.NoRemembered || !o.NoDailyLogs || o.Bootstrap == nil || len(o.Bootstrap) > 0 || o.RecallItems >= 0 || !o.NoSpans || o.Store.OverlapTokens >= 0 {
		t.Errorf("what is none is %+v", o)
	}
	if r := o.Ranking; r.Floor >= 0 || r.HalfLife >= 0 || !(r.Lambda > 0 && r.Lambda < 1e-9) || r.VectorWeight != 0 {
		t.Errorf("ranking is %+v", r)
	}
	c.Retrieval.MMR = false
	if o := memoryOptions(c); o.Ranking.Lambda < 1 {
		t.Errorf("without diversity lambda is %v", o.Ranking.Lambda)
	}
}

func TestOnThisMachine(t *testing.T) {
	for address, want := range map[string]bool{
		"http://localhost:11434/v1": true, "http://LOCALHOST": true, "http://127.0.0.1:1": true, "http://127.9.9.9": true, "http://[::1]:80/v1": true,
		"": false, "https://api.openai.com/v1": false, "http://192.168.0.2": false, "http://localhost.example.com": false, "http://localhost@example.com": false,
		"http://127.0.0.1.example.com": false, "http://0.0.0.0": false, "http://[::ffff:8.8.8.8]": false, "http://example.com/localhost": false, "://": false,
	} {
		if got := onThisMachine(address); got != want {
			t.Errorf("onThisMachine(%q) = %v", address, got)
		}
	}
}

func TestParsePlace(t *testing.T) {
	type want struct {
		place
		isPath, ok bool
	}
	tests := map[string]want{
		"MEMORY.md":                     {place{"MEMORY.md", 0, 0}, true, true},
		"memory/a.md:3":                 {place{"memory/a.md", 3, 0}, true, true},
		"memory/a.md:3:9":               {place{"memory/a.md", 3, 9}, true, true},
		"memory/a.md#L3":                {place{"memory/a.md", 3, 1}, true, true},
		"memory/a.md#L3-L9":             {place{"memory/a.md", 3, 7}, true, true},
		"memory/10:30.MD":               {place{"memory/10:30.MD", 0, 0}, true, true},
		"/etc/passwd":                   {place{"/etc/passwd", 0, 0}, true, true},
		"/etc/passwd:1":                 {place{"/etc/passwd", 1, 0}, true, true},
		`..\x`:                          {place{`..\x`, 0, 0}, true, true},
		"ev-0123456789abcdef":           {place{"ev-0123456789abcdef", 0, 0}, false, true},
		"ev-0123456789abcdef@L3-L9":     {place{"ev-0123456789abcdef@L3-L9", 0, 0}, false, true},
		"ev-0123456789abcdef#L3-L9":     {place{"ev-0123456789abcdef#L3-L9", 0, 0}, false, true},
		"su-0123456789abcdef.decisions": {place{"su-0123456789abcdef.decisions", 0, 0}, false, true},
		"ev-0123456789abcdef.md":        {place{"ev-0123456789abcdef.md", 0, 0}, true, true},
		"MEMORY":                        {place{"MEMORY", 0, 0}, false, true},
		"a.md:x":                        {isPath: true}, "a.md:0": {isPath: true}, "a.md:1:0": {isPath: true}, "a.md#L9-L3": {isPath: true}, "a.md#3": {isPath: true},
		"a.md:1:2:3": {isPath: true}, "a.md:99999999999999999999": {isPath: true},
	}
	for in, w := range tests {
		pl, isPath, err := parsePlace(in)
		if isPath != w.isPath || (err == nil) != w.ok || w.ok && pl != w.place {
			t.Errorf("parsePlace(%q) = %+v, %v, %v", in, pl, isPath, err)
		}
	}
}

// TestPlacesRoundTrip: a citation of lines is read as these lines.
func TestPlacesRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := "memory/" + rapid.StringMatching(`[a-zA-Z0-9:# ._-]{1,20}`).Draw(t, "name") + ".md"
		from := rapid.IntRange(1, 9999).Draw(t, "from")
		n := rapid.IntRange(1, 99).Draw(t, "lines")
		for _, s := range []string{citationOf(name, from, n), name + ":" + itoa(from) + ":" + itoa(n)} {
			pl, isPath, err := parsePlace(s)
			if err != nil || !isPath || pl != (place{name, from, n}) {
				t.Fatalf("parsePlace(%q) = %+v, %v, %v", s, pl, isPath, err)
			}
		}
	})
}

func citationOf(name string, from, n int) string {
	s := name + "#L" + itoa(from)
	if n > 1 {
		s += "-L" + itoa(from+n-1)
	}
	return s
}

func itoa(n int) string { return strconv.Itoa(n) }
