package config_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memkernel/memkernel/internal/config"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/retrieval"
)

// values are the settings of a configuration by name, as a file has them.
func values(c *config.Config) map[string]string {
	out := map[string]string{}
	for _, k := range c.Keys() {
		out[k.Name] = k.String()
	}
	return out
}

func read(t *testing.T, text string) *config.Config {
	t.Helper()
	c, err := config.Read(strings.NewReader(text), filepath.Join("dir", "config.yaml"))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return c
}

// TestTags holds the table of settings to its form.
func TestTags(t *testing.T) {
	if err := config.Default().Validate(); err != nil {
		t.Errorf("the defaults: %v", err)
	}
	name := regexp.MustCompile(`^([a-z_]+(\.[a-z0-9]+)*\.)?[a-z_]+$`)
	flags := map[string]bool{}
	for _, k := range config.Default().Keys() {
		if !name.MatchString(k.Name) {
			t.Errorf("%s is no name of a setting", k.Name)
		}
		if !strings.HasSuffix(k.Doc, ".") || strings.ContainsAny(k.Doc+k.Empty, "|\n\"") || strings.HasSuffix(k.Empty, ".") {
			t.Errorf("%s: doc %q or empty %q has not the form that the documentation needs", k.Name, k.Doc, k.Empty)
		}
		if k.Flag != "" && flags[k.Flag] {
			t.Errorf("%s: flag %s sets two settings", k.Name, k.Flag)
		}
		flags[k.Flag] = true
	}
}

