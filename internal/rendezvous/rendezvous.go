// Package rendezvous has the socket at which the daemon of a state directory and its clients meet,
// and the process attributes for a program that must outlive its parent. It serves nothing and
// starts nothing.
package rendezvous

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/memkernel/memkernel/internal/atomicfile"
	"github.com/memkernel/memkernel/internal/store"
)

const (
	// socketName is the socket in a state directory whose path is short enough.
	socketName = "serve.sock"
	// maxSocketPath is the longest socket path that every system accepts: macOS has room for 104
	// bytes including the terminating zero.
	maxSocketPath = 103
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
	if path := filepath.Join(abs, socketName); len(path) <= maxSocketPath {
		return path, nil
	}
	base := os.Getenv("XDG_RUNTIME_DIR")
	if base == "" {
		base = os.TempDir()
	}
	path := filepath.Join(base, fmt.Sprintf("memkernel-%d", os.Getuid()), store.Sum([]byte(abs))[:16]+".sock")
	if len(path) > maxSocketPath {
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
	if err := ownFolder(filepath.Dir(path)); err != nil {
		return nil, err
	}
	return net.DialTimeout("unix", path, dialWait)
}

// recordName is the file in a state directory that names the socket of its daemon.
const recordName = "serve.json"

// record is the content of the file recordName.
type record struct {
	Format   int    `json:"format"`
	PID      int    `json:"pid"`
	Protocol int    `json:"protocol"`
	Socket   string `json:"socket"`
}

// recorded returns the socket that the daemon recorded, "" if there is no record.
func recorded(stateDir string) string {
	data, err := store.Files(stateDir).Get(recordName)
	var r record
	if err != nil || json.Unmarshal(data, &r) != nil || !filepath.IsAbs(r.Socket) {
		return ""
	}
	return r.Socket
}

// Listen listens at the socket of a state directory, and records the socket and the version of the
// protocol. The caller must hold the directory's lock, so that no other daemon owns an existing
// socket. Listen makes the socket in a folder that only the user can open, and moves it to its
// place when it accepts connections.
func Listen(stateDir string, protocol int) (net.Listener, string, error) {
	path, err := Path(stateDir)
	if err != nil {
		return nil, "", err
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, "", fmt.Errorf("make socket folder: %w", err)
	}
	if err := ownFolder(dir); err != nil {
		return nil, "", err
	}
	if fi, err := os.Lstat(path); err == nil && fi.Mode().Type() != fs.ModeSocket {
		return nil, "", &Error{path, "there is a file that is no socket: move it away"}
	}
	left, _ := filepath.Glob(filepath.Join(stateDir, asideName+"*")) // the pattern is valid
	for _, dir := range left {
		os.RemoveAll(dir) // a daemon that was killed during its start left it
	}
	l, err := listenAside(dir, path)
	if err != nil {
		return nil, "", fmt.Errorf("listen at %s: %w", path, err)
	}
	said, err := json.Marshal(record{Format: 1, PID: os.Getpid(), Protocol: protocol, Socket: path})
	if err == nil {
		_, err = store.Files(stateDir).Put(store.Synced, store.Doc{Name: recordName, Data: append(said, '\n')})
	}
	if err != nil {
		l.Close()
		os.Remove(path)
		return nil, "", err
	}
	return l, path, nil
}

// asideName begins the names of folders in which sockets are made.
const asideName = ".serve-"

func listenAside(dir, path string) (net.Listener, error) {
	// A longer name would make the path too long.
	aside, err := os.MkdirTemp(dir, asideName)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(aside)
	short, done, err := shorten(aside)
	if err != nil {
		return nil, err
	}
	defer done()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(short, "s"), Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false)
	err = os.Chmod(filepath.Join(aside, "s"), 0o600)
	if err == nil {
		err = atomicfile.Rename(filepath.Join(aside, "s"), path)
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// shorten returns a path of a folder to which a socket's name can be added. If the folder's own path
// is too long, it makes a link to the folder in the system's temporary folder, and returns the
// link's path. Callers must call done, which removes the link.
func shorten(dir string) (short string, done func(), err error) {
	if len(dir)+len("/s") <= maxSocketPath {
		return dir, func() {}, nil
	}
	tmp, err := os.MkdirTemp("", "mk")
	if err != nil {
		return "", nil, err
	}
	short = filepath.Join(tmp, "d")
	return short, func() { os.RemoveAll(tmp) }, os.Symlink(dir, short)
}
