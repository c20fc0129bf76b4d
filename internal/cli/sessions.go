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

// pastSessions are the settings of past sessions as the kernel takes them.
func pastSessions(s *config.Sessions) kernel.SessionOptions {
	o := kernel.SessionOptions{Enabled: s.Enabled, DeltaBytes: int64(s.DeltaBytes), DeltaMessages: s.DeltaMessages}
	for _, f := range s.Folders {
		agent, path, ok := strings.Cut(f, "=")
		if !ok || strings.ContainsAny(agent, `/\`) {
			agent, path = "", f
		}
		o.Sources = append(o.Sources, sessions.Source{Path: path, Agent: agent})
	}
	return o
}

// inWorkspace is a folder as the configuration names it: relative to the workspace,
// or to the user's home where it begins with ~/.
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

// within tells whether a path leads into a folder, links followed as far as they are
// there.
func within(folder, path string) (bool, error) {
	root, err := followed(folder)
	if err != nil {
		return false, err
	}
	to, err := followed(path)
	if err != nil {
		return false, err
	}
	rel, err := filepath.Rel(root, to)
	return err == nil && filepath.IsLocal(rel), nil
}

// followed is a path with its links followed; what is not there yet stands as it is.
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
