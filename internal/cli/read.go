package cli

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/memkernel/memkernel/internal/config"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel"
)

// userConfig is the user's own configuration file, "" if the system names no folder for such
// files. It applies in every project.
func userConfig() string {
	dir, err := os.UserConfigDir()
	if err != nil || !filepath.IsAbs(dir) {
		return ""
	}
	return filepath.Join(dir, "memkernel", configName)
}

// ProjectConfig is the user's own configuration file for the workspace, "" if the system names no
// folder for such files. It is outside the workspace, so it can't be part of a project by other
// people.
func (s *Settings) ProjectConfig() string {
	own, dir := userConfig(), projectOf(s)
	if own == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(dir))
	return filepath.Join(filepath.Dir(own), "projects", fmt.Sprintf("%s-%x.yaml", filepath.Base(dir), sum[:4]))
}

// Read reads the settings. The user's own files override the defaults: the one for every project,
// and then the one for this project. The file that the user named overrides the user's own files.
// If the user named no file, the file in the state folder does. The file in the state folder may
// be part of a project by other people, see [config.Config.Over].
func (s *Settings) Read() error {
	s.Config, s.ConfigFiles = config.Default(), nil
	if filepath.Clean(s.StateDir) == filepath.Join(s.Workspace, kernel.DefaultStateDir) {
		if _, err := store.FilesIn(s.Workspace, kernel.DefaultStateDir); err != nil {
			return Hint(err, "if you made it so, name the folder that it leads to with --state-dir")
		}
	}
	for _, own := range []string{userConfig(), s.ProjectConfig()} {
		if own == "" {
			continue
		}
		if err := checkOwner(own); err != nil {
			return err
		}
		if err := s.over(own, false); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if s.ConfigPath != "" {
		return s.over(s.ConfigPath, false)
	}
	if _, err := store.Files(s.StateDir).Stat(configName); store.Foreign(err) {
		return Hint(fmt.Errorf("read configuration: %w", err), "name the file with --config if you made it so")
	}
	if err := s.over(filepath.Join(s.StateDir, configName), true); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// over reads a file whose settings override the present settings.
func (s *Settings) over(path string, project bool) error {
	err := s.Config.Over(path, project)
	var mistake *config.Error
	switch {
	case err == nil:
		s.ConfigFiles = append(s.ConfigFiles, path)
		return nil
	case errors.As(err, &mistake) && mistake.Hint != "":
		return Hint(fmt.Errorf("read configuration: %w", err), "%s", mistake.Hint)
	}
	return fmt.Errorf("read configuration: %w", err)
}

// checkOwner returns an error for a file that other users of the machine may have written.
func checkOwner(path string) error {
	i, err := os.Stat(path)
	if err != nil || runtime.GOOS == "windows" || i.Mode().Perm()&0o022 == 0 {
		return nil
	}
	return Hint(fmt.Errorf("read configuration: %s: others may write it (mode %#o)", path, i.Mode().Perm()), "look through it, then say 'chmod 600 %s'", path)
}

// Ignored returns a line that names the ignored settings of the project's own file, "" if no
// setting was ignored.
func (s *Settings) Ignored() string { return s.IgnoredIn("") }

// IgnoredIn is like Ignored, but only for the settings whose names begin with a prefix.
func (s *Settings) IgnoredIn(prefix string) string {
	var keys []string
	for _, i := range s.Config.Ignored() {
		if strings.HasPrefix(i.Key, prefix) {
			keys = append(keys, fmt.Sprintf("%s (line %d)", i.Key, i.Origin.Line))
		}
	}
	if keys == nil {
		return ""
	}
	return fmt.Sprintf("%s: ignored, since a project's own file may trust nobody more than you do: %s", s.Config.Ignored()[0].Origin.File, strings.Join(keys, ", "))
}

// allowIgnored returns a hint for settings that were ignored.
func (s *Settings) allowIgnored() string {
	return fmt.Sprintf("if they are yours, put them into %s for every project, or name the file with --config", userConfig())
}
