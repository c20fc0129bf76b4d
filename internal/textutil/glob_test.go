package textutil

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func closed(name string) bool { return strings.HasPrefix(name, ".") || name == "node_modules" }

func TestGlobs(t *testing.T) {
	for _, tt := range []struct {
		glob, path         string
		match, names, into bool // into: of the folder that the path is in
	}{
		{"**/*.md", "a.md", true, true, true},
		{"**/*.md", "a/b/c.MD", true, true, true},
		{"**/*.md", "a/b/c.mdx", false, false, true},
		{"**/*.md", "a/.b/c.md", false, false, false},
		{"**/*.md", ".c.md", false, false, true},
		{"**/*.md", "a/node_modules/c.md", false, false, false},
		{"**/*.{md,mdx}", "日本/メモ 1.mdx", true, true, true},
		{".cursor/rules/*.mdc", ".cursor/rules/x.mdc", true, true, true},
		{".cursor/rules/*.mdc", ".cursor/rules/.x.mdc", false, false, true},
		{".*/**/*.md", ".obsidian/a/b.md", true, true, true},
		{"a/node_modules/**", "a/node_modules/x/c.md", true, false, true},
		{"notes", "notes/sub/a.md", true, false, true},
		{"notes/", "notes/a.md", true, false, true},
		{"notes/**", "notes/pic.png", true, false, true},
		{"notes/*", "notes/pic.png", true, false, true},
		{"notes/*.txt", "notes/a.txt", true, true, true},
		{"notes/*.txt", "other/a.txt", false, false, false},
		{"a/*/c/*.md", "a/b/c/d.md", true, true, true},
		{"a/*/c/*.md", "a/b/x/d.md", false, false, false},
		{"{a/b,c}/*.md", "a/b/d.md", true, true, true},
		{"./a/*.md", "a/d.md", true, true, true},
		{`a\[1\]/*.md`, "a[1]/x.md", true, true, true},
		{"[^a]*/x.md", "b/x.md", true, true, true},
	} {
		g := NewGlobs([]string{tt.glob}, closed)
		if got := g.Match(tt.path); got != tt.match {
			t.Errorf("%s matches %s: %v", tt.glob, tt.path, got)
		}
		if got := g.Names(tt.path); got != tt.names {
			t.Errorf("%s names %s: %v", tt.glob, tt.path, got)
		}
		if i := strings.LastIndexByte(tt.path, '/'); i > 0 {
			dir := tt.path[:i]
			if got := g.Below(dir); got != tt.into {
				t.Errorf("%s enters %s: %v", tt.glob, dir, got)
			}
		}
	}
}

func TestCheck(t *testing.T) {
	for text, want := range map[string]string{
		"": "empty", " ": "empty", "/etc/*.md": "not relative", "~/notes/**": "not relative", `C:\x`: "not relative", "../x/*.md": "leads out", "a/../../b": "leads out",
		"[a": "no glob", "{a": "no glob", `a\`: "no glob", "!x.md": "index.exclude", "a\x00b": "not a text", "\xff": "not a text",
		strings.Repeat("a", 2000): "longer", strings.Repeat("{a,b}", 30): "alternatives", strings.Repeat("**/a/", 30): "alternatives",
	} {
		if err := CheckGlob(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, text := range []string{"**/*.md", "notes/", "a b/日本*.md", "{a,b}/**", `\!x.md`, "a..b/*.md"} {
		if err := CheckGlob(text); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestHostileGlobs: the worst that Check lets through is matched in reasonable time.
func TestHostileGlobs(t *testing.T) {
	path := strings.Repeat("aaaaaaaaaaaaaaaa/", 20) + "b.md"
	for _, text := range []string{strings.Repeat("*a", 300) + "c", strings.Repeat("**/a*/", 8) + "c.md", strings.Repeat("{a,aa}", 16), strings.Repeat("[a-z]*", 100)} {
		if CheckGlob(text) == nil {
			NewGlobs([]string{text}, nil).Match(path)
		}
		if r, ok := parseRule(text); ok {
			r.match(path, "b.md", false)
		}
	}
}

// TestIgnoreAsGit holds the rules of many random files against git's own answers.
func TestIgnoreAsGit(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("there is no git to compare with")
	}
	dir := t.TempDir()
	run := func(stdin string, args ...string) string {
		cmd := exec.Command(git, args...)
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		var out bytes.Buffer
		cmd.Stdout = &out
		_ = cmd.Run() // 1 is for none ignored
		return out.String()
	}
	run("", "init", "-q")
	r := rand.New(rand.NewPCG(1, 2))
	names := []string{"a", "b", "ab", "a.md", "b.md", "n otes.md", "x{1}.md", "日本.md", "#a.md", "!b.md"}
	patterns := []string{"a", "b/", "/a", "*.md", "!a.md", "a/**", "**/b", "a/*", "!a/b/", "a/**/b.md", "*", "!*/", "/*", "!/a", "x{1}.md", "{a,b}.md", "?b", "[ab].md", "[!a].md", "\\#a.md", "\\!b.md",
		"n otes.md", "a.md ", "b.md\\ ", "# a", "", "/", "**", "a**b", "日*", "!日本.md", "[[:alpha:]].md", "a/b", "/b/*.md", "!b/a.md", "ab/", "\ta", "a\r", "**/a/**", "[a", "a\\"}
	const many = 150
	var paths []string
	for i := range 60 {
		p := make([]string, 1+i%4)
		for j := range p {
			p[j] = names[r.IntN(len(names))]
		}
		paths = append(paths, strings.Join(p, "/"))
	}
	for range many {
		var text string
		for range 1 + r.IntN(5) {
			text += patterns[r.IntN(len(patterns))] + "\n"
		}
		if err := os.WriteFile(filepath.Join(dir, ".gitignore"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		ignored := map[string]bool{}
		for p := range strings.SplitSeq(run(strings.Join(paths, "\x00"), "check-ignore", "--no-index", "-z", "--stdin"), "\x00") {
			ignored[p] = true
		}
		ig := ParseIgnore("", text)
		for _, p := range paths {
			if got := ignoredBy(ig, p); got != ignored[p] {
				t.Fatalf("%q: %q is ignored: %v, for git %v", text, p, got, ignored[p])
			}
		}
	}
}

// ignoredBy looks at the folders above as well.
func ignoredBy(ig *Ignore, p string) bool {
	for i := range len(p) {
		if p[i] != '/' {
			continue
		}
		if out, _ := ig.Match(p[:i], true); out {
			return true
		}
	}
	out, _ := ig.Match(p, false)
	return out
}
