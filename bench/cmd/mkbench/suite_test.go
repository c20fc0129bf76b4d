package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/contract"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/internal/verbs"
)

func init() { suite.Quick(0) }

const root, sample = "../../..", "../../../testdata/session.jsonl"

func TestMain(m *testing.M) {
	time.Local = time.UTC
	testscript.Main(m, map[string]func(){"mkbench": func() { os.Exit(command.Main()) }})
}

// invoke runs the program in this process.
func invoke(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = command.Run(context.Background(), &cli.UI{In: strings.NewReader(""), Out: &out, Err: &err}, args)
	return code, out.String(), err.String()
}

// beginning writes the first lines of the sample to a file.
func beginning(t *testing.T, lines int) string {
	t.Helper()
	data, err := os.ReadFile(sample)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "beginning.jsonl")
	if err := os.WriteFile(path, bytes.Join(bytes.SplitAfterN(data, []byte("\n"), lines+1)[:lines], nil), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestPatterns compiles every pattern of the linked packages.
func TestPatterns(t *testing.T) {
	if textutil.CompileAll() == 0 {
		t.Error("no pattern")
	}
}

// TestScripts runs every script of testdata/script against the program. $SAMPLE is the
// bundled session, $SHORT its first turn.
func TestScripts(t *testing.T) {
	abs, err := filepath.Abs(sample)
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("SAMPLE", abs)
			env.Setenv("NO_COLOR", "")
			env.Setenv("SHORT", filepath.Join(env.WorkDir, "short.jsonl"))
			data, err := os.ReadFile(abs)
			if err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(env.WorkDir, "short.jsonl"), bytes.Join(bytes.SplitAfterN(data, []byte("\n"), 79)[:78], nil), 0o600)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){"narrow": func(ts *testscript.TestScript, neg bool, args []string) {
			wide(ts.ReadFile(args[0]), func(l string) { ts.Fatalf("%d columns wide: %s", display.Width(l), l) })
		}},
	})
}

// wide calls f for each line of a text that is over 80 columns.
func wide(text string, f func(l string)) {
	for l := range strings.SplitSeq(text, "\n") {
		if display.Width(l) > display.Columns {
			f(l)
		}
	}
}

// TestHelp lists each verb once, under a title, and in 80 columns with every flag.
func TestHelp(t *testing.T) {
	_, text, _ := invoke(t, "help")
	for _, g := range command.Groups {
		for _, v := range g.Verbs {
			name, _, _ := strings.Cut(v.Use, " ")
			if n := strings.Count(text, "\n  "+name+" "); n != 1 {
				t.Errorf("help lists %s %d times", name, n)
			}
			_, help, _ := invoke(t, name, "--help")
			wide(help, func(l string) { t.Errorf("%s --help: %s", name, l) })
		}
	}
}

// TestJSONKeepsItsContract: every verb prints one document that names itself. Those of memkernel
// are as doc/schema.json has them; mkbench is never released, and its own have no schema.
func TestJSONKeepsItsContract(t *testing.T) {
	short := beginning(t, 60)
	described, err := contract.Load(root + "/doc/schema.json")
	if err != nil {
		t.Fatal(err)
	}
	names := described.Names()
	shared := []string{"--quiet", "--json", "--workspace", root + "/testdata/workspace", "--state-dir", t.TempDir()}
	for _, args := range [][]string{
		{"economics", "--economy", "-t", short},
		{"paging", "--no-kernel"},
		{"replay", "-t", short, "--policy", "oracle", "--room", "64k", "--resolver", "page"},
		{"predict", "-t", sample},
		{"eval", "--set", root + "/testdata/workspace", "--questions", root + "/testdata/questions.jsonl"},
		{"eval", "--known-items", "--n", "2"},
	} {
		name := strings.Join(args, " ")
		code, stdout, stderr := invoke(t, append(shared[:len(shared):len(shared)], args...)...)
		var doc map[string]any
		if err := json.Unmarshal([]byte(stdout), &doc); code != cli.ExitOK || stderr != "" || err != nil || !strings.HasPrefix(stdout, "{\n  \"schema\": ") {
			t.Errorf("%s: exit %d, stderr %q, %v, %.60s", name, code, stderr, err, stdout)
			continue
		}
		schema, _ := doc["schema"].(string)
		if !strings.HasPrefix(schema, "memkernel/") {
			t.Errorf("%s: the document is named %q", name, schema)
		} else if slices.Contains(names, schema) {
			if err := described.Check(doc); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// TestReplayTrace decides the trace of a session again.
func TestReplayTrace(t *testing.T) {
	ws := t.TempDir()
	planner := &cli.Program{Name: "memkernel", Opening: func(*cobra.Command) string { return "" },
		Groups: verbs.Groups(verbs.Serve, verbs.Proxy(nil))}
	for _, n := range []int{20, 60} {
		var out, errs bytes.Buffer
		u := &cli.UI{In: strings.NewReader(""), Out: &out, Err: &errs}
		if code := planner.Run(t.Context(), u, []string{"plan", "-t", beginning(t, n), "--commit", "--session", "s", "--workspace", ws, "-q"}); code != cli.ExitOK {
			t.Fatalf("plan: exit %d, %s", code, errs.String())
		}
	}
	for name, want := range map[string]string{"trace.jsonl": "every one the same", "journal.jsonl": "hint: a trace is trace.jsonl"} {
		code, stdout, stderr := invoke(t, "replay", "--trace", filepath.Join(ws, ".memkernel", "sessions", "s", name))
		if (code == cli.ExitOK) != (name == "trace.jsonl") || !strings.Contains(stdout+stderr, want) {
			t.Errorf("%s: exit %d, no %q in %s%s", name, code, want, stdout, stderr)
		}
	}
}

// TestPagesName no verb and no flag of mkbench that it does not have.
func TestPagesName(t *testing.T) {
	tree := command.Root(&cli.App{UI: &cli.UI{}})
	pages, _ := filepath.Glob(root + "/doc/*.md")
	n := 0
	for _, p := range append(pages, root+"/README.md", root+"/CONTRIBUTING.md", root+"/Makefile") {
		text, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, call := range regexp.MustCompile("mkbench\\)? ([a-z]+)((?: +-?-?[^\\s`]+)*)").FindAllStringSubmatch(string(text), -1) {
			i := slices.IndexFunc(tree.Commands(), func(c *cobra.Command) bool { return c.Name() == call[1] })
			if i < 0 {
				if strings.Contains(call[0], "`") || call[2] != "" && strings.Contains(call[2], " --") {
					t.Errorf("%s: %q: there is no verb %s", p, call[0], call[1])
				}
				continue
			}
			n++
			for _, flag := range regexp.MustCompile(` --([a-z-]+)`).FindAllStringSubmatch(call[2], -1) {
				if c := tree.Commands()[i]; c.Flags().Lookup(flag[1]) == nil && c.InheritedFlags().Lookup(flag[1]) == nil && flag[1] != "help" {
					t.Errorf("%s: %q: %s has no flag --%s", p, call[0], call[1], flag[1])
				}
			}
		}
	}
	if n < 5 {
		t.Errorf("only %d calls were found", n)
	}
}
