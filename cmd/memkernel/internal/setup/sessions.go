package setup

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/memkernel/memkernel/cmd/memkernel/internal/fail"
	"github.com/memkernel/memkernel/internal/config"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/editing"
	"github.com/memkernel/memkernel/sessions"
)

// pastSessions are the settings of past sessions as the kernel takes them.
func pastSessions(s *config.Sessions) kernel.SessionOptions {
	o := kernel.SessionOptions{Enabled: s.Enabled, NoOwn: !s.Own, Agent: s.Agent, DeltaBytes: int64(s.DeltaBytes), DeltaMessages: s.DeltaMessages, Settle: time.Duration(s.Settle)}
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

// trustFolder refuses to read transcripts outside the workspace on the word of the state
// folder's own file: the conversations of other projects would be found in this one.
func (s *Settings) trustFolder(path string) error {
	if s.ConfigPath != "" || !s.Config.Retrieval.Sessions.Enabled {
		return nil
	}
	const key = "retrieval.sessions.folders"
	inside, err := within(s.Workspace, path)
	if err != nil || inside {
		return err
	}
	return fail.Hint(fmt.Errorf("%s: %s: %s is outside the workspace, and this file may have come with the project", s.Config.Origin(key), key, path),
		"if you want that, say so by --config %s", cmp.Or(s.ConfigFile, "FILE"))
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

// trustEdits refuses to let agents change what people wrote on the word of the state folder's
// own file.
func (s *Settings) trustEdits() error {
	const key = "workspace.agent_edits"
	if s.ConfigPath != "" || editing.Rule(s.Config.Workspace.AgentEdits) != editing.Any {
		return nil
	}
	return fail.Hint(fmt.Errorf("%s: %s is any, and this file may have come with the project", s.Config.Origin(key), key),
		"if agents are to change what people wrote, say so by --config %s", cmp.Or(s.ConfigFile, "FILE"))
}
