package hook

import (
	"cmp"
	"os"
	"path/filepath"

	"github.com/memkernel/memkernel/internal/atomicfile"
	"github.com/memkernel/memkernel/internal/settings"
)

// Settings is a host's settings file, and the program that its hooks are to run.
type Settings struct {
	Host Host
	Path string
	// Program is the memkernel program in the form that a shell can run.
	Program string
}

// SettingsPath returns the file in which a host keeps its hooks, below the user's home or a
// project's folder.
func SettingsPath(h Host, dir string) string {
	return filepath.Join(dir, "."+string(h), h.row().settings)
}

// Change is a planned change of a settings file. Nothing is written before Apply.
type Change struct {
	// Path is the file, with links followed.
	Path string
	// Before and After are the bytes of the file. They are nil if there is no file.
	Before, After []byte

	backup            string
	keep, dropsBackup bool
}

// backupSuffix ends the name of the copy of the previous file.
const backupSuffix = ".before-memkernel"

// Install adds the hooks, or updates existing hooks.
func (s Settings) Install() (*Change, error) {
	c, err := s.read()
	if err != nil {
		return nil, err
	}
	had, err := s.Has(c.Before)
	if err != nil {
		return nil, err
	}
	c.keep = !had && c.Before != nil
	c.dropsBackup = !had && c.Before == nil
	c.After, err = s.Add(c.Before)
	return c, err
}

// Uninstall removes the hooks. If a file differs from the kept copy only by the hooks, the copy
// replaces it byte for byte. A file that held only the hooks is removed.
func (s Settings) Uninstall() (*Change, error) {
	c, err := s.read()
	if err != nil || c.Before == nil {
		return c, err
	}
	had, err := s.Has(c.Before)
	if err != nil {
		return nil, err
	}
	if !had {
		c.After = c.Before
		return c, nil
	}
	if c.After, err = s.TakeOut(c.Before); err != nil {
		return nil, err
	}
	c.dropsBackup = true
	return c, nil
}

// Has reports whether a settings file's content has any hook of the host.
func (s Settings) Has(data []byte) (bool, error) {
	d, err := parseSettings(s.Host, s.Path, data)
	return err == nil && d.has(s.Host), err
}

// Add returns a settings file's content with the hooks, up to date.
func (s Settings) Add(data []byte) ([]byte, error) {
	d, err := parseSettings(s.Host, s.Path, data)
	if err != nil {
		return nil, err
	}
	if err := d.install(s.Host, s.command()); err != nil {
		return nil, err
	}
	return d.Bytes(), nil
}

// TakeOut returns a settings file's content without the hooks. If nothing else differs, it
// returns the content that Install kept. If the file held nothing else, it returns nil.
func (s Settings) TakeOut(data []byte) ([]byte, error) {
	d, err := parseSettings(s.Host, s.Path, data)
	if err != nil {
		return nil, err
	}
	if !d.has(s.Host) {
		return data, nil
	}
	if err := d.uninstall(s.Host, false); err != nil {
		return nil, err
	}
	after := d.Bytes()
	old, err := s.kept()
	switch {
	case err != nil:
		return nil, err
	case old == nil && settings.SameJSON(after, []byte("{}")):
		return nil, nil
	case old != nil && settings.SameJSON(without(s.Host, after), without(s.Host, old)):
		return old, nil
	}
	return after, nil
}

// kept returns the content of the file before an Install. It returns nil if no copy was kept.
func (s Settings) kept() ([]byte, error) {
	path, err := settings.Follow(s.Path)
	if err != nil {
		return nil, err
	}
	return settings.Read(path + backupSuffix)
}

// DropKept removes the copy that an Install kept. Callers must remove the hooks first.
func (s Settings) DropKept() error {
	path, err := settings.Follow(s.Path)
	if err != nil {
		return err
	}
	return atomicfile.Remove(path + backupSuffix)
}

// without returns a file without the hooks and without the members that the removal leaves empty.
func without(h Host, data []byte) []byte {
	d, err := parseSettings(h, "", data)
	if err != nil || d.uninstall(h, true) != nil {
		return nil
	}
	return d.Bytes()
}

// command returns the command that the host runs.
func (s Settings) command() string { return s.Program + suffix(s.Host) }

// suffix returns the end of the commands of a host's hooks. The package recognises its hooks by
// this suffix.
func suffix(h Host) string { return " hook --host " + string(h) }

func (s Settings) read() (*Change, error) {
	path, err := settings.Follow(s.Path)
	if err != nil {
		return nil, err
	}
	c := &Change{Path: path, backup: path + backupSuffix}
	c.Before, err = settings.Read(path)
	return c, err
}

// Changed reports whether there is anything to write.
func (c *Change) Changed() bool { return !settings.Same(c.Before, c.After) }

// Apply writes the change. It first writes the copy of the previous content, then the file. Each
// file is written whole or not at all.
func (c *Change) Apply() error {
	if !c.Changed() {
		return nil
	}
	if now, err := settings.Read(c.Path); err != nil || !settings.Same(now, c.Before) {
		return cmp.Or(err, error(&settings.Error{Path: c.Path, Err: settings.ErrChanged}))
	}
	if c.keep {
		st, err := os.Stat(c.Path)
		if err != nil {
			return err
		}
		if err := atomicfile.WriteFile(c.backup, c.Before, st.Mode().Perm()); err != nil {
			return err
		}
	}
	err := settings.Write(c.Path, c.Before, c.After)
	if err == nil && c.dropsBackup {
		err = atomicfile.Remove(c.backup)
	}
	if err == nil && c.After == nil {
		_ = os.Remove(filepath.Dir(c.Path)) // if the host keeps nothing else there
	}
	return err
}
