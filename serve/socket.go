package serve

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"

	"github.com/memkernel/memkernel/internal/atomicfile"
	"github.com/memkernel/memkernel/internal/rendezvous"
)

// listen listens at the socket of a state directory. The caller must hold the directory's lock,
// so that no other daemon owns an existing socket. listen makes the socket in a folder that only
// the user can open, and moves it to its place when it accepts connections.
func listen(stateDir string) (net.Listener, string, error) {
	path, err := rendezvous.Path(stateDir)
	if err != nil {
		return nil, "", err
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, "", fmt.Errorf("make socket folder: %w", err)
	}
	if err := rendezvous.OwnFolder(dir); err != nil {
		return nil, "", err
	}
	if fi, err := os.Lstat(path); err == nil && fi.Mode().Type() != fs.ModeSocket {
		return nil, "", &rendezvous.Error{Path: path, Problem: "there is a file that is no socket: move it away"}
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

// clearAside removes the files of daemons that were killed while they started.
func clearAside(stateDir string) {
	left, _ := filepath.Glob(filepath.Join(stateDir, asideName+"*")) // the pattern is good
	for _, dir := range left {
		os.RemoveAll(dir)
	}
}

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

// shorten returns a path of a folder that has room for a socket's name. If the folder's own path
// is too long, the returned path is a link to the folder among the temporary files.
func shorten(dir string) (short string, done func(), err error) {
	if len(dir)+len("/s") <= rendezvous.MaxSocketPath {
		return dir, func() {}, nil
	}
	tmp, err := os.MkdirTemp("", "mk")
	if err != nil {
		return "", nil, err
	}
	short = filepath.Join(tmp, "d")
	return short, func() { os.RemoveAll(tmp) }, os.Symlink(dir, short)
}
