package markdownstore

import (
	"path/filepath"
	"regexp"
	"strings"
)

// remoteURL is the address of a remote in a git configuration.
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
