package cli

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/memkernel/memkernel/internal/config"
	edits "github.com/memkernel/memkernel/internal/settings"
)

// A folder that one terminal added is not lost if another one adds a folder at the same time.
func TestSetFoldersTogether(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "config"))
	open := func() *Settings {
		s := &Settings{Workspace: dir, StateDir: filepath.Join(dir, ".memkernel"), Config: config.Default()}
		if err := s.Read(); err != nil {
			t.Fatal(err)
		}
		return s
	}
	one, two := open(), open()
	if _, err := one.SetFolders(nil, []string{"/first"}); err != nil {
		t.Fatal(err)
	}
	if _, err := two.SetFolders(nil, []string{"/second"}); !errors.Is(err, edits.ErrChanged) {
		t.Errorf("the second says %v", err)
	}
	if now := open().Config.Index.Folders; !slices.Equal(now, []string{"/first"}) {
		t.Errorf("folders are %v", now)
	}
}
