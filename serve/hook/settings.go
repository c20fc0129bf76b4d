package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"

	"github.com/memkernel/memkernel/internal/atomicfile"
)

// Settings is a host's settings file, and the program that its hooks are to run.
type Settings struct {
	Host Host
	Path string
	// Program is memkernel as a shell finds it.
	Program string
}

// SettingsPath returns where a host keeps its hooks, below the user's home or a project's
// folder.
func SettingsPath(h Host, dir string) string {
	return filepath.Join(dir, "."+string(h), h.row().settings)
}

// Change is what would become of a settings file. Nothing is written before Apply.
type Change struct {
	// Path is the file, with links followed.
	Path string
	// Before and After are its bytes; nil where there is no file.
	Before, After []byte

	backup            string
	keep, dropsBackup bool
}

// SettingsError describes why a settings file was left alone, and where.
type SettingsError struct {
	Path string
	// Line is 1-based, 0 if it is no matter of a line.
	Line int
	Err  error
}

func (e *SettingsError) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("%s:%d: %v", e.Path, e.Line, e.Err)
	}
	return fmt.Sprintf("%s: %v", e.Path, e.Err)
}

func (e *SettingsError) Unwrap() error { return e.Err }

// backupSuffix is behind the name of what was there before.
const backupSuffix = ".before-memkernel"

// Install adds the hooks, or brings those that are there up to date.
func (s Settings) Install() (*Change, error) {
	c, err := s.read()
	if err != nil {
		return nil, err
	}
	d, err := parseSettings(c.Path, c.Before)
	if err != nil {
		return nil, err
	}
	c.keep = !d.has(s.Host) && c.Before != nil
	c.dropsBackup = !d.has(s.Host) && c.Before == nil
	if err := d.install(s.Host, s.command()); err != nil {
		return nil, err
	}
	c.After = d.bytes()
	return c, nil
}

// Uninstall takes the hooks out. A file that differs from what was there before by
// the hooks alone becomes that, byte for byte; one that only held them goes.
func (s Settings) Uninstall() (*Change, error) {
	c, err := s.read()
	if err != nil || c.Before == nil {
		return c, err
	}
	d, err := parseSettings(c.Path, c.Before)
	if err != nil {
		return nil, err
	}
	if !d.has(s.Host) {
		c.After = c.Before
		return c, nil
	}
	if err := d.uninstall(s.Host, false); err != nil {
		return nil, err
	}
	c.After, c.dropsBackup = d.bytes(), true
	old, err := os.ReadFile(c.backup)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if sameJSON(c.After, []byte("{}")) {
			c.After = nil
		}
	case err != nil:
		return nil, err
	case sameJSON(without(s.Host, c.After), without(s.Host, old)):
		c.After = old
	}
	return c, nil
}

// without returns a file less the hooks and what is empty without them.
func without(h Host, data []byte) []byte {
	d, err := parseSettings("", data)
	if err != nil || d.uninstall(h, true) != nil {
		return nil
	}
	return d.bytes()
}

// sameJSON reports whether two documents have the same content.
func sameJSON(a, b []byte) bool {
	read := func(data []byte) (v any, err error) {
		dec := json.NewDecoder(bytes.NewReader(data))
		dec.UseNumber()
		return v, dec.Decode(&v)
	}
	x, errX := read(a)
	y, errY := read(b)
	return errX == nil && errY == nil && reflect.DeepEqual(x, y)
}

// command returns what the host runs.
func (s Settings) command() string { return s.Program + suffix(s.Host) }

// suffix returns what the commands of a host's hooks end with, by which they are known
// again.
func suffix(h Host) string { return " hook --host " + string(h) }

// maxSettings is the largest settings file that is edited, in bytes.
const maxSettings = 16 << 20 // 16 MiB

func (s Settings) read() (*Change, error) {
	c := &Change{Path: s.Path}
	if real, err := filepath.EvalSymlinks(s.Path); err == nil {
		c.Path = real // the link stays, the file behind it is replaced
	}
	c.backup = c.Path + backupSuffix
	st, err := os.Stat(c.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	switch {
	case err != nil:
		return nil, err
	case !st.Mode().IsRegular() || st.Size() > maxSettings:
		return nil, &SettingsError{Path: c.Path, Err: fmt.Errorf("it is no file, or larger than %d bytes", maxSettings)}
	}
	if c.Before, err = os.ReadFile(c.Path); c.Before == nil {
		c.Before = []byte{}
	}
	return c, err
}

// Changed reports whether there is anything to write.
func (c *Change) Changed() bool {
	return (c.Before == nil) != (c.After == nil) || !bytes.Equal(c.Before, c.After)
}

// ErrChanged is returned where a file was written to between the look and the write.
var ErrChanged = errors.New("the file was changed meanwhile: run it again")

// Apply writes the change: first what was there before, then the file, each whole
// or not at all.
func (c *Change) Apply() error {
	if !c.Changed() {
		return nil
	}
	perm := fs.FileMode(0o600)
	if st, err := os.Stat(c.Path); err == nil {
		perm = st.Mode().Perm()
	}
	now, err := os.ReadFile(c.Path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if !bytes.Equal(now, c.Before) {
		return &SettingsError{Path: c.Path, Err: ErrChanged}
	}
	if err := atomicfile.MkdirAll(filepath.Dir(c.Path), 0o755); err != nil {
		return err
	}
	if c.keep {
		if err := atomicfile.WriteFile(c.backup, c.Before, perm); err != nil {
			return err
		}
	}
	if c.After == nil {
		err = atomicfile.Remove(c.Path)
	} else {
		err = atomicfile.WriteFile(c.Path, c.After, perm)
	}
	if err == nil && c.dropsBackup {
		err = atomicfile.Remove(c.backup)
	}
	return err
}
