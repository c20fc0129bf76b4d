package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

// modulePath is the path of the released module.
const modulePath = "github.com/memkernel/memkernel"

// checkout is a commit that is to be released, or a snapshot.
type checkout struct {
	root string
	// commit is the commit to build. It is "" for the working tree with its changes.
	commit string
	// tag is the tag of the version, "" for a snapshot. version is the tag without its v. The
	// version of a snapshot is known once a program was built.
	tag, version string
	// time is the time of the commit, so that the same commit makes the same files.
	time time.Time
	// notes is the text of CHANGELOG.md about the version, or about the unreleased changes.
	notes string
}

// look reads the state of the checkout. It returns an error if the checkout can't be released.
func look(root string, snapshot bool) (*checkout, error) {
	if _, err := git(root, "rev-parse", "--git-dir"); err != nil {
		return nil, fmt.Errorf("%s is no git checkout, and the version is read from its tag: %w", root, err)
	}
	c := &checkout{root: root}
	stamp, err := git(root, "log", "-1", "--format=%ct")
	if err != nil {
		return nil, err
	}
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("git tells the time of the commit as %q: %w", stamp, err)
	}
	c.time = time.Unix(seconds, 0).UTC()
	changed, err := git(root, "status", "--porcelain")
	if err != nil {
		return nil, err
	}
	switch {
	case changed == "":
		if c.tag, err = tagged(root); err != nil && !snapshot {
			return nil, err
		}
		if c.commit, err = git(root, "rev-parse", "HEAD"); err != nil {
			return nil, err
		}
	case !snapshot:
		return nil, fmt.Errorf("the tree has changes that are not committed (%s): commit or stash them, or make a snapshot with SNAPSHOT=1", some(changed))
	}
	c.version = strings.TrimPrefix(c.tag, "v")
	text, err := os.ReadFile(filepath.Join(root, "CHANGELOG.md"))
	if err != nil {
		return nil, fmt.Errorf("the release notes are the version's section of the changelog: %w", err)
	}
	c.notes, err = section(string(text), c.version)
	return c, err
}

// source returns the folder to build in. A commit is built in a clone in the folder dir, without
// untracked files. Go finds the version in a clone, but not in a linked worktree.
func (c *checkout) source(dir string) (string, error) {
	if c.commit == "" {
		return c.root, nil
	}
	root, err := filepath.Abs(c.root)
	if err != nil {
		return "", err
	}
	if _, err := git(root, "clone", "--quiet", "--shared", "--no-checkout", root, dir); err != nil {
		return "", err
	}
	_, err = git(dir, "checkout", "--quiet", "--detach", c.commit)
	return dir, err
}

// tagged returns the highest version tag of the commit, or "" if the commit has no such tag.
func tagged(root string) (string, error) {
	out, err := git(root, "tag", "--points-at", "HEAD")
	if err != nil {
		return "", err
	}
	all := strings.Fields(out)
	versions := slices.DeleteFunc(slices.Clone(all), func(tag string) bool { return semver.Canonical(tag) != tag })
	if len(versions) == 0 && len(all) > 0 {
		return "", fmt.Errorf("the tag %s is no version: name it like v1.2.3 or v1.2.3-rc.1", all[0])
	}
	if len(versions) == 0 {
		return "", nil
	}
	tag := slices.MaxFunc(versions, semver.Compare)
	if err := module.Check(modulePath, tag); err != nil {
		return "", fmt.Errorf("the tag %s does not fit the module's path: %w", tag, err)
	}
	_, err = pythonVersion(strings.TrimPrefix(tag, "v"))
	return tag, err
}

// section returns the changelog's section about a version. If version is "", it returns the
// unreleased changes, which may be missing or empty.
func section(changelog, version string) (string, error) {
	title := regexp.MustCompile(`(?m)^## Unreleased *$`)
	if version != "" {
		title = regexp.MustCompile(`(?m)^## \[?v?` + regexp.QuoteMeta(version) + `\]?(?: .*)?$`)
	}
	at := title.FindStringIndex(changelog)
	if at == nil && version == "" {
		return "", nil
	}
	if at == nil {
		return "", fmt.Errorf(`CHANGELOG.md has no section "## %s": the release notes are made of it`, version)
	}
	text, _, _ := strings.Cut(changelog[at[1]:], "\n## ")
	if text = strings.TrimSpace(text); text == "" && version != "" {
		line := 1 + strings.Count(changelog[:at[0]], "\n")
		return "", fmt.Errorf("CHANGELOG.md:%d: the section of %s says nothing: the release notes are made of it", line, version)
	}
	return text, nil
}

// some names one or two files of a git status. The lines of the status begin with two letters and
// a space.
func some(status string) string {
	lines := strings.Split(status, "\n")
	var names []string
	for _, l := range lines[:min(2, len(lines))] {
		names = append(names, l[min(3, len(l)):])
	}
	if more := len(lines) - len(names); more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names, ", "), more)
	}
	return strings.Join(names, ", ")
}

// git runs git in a folder, and returns its output.
func git(root string, args ...string) (string, error) {
	cmd := exec.Command("git", append([]string{"-C", root}, args...)...)
	out, err := cmd.Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		first, _, _ := bytes.Cut(bytes.TrimSpace(failed.Stderr), []byte("\n"))
		return "", fmt.Errorf("git %s: %s", args[0], first)
	}
	return strings.TrimRight(string(out), "\n"), err
}
