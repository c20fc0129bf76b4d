package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/memkernel/memkernel/internal/atomicfile"
	"github.com/memkernel/memkernel/internal/config"
)

// FolderPath returns the folder of an entry of index.folders.
func (s *Settings) FolderPath(entry string) string {
	_, path := config.FolderOf(entry)
	return s.inWorkspace(path)
}

// SetFolders makes folders the value of index.folders, and reads the settings again. It writes to
// the file that the user named, or to the user's own file for this project, since a project's own
// file can't name folders. It returns the file.
func (s *Settings) SetFolders(folders []string) (path string, err error) {
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
	mode := fs.FileMode(0o600)
	text, err := os.ReadFile(path)
	if st, statErr := os.Stat(path); statErr == nil {
		mode = st.Mode().Perm()
	}
	if errors.Is(err, fs.ErrNotExist) {
		text, err = fmt.Appendf(nil, "# memkernel's settings for the project %q alone; doc/config.md has all settings.\n", projectOf(s)), nil
	}
	if err == nil {
		text, err = config.Put(text, path, "index.folders", value)
	}
	if err == nil {
		err = atomicfile.MkdirAll(filepath.Dir(path), 0o700)
	}
	if err == nil {
		err = atomicfile.WriteFile(path, text, mode)
	}
	if err == nil {
		err = s.Read()
	}
	return path, err
}

func projectOf(s *Settings) string {
	if dir, err := filepath.Abs(s.Workspace); err == nil {
		return dir
	}
	return s.Workspace
}