// TestDefaultsAreThePackages compares defaults that are in another package as well.
func TestDefaultsAreThePackages(t *testing.T) {
	k, err := kernel.Open(t.Context(), t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	st, err := k.Status(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	c := config.Default()
	var chunks markdownstore.Chunking
	var ranking retrieval.Options
	chunks.SetDefaults()
	ranking.SetDefaults()
	w, ch, r, e := &c.Workspace, &c.Chunking, &c.Retrieval, &c.Embedding
	for key, pair := range map[string][2]any{
		"workspace.max_tokens":    {int(w.MaxTokens), st.Memory.WorkspaceTokens},
		"chunking.tokens":         {int(ch.Tokens), chunks.Tokens},
		"chunking.overlap":        {int(ch.Overlap), chunks.Overlap},
		"retrieval.max_tokens":    {int(r.MaxTokens), st.Memory.RecallTokens},
		"retrieval.vector_weight": {r.VectorWeight, ranking.VectorWeight},
		"retrieval.half_life":     {time.Duration(r.HalfLife), ranking.HalfLife},
		"retrieval.mmr_lambda":    {r.MMRLambda, ranking.Lambda},
		"embedding.timeout":       {time.Duration(e.Timeout), 30 * time.Second},
		"embedding.query_timeout": {time.Duration(e.QueryTimeout), ranking.EmbedTimeout},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s is %v, its package has %v", key, pair[0], pair[1])
		}
	}
	for _, f := range w.Bootstrap {
		if class, ok := markdownstore.Classify(f); !ok || class.PageType != "bootstrap" {
			t.Errorf("workspace.bootstrap: %s is no instructions for package markdownstore", f)
		}
	}
}

func TestRead(t *testing.T) {
	c := read(t, `
plan: {context_window: 200k, reserve: 8_000}
audit:
workspace:
  timezone: Europe/Berlin
  private: false
  bootstrap: [TOOLS.md, AGENTS.md]
  enabled: &off false
retrieval:
  half_life: 1d12h
  enabled: *off
  sessions: {delta_bytes: 1.5MB}
embedding: {query_prefix: "query: ", api_key_env: "", base_url: "http://localhost:11434/v1"}
`)
	if c.Plan.ContextWindow != 200_000 || c.Plan.Reserve != 8000 {
		t.Errorf("plan is %+v", c.Plan)
	}
	w := c.Workspace
	if w.Timezone.Location().String() != "Europe/Berlin" || w.Private || w.Enabled {
		t.Errorf("workspace is %+v", w)
	}
	if diff := cmp.Diff([]string{"TOOLS.md", "AGENTS.md"}, w.Bootstrap); diff != "" {
		t.Error(diff)
	}
	if r := c.Retrieval; time.Duration(r.HalfLife) != 36*time.Hour || r.Enabled || r.Sessions.DeltaBytes != 1_500_000 || r.MaxTokens != 2000 {
		t.Errorf("retrieval is %+v", r)
	}
	if e := c.Embedding; e.QueryPrefix != "query: " || e.APIKeyEnv != "" || e.BaseURL != "http://localhost:11434/v1" || e.Provider != "none" {
		t.Errorf("embedding is %+v", e)
	}
	for key, want := range map[string]string{"embedding.model": "default", "workspace.private": "dir/config.yaml:6", "plan.reserve": "dir/config.yaml:2"} {
		if got := filepath.ToSlash(c.Origin(key).String()); got != want {
			t.Errorf("%s comes from %s, want %s", key, got, want)
		}
	}
}

// TestNothingSaid reads files that hold no setting.
func TestNothingSaid(t *testing.T) {
	for _, text := range []string{"", "\n", "# a remark\n", "---\n", "null\n", "plan:\nretrieval: ~\n", "\ufeff", "plan: {}\r\n", config.Sample()} {
		if diff := cmp.Diff(values(config.Default()), values(read(t, text))); diff != "" {
			t.Errorf("%q changes something: %s", text, diff)
		}
	}
}

func TestMistakes(t *testing.T) {
	tests := []struct{ name, text, want, hint string }{
		{"misspelt", "\nplan:\n  reserv: 1", "c.yaml:3: plan: unknown key \"reserv\"", "did you mean plan.reserve?"},
		{"misspelt section", "retreival:\n", "c.yaml:1: unknown key \"retreival\"", "did you mean retrieval?"},
		{"misspelt below", "workspace:\n  max_token: 1", "c.yaml:2: workspace: unknown key \"max_token\"", "did you mean workspace.max_tokens?"},
		{"in no section", "context_window: 1", "c.yaml:1: unknown key \"context_window\"", "did you mean plan.context_window?"},
		{"in another section", "retrieval:\n  overlap: 1", "unknown key \"overlap\"", "did you mean chunking.overlap?"},
		{"with a dot", "plan.reserve: 3", "unknown key \"plan.reserve\"", "write reserve indented below"},
		{"unlike any", "plan:\n  colourfulness: 1", "unknown key", "keys of plan are context_window, reserve"},
		{"no name", "? [a]\n: b", "unknown key \"\"", "sections are plan, workspace, "},
		{"merge key", "<<: {plan: {reserve: 1}}", "unknown key \"<<\"", "sections are"},
		{"twice", "plan:\n  reserve: 1\n  context_window: 9k\n  reserve: 1", "c.yaml:4: key \"reserve\" stands in line 2 already", "keep one"},
		{"section twice", "plan:\naudit:\nplan:", "c.yaml:3: key \"plan\" stands in line 1 already", "keep one"},
		{"no value", "plan:\n  reserve:", "c.yaml:2: plan.reserve: want tokens, got nothing", "remove the line"},
		{"number for text", "embedding:\n  model: 5", "embedding.model: want text, got 5", "quotes"},
		{"text for bool", "retrieval:\n  enabled: yes", "retrieval.enabled: want true or false, got text", ""},
		{"text for number", "retention:\n  days: '60'", "want whole number, got text", ""},
		{"fraction for whole", "retention:\n  days: 6.5", "want whole number, got 6.5", ""},
		{"octal", "retention:\n  days: 0x10", "\"0x10\" is not a whole number", ""},
		{"not a number", "retrieval:\n  mmr_lambda: .nan", "is not a number", ""},
		{"text for list", "workspace:\n  bootstrap: A.md", "want a list, got text", "[a, b]"},
		{"null for list", "workspace:\n  bootstrap:", "want a list, got nothing", "[a, b]"},
		{"list of numbers", "workspace:\n  bootstrap: [a,\n     7]", "c.yaml:3: workspace.bootstrap: want text, got 7", "quotes"},
		{"list for text", "embedding:\n  model: [a]", "want text, got a list", ""},
		{"section for value", "embedding:\n  model: {a: b}", "want text, got keys and values", ""},
		{"value for section", "plan: 7", "c.yaml:1: plan: want keys and values, got 7", "keys of plan are"},
		{"a list", "- plan", "want keys and values, got a list", "sections are"},
		{"no key of ours", "hello", "want keys and values, got text", "sections are"},
		{"out of range", "retrieval:\n  mmr_lambda: 1.01", "c.yaml:2: retrieval.mmr_lambda: 1.01 is not within 0 to 1", ""},
		{"below range", "retrieval:\n  sessions:\n    delta_bytes: 0", "0 is not within 1 to 1GiB", ""},
		{"duration out of range", "retrieval:\n  half_life: 40000d", "40000d is not within 1h to 36500d", ""},
		{"negative", "plan:\n  reserve: -1", "\"-1\" is not a number of tokens", ""},
		{"none of", "audit:\n  host: pink", "\"pink\" is none of openclaw, codex, claude, claude-code", ""},
		{"empty is none of", "audit:\n  host: ''", "\"\" is none of openclaw, codex, claude, claude-code", ""},
		{"duration", "retrieval:\n  half_life: 30", "\"30\" is not a duration such as 30d", ""},
		{"zone", "workspace:\n  timezone: Mars/Olympus", "\"Mars/Olympus\" is not a time zone", ""},
		{"zone outside", "workspace:\n  timezone: ../../etc/passwd", "is not a time zone", ""},
		{"address", "embedding:\n  base_url: ftp://x", "not an address", ""},
		{"no instructions", "workspace:\n  bootstrap: [../x.md]", "c.yaml:2: workspace.bootstrap: \"../x.md\" is no file of standing instructions", "AGENTS.md, SOUL.md"},
		{"file twice", "workspace:\n  bootstrap: [SOUL.md, SOUL.md]", "\"SOUL.md\" stands twice", "once"},
		{"reserve", "plan:\n  context_window: 10k\n  reserve: 10k", "c.yaml:3: plan.reserve: 10k leaves nothing of plan.context_window 10k", "smaller"},
		{"overlap", "chunking:\n  tokens: 60", "c.yaml:2: chunking.overlap: 80 is not less than chunking.tokens 60", "set both"},
		{"not YAML", "plan:\n  a: b: c", "c.yaml:2: not YAML: ", "colons"},
		{"not YAML in the first line", "a: b: c", "c.yaml:1: not YAML: ", "colons"},
		{"economy of no kind", "\neconomy: thrifty", `c.yaml:2: economy: "thrifty" is none of save, balanced, keep, and no number from 0 (save) to 1 (keep)`, ""},
		{"economy out of range", "economy: 1.01", `c.yaml:1: economy: "1.01" is none of`, ""},
		{"economy below a section", "plan:\n  economy: keep", `c.yaml:2: plan: unknown key "economy"`, "did you mean economy, at the top of the file?"},
		{"economy without a value", "economy:", "c.yaml:1: economy: want save, balanced, keep or a number from 0 to 1, got nothing", "give it a value"},
		{"economy as a list", "economy: [keep]", "c.yaml:1: economy: want save, balanced, keep or a number from 0 to 1, got a list", ""},
		{"two documents", "plan:\n---\nplan:", "c.yaml:2: a second document", "---"},
		{"broken second document", "plan:\n---\n\ta", "c.yaml:3: not YAML", "indentation"},
		{"control character", "plan:\n  model: \"\x1b[31m\"", "c.yaml:2: not a text", "UTF-8"},
		{"not UTF-8", "plan:\n\n  model: \xff", "c.yaml:3: not a text", "UTF-8"},
		{"too large", strings.Repeat("#\n", 1<<19) + "#", "c.yaml: larger than 1 MiB", "few lines"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := config.Read(strings.NewReader(tt.text), "c.yaml")
			var e *config.Error
			if !errors.As(err, &e) {
				t.Fatalf("error is %v, want an Error", err)
			}
			if !strings.HasPrefix(err.Error(), "c.yaml:") || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error is %q, want %q", err, tt.want)
			}
			if !strings.Contains(e.Hint, tt.hint) || tt.hint == "" && e.Hint != "" {
				t.Errorf("hint is %q, want %q", e.Hint, tt.hint)
			}
		})
	}
}

