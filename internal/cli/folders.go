package cli

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/internal/atomicfile"
	"github.com/memkernel/memkernel/internal/config"
	edits "github.com/memkernel/memkernel/internal/settings"
)

// FolderPath returns the folder of an entry of index.folders.
func (s *Settings) FolderPath(entry string) string {
	_, path := config.FolderOf(entry)
	return s.inWorkspace(path)
}

// SetFolders replaces the value of index.folders, which must be had, by folders, and reads the
// settings again. It writes to the file that the user named, or else to the user's own file for this
// project, because a project's own file can't name folders. It returns the path of that file. If
// another process has changed the file or the folders, SetFolders changes nothing and returns
// [settings.ErrChanged].
func (s *Settings) SetFolders(had, folders []string) (path string, err error) {
	if err := NotInRows(s, "index.folders are folders of this machine"); err != nil {
		return "", err
	}
	if path = cmp.Or(s.ConfigPath, s.ProjectConfig()); path == "" {
		return "", Hint(errors.New("this system names no folder for configuration"), "name a file with --config")
	}
	value := config.List(folders)
	if _, err := config.Read(strings.NewReader("index: {folders: "+value+"}"), path); err != nil {
		if mistake := (*config.Error)(nil); errors.As(err, &mistake) && mistake.Hint != "" {
			return path, Hint(mistake.Err, "%s", mistake.Hint)
		}
		return path, err
	}
	before, err := edits.Read(path)
	if err != nil {
		return path, err
	}
	if err := s.Read(); err != nil {
		return path, err
	}
	if !slices.Equal(s.Config.Index.Folders, had) {
		return path, edits.ErrChanged
	}
	text := before
	if text == nil {
		text = projectHead(s)
	}
	text, err = config.Put(text, path, "index.folders", value)
	if err == nil {
		_, err = atomicfile.MkdirAll(filepath.Dir(path), 0o700)
	}
	if err == nil {
		err = edits.Write(path, before, text)
	}
	if err == nil {
		err = s.Read()
	}
	return path, err
}

// projectHead returns the first line of the user's own configuration of a project.
func projectHead(s *Settings) []byte {
	return fmt.Appendf(nil, "# memkernel's settings for the project %q alone; doc/config.md has all settings.\n", projectOf(s))
}

// OnlyFolders reports whether a text of the user's own configuration of the project is what memkernel
// writes for added folders, without any other setting or comment.
func (s *Settings) OnlyFolders(text []byte) bool {
	path := s.ProjectConfig()
	c, err := config.Read(bytes.NewReader(text), path)
	if err != nil {
		return false
	}
	own, err := config.Put(projectHead(s), path, "index.folders", config.List(c.Index.Folders))
	return err == nil && bytes.Equal(own, text)
}

func projectOf(s *Settings) string {
	if dir, err := filepath.Abs(s.Workspace); err == nil {
		return dir
	}
	return s.Workspace
}
