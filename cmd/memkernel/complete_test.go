package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/internal/cli"
)

// offered is what a shell is offered for a command line, its last word being typed.
func offered(t *testing.T, args ...string) (words []string, directive string) {
	t.Helper()
	code, out, _ := invoke(t, append([]string{"__complete"}, args...)...)
	if code != cli.ExitOK {
		t.Errorf("%q: exit %d", args, code)
	}
	for l := range strings.Lines(out) {
		word, _, _ := strings.Cut(strings.TrimSuffix(l, "\n"), "\t")
		if strings.HasPrefix(word, ":") {
			directive = word
		} else {
			words = append(words, word)
		}
	}
	return words, directive
}

// TestComplete: what shells are offered is what there is: verbs, terms, sessions,
// hosts and policies; and a broken configuration offers nothing.
func TestComplete(t *testing.T) {
	ws := t.TempDir()
	for path, text := range map[string]string{"MEMORY.md": "# Memory\n", "memory/größe 1.md": "# x\n", "notes.txt": "x"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(ws, path)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(ws, path), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, key := range []string{"build-42", "büro 7", "数据", "x\x1b[2Jy"} {
		if code, _, stderr := invoke(t, "observe", "-q", "-t", beginning(t, 20), "--session", key, "--workspace", ws); code != cli.ExitOK {
			t.Fatal(stderr)
		}
	}
	broken := t.TempDir()
	if err := os.MkdirAll(filepath.Join(broken, ".memkernel"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(broken, ".memkernel", "config.yaml"), []byte("nonsense: [\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		line string // words behind bars; the last is what is typed
		want string // the words offered behind bars
	}{
		{"rei", "reindex"}, {"s", "status|search|stats|salvage|serve"},
		{"help|sea", "search"}, {"help|ter", "terms"}, {"help|terms|poin", "pointer"},
		{"status|--workspace|" + ws + "|--session|", "build-42|büro 7|数据"},
		{"status|--workspace|" + ws + "|--session|bü", "büro 7"},
		{"plan|-s|", ""},
		{"forget|--workspace|" + ws + "|--session=b", "build-42|büro 7"},
		{"get|--workspace|" + ws + "|--session|bu", "build-42"},
		{"salvage|--workspace|" + ws + "|--session|数", "数据"},
		{"replay|--policy|full", "fullest"}, {"replay|--policy|fullest,app", "fullest,append-late"},
		{"audit|--only|links,contra", "links,contradictions"}, {"audit|--host|co", "codex"}, {"hook|--host|gem", "gemini"},
		{"plan|--dialect|cod", "codex"}, {"plan|--color|al", "always"},
		{"status|--workspace|" + broken + "|--session|", ""},
		{"status|--workspace|" + filepath.Join(ws, "nothing") + "|--session|", ""},
	} {
		got, _ := offered(t, strings.Split(tt.line, "|")...)
		want := strings.FieldsFunc(tt.want, func(r rune) bool { return r == '|' })
		if !slices.Equal(got, want) {
			t.Errorf("%s: offered %q, want %q", tt.line, got, want)
		}
	}
	if _, directive := offered(t, "status", "--workspace", ""); directive != ":16" {
		t.Errorf("--workspace is completed by %s, want folders (:16)", directive)
	}
	if _, directive := offered(t, "observe", "--transcript", ""); directive != ":0" {
		t.Errorf("--transcript is completed by %s, want files (:0)", directive)
	}
	if _, err := os.Stat(filepath.Join(ws, "nothing")); err == nil {
		t.Error("completion made a folder")
	}
}

// TestHelpNeedsNoConfiguration: help and completion work where the configuration is broken.
func TestHelpNeedsNoConfiguration(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(broken, []byte("nonsense: [\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{"help", "help plan", "help terms page", "completion bash", "--version", "plan --help", "__complete sea"} {
		if code, out, stderr := invoke(t, append(strings.Fields(args), "--config", broken)...); code != cli.ExitOK && !strings.HasPrefix(args, "__") || out == "" {
			t.Errorf("%s: exit %d, %q", args, code, stderr)
		}
	}
	if code, _, _ := invoke(t, "status", "--config", broken); code != cli.ExitError {
		t.Errorf("status: exit %d", code)
	}
}

// TestConfigOfKeys prints the settings that are named, with where they came from.
func TestConfigOfKeys(t *testing.T) {
	ws := t.TempDir()
	for args, want := range map[string]string{
		"workspace.max_tokens":        "workspace.max_tokens: 8k  (default)\n",
		"workspace.max_tokns":         "did you mean workspace.max_tokens?",
		"chunking":                    "chunking.tokens: 400  (default)\nchunking.overlap: ",
		"workspace.max_tokens --json": `"key": "workspace.max_tokens"`,
		"workspace --sample":          "--sample has all settings",
	} {
		_, out, stderr := invoke(t, append([]string{"config", "--workspace", ws}, strings.Fields(args)...)...)
		if !strings.Contains(out+stderr, want) {
			t.Errorf("config %s: %q, want %q", args, out+stderr, want)
		}
	}
}
