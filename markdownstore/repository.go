package markdownstore

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/memkernel/memkernel/internal/textutil"
)

// repositoryRules returns the ignore rules of the git repository that contains a workspace, the weakest
// first: .git/info/exclude, then the .gitignore files of the folders from the repository's root to the
// parent of the workspace. Outside a repository it returns none. Rules that ignore the workspace itself
// have no effect, because the user has chosen that folder.
func repositoryRules(workspace string) []*textutil.Ignore {
	root, exclude, ok := repository(workspace)
	if !ok {
		return nil
	}
	rules := addRules(nil, "", exclude)
	rel, err := filepath.Rel(root, workspace)
	if err != nil || rel == "." {
		return rules
	}
	dir, hidden := "", false
	var folders []string
	for name := range strings.SplitSeq(filepath.ToSlash(rel), "/") {
		rules = addRules(rules, dir, filepath.Join(root, dir, ".gitignore"))
		dir = path.Join(dir, name)
		folders = append(folders, dir)
		hidden = hidden || isIgnored(rules, dir, true)
	}
	if !hidden {
		folders = nil
	}
	for i, r := range rules {
		rules[i] = r.Within(dir, folders)
	}
	return rules
}

// repository finds the root of the repository that a folder is in, and its exclude file.
func repository(folder string) (root, exclude string, ok bool) {
	for dir := folder; ; dir = filepath.Dir(dir) {
		git := filepath.Join(dir, ".git")
		if fi, err := os.Stat(git); err == nil {
			if !fi.IsDir() {
				git = linked(git)
			}
			return dir, filepath.Join(git, "info", "exclude"), true
		}
		if dir == filepath.Dir(dir) {
			return "", "", false
		}
	}
}

// linked returns the git directory that the .git file of a worktree or a submodule names. For a
// worktree it returns the directory of the main worktree.
func linked(file string) string {
	name, _ := strings.CutPrefix(readRules(file), "gitdir:")
	git := beside(filepath.Dir(file), name)
	if common := readRules(filepath.Join(git, "commondir")); common != "" {
		return beside(git, common)
	}
	return git
}

// beside joins a path with the folder to which it is relative. An absolute path stays as it is.
func beside(dir, name string) string {
	name = filepath.FromSlash(strings.TrimSpace(name))
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}

func addRules(rules []*textutil.Ignore, dir, file string) []*textutil.Ignore {
	if text := readRules(file); text != "" {
		rules = append(rules, textutil.ParseIgnore(dir, text))
	}
	return rules
}

// readRules returns the content of a small regular file, or "" if it can't be read.
func readRules(file string) string {
	if fi, err := os.Stat(file); err != nil || !fi.Mode().IsRegular() || fi.Size() > maxIgnore {
		return ""
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	return string(data)
}

// remoteURL matches the URL of a remote in a git configuration. Its group is the repository's name.
var remoteURL = regexp.MustCompile(`(?m)^\s*url\s*=\s*\S*?([^/:\s]+?)(?:\.git)?/?\s*$`)

// ProjectNames returns the names that notes may use for the project in a folder: the names of the
// folder and of its parents, and the names of the git repository that the folder is in.
func ProjectNames(folder string) []string {
	abs, err := filepath.Abs(folder)
	if err != nil {
		return nil
	}
	out := strings.Split(filepath.ToSlash(abs), "/")
	_, exclude, ok := repository(abs)
	if !ok {
		return out
	}
	git := filepath.Dir(filepath.Dir(exclude))
	out = append(out, filepath.Base(filepath.Dir(git)))
	for _, m := range remoteURL.FindAllStringSubmatch(readRules(filepath.Join(git, "config")), -1) {
		out = append(out, m[1])
	}
	return out
}
