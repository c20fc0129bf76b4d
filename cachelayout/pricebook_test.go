package cachelayout

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestEmbeddedTableParses(t *testing.T) {
	rows, err := parseRows(bytes.NewReader(pricesJSON), "prices.json")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, r := range rows {
		key := r.ID + "@" + r.EffectiveFrom
		if seen[key] {
			t.Errorf("%s stands twice", key)
		}
		seen[key] = true
		if r.Source == "" || r.AsOf == "" || r.Tokenizer == "" || r.Cache == "" || r.ContextWindow == 0 {
			t.Errorf("%s lacks a source, date, tokenizer, cache or window", key)
		}
		if modelKey(r.ID) != r.ID && r.ID != "gpt-4o-2024-05-13" {
			t.Errorf("%s is not found by its stripped name %s", r.ID, modelKey(r.ID))
		}
		for _, tier := range r.Tiers {
			if r.Cache == CacheAnthropic && (tier.Input == nil || tier.Output == nil || tier.Read == nil || tier.Write5m == nil || tier.Write1h == nil) {
				t.Errorf("%s lacks a price", key)
			}
		}
	}
	if len(seen) < 60 {
		t.Errorf("%d rows", len(seen))
	}
}

// prices writes a tier as numbers; -1 is unknown.
func prices(t Tier) [5]float64 {
	var out [5]float64
	for i, p := range []*float64{t.Input, t.Output, t.Write5m, t.Write1h, t.Read} {
		out[i] = -1
		if p != nil {
			out[i] = *p
		}
	}
	return out
}

