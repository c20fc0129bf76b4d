package markdownstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// folderOf makes a folder of files, whose texts are their own names but for those that
// bring one behind a |.
func folderOf(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range files {
		name, text, ok := strings.Cut(f, "|")
		if !ok {
			text = "# " + name + "\n"
		}
		p := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func openWith(t *testing.T, dir string, o Options) *Store {
	t.Helper()
	s, err := Open(dir, &o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// indexedOf lists what is indexed, and fails if one can't be read, or is listed twice.
func indexedOf(t *testing.T, s *Store) []string {
	t.Helper()
	out := []string{}
	for f, err := range s.Walk(context.Background()) {
		if err != nil || !f.Indexed {
			continue
		}
		if _, err := s.ReadFile(f.Path); err != nil {
			t.Errorf("%s is listed, and: %v", f.Path, err)
		}
		if c, ok := s.Classify(f.Path); !ok || c.Indexed != f.Indexed || c.Private && !f.Private {
			t.Errorf("%s is listed as %+v, by its name %+v", f.Path, f.Class, c)
		}
		out = append(out, f.Path)
	}
	if !slices.IsSorted(out) || len(slices.Compact(slices.Clone(out))) != len(out) {
		t.Errorf("not in order, or twice: %q", out)
	}
	return out
}

func leftOf(t *testing.T, s *Store) []string {
	t.Helper()
	l, err := s.LeftOut(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, f := range l.First {
		out = append(out, string(f.Reason)+" "+f.Path)
	}
	return out
}

// TestSurvey: each Markdown file is counted once, by its use; one that is no text
// counts as left out; a folder that is too large is given up on.
func TestSurvey(t *testing.T) {
	dir := folderOf(t, "MEMORY.md", "memory/a.md", "memory/bin.md|x\x00y", "AGENTS.md", "docs/a b.md", "docs/sub/CLAUDE.md", "drafts/b.md", ".gitignore|/secret/\n",
		"secret/c.md", "node_modules/p/README.md", ".git/x.md", ".hidden/y.md", "a.txt", "md")
	for _, tt := range []struct {
		o    Options
		want string
	}{
		{Options{Include: Everything(), Exclude: []string{"drafts/**"}, PrivateNotes: true}, "10 Markdown files: 4 searched, 1 read by agents themselves, left out: 5 files (no text 1, index.exclude 1, .gitignore 1, hidden 1, vendored or built 1)"},
		{Options{Include: Everything()}, "10 Markdown files: 6 searched, left out: 4 files (no text 1, .gitignore 1, hidden 1, vendored or built 1)"},
		{Options{}, "10 Markdown files: 2 searched, 1 read by agents themselves, left out: 7 files (no text 1, .gitignore 1, not in index.include 3, hidden 1, vendored or built 1)"},
	} {
		tt.o.Private = true
		v, err := openWith(t, dir, tt.o).Survey(t.Context())
		if got := v.Text(); err != nil || got != tt.want {
			t.Errorf("%v\ngot  %s\nwant %s", err, got, tt.want)
		}
	}
	all := Options{Include: Everything(), Private: true, MaxEntries: 3}
	if v, err := openWith(t, dir, all).Survey(t.Context()); err != nil || !v.LeftOut.More {
		t.Errorf("more than is looked at: %v: %+v", err, v)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := openWith(t, dir, all).Survey(ctx); err == nil {
		t.Error("it can't be interrupted")
	}
}

// TestLayouts: folders as people have them, all of whose Markdown is memory.
func TestLayouts(t *testing.T) {
	for name, tt := range map[string]struct{ files, want, left []string }{
		"vault": {
			files: []string{".obsidian/app.json", ".obsidian/plugins/x/README.md", ".trash/old.md", "Inbox/Über uns.md|see [[Inbox/日本 メモ]]", "Inbox/日本 メモ.md", "Daily/2026-03-01.md", "index.canvas", "Attachments/pic.png"},
			want:  []string{"Daily/2026-03-01.md", "Inbox/Über uns.md", "Inbox/日本 メモ.md"},
			left:  []string{"hidden .obsidian/plugins/x/README.md", "hidden .trash/old.md"},
		},
		"docs": {
			files: []string{"mkdocs.yml", "README.md", "docs/a.md", "docs/b.markdown", "docs/c.mdx", "site.txt", "_site/a.md", "docs/build/x.md"},
			want:  []string{"README.md", "docs/a.md", "docs/b.markdown", "docs/c.mdx"},
			left:  []string{"generated _site/a.md", "generated docs/build/x.md"},
		},
		"monorepo": {
			files: []string{".git/HEAD|x", ".git/notes.md", "CLAUDE.md", "AGENTS.md", "GEMINI.md", ".cursorrules", ".cursor/rules/a.mdc", ".github/copilot-instructions.md", ".github/PULL_REQUEST_TEMPLATE.md", "packages/a/README.md",
				"packages/a/CLAUDE.md", "packages/a/node_modules/b/README.md", "vendor/x/README.md", "target/doc.md"},
			want: []string{".cursor/rules/a.mdc", ".cursorrules", ".github/copilot-instructions.md", "AGENTS.md", "CLAUDE.md", "GEMINI.md", "packages/a/CLAUDE.md", "packages/a/README.md"},
			left: []string{"hidden .github/PULL_REQUEST_TEMPLATE.md", "generated packages/a/node_modules/b/README.md", "generated target/doc.md", "generated vendor/x/README.md"},
		},
		"hugo": {
			files: []string{"hugo.toml", "content/_index.md|---\ntitle: x\n---\n", "content/posts/a/index.md", "layouts/x.html", "public/a.md", ".gitignore|/public/\n"},
			want:  []string{"content/_index.md", "content/posts/a/index.md"},
			left:  []string{"gitignore public/a.md"},
		},
		"ignore files in folders": {
			files: []string{".gitignore|*.md\n!keep.md\n!/docs\n# x\nsecret/\n", "a.md", "keep.md", "docs/.gitignore|!*.md\ndraft-*\n", "docs/a.md", "docs/draft-b.md", "docs/secret/a.md", "secret/keep.md", ".git/info/exclude|mine.mdx\n", "mine.mdx", "yours.mdx"},
			want:  []string{"docs/a.md", "keep.md", "yours.mdx"},
			left:  []string{"gitignore a.md", "gitignore docs/draft-b.md", "gitignore docs/secret/a.md", "gitignore mine.mdx", "gitignore secret/keep.md"},
		},
		"private names": {
			files: []string{"team/MEMORY.md", "team/USER.md", "team/memory/2026-03-01.md", "team/working-buffer.md", "team/SESSION-STATE.md", "docs/memory.md"},
			want:  []string{"docs/memory.md", "team/MEMORY.md", "team/USER.md", "team/memory/2026-03-01.md"},
			left:  []string{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := folderOf(t, tt.files...)
			s := openWith(t, dir, Options{Include: Everything(), Private: true})
			if s.MemoryWorkspace() {
				t.Error("it is taken for a workspace with memory")
			}
			if diff := cmp.Diff(tt.want, indexedOf(t, s)); diff != "" {
				t.Errorf("indexed: %s", diff)
			}
			if diff := cmp.Diff(tt.left, leftOf(t, s)); diff != "" {
				t.Errorf("left out: %s", diff)
			}
			for _, l := range tt.left {
				why, p, _ := strings.Cut(l, " ")
				_, err := s.Read(p, 0, 0)
				if d := (*DeniedError)(nil); !errors.As(err, &d) || string(d.Left) != why {
					t.Errorf("read %s: %v, want denied: %s", p, err, why)
				}
			}
			for _, p := range indexedOf(t, s.Shared()) {
				if strings.HasSuffix(p, "MEMORY.md") || strings.HasSuffix(p, "USER.md") {
					t.Errorf("a shared session sees %s", p)
				}
			}
			if none := openWith(t, dir, Options{}); len(indexedOf(t, none)) != 0 {
				t.Error("something is indexed that nothing includes")
			}
		})
	}
}

// TestClassOfNotes: a note has no date unless it is one of a memory folder.
func TestClassOfNotes(t *testing.T) {
	s := openWith(t, t.TempDir(), Options{Include: Everything(), Exclude: []string{"drafts"}, Private: true})
	for p, want := range map[string]Class{
		"a/2026-03-01.md":        {Kind: KindTopic, Tier: tierEvergreen, PageType: pagePreference, Memory: true, Indexed: true},
		"a/memory/2026-03-01.md": {Kind: KindDaily, Tier: tierDated, PageType: pagePreference, Date: "2026-03-01", Memory: true, Indexed: true},
		"memory/2026-03-01.md":   {Kind: KindDaily, Tier: tierDated, PageType: pagePreference, Date: "2026-03-01", Memory: true, Indexed: true},
		"a/MEMORY.md":            {Kind: KindTopic, Tier: tierEvergreen, PageType: pagePreference, Private: true, Memory: true, Indexed: true},
		"AGENTS.md":              {Kind: KindInstructions, Tier: tierEvergreen, PageType: pageBootstrap, Memory: true, Indexed: true},
		"x/CLAUDE.md":            {Kind: KindInstructions, Tier: tierEvergreen, PageType: pagePreference, Memory: true, Indexed: true},
		"SESSION-STATE.md":       {Kind: KindState, PageType: pagePlan},
	} {
		if got, ok := s.Classify(p); !ok || got != want {
			t.Errorf("%s: %+v", p, got)
		}
	}
	for _, p := range []string{"drafts/a.md", "a.png", ".env", "a/node_modules/x.md", "a/../b.md\x1b"} {
		if c, ok := s.Classify(p); ok {
			t.Errorf("%s: %+v", p, c)
		}
	}
}

// TestNotesAreReadOnly: what is included is read, and not written to.
func TestNotesAreReadOnly(t *testing.T) {
	dir := folderOf(t, "notes/a.md|text\n", "CLAUDE.md|be kind\n", ".gitignore|private/\n", "private/x.md", "AGENTS.md|rules\n")
	s := openWith(t, dir, Options{Include: Everything(), Private: true})
	ctx := context.Background()
	for _, p := range []string{"notes/a.md", "CLAUDE.md", "AGENTS.md"} {
		if c, err := s.Read(p, 0, 0); err != nil || c.Reason != reasonOK {
			t.Errorf("%s: %+v, %v", p, c, err)
		}
		if _, err := s.Append(ctx, p, "id", "more"); !errors.Is(err, ErrDenied) {
			t.Errorf("append to %s: %v", p, err)
		}
	}
	if _, err := s.Replace(ctx, "notes/a.md", hashOf("text\n"), "other"); !errors.Is(err, ErrDenied) {
		t.Errorf("replace: %v", err)
	}
	if _, err := s.Append(ctx, "memory/x.md", "id", "more"); err != nil {
		t.Errorf("memory itself: %v", err)
	}
	for _, p := range []string{"private/x.md", "notes/../private/x.md", "no/such.txt"} {
		if _, err := s.Read(p, 0, 0); !errors.Is(err, ErrDenied) {
			t.Errorf("%s: %v", p, err)
		}
	}
	if want := []string{"AGENTS.md", "CLAUDE.md", "memory/x.md", "notes/a.md"}; !slices.Equal(indexedOf(t, s), want) {
		t.Errorf("after the first entry of memory: %q", indexedOf(t, s))
	}
}

// TestLinksAmongNotes: no link is followed to what is included, so that none leads out or
// round in circles.
func TestLinksAmongNotes(t *testing.T) {
	outside := folderOf(t, "secret.md")
	dir := folderOf(t, "a/b/c.md", "MEMORY.md|mine\n")
	for link, to := range map[string]string{"a/b/up": "../..", "loop": "loop", "elsewhere": outside, "out.md": filepath.Join(outside, "secret.md"), "copy.md": "a/b/c.md", "mine.md": "MEMORY.md", "CLAUDE.md": "a/b/c.md", "lost.md": "nowhere.md"} {
		if err := os.Symlink(to, filepath.Join(dir, filepath.FromSlash(link))); err != nil {
			t.Skip(err)
		}
	}
	if err := os.Link(filepath.Join(dir, "MEMORY.md"), filepath.Join(dir, "hard.md")); err != nil {
		t.Skip(err)
	}
	s := openWith(t, dir, Options{Include: Everything(), Private: true})
	if got := indexedOf(t, s); !slices.Equal(got, []string{"MEMORY.md", "a/b/c.md", "hard.md"}) {
		t.Errorf("indexed: %q", got)
	}
	if got := indexedOf(t, s.Shared()); !slices.Equal(got, []string{"a/b/c.md"}) {
		t.Errorf("shared: %q", got)
	}
	for _, p := range []string{"out.md", "mine.md", "elsewhere/secret.md", "a/b/up/MEMORY.md", "hard.md"} {
		if _, err := s.Shared().Read(p, 0, 0); !errors.Is(err, ErrDenied) {
			t.Errorf("%s: %v", p, err)
		}
	}
	if got := leftOf(t, s); !slices.Contains(got, "link elsewhere") || !slices.Contains(got, "link out.md") || slices.Contains(got, "link a/b/c.md") {
		t.Errorf("left out: %q", got)
	}
}

// TestMemoryWorkspace: what agents keep is told from other people's Markdown.
func TestMemoryWorkspace(t *testing.T) {
	for files, want := range map[string]bool{
		"MEMORY.md": true, "USER.md": true, "SOUL.md": true, "memory/a.md": true, "memory/sub/deep/a.md": true, "memory.md": true,
		"AGENTS.md": false, "README.md": false, "memory/a.go": false, "notes/memory/a.md": false, "CLAUDE.md": false,
	} {
		if got := openWith(t, folderOf(t, files), Options{}).MemoryWorkspace(); got != want {
			t.Errorf("%s: %v", files, got)
		}
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "memory"), 0o755); err != nil {
		t.Fatal(err)
	}
	if !openWith(t, dir, Options{}).MemoryWorkspace() {
		t.Error("an empty memory/ waits for memory")
	}
	s := openWith(t, folderOf(t, "MEMORY.md", "notes/a.md", "README.md"), Options{Private: true})
	if got := leftOf(t, s); !slices.Equal(got, []string{"not_included README.md", "not_included notes/a.md"}) {
		t.Errorf("left out: %q", got)
	}
}

// TestTooMany: a listing is bounded, says so, and names no file as gone.
func TestTooMany(t *testing.T) {
	var files []string
	for i := range 30 {
		files = append(files, fmt.Sprintf("n%02d/a.md", i))
	}
	dir := folderOf(t, files...)
	var last error
	seen := 0
	for f, err := range openWith(t, dir, Options{Include: Everything(), MaxEntries: 20}).Walk(context.Background()) {
		if err != nil && f.Path == "" {
			last = err
		} else if err == nil {
			seen++
		}
	}
	if !errors.Is(last, errTooMany) || seen >= 20 || !strings.Contains(last.Error(), "index.include") {
		t.Errorf("%v after %d", last, seen)
	}
	if got := indexedOf(t, openWith(t, dir, Options{Include: []string{"n0?/*.md"}, MaxEntries: 60})); len(got) != 10 {
		t.Errorf("%q", got)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, err := range openWith(t, dir, Options{Include: Everything()}).Walk(ctx) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("after its end: %v", err)
		}
	}
}

// TestOwnFolder: what the program keeps is no memory, wherever it keeps it.
func TestOwnFolder(t *testing.T) {
	dir := folderOf(t, "a.md", "state/transcripts/x.md", ".memkernel/x.md", ".git/x.md")
	s := openWith(t, dir, Options{Include: []string{"**/*.md", ".*/**"}, Own: "state"})
	if got := indexedOf(t, s); !slices.Equal(got, []string{"a.md"}) {
		t.Errorf("%q", got)
	}
	if got := leftOf(t, s); len(got) != 0 {
		t.Errorf("left out: %q", got)
	}
	if s.Enters("state") || s.Enters(".git") || !s.Enters("b") || !s.Enters("memory") || s.Enters("node_modules") {
		t.Error("the wrong folders are watched")
	}
}