// TestSecretsAreNotRepeated puts a secret where it does not belong.
func TestSecretsAreNotRepeated(t *testing.T) {
	const secret = "sk-live-4711"
	for _, text := range []string{
		"embedding:\n  api_key_env: " + secret,
		"embedding:\n  base_url: https://user:" + secret + "@example.com/v1",
		"embedding:\n  base_url: " + secret,
		"embedding:\n  base_url: '://" + secret + "%zz'",
		"embedding: " + secret,
		"retrieval:\n  enabled: " + secret,
	} {
		_, err := config.Read(strings.NewReader(text), "c.yaml")
		var e *config.Error
		if !errors.As(err, &e) || strings.Contains(err.Error()+e.Hint, secret) {
			t.Errorf("%q: error is %v", text, err)
		}
	}
}

// TestServersSettings: a file of memkernel-server's is no reason to keep the state elsewhere in
// silence. A project's own file can't stop the program.
func TestServersSettings(t *testing.T) {
	for text, want := range map[string]string{
		"store:\n  backend: postgres\n  postgres: {dsn_env: X, root: y}\n": "c.yaml:2: store.backend: memkernel keeps the state in files, and would not find what is in the database",
		"index:\n  backend: postgres\n":                                    "c.yaml:2: index.backend: memkernel keeps its index in a file",
	} {
		_, err := config.Read(strings.NewReader(text), "c.yaml")
		var e *config.Error
		if !errors.As(err, &e) || err.Error() != want || !strings.Contains(e.Hint, "memkernel-server") {
			t.Errorf("%q: %v", text, err)
		}
		path := filepath.Join(t.TempDir(), "config.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := config.Default().Over(path, true); err != nil {
			t.Errorf("%q in a project's file: %v", text, err)
		}
	}
	c, err := config.Read(strings.NewReader("store:\n  postgres: {root: y}\nexperimental:\n  store:\n    blobs: {s3: {bucket: b}}\nindex:\n  postgres:\n    agent: a\n"), "c.yaml")
	if err != nil || len(c.Warnings()) != 3 || !strings.HasPrefix(c.Warnings()[0], "c.yaml:2: store.postgres: this setting is memkernel-server's") {
		t.Errorf("%v, %q", err, c.Warnings())
	}
}

