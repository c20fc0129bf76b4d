package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// repository is a new checkout with a changelog, committed.
func repository(t testing.TB, changelog string) string {
	t.Helper()
	needs(t, "git")
	dir := t.TempDir()
	write(t, dir, "CHANGELOG.md", changelog)
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, commit("first")} {
		if _, err := git(dir, args...); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func commit(message string) []string {
	return []string{"-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false", "commit", "-q", "-m", message}
}

func write(t testing.TB, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

const changelog = "# Changelog\n\n## Unreleased\n\n- tomorrow\n\n## 0.2.0 (2026-12-01)\n\n- today\n\n### Changed\n\n- more\n\n## [0.1.0]\n\n- before\n\n## 0.0.1\n\n## 0.0.0\n\n- nothing\n"

func TestWhatIsCheckedOut(t *testing.T) {
	for name, c := range map[string]struct {
		tags           []string
		dirty          bool
		snapshot       bool
		version, notes string
		mistake        string
	}{
		"a release":                 {tags: []string{"v0.2.0"}, version: "0.2.0", notes: "- today\n\n### Changed\n\n- more"},
		"in brackets":               {tags: []string{"v0.1.0"}, version: "0.1.0", notes: "- before"},
		"the highest of two":        {tags: []string{"v0.1.0", "latest", "v0.2.0"}, version: "0.2.0", notes: "- today\n\n### Changed\n\n- more"},
		"no tag":                    {notes: "- tomorrow"},
		"a dirty tree":              {tags: []string{"v0.2.0"}, dirty: true, mistake: "the tree has changes that are not committed (CHANGELOG.md, new.txt): commit or stash them, or make a snapshot with SNAPSHOT=1"},
		"a snapshot of it":          {tags: []string{"v0.2.0"}, dirty: true, snapshot: true, notes: "- tomorrow"},
		"a tag that is no version":  {tags: []string{"release-7"}, mistake: "the tag release-7 is no version: name it like v1.2.3 or v1.2.3-rc.1"},
		"a version without its v":   {tags: []string{"0.2.0"}, mistake: "the tag 0.2.0 is no version: name it like v1.2.3 or v1.2.3-rc.1"},
		"half a version":            {tags: []string{"v0.2"}, mistake: "the tag v0.2 is no version: name it like v1.2.3 or v1.2.3-rc.1"},
		"another module's version":  {tags: []string{"v2.0.0"}, mistake: "the tag v2.0.0 does not fit the module's path"},
		"no version in Python":      {tags: []string{"v0.2.0-nightly.1"}, mistake: "Python's packages have no version like 0.2.0-nightly.1"},
		"a section that is missing": {tags: []string{"v0.3.0"}, mistake: `CHANGELOG.md has no section "## 0.3.0": the release notes are made of it`},
		"another one's beginning":   {tags: []string{"v0.2.0-rc.1"}, mistake: `CHANGELOG.md has no section "## 0.2.0-rc.1"`},
		"a section of nothing":      {tags: []string{"v0.0.1"}, mistake: "CHANGELOG.md:19: the section of 0.0.1 says nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := repository(t, changelog)
			for _, tag := range c.tags {
				if _, err := git(dir, "tag", tag); err != nil {
					t.Fatal(err)
				}
			}
			if c.dirty {
				write(t, dir, "CHANGELOG.md", changelog+"\n")
				write(t, dir, "new.txt", "")
			}
			got, err := look(dir, c.snapshot)
			switch {
			case c.mistake != "":
				if err == nil || !strings.HasPrefix(err.Error(), c.mistake) || strings.Contains(err.Error(), "\n") {
					t.Errorf("said %v, want %s", err, c.mistake)
				}
			case err != nil:
				t.Error(err)
			case got.version != c.version || got.notes != c.notes:
				t.Errorf("version %q, notes %q", got.version, got.notes)
			}
		})
	}
}

func TestNoCheckout(t *testing.T) {
	needs(t, "git")
	dir := t.TempDir()
	_, err := look(dir, false)
	if err == nil || !strings.HasPrefix(err.Error(), dir+" is no git checkout, and the version is read from its tag: ") || strings.Contains(err.Error(), "\n") {
		t.Errorf("said %v", err)
	}
}

// A release that can't be made leaves the one before as it was, and nothing beside it.
func TestNothingHalfMade(t *testing.T) {
	needs(t, "go")
	dir := repository(t, changelog)
	out := filepath.Join(t.TempDir(), "release")
	if err := os.Mkdir(out, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, out, "checksums.txt", "of before")
	if _, err := git(dir, "tag", "v0.2.0"); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	if err := run(dir, out, false, targets, &said); err == nil || !strings.HasPrefix(err.Error(), "build for linux/amd64: ") {
		t.Errorf("said %v", err)
	}
	left, err := os.ReadDir(filepath.Dir(out))
	if err != nil || len(left) != 1 {
		t.Errorf("left %v, %v", left, err)
	}
	if text, err := os.ReadFile(filepath.Join(out, "checksums.txt")); err != nil || string(text) != "of before" {
		t.Errorf("it holds %q, %v", text, err)
	}
}

func TestPythonVersion(t *testing.T) {
	for version, want := range map[string]string{
		"1.2.3": "1.2.3", "1.2.3-alpha.1": "1.2.3a1", "1.2.3-beta.12": "1.2.3b12", "1.2.3-rc.1": "1.2.3rc1", "1.2.3-rc2": "1.2.3rc2",
		"0.0.0-20261123152819-d29de5200000":        "0.0.0.dev20261123152819",
		"0.1.1-0.20261123152819-d29de5200000":      "0.1.1.dev20261123152819",
		"0.2.0-rc.1.0.20261123152819-d29de5200000": "0.2.0.dev20261123152819",
	} {
		if got, err := pythonVersion(version); err != nil || got != want {
			t.Errorf("%s is %q, want %q: %v", version, got, want, err)
		}
	}
}
