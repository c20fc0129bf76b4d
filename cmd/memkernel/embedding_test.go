package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/embed/embedtest"
	"github.com/memkernel/memkernel/internal/document"
)

// embedded makes a workspace with two notes and a configuration of section
// embedding, and returns what makes a verb use both.
func embedded(t *testing.T, section string) func(args ...string) (int, string, string) {
	t.Helper()
	dir := t.TempDir()
	for path, text := range map[string]string{"memory/tea.md": "Ana likes tea.\n", "memory/backups.md": "The backups are on the server borealis.\n",
		"mine.yaml": "embedding:\n" + section} {
		full := filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return func(args ...string) (int, string, string) {
		code, out, errs := invoke(t, append([]string{"--config", filepath.Join(dir, "mine.yaml"), "--workspace", dir}, args...)...)
		return code, strings.Join(strings.Fields(out), " "), strings.Join(strings.Fields(errs), " ")
	}
}

// Every provider, named in a configuration, serves from the first reindex to the
// search.
func TestProvidersEndToEnd(t *testing.T) {
	model := filepath.Join(t.TempDir(), "tiny")
	if err := embedtest.WriteModel(model, 16, "tea", "ana", "likes", "backups", "server", "borealis", "the", "are", "on"); err != nil {
		t.Fatal(err)
	}
	sections := map[string]string{
		"local": fmt.Sprintf("  provider: local\n  model_dir: %s\n", model),
		"auto":  fmt.Sprintf("  provider: auto\n  model_dir: %s\n", model),
	}
	for _, p := range []string{"openai", "gemini", "voyage", "mistral", "ollama"} {
		s := embedtest.NewServer(p, "")
		t.Cleanup(s.Close)
		sections[p] = fmt.Sprintf("  provider: %s\n  base_url: %s\n  model: m\n", p, s.BaseURL())
	}
	for name, section := range sections {
		t.Run(name, func(t *testing.T) {
			run := embedded(t, section)
			code, out, errs := run("reindex", "--json")
			var doc document.Reindex
			if err := json.Unmarshal([]byte(out), &doc); err != nil || code != 0 || doc.Vectors.Embedded != 2 || doc.Vectors.Total != 2 {
				t.Fatalf("%d %v %s %s", code, err, out, errs)
			}
			if e := doc.Vectors.Estimate; e == nil || e.Texts != 2 || e.CostUSD == nil || *e.CostUSD != 0 {
				t.Errorf("estimate %+v", e)
			}
			code, out, errs = run("search", "--json", "who likes tea")
			if code != 0 || !strings.Contains(out, `"mode": "hybrid"`) || !strings.Contains(out, "tea.md") {
				t.Errorf("%d %s %s", code, out, errs)
			}
			if code, out, errs = run("doctor", "--network"); !strings.Contains(out, "answered with a vector of 256 numbers") && !strings.Contains(out, "tiny was loaded: vectors of length 16") {
				t.Errorf("%d %s %s", code, out, errs)
			}
		})
	}
}
