package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/internal/verbs"
)

// tree is the command tree, with streams that are read by nobody.
func tree() *cobra.Command {
	return newRoot(&cli.App{UI: &cli.UI{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}})
}

// everyVerb calls f for every command there is.
func everyVerb(c *cobra.Command, f func(*cobra.Command)) {
	f(c)
	for _, sub := range c.Commands() {
		everyVerb(sub, f)
	}
}

// TestEveryVerbIsInOneGroup: help lists each once, under a title, and in 80 columns with
// every flag.
func TestEveryVerbIsInOneGroup(t *testing.T) {
	_, text, _ := invoke(t, "help")
	everyVerb(tree(), func(c *cobra.Command) {
		if c.HasParent() && !c.Parent().HasParent() && !c.Hidden {
			if c.GroupID == "" {
				t.Errorf("%s is in no group", c.Name())
			}
			if n := strings.Count(text, "\n  "+c.Name()+" "); n != 1 {
				t.Errorf("help lists %s %d times", c.Name(), n)
			}
		}
		if c.Name() == "completion" || c.HasParent() && c.Parent().Name() == "completion" {
			return // its text is cobra's
		}
		_, text, _ := invoke(t, append(strings.Fields(c.CommandPath())[1:], "--help")...)
		for l := range strings.Lines(text) {
			if l = strings.TrimSuffix(l, "\n"); display.Width(l) > display.Columns {
				t.Errorf("%s --help: %d columns: %s", c.CommandPath(), display.Width(l), l)
			}
		}
	})
}

// TestOpening: what comes first names verbs that exist.
func TestOpening(t *testing.T) {
	_, text, _ := invoke(t)
	_, begin, ok := strings.Cut(text, "To begin, in the folder of your project:\n")
	begin, _, _ = strings.Cut(begin, "\n\n")
	steps := strings.Split(begin, "\n")
	if !ok || len(steps) != 3 {
		t.Fatalf("no three steps in %q", text)
	}
	for _, s := range steps {
		if verb := strings.Fields(s)[1]; !isVerb(tree(), verb) {
			t.Errorf("there is no verb %s", verb)
		}
	}
}

// TestVersionFlag prints what the verb prints.
func TestVersionFlag(t *testing.T) {
	_, verb, _ := invoke(t, "version")
	if code, flag, stderr := invoke(t, "--version"); code != cli.ExitOK || flag != verb || stderr != "" {
		t.Errorf("exit %d, %q, %q; version prints %q", code, flag, stderr, verb)
	}
}

// TestMeant: a word that is no verb, and a flag that a verb doesn't have, are answered
// with what was probably meant.
func TestMeant(t *testing.T) {
	for typed, want := range map[string]string{
		"find": "did you mean search?", "query x": "did you mean search?", "GREP": "did you mean search?",
		"index": "did you mean reindex?", "gc": "did you mean retain?", "clean": "did you mean prune or retain?",
		"log": "did you mean history or list?", "restore-file MEMORY.md": "did you mean history or undo?", "cleanup": "did you mean prune or retain?",
		"new": "did you mean remember or reset?", "chats": "did you mean status?", "stash": "did you mean checkpoint?", "kill": "did you mean uninstall?",
		"clone": "did you mean import?", "agents": "did you mean doctor?", "outdated": "did you mean audit?", "memory": "did you mean list?", "reset-memory": "did you mean reset?",
		"delete_all": "did you mean forget?", "get-config": "did you mean config or get?", "/memory": "did you mean list?", "/compact": "did you mean compact?", "-V": "did you mean --version?",
		"push": "nothing leaves this machine", "mv a b": "memory is Markdown in this folder: move", "upgrade": "install it again", "docs": "did you mean help?",
		"week": "did you mean list?", "skill": "did you mean init?", "tags": "did you mean search?", "restore MEMORY.md": "a file of memory is what 'memkernel undo' and 'memkernel history MEMORY.md' bring back", "bisect": "run 'memkernel --help' for all verbs",
		"show": "did you mean get?", "cat": "did you mean get?", "revert": "did you mean undo?",
		"compress": "did you mean compact?", "add-note x": "did you mean remember?", "save x": "did you mean remember?", "NOTE x": "did you mean remember?",
		"ls": "did you mean list?", "rollback": "did you mean undo?", "change MEMORY.md:3 y": "did you mean edit?", "rm MEMORY.md:3": "did you mean forget?",
		"delet": "did you mean forget?", "setup": "did you mean init?", "delete-note": "did you mean forget?", "list-entries": "did you mean list?",
		"serch": "did you mean search?", "paln": "did you mean plan?", "stat": "did you mean stats or status?",
		"terms": "did you mean help?", "help serch": "did you mean search?", "eval --set x": "mkbench in the repository's folder bench has it", "bench": "mkbench in the repository's folder bench has its verbs",
		"xyzzy":           "run 'memkernel --help' for all verbs",
		"plan --sesion x": "did you mean --session?", "plan --explian": "did you mean --explain?",
		"status --jsn": "did you mean --json?", "search x --max-result 3": "did you mean --max-results?",
		"observe --transcipt x": "did you mean --transcript?", "plan --xyzzyxy": "run 'memkernel plan --help'",
		"search x --limit 3": "did you mean --max-results?", "search x -k 3": "did you mean --max-results?", "list --top 3": "did you mean --max-results?",
		"plan --file s.jsonl": "did you mean --transcript?", "plan s.jsonl": "a session's file is given by a flag: --transcript s.jsonl",
		"observe s.jsonl": "a session's file is given by a flag: --transcript s.jsonl", "history MEMORY.md --undo": "did you mean the verb undo?",
		"prune --yes": "did you mean --apply?", "prune --dry-run": "leave it out: without --apply", "init ../..": "a project's folder is given by a flag: --workspace ../..", "status --format json": "did you mean --json?",
	} {
		code, stdout, stderr := invoke(t, strings.Fields(typed)...)
		if code != cli.ExitUsage || stdout != "" || !strings.Contains(stderr, "hint: "+want) {
			t.Errorf("%s: exit %d, %q, %q; want the hint %q", typed, code, stdout, stderr, want)
		}
	}
}

