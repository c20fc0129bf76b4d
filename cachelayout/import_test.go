package cachelayout

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const modelsDevSample = `{
 "anthropic": {"id": "anthropic", "models": {"claude-test-1": {"id": "claude-test-1",
   "cost": {"input": 3, "output": 15, "cache_read": 0.3, "cache_write": 3.75, "context_over_200k": {"input": 6, "output": 22.5}},
   "limit": {"context": 200000, "output": 64000}}}},
 "openai": {"models": {"gpt-test": {"cost": {"input": 2, "output": 10, "cache_read": 0.2, "cache_write": 2.5,
   "tiers": [{"tier": {"type": "context", "size": 272000}, "input": 4, "output": 15}, {"tier": {"type": "batch", "size": 9}, "input": 1}]}},
   "free": {}}},
 "google": {"models": {"gemini-test": {"cost": {"input": 2, "output": 12, "tiers": [{"context": {"min": 200000}, "input": 4, "output": 18}]}}}},
 "reseller": {"models": {"gpt-test": {"cost": {"input": 9, "output": 9}}}},
 "azure": {"models": {"gpt-6-sol": {"cost": {"input": 2.2, "output": 11}}}},
 "mistral": {"models": {"broken": {"cost": {"input": -1}}}}
}`

// brief writes rows as "id@date provider cache: tier prices".
func brief(rows []priceRow) map[string][][6]float64 {
	out := map[string][][6]float64{}
	for _, r := range rows {
		for _, t := range r.Tiers {
			p := prices(t)
			key := r.ID + "@" + r.EffectiveFrom
			out[key] = append(out[key], [6]float64{float64(t.AboveTokens), p[0], p[1], p[2], p[3], p[4]})
		}
	}
	return out
}

func TestImport(t *testing.T) {
	rows, skipped, err := Import(strings.NewReader(modelsDevSample))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][][6]float64{ // above, input, output, 5m, 1h, read; -1 unknown
		"claude-test-1@":     {{0, 3, 15, 3.75, -1, .3}, {200_000, 6, 22.5, -1, -1, -1}},
		"gpt-test@":          {{0, 2, 10, 2.5, -1, .2}, {272_000, 4, 15, -1, -1, -1}},
		"gemini-test@":       {{0, 2, 12, -1, -1, -1}, {200_000, 4, 18, -1, -1, -1}},
		"reseller/gpt-test@": {{0, 9, 9, -1, -1, -1}},
		"azure/gpt-6-sol@":   {{0, 2.2, 11, -1, -1, -1}},
	}
	if diff := cmp.Diff(want, brief(rows)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	var ids []string
	for _, s := range skipped {
		ids = append(ids, s.ID)
	}
	if diff := cmp.Diff([]string{"broken", "free"}, ids); diff != "" {
		t.Errorf("skipped: %s", diff)
	}
	checkRoundTrip(t, rows)
}

// checkRoundTrip writes rows as a price file and lays it over the book.
func checkRoundTrip(t *testing.T, rows []priceRow) {
	t.Helper()
	var file bytes.Buffer
	if err := WriteRows(&file, rows); err != nil {
		t.Fatal(err)
	}
	book, err := DefaultBook().Overlay(bytes.NewReader(file.Bytes()), "imported.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		at, _ := time.Parse(time.DateOnly, r.EffectiveFrom)
		m, ok := book.Lookup(r.ID, at)
		if !ok || !m.Priced() || m.Tokenizer == "" || m.Cache == "" {
			t.Errorf("%s after import: %+v", r.ID, m)
		}
		if diff := cmp.Diff(r.Tiers, m.Tiers); r.EffectiveFrom != "" && diff != "" {
			t.Errorf("%s: %s", r.ID, diff)
		}
	}
}

func TestImportedRowsLearnBehaviour(t *testing.T) {
	rows, _, err := Import(strings.NewReader(modelsDevSample))
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := WriteRows(&file, rows); err != nil {
		t.Fatal(err)
	}
	book, err := DefaultBook().Overlay(&file, "imported.json")
	if err != nil {
		t.Fatal(err)
	}
	if m, _ := book.Lookup("azure/gpt-6-sol", noon); m.Cache != CacheOpenAIExplicit || *m.Tiers[0].Input != 2.2 || m.ContextWindow != 1_050_000 {
		t.Errorf("a gateway's row: %+v", m)
	}
	if m, _ := book.Lookup("gpt-6-sol", noon); *m.Tiers[0].Input != 2 {
		t.Error("the provider's own row changed")
	}
	if m, _ := book.Lookup("claude-test-1", noon); m.Cache != CacheAnthropic || m.MaxBreakpoints != 4 || len(m.TTLs) != 2 {
		t.Errorf("a new model of a known family: %+v", m)
	}
}

func TestImportRefuses(t *testing.T) {
	for name, file := range map[string]string{
		"a list":             `[{"id": "anthropic", "models": [{"id": "m", "prices": {"input_mtok": 3}}]}]`,
		"another object":     `{"sample_spec": {"max_tokens": "prose"}, "claude-test-1": {"litellm_provider": "anthropic", "input_cost_per_token": 3e-06}}`,
		"nothing":            "",
		"an empty object":    "{}",
		"a cut file":         `{"openai": {"models": {`,
		"no providers in it": `{"a": 5}`,
	} {
		if _, _, err := Import(strings.NewReader(file)); err == nil || !strings.Contains(err.Error(), "no api.json of models.dev") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzOverlay(f *testing.F) {
	f.Add(`{"version": 1, "rows": [{"id": "a", "tiers": [{"above_tokens": 0, "input": 1}]}]}`)
	f.Fuzz(func(t *testing.T, s string) {
		book, err := DefaultBook().Overlay(strings.NewReader(s), "f")
		if err == nil {
			for _, m := range book.Models() {
				m.Cost(1, 1, 1, 1, 1)
			}
		}
	})
}