func TestLookupPrices(t *testing.T) {
	day := func(s string) time.Time {
		d, err := time.Parse(time.DateOnly, s)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	tests := []struct {
		name, id string
		at       time.Time
		tokens   int
		want     [5]float64
	}{
		{"sonnet 5.5 before its cheaper reads", "claude-sonnet-5-5", day("2026-10-06"), 1, [5]float64{2, 10, 2.5, 4, .2}},
		{"sonnet 5.5 on the day", "claude-sonnet-5-5", day("2026-10-07"), 1, [5]float64{2, 10, 2.5, 4, .1}},
		{"sonnet 5.5 today", "claude-sonnet-5-5", time.Time{}, 1, [5]float64{2, 10, 2.5, 4, .1}},
		{"late evening elsewhere is the next day in UTC", "claude-sonnet-5-5",
			time.Date(2026, 10, 6, 22, 0, 0, 0, time.FixedZone("", -5*3600)), 1, [5]float64{2, 10, 2.5, 4, .1}},
		{"opus 5.5", "claude-opus-5-5", noon, 900_000, [5]float64{4, 20, 5, 8, .2}},
		{"haiku 5.5 at its cliff", "claude-haiku-5-5", noon, 100_000, [5]float64{.1, .5, .125, .2, .01}},
		{"haiku 5.5 over its cliff", "claude-haiku-5-5", noon, 100_001, [5]float64{.5, 2.5, .625, 1, .05}},
		{"opus 4.6 had a premium", "claude-opus-4-6", day("2026-02-15"), 200_001, [5]float64{10, 37.5, 12.5, 20, 1}},
		{"and lost it", "claude-opus-4-6", day("2026-03-13"), 900_000, [5]float64{5, 25, 6.25, 10, .5}},
		{"sonnet 4.5 premium in old logs", "claude-sonnet-4-5-20250929", day("2026-01-01"), 250_000, [5]float64{6, 22.5, 7.5, 12, .6}},
		{"gpt at its cliff", "gpt-6.1-sol", noon, 272_000, [5]float64{2, 10, 2.5, -1, .1}},
		{"gpt over its cliff", "gpt-6.1-sol", noon, 272_001, [5]float64{4, 15, 5, -1, .2}},
		{"the twelve hour write", "gpt-6.2-sol", noon, 1, [5]float64{2, 10, 2.5, 5, .1}},
		{"gemini pro over its cliff", "gemini-3.1-pro-preview", noon, 200_001, [5]float64{4, 18, -1, -1, .4}},
		{"gemini 4 while it is introduced", "gemini-4-carbon", day("2026-11-30"), 900_000, [5]float64{2, 10, -1, -1, .1}},
		{"and afterwards", "models/gemini-4-carbon", day("2026-12-01"), 1, [5]float64{4, 20, -1, -1, .2}},
		{"the largest gpt over its cliff", "openai/gpt-6.2-astra", noon, 272_001, [5]float64{16, 60, 20, -1, .8}},
		{"deepseek before", "deepseek-v4-pro", day("2026-07-01"), 1, [5]float64{.435, .87, -1, -1, .003625}},
		{"deepseek after", "deepseek-v4-pro", noon, 1, [5]float64{1.32, 3.96, -1, -1, .044}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, ok := DefaultBook().Lookup(tt.id, tt.at)
			if !ok {
				t.Fatal("unknown")
			}
			if diff := cmp.Diff(tt.want, prices(m.TierFor(tt.tokens))); diff != "" {
				t.Errorf("input, output, 5m, 1h, read (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLookupNames(t *testing.T) {
	tests := map[string]string{
		"claude-opus-4-5-20251101":                            "claude-opus-4-5",
		"claude-sonnet-4-5-20250929":                          "claude-sonnet-4-5",
		"claude-haiku-4-5-20251001":                           "claude-haiku-4-5",
		"anthropic/claude-opus-4.5":                           "claude-opus-4-5",
		"openrouter/anthropic/claude-sonnet-4.6":              "claude-sonnet-4-6",
		"anthropic/claude-3.7-sonnet:thinking":                "claude-3-7-sonnet",
		"us.anthropic.claude-opus-4-5-20251101-v1:0":          "claude-opus-4-5",
		"global.anthropic.claude-opus-5":                      "claude-opus-5",
		"bedrock/eu.anthropic.claude-haiku-4-5-20251001-v1:0": "claude-haiku-4-5",
		"vertex_ai/claude-sonnet-4-5@20250929":                "claude-sonnet-4-5",
		"claude-opus-4-6[1m]":                                 "claude-opus-4-6",
		"Claude-Opus-5-5 ":                                    "claude-opus-5-5",
		"claude-3-7-sonnet-latest":                            "claude-3-7-sonnet",
		"claude-sonnet-4-20250514":                            "claude-sonnet-4-0",
		"claude-opus-4":                                       "claude-opus-4-0",
		"openai/gpt-5.5":                                      "gpt-5.5",
		"gpt-5.5-2026-04-23":                                  "gpt-5.5",
		"gpt-5.2-codex":                                       "gpt-5.2",
		"gpt-5.6":                                             "gpt-5.6-sol",
		"gpt-4o-2024-08-06":                                   "gpt-4o",
		"gpt-4o-2024-05-13":                                   "gpt-4o-2024-05-13",
		"google/gemini-2.5-flash-preview-05-20":               "gemini-2.5-flash",
		"models/gemini-3-flash-preview":                       "gemini-3-flash",
		"deepseek/deepseek-v4-flash":                          "deepseek-flash",
		"anthropic:claude-sonnet-4-5":                         "claude-sonnet-4-5",
		"azure_openai:gpt-5.1":                                "gpt-5.1",
		"azure-gpt-4.1-mini":                                  "gpt-4.1-mini",
		"anthropic--claude-4.6-sonnet":                        "claude-sonnet-4-6",
		"databricks-claude-4.6-opus-thinking":                 "claude-opus-4-6",
		"anthropic/claude-4.5-sonnet-20250929:free":           "claude-sonnet-4-5",
		"claude-haiku-4-5-20251001-thinking":                  "claude-haiku-4-5",
		"publishers/google/models/gemini-2.5-pro-exp-03-25":   "gemini-2.5-pro",
		"deepseek:deepseek-v4-pro":                            "deepseek-v4-pro",
		// A name that only begins like a known one is another model.
		"claude-opus-5-7": "", "gpt-5.9": "", "gpt-5-mini-high": "", "claude-opus-4-5-fast": "",
		"<synthetic>": "", "haiku": "", "": "", "ft:gpt-4o:acme": "", "claude": "", "-": "",
	}
	for id, want := range tests {
		m, ok := DefaultBook().Lookup(id, noon)
		if m.ID != want || ok != (want != "") {
			t.Errorf("Lookup(%q) = %q, %v; want %q", id, m.ID, ok, want)
		}
	}
}

func TestUnknownModelIsUnpriced(t *testing.T) {
	m, ok := DefaultBook().Lookup("model-nobody-knows", noon)
	if ok || m.Priced() || m.Cost(1, 2, 3, 4, 5) != nil {
		t.Errorf("unknown model is priced: %+v", m)
	}
	bill := new(Ledger).Bill(m, Identity{}, fixedPart(), nil, noon)
	if bill.CostUSD != nil || bill.NoLayoutCostUSD != nil || bill.UncachedTokens != 15_000 {
		t.Errorf("bill of an unknown model: %+v", bill)
	}
	known := mustModel(t, "claude-mythos-5-2")
	if known.Priced() || known.Cache != CacheAnthropic {
		t.Errorf("a model without price keeps its behaviour: %+v", known)
	}
	if m, ok := DefaultBook().Lookup("gpt-5.6-luna", time.Date(2026, 7, 10, 0, 0, 0, 0, time.UTC)); !ok || m.Priced() {
		t.Errorf("a price holds before its day: %+v", m)
	}
}

func TestMissingPriceIsNotFree(t *testing.T) {
	m := mustModel(t, "gpt-6.1-sol")
	if m.Cost(0, 10, 0, 10, 0) == nil {
		t.Error("short write is priced")
	}
	if m.Cost(0, 0, 10, 10, 0) != nil {
		t.Error("the unknown price of a long write was taken for 0")
	}
}

func TestModelBehaviour(t *testing.T) {
	tests := []struct {
		id        string
		min       int
		tokenizer string
		thinking  bool
		cache     cacheKind
		ttls      int
	}{
		{"claude-opus-5-5", 512, "claude-new", true, CacheAnthropic, 2},
		{"claude-sonnet-5", 1024, "claude-new", false, CacheAnthropic, 2},
		{"claude-opus-4-7", 2048, "claude-new", false, CacheAnthropic, 2},
		{"claude-opus-4-6", 4096, "claude-old", false, CacheAnthropic, 2},
		{"claude-haiku-4-5", 4096, "claude-old", false, CacheAnthropic, 2},
		{"gpt-6-astra", 1024, "o200k", false, CacheOpenAIExplicit, 2},
		{"gpt-5", 1024, "o200k", false, CacheOpenAIAuto, 1},
		{"gpt-4-turbo", 0, "cl100k", false, CacheNone, 0},
		{"gemini-2.5-pro", 2048, "gemini", false, cacheGemini, 0},
		{"deepseek-flash", 0, "bytes", false, cacheDeepSeek, 0},
	}
	for _, tt := range tests {
		m := mustModel(t, tt.id)
		if m.MinCacheTokens != tt.min || m.Tokenizer != tt.tokenizer || m.PreservedThinking != tt.thinking || m.Cache != tt.cache || len(m.TTLs) != tt.ttls {
			t.Errorf("%s: %+v", tt.id, m)
		}
	}
	if m := mustModel(t, "gpt-5.5"); m.StepTokens != 2048 {
		t.Errorf("gpt-5.5 steps of %d", m.StepTokens)
	}
	if a := Assume("claude-opus-9"); a.Cache != CacheAnthropic || a.Priced() || a.MinCacheTokens != 4096 || !a.PreservedThinking {
		t.Errorf("assumed: %+v", a)
	}
	if a := Assume("o5-mini"); a.Cache != CacheOpenAIAuto || a.StepTokens != 128 {
		t.Errorf("assumed: %+v", a)
	}
	if a := Assume("llama"); a.Cache != CacheNone || a.Tokenizer != "bytes" {
		t.Errorf("assumed: %+v", a)
	}
}

func TestOverlay(t *testing.T) {
	book, err := DefaultBook().Overlay(strings.NewReader(`{"version": 1, "rows": [
		{"id": "claude-sonnet-5-5", "tiers": [{"above_tokens": 0, "input": 1, "output": 5, "write_5m": 1.1, "write_1h": 1.5, "read": 0.05}]},
		{"id": "claude-opus-5-5", "effective_from": "2026-12-01", "tiers": [{"above_tokens": 0, "input": 3, "output": 5, "write_5m": 4, "write_1h": 6, "read": 0.1}]},
		{"id": "house-model", "tiers": [{"above_tokens": 0, "input": 9, "output": null, "write_5m": null, "write_1h": null, "read": null}]}
	]}`), "my.json")
	if err != nil {
		t.Fatal(err)
	}
	m, _ := book.Lookup("claude-sonnet-5-5-20260901", noon)
	if *m.Tiers[0].Input != 1 || m.MinCacheTokens != 512 || m.Tokenizer != "claude-new" || !m.PreservedThinking {
		t.Errorf("an undated row stands over all dates and inherits behaviour: %+v", m)
	}
	if m, _ := book.Lookup("claude-opus-5-5", noon); *m.Tiers[0].Input != 4 {
		t.Error("a dated row holds before its day")
	}
	if m, _ := book.Lookup("claude-opus-5-5", noon.AddDate(0, 1, 0)); *m.Tiers[0].Input != 3 {
		t.Error("a dated row does not hold on its day")
	}
	if m, ok := book.Lookup("house-model", noon); !ok || m.Cache != CacheNone || m.Tokenizer != "bytes" || m.Cost(1, 0, 0, 0, 0) != nil {
		t.Errorf("new model: %+v", m)
	}
	if m, _ := DefaultBook().Lookup("claude-sonnet-5-5", noon); *m.Tiers[0].Input != 2 {
		t.Error("the book below changed")
	}
}

func TestOverlayRefuses(t *testing.T) {
	row := func(s string) string { return `{"version": 1, "rows": [` + s + `]}` }
	tests := map[string]struct{ file, want string }{
		"unknown key in a row":  {row(`{"id": "a", "inptu": 3, "tiers": []}`), `my.json: row 1 (a): json: unknown field "inptu"`},
		"unknown key in a tier": {row(`{"id": "a", "tiers": [{"above_tokens": 0, "cached": 3}]}`), `unknown field "cached"`},
		"unknown key on top":    {`{"version": 1, "rows": [], "model": 1}`, `my.json: json: unknown field "model"`},
		"newer version":         {`{"version": 9, "rows": []}`, "version 9"},
		"broken":                {`{"version": 1,`, "my.json"},
		"two documents":         {row("") + "{}", "more than one"},
		"empty":                 {"", "my.json"},
		"no id":                 {row(`{"id": " ", "tiers": []}`), "id is empty"},
		"tokenizer":             {row(`{"id": "a", "tokenizer": "gpt2", "tiers": []}`), `tokenizer "gpt2"`},
		"cache":                 {row(`{"id": "a", "cache": "magic", "tiers": []}`), `cache "magic"`},
		"date":                  {row(`{"id": "a", "effective_from": "7.10.2026", "tiers": []}`), "7.10.2026"},
		"ttl":                   {row(`{"id": "a", "ttls": ["1h", "5m"], "tiers": []}`), "rising"},
		"negative price":        {row(`{"id": "a", "tiers": [{"above_tokens": 0, "input": -1}]}`), "negative"},
		"no base tier":          {row(`{"id": "a", "tiers": [{"above_tokens": 5, "input": 1}]}`), "above_tokens"},
		"falling tiers":         {row(`{"id": "a", "tiers": [{"above_tokens": 0}, {"above_tokens": 9}, {"above_tokens": 9}]}`), "rise"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := DefaultBook().Overlay(strings.NewReader(tt.file), "my.json")
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

func TestModelsListsAllRows(t *testing.T) {
	models := DefaultBook().Models()
	for i := 1; i < len(models); i++ {
		if models[i-1].ID > models[i].ID {
			t.Fatalf("%s stands before %s", models[i-1].ID, models[i].ID)
		}
	}
}

func TestRefusesLongAnswers(t *testing.T) {
	for id, want := range map[string]bool{
		"claude-3-5-haiku-20241022": true, "claude-sonnet-4-20250514": true, "us.anthropic.claude-opus-4-1-20250805-v1:0": true,
		"claude-opus-4-5-20251101": false, "claude-sonnet-4-6": false, "claude-fable-5": false, "claude-opus-9": false,
		"gpt-4o": true, "qwen3-coder:30b": true, "gemini-2.5-pro": false,
	} {
		if got := RefusesLongAnswers(id); got != want {
			t.Errorf("%s: %v", id, got)
		}
	}
}