func isVerb(root *cobra.Command, name string) bool {
	return slices.ContainsFunc(root.Commands(), func(c *cobra.Command) bool { return c.Name() == name })
}

// TestAlike: a word leads to at most two verbs, and a verb's own name leads to no other verb.
func TestAlike(t *testing.T) {
	of := map[string][]string{}
	root := tree()
	for _, c := range root.Commands() {
		for _, s := range c.SuggestFor {
			if of[s] = append(of[s], c.Name()); len(of[s]) > 2 || isVerb(root, s) {
				t.Errorf("%s is another word for %s, or a verb itself", s, of[s])
			}
		}
	}
}

// TestEveryVerbHasOtherWords: each verb says which words people use for it.
func TestEveryVerbHasOtherWords(t *testing.T) {
	for _, g := range verbs.Groups(verbs.Serve, verbs.Proxy(nil)) {
		for _, v := range g.Verbs {
			if len(v.Alike) == 0 {
				t.Errorf("%s has no other words", v.Use)
			}
		}
	}
}

// TestFlagWords: every flag with other words is a flag of some verb, and each such word leads to it
// in every verb that has the flag, unless the word is a flag there itself.
func TestFlagWords(t *testing.T) {
	used := map[string]bool{}
	everyVerb(tree(), func(c *cobra.Command) {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			used[f.Name] = true
			if f.Hidden || c.HasSubCommands() || !c.Runnable() || c.Name() == "hook" { // a hook answers its host
				return
			}
			if c.InheritedFlags().Lookup(f.Name) != nil && c.Name() != "search" { // the same in every verb
				return
			}
			for word := range strings.FieldsSeq(cli.FlagWords[f.Name]) {
				if c.Flags().Lookup(word) != nil || len(word) == 1 && c.Flags().ShorthandLookup(word) != nil {
					continue
				}
				typed := "--" + word
				if len(word) == 1 {
					typed = "-" + word
				}
				code, _, stderr := invoke(t, append(strings.Fields(c.CommandPath())[1:], typed)...)
				if code != cli.ExitUsage || !strings.Contains(stderr, "--"+f.Name) && strings.Count(stderr, " or --") < 2 {
					t.Errorf("%s %s: exit %d, %q; want --%s", c.CommandPath(), typed, code, stderr, f.Name)
				}
			}
		})
	})
	for name := range cli.FlagWords {
		if !used[name] {
			t.Errorf("no verb has a flag --%s", name)
		}
	}
}