func TestOver(t *testing.T) {
	dir := t.TempDir()
	c := config.Default()
	if err := c.Over(filepath.Join(dir, "config.yaml"), false); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	if err := c.Over(dir, false); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("a folder: %v", err)
	}
	path := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(path, []byte("embedding:\n  model_dir: p\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := c.Over(path, false); err != nil || string(c.Embedding.ModelDir) != filepath.Join(dir, "p") {
		t.Errorf("the folder is %q, %v", c.Embedding.ModelDir, err)
	}
}

func TestSet(t *testing.T) {
	c := read(t, "audit:\n  host: codex")
	if err := c.Set("audit.host", "claude", "--host"); err != nil || c.Audit.Host != "claude" || c.Origin("audit.host").String() != "--host" {
		t.Errorf("the host is %q from %s, %v", c.Audit.Host, c.Origin("audit.host"), err)
	}
	if err := c.Set("embedding.base_url", "", "--base-url"); err != nil {
		t.Errorf("an empty value that has a meaning: %v", err)
	}
	for key, text := range map[string]string{"audit.host": "pink", "retrieval.max_items": "0", "workspace.timezone": "", "plan.modle": "x"} {
		before := values(c)
		if err := c.Set(key, text, "--x"); err == nil {
			t.Errorf("Set(%s, %q) went well", key, text)
		}
		if diff := cmp.Diff(before, values(c)); diff != "" {
			t.Errorf("Set(%s, %q) changed something: %s", key, text, diff)
		}
	}
	var zero config.Config
	if err := zero.Set("embedding.model", "m", ""); err != nil || zero.Embedding.Model != "m" {
		t.Errorf("Set of a zero Config: %v", err)
	}
}

