package markdownstore

import (
	"path/filepath"
	"slices"
	"testing"
)

// TestRepositoryRules: a workspace that is a folder of a repository leaves out what the
// whole repository ignores, in a worktree and a submodule too.
func TestRepositoryRules(t *testing.T) {
	const above = ".gitignore|drafts/\n*.scratch.md\n/team/wiki/old/\n!kept.scratch.md\n"
	notes := []string{"a.md", "kept.scratch.md", "b.scratch.md", "drafts/c.md", "old/d.md", "sub/old/e.md", "local.md", "sub/mine.md", "sub/.gitignore|/mine.md\n"}
	want := []string{"a.md", "kept.scratch.md", "sub/old/e.md"}
	for _, tt := range []struct {
		name, at string // where the workspace is, of the files' folder
		files    []string
		want     []string
	}{
		{"repository", "team/wiki", []string{".git/info/exclude|local.md\n", above}, want},
		{"a folder between has rules", "team/wiki", []string{".git/info/exclude|local.md\n", above, "team/.gitignore|a.md\n/wiki/sub/old\n!b.scratch.md\n"}, []string{"b.scratch.md", "kept.scratch.md"}},
		{"worktree", "tree/team/wiki", []string{"main/.git/info/exclude|local.md\n", "main/.git/worktrees/t/commondir|../..\n", "tree/.git|gitdir: ../main/.git/worktrees/t\n", "tree/" + above}, want},
		{"submodule", "sub/team/wiki", []string{".gitignore|*.md\n", ".git/modules/s/info/exclude|local.md\n", "sub/.git|gitdir: ../.git/modules/s\n", "sub/" + above}, want},
		{"none", "team/wiki", []string{above}, []string{"a.md", "b.scratch.md", "drafts/c.md", "kept.scratch.md", "local.md", "old/d.md", "sub/old/e.md"}},
		{"itself ignored", "team/wiki", []string{".git/info/exclude|local.md\n", ".gitignore|/team/\n*.scratch.md\n"}, []string{"a.md", "drafts/c.md", "old/d.md", "sub/old/e.md"}},
		{"all ignored", "team/wiki", []string{".git/config", ".gitignore|*\n", "team/wiki/.gitignore|drafts\n"}, []string{"a.md", "b.scratch.md", "kept.scratch.md", "local.md", "old/d.md", "sub/old/e.md"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, n := range notes {
				tt.files = append(tt.files, tt.at+"/"+n)
			}
			dir := folderOf(t, tt.files...)
			s, err := Open(filepath.Join(dir, tt.at), &Options{Include: Everything()})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			var got []string
			for f, err := range s.Walk(t.Context()) {
				if err != nil {
					t.Error(err)
				}
				got = append(got, f.Path)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
			for _, n := range notes[:len(notes)-1] {
				if _, err := s.Read(n, 1, 1); (err == nil) != slices.Contains(tt.want, n) {
					t.Errorf("read %s: %v", n, err)
				}
			}
		})
	}
}