// TestCommandsPage holds the table of doc/commands.md to the table of verbs; -update rewrites it.
func TestCommandsPage(t *testing.T) {
	const doc, begins, ends = "../../doc/commands.md", "<!-- verbs: the table of `memkernel help`; a test keeps it true -->\n", "<!-- /verbs -->\n"
	var want strings.Builder
	for _, g := range verbs.Groups(verbs.Serve, verbs.Proxy(nil)) {
		fmt.Fprintf(&want, "\n| %s | |\n|---|---|\n", g.Title)
		for _, v := range g.Verbs {
			fmt.Fprintf(&want, "| `%s` | %s |\n", strings.ReplaceAll(v.Use, "|", `\|`), v.Summary)
		}
	}
	want.WriteString("\n")
	page, err := os.ReadFile(doc)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(page), begins)
	got, tail, closed := strings.Cut(rest, ends)
	if !ok || !closed {
		t.Fatal("doc/commands.md has no place for the table")
	}
	if *update {
		got = want.String()
		if err := os.WriteFile(doc, []byte(head+begins+got+ends+tail), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got != want.String() {
		t.Error("doc/commands.md has other verbs; go test ./cmd/memkernel -run CommandsPage -update rewrites them")
	}
}

// TestTerms: the document is what help prints, and every term is found by its name.
func TestTerms(t *testing.T) {
	const source, doc = "../../internal/cli/terms.md", "../../doc/terms.md"
	want, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(doc, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(doc); err != nil || string(got) != string(want) {
		t.Errorf("doc/terms.md is not %s (%v); go test ./cmd/memkernel -run Terms -update rewrites it", source, err)
	}
	code, all, _ := invoke(t, "help", "terms")
	if code != cli.ExitOK {
		t.Fatalf("exit %d", code)
	}
	n := 0
	for l := range strings.Lines(string(want)) {
		name, text, ok := strings.Cut(strings.TrimPrefix(l, "- **"), "**: ")
		if !ok {
			continue
		}
		n++
		if !strings.Contains(all, "  "+name+"\n") {
			t.Errorf("help terms lacks %s", name)
		}
		_, one, _ := invoke(t, "help", "terms", name)
		first := strings.Fields(strings.ReplaceAll(text, "`", "'"))
		if !strings.Contains(strings.Join(strings.Fields(one), " "), strings.Join(first, " ")) {
			t.Errorf("help terms %s prints %q", name, one)
		}
	}
	if n < 40 {
		t.Errorf("%d terms", n)
	}
	if code, _, stderr := invoke(t, "help", "terms", "xyzzy"); code != cli.ExitUsage || !strings.Contains(stderr, "help terms") {
		t.Errorf("exit %d, %q", code, stderr)
	}
}

// TestTermsNameWhatExists: verbs, flags and settings that the glossary names are there.
func TestTermsNameWhatExists(t *testing.T) {
	_, text, _ := invoke(t, "help", "terms")
	root := tree()
	flags := map[string]bool{}
	everyVerb(root, func(c *cobra.Command) {
		for _, f := range strings.Fields(c.Flags().FlagUsages() + c.PersistentFlags().FlagUsages()) {
			flags[strings.Trim(f, ",")] = true
		}
	})
	_, settings, _ := invoke(t, "config", "--json", "--workspace", t.TempDir())
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \n';,()", r) }) {
		w = strings.TrimRight(w, ".:")
		switch {
		case strings.HasPrefix(w, "--") && !flags[w]:
			t.Errorf("no verb has %s", w)
		case strings.Count(w, "_") > 0 && strings.Contains(w, ".") && !strings.Contains(settings, `"`+w+`"`):
			t.Errorf("there is no setting %s", w)
		}
	}
	for _, part := range strings.Split(text, "'") {
		if words := strings.Fields(strings.TrimPrefix(part, "memkernel ")); len(words) > 0 && strings.HasPrefix(part, "memkernel ") && !isVerb(root, words[0]) {
			t.Errorf("there is no verb %s", words[0])
		}
	}
}

// TestCompletionScripts: each shell gets one that asks this program.
func TestCompletionScripts(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		code, text, stderr := invoke(t, "completion", shell)
		if code != cli.ExitOK || !strings.Contains(text, "__complete") || stderr != "" {
			t.Errorf("%s: exit %d, %d bytes, %q", shell, code, len(text), stderr)
		}
	}
}

// TestFlagsThatExcludeEachOther: giving both is a mistake in the call, whatever the verb.
func TestFlagsThatExcludeEachOther(t *testing.T) {
	const group = "cobra_annotation_mutually_exclusive"
	tried := map[string]bool{}
	everyVerb(tree(), func(c *cobra.Command) {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			for _, names := range f.Annotations[group] {
				if tried[c.CommandPath()+names] {
					continue
				}
				tried[c.CommandPath()+names] = true
				args := strings.Fields(c.CommandPath())[1:]
				for _, name := range strings.Fields(names) {
					other := c.Flags().Lookup(name)
					value := map[string]string{"bool": "true", "string": "x", "stringSlice": "x", "stringArray": "x"}[other.Value.Type()]
					if value == "" {
						value = cmp.Or(strings.Trim(other.DefValue, "[]"), "1")
					}
					args = append(args, "--"+name+"="+value)
				}
				code, stdout, stderr := invoke(t, args...)
				if code != cli.ExitUsage || stdout != "" || !strings.Contains(stderr, "--"+strings.Join(slices.Sorted(strings.FieldsSeq(names)), " and --")+" exclude each other") {
					t.Errorf("%q: exit code %d, %s", args, code, stderr)
				}
			}
		})
	})
	if len(tried) < 5 {
		t.Errorf("only %d groups of flags", len(tried))
	}
}
