// Package rendezvous is how the daemon of a state directory is found by who wants to call it,
// and what a process is started as that outlives its parent. It serves nothing, and it
// starts nothing.
package rendezvous

import (
	"crypto/sha256"
	"encoding/hex"
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
	// MaxSocketPath is what every system takes: macOS has room for 104 bytes with the
	// zero behind them.
	MaxSocketPath = 103
	// dialWait bounds a connect: a daemon that hangs is told from none.
	dialWait = 2 * time.Second
)

// Error reports a socket that is there and must not be used.
type Error struct{ Path, Problem string }

func (e *Error) Error() string { return fmt.Sprintf("socket %s: %s", e.Path, e.Problem) }

// Path returns where the daemon of a state directory listens: there, or, where that
// path is too long for a socket, in a folder of the user's own under the runtime
// directory.
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
	sum := sha256.Sum256([]byte(abs))
	path := filepath.Join(base, fmt.Sprintf("memkernel-%d", os.Getuid()), hex.EncodeToString(sum[:8])+".sock")
	if len(path) > MaxSocketPath {
		return "", fmt.Errorf("socket %s: the path is too long for a socket: set XDG_RUNTIME_DIR to a shorter one, or name another --state-dir", path)
	}
	return path, nil
}

// Find connects to the daemon of a state directory, and returns the socket. The error wraps
// fs.ErrNotExist or the system's refusal if none listens; an [*Error] reports something
// there that must not be trusted.
func Find(stateDir string) (nc net.Conn, path string, err error) {
	if path, err = Path(stateDir); err != nil {
		return nil, "", err
	}
	if nc, err = Dial(path); err == nil {
		return nc, path, nil
	}
	// The daemon may have been started where the runtime directory is another.
	if said := recorded(stateDir); said != "" && said != path {
		nc, err = Dial(said)
		return nc, said, err
	}
	return nil, "", err
}

// Dial connects to a socket that is the user's alone.
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

// RecordName is the document of a state directory that names where its daemon listens.
const RecordName = "serve.json"

// Record is what stands in it.
type Record struct {
	Format   int    `json:"format"`
	PID      int    `json:"pid"`
	Protocol int    `json:"protocol"`
	Socket   string `json:"socket"`
}

// recorded returns the socket that the daemon wrote down, "" if it did not.
func recorded(stateDir string) string {
	data, err := store.Files(stateDir).Get(RecordName)
	var r Record
	if err != nil || json.Unmarshal(data, &r) != nil || !filepath.IsAbs(r.Socket) {
		return ""
	}
	return r.Socket
}
