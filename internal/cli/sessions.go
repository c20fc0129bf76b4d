package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/memkernel/memkernel/internal/config"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/sessions"
)

// pastSessions returns the settings of past sessions in the kernel's form.
func pastSessions(c *config.Config) kernel.PastOptions {
	s := &c.Retrieval.Sessions
	o := kernel.PastOptions{Enabled: s.Enabled, DeltaBytes: int64(s.DeltaBytes)}
	for _, f := range s.Folders {
		agent, path, ok := strings.Cut(f, "=")
		if !ok || strings.ContainsAny(agent, `/\`) {
			agent, path = "", f
		}
		o.Sources = append(o.Sources, sessions.Source{Path: path, Agent: agent})
	}
	return o
}

// inWorkspace returns the folder for a path in the configuration. A relative path is relative to
// the workspace, or to the user's home if it begins with ~/.
func (s *Settings) inWorkspace(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, rest)
		}
	}
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(s.Workspace, path)
}

// Within reports whether a path leads into a folder. It follows the links that exist.
func Within(folder, path string) (bool, error) {
	rel, err := within(folder, path)
	return filepath.IsLocal(rel), err
}

// within returns a path relative to a folder, with the links resolved that exist, "" if there is
// no way from the folder.
func within(folder, path string) (string, error) {
	root, err := followed(folder)
	if err != nil {
		return "", err
	}
	to, err := followed(path)
	if err != nil {
		return "", err
	}
	rel, _ := filepath.Rel(root, to)
	return rel, nil
}

// followed returns a path with its links resolved. The part that does not exist yet stays
// unchanged.
func followed(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	to, err := filepath.EvalSymlinks(abs)
	if errors.Is(err, fs.ErrNotExist) {
		dir, name := filepath.Split(abs)
		if dir = filepath.Clean(dir); dir == abs {
			return abs, nil
		}
		dir, err = followed(dir)
		return filepath.Join(dir, name), err
	}
	return to, err
}