// TestValidateByHand checks values that no file could have given.
func TestValidateByHand(t *testing.T) {
	spoil := map[string]func(*config.Config){
		"plan.reserve":         func(c *config.Config) { c.Plan.Reserve = -1 },
		"workspace.timezone":   func(c *config.Config) { c.Workspace.Timezone = "Mars" },
		"retrieval.half_life":  func(c *config.Config) { c.Retrieval.HalfLife = -1 },
		"embedding.base_url":   func(c *config.Config) { c.Embedding.BaseURL = "x" },
		"workspace.bootstrap":  func(c *config.Config) { c.Workspace.Bootstrap = []string{""} },
		"workspace.max_tokens": func(c *config.Config) { c.Workspace.MaxTokens = 0 },
	}
	for key, f := range spoil {
		c := config.Default()
		f(c)
		var e *config.Error
		if err := c.Validate(); !errors.As(err, &e) || e.Key != key {
			t.Errorf("%s: error is %v", key, err)
		}
	}
}

// A setting that an earlier version had below experimental may stay there, and is there once.
func TestExperimental(t *testing.T) {
	for _, text := range []string{
		"experimental:\n  retrieval:\n    mmr_lambda: 0.2\n    sessions:\n      delta_bytes: 2\n",
		"retrieval:\n  mmr_lambda: 0.2\n  sessions:\n    delta_bytes: 2\n",
		"retrieval:\n  mmr_lambda: 0.2\nexperimental:\n  retrieval:\n    sessions:\n      delta_bytes: 2\n",
	} {
		c := read(t, text)
		if c.Retrieval.MMRLambda != 0.2 || c.Retrieval.Sessions.DeltaBytes != 2 || c.Origin("retrieval.mmr_lambda").Line == 0 {
			t.Errorf("%q: %v, %v, from %v", text, c.Retrieval.MMRLambda, c.Retrieval.Sessions.DeltaBytes, c.Origin("retrieval.mmr_lambda"))
		}
	}
	_, err := config.Read(strings.NewReader("retrieval:\n  mmr_lambda: 0.2\nexperimental:\n  retrieval:\n    mmr_lambda: 0.3\n"), "c.yaml")
	if err == nil || !strings.Contains(err.Error(), "c.yaml:5: retrieval.mmr_lambda: it stands in line 2 already") {
		t.Errorf("twice: %v", err)
	}
}

// A file of an earlier version is read: a setting that was removed is named, with its line.
func TestRemovedKey(t *testing.T) {
	for text, want := range map[string]string{
		"repeats: once\naudit:\n  host: codex\n":                              "config.yaml:1: repeats: ",
		"audit:\n  host: codex\nexperimental:\n  # tried\n  repeats: whole\n": "config.yaml:5: experimental.repeats: ",
		"repeats: [a, b]\naudit:\n  host: codex\n":                            "config.yaml:1: repeats: ",
	} {
		c := read(t, text)
		if w := c.Warnings(); len(w) != 1 || !strings.Contains(w[0], want) || c.Audit.Host != "codex" {
			t.Errorf("%q: %q, %q", text, w, c.Audit.Host)
		}
	}
	c := read(t, "proxy:\n  grace: 1s\nexperimental:\n  proxy:\n    max_body: 1MiB\n    one_shots: true\n")
	if w := strings.Join(c.Warnings(), "\n"); strings.Count(w, "removed") != 3 || !strings.Contains(w, "config.yaml:6: experimental.proxy.one_shots: this setting was removed: a request with the header X-Memkernel-Session is planned; take it out") {
		t.Errorf("a section without settings: %s", w)
	}
	if _, err := config.Read(strings.NewReader("experimental:\n  retrieval:\n    decay: true\n    dekay: 1\n"), "c.yaml"); err == nil || !strings.Contains(err.Error(), `unknown key "dekay"`) {
		t.Errorf("a key that never was among such that were: %v", err)
	}
	if _, err := config.Read(strings.NewReader("plan:\n  repeats: once\n"), "c.yaml"); err == nil {
		t.Error("it is known in a section that it was never in")
	}
}

// Settings only become fewer.
func TestFewKeys(t *testing.T) {
	documented, all := 0, 0
	for _, k := range config.Default().Keys() {
		if all++; !k.Experimental {
			documented++
		}
	}
	if documented > 42 || all > 60 {
		t.Errorf("%d settings, %d of them documented: take one away before another is added", all, documented)
	}
}
