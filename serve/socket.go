package serve

import (
	"crypto/sha256"
	"encoding/hex"
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
	// maxSocketPath is what every system takes: macOS has room for 104 bytes with the
	// zero behind them.
	maxSocketPath = 103
	// dialWait bounds a connect: a daemon that hangs is told from none.
	dialWait = 2 * time.Second
)

// socketError reports a socket that is there and must not be used.
type socketError struct{ Path, Problem string }

func (e *socketError) Error() string { return fmt.Sprintf("socket %s: %s", e.Path, e.Problem) }

// socketPath returns where the daemon of a state directory listens: there, or, where that
// path is too long for a socket, in a folder of the user's own under the runtime
// directory.
func socketPath(stateDir string) (string, error) {
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
	sum := sha256.Sum256([]byte(abs))
	path := filepath.Join(base, fmt.Sprintf("memkernel-%d", os.Getuid()), hex.EncodeToString(sum[:8])+".sock")
	if len(path) > maxSocketPath {
		return "", fmt.Errorf("socket %s: the path is too long for a socket: set XDG_RUNTIME_DIR to a shorter one, or name another --state-dir", path)
	}
	return path, nil
}

// listen listens at the socket of a state directory whose lock the caller holds, so
// that whatever is there is nobody's. The socket appears at its place when it
// can be connected to and nobody else can open it: it is made in a folder that is the
// user's alone, and moved.
func listen(stateDir string) (net.Listener, string, error) {
	path, err := socketPath(stateDir)
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
		return nil, "", &socketError{path, "there is a file that is no socket: move it away"}
	}
	clearAside(stateDir)
	l, err := listenAside(dir, path)
	if err != nil {
		return nil, "", fmt.Errorf("listen at %s: %w", path, err)
	}
	return l, path, nil
}

// asideName begins the names of folders in which sockets are made.
const asideName = ".serve-"

// clearAside removes what a daemon that was killed while it began left behind.
func clearAside(stateDir string) {
	left, _ := filepath.Glob(filepath.Join(stateDir, asideName+"*")) // the pattern is good
	for _, dir := range left {
		os.RemoveAll(dir)
	}
}

func listenAside(dir, path string) (net.Listener, error) {
	// A name of its own length would make the path too long.
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

// shorten gives a folder a path that has room for a socket's name: where its own has
// not, a link to it among the temporary files.
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

// Dial connects to the daemon of a state directory. The error wraps fs.ErrNotExist or
// the system's refusal if none listens; a *socketError reports something there
// that must not be trusted.
func Dial(stateDir string) (net.Conn, error) {
	nc, _, err := find(stateDir)
	return nc, err
}

// find is Dial that also gives the socket.
func find(stateDir string) (nc net.Conn, path string, err error) {
	if path, err = socketPath(stateDir); err != nil {
		return nil, "", err
	}
	if nc, err = dial(path); err == nil {
		return nc, path, nil
	}
	// The daemon may have been started where the runtime directory is another.
	if said := recorded(stateDir); said != "" && said != path {
		nc, err = dial(said)
		return nc, said, err
	}
	return nil, "", err
}

func dial(path string) (net.Conn, error) {
	fi, err := os.Lstat(path)
	switch {
	case err != nil:
		return nil, err
	case fi.Mode().Type() == fs.ModeSymlink:
		return nil, &socketError{path, "it is a link, and may lead to somebody else's: remove it"}
	case fi.Mode().Type() != fs.ModeSocket:
		return nil, &socketError{path, "it is no socket: move it away"}
	}
	if err := ownFile(path, fi); err != nil {
		return nil, err
	}
	if err := ownFolder(filepath.Dir(path)); err != nil {
		return nil, err
	}
	return net.DialTimeout("unix", path, dialWait)
}

// recorded returns the socket that the daemon wrote down, "" if it did not.
func recorded(stateDir string) string {
	data, err := store.Files(stateDir).Get(recordName)
	var r record
	if err != nil || json.Unmarshal(data, &r) != nil || !filepath.IsAbs(r.Socket) {
		return ""
	}
	return r.Socket
}
