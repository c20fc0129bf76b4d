// Package rendezvous finds the daemon of a state directory for its clients, and has the process
// attributes for a program that must outlive its parent. It serves nothing and starts nothing.
package rendezvous

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/memkernel/memkernel/internal/store"
)

const (
	// socketName is the socket in a state directory whose path is short enough.
	socketName = "serve.sock"
	// MaxSocketPath is the longest socket path that every system accepts: macOS has room for 104
	// bytes including the terminating zero.
	MaxSocketPath = 103
	// dialWait bounds a connect, so that a daemon that hangs is reported as an error.
	dialWait = 2 * time.Second
)

// Error reports a socket that exists and must not be used.
type Error struct{ Path, Problem string }

func (e *Error) Error() string { return fmt.Sprintf("socket %s: %s", e.Path, e.Problem) }

// Path returns the socket on which the daemon of a state directory listens. The socket is in the
// state directory. If that path is too long for a socket, it is in the user's own folder under
// the runtime directory.
func Path(stateDir string) (string, error) {
	abs, err := filepath.Abs(stateDir)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err != nil {
		return "", fmt.Errorf("find state directory: %w", err)
	}
	if path := filepath.Join(abs, socketName); len(path) <= MaxSocketPath {
		return path, nil
	}
	base := os.Getenv("XDG_RUNTIME_DIR")
	if base == "" {
		base = os.TempDir()
	}
	path := filepath.Join(base, fmt.Sprintf("memkernel-%d", os.Getuid()), store.Sum([]byte(abs))[:16]+".sock")
	if len(path) > MaxSocketPath {
		return "", fmt.Errorf("socket %s: the path is too long for a socket: set XDG_RUNTIME_DIR to a shorter one, or name another --state-dir", path)
	}
	return path, nil
}

// Find connects to the daemon of a state directory, and returns the socket. If no daemon listens,
// the error wraps fs.ErrNotExist or the system's refusal. An [*Error] means that callers must not
// trust the file at that path.
func Find(stateDir string) (nc net.Conn, path string, err error) {
	if path, err = Path(stateDir); err != nil {
		return nil, "", err
	}
	if nc, err = Dial(path); err == nil {
		return nc, path, nil
	}
	// The daemon may have been started with another runtime directory.
	if said := recorded(stateDir); said != "" && said != path {
		nc, err = Dial(said)
		return nc, said, err
	}
	return nil, "", err
}

// Dial connects to a socket. It returns an [*Error] if the path is a link or no socket, or if
// other users may use it.
func Dial(path string) (net.Conn, error) {
	fi, err := os.Lstat(path)
	switch {
	case err != nil:
		return nil, err
	case fi.Mode().Type() == fs.ModeSymlink:
		return nil, &Error{path, "it is a link, and may lead to somebody else's: remove it"}
	case fi.Mode().Type() != fs.ModeSocket:
		return nil, &Error{path, "it is no socket: move it away"}
	}
	if err := ownFile(path, fi); err != nil {
		return nil, err
	}
	if err := OwnFolder(filepath.Dir(path)); err != nil {
		return nil, err
	}
	return net.DialTimeout("unix", path, dialWait)
}

// RecordName is the file in a state directory that names the socket of its daemon.
const RecordName = "serve.json"

// Record is the content of the file RecordName.
type Record struct {
	Format   int    `json:"format"`
	PID      int    `json:"pid"`
	Protocol int    `json:"protocol"`
	Socket   string `json:"socket"`
}

// recorded returns the socket that the daemon recorded, "" if there is no record.
func recorded(stateDir string) string {
	data, err := store.Files(stateDir).Get(RecordName)
	var r Record
	if err != nil || json.Unmarshal(data, &r) != nil || !filepath.IsAbs(r.Socket) {
		return ""
	}
	return r.Socket
}
