package hook

import (
	"path/filepath"

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

// TakeOut returns a settings file's content without the hooks. If the file held nothing else, it
// returns nil.
func (s Settings) TakeOut(data []byte) ([]byte, error) {
	d, err := parseSettings(s.Host, s.Path, data)
	if err != nil {
		return nil, err
	}
	if !d.has(s.Host) {
		return data, nil
	}
	if err := d.uninstall(s.Host); err != nil {
		return nil, err
	}
	after := d.Bytes()
	if settings.SameJSON(after, []byte("{}")) {
		return nil, nil
	}
	return after, nil
}

// command returns the command that the host runs.
func (s Settings) command() string { return s.Program + suffix(s.Host) }

// suffix returns the end of the commands of a host's hooks. The package recognises its hooks by
// this suffix.
func suffix(h Host) string { return " hook --host " + string(h) }
