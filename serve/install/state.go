package install

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel/internal/rendezvous"
	"github.com/memkernel/memkernel/internal/settings"
	"github.com/memkernel/memkernel/internal/store"
)

// stateNames are the prefixes of the names in a state directory, without the configuration.
var stateNames = []string{".gitignore", ".mk~", ".serve-", "backups", "blobs", "calibration.json", "config.lock", "derived.json", "embedding-", "ended", "gain", "habits.json", "hook", "import", "index.", "install.", "jobs.jsonl", "left_out.json", "markdown.lock", "moving.json", "nightly.lock", "project", "proxies", "retain.lock", "serve", "sessions", "shared_notes.json", "summary", "sync.json", "tmp", "tokens", "transcripts", "vectors", "workspace"}

// StateFiles lists the names in the state directory. own are memkernel's own files. others are
// the files that stay, such as the configuration.
func (in *Installer) StateFiles() (own, others []string, err error) {
	entries, err := in.State.List("")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	for _, e := range entries {
		if slices.ContainsFunc(stateNames, func(p string) bool { return strings.HasPrefix(e.Name, p) }) {
			own = append(own, e.Name)
		} else {
			others = append(others, e.Name)
		}
	}
	return own, others, err
}

// StateAround returns the changes outside the state directory that belong to the removal of the
// state. Without write it does not make them. SESSION-STATE.md and the user's configuration of the
// project are removed if only the program wrote to them. kept is that configuration if a person
// wrote to it, or "".
func (in *Installer) StateAround(write bool) (out []Change, kept string, err error) {
	drop := func(path string, own func([]byte) bool) (theirs bool) {
		data, bad := settings.Read(path)
		if path == "" || bad != nil || data == nil {
			return false
		}
		if !own(data) {
			return true
		}
		c := Change{Path: path, Action: remove, Adds: []string{}, ByHand: []string{}}
		if write {
			bad = settings.Write(path, data, nil)
			c.Done, err = bad == nil, errors.Join(err, bad)
		}
		out = append(out, c)
		return false
	}
	drop(filepath.Join(in.Workspace, "SESSION-STATE.md"), func(text []byte) bool { return in.OwnState(string(text)) })
	if drop(in.Project, in.OwnProject) {
		return out, in.Project, err
	}
	for dir := filepath.Dir(in.Project); write && in.Project != "" && os.Remove(dir) == nil; dir = filepath.Dir(dir) {
		if filepath.Base(dir) == "memkernel" { // the folders above are not the program's
			break
		}
	}
	return out, "", err
}

// daemonLock is the lock that a running 'memkernel serve' holds.
const daemonLock = "serve.lock"

// lockWait is how long RemoveState waits for a daemon that is ending.
const lockWait = time.Second

// RemoveState removes memkernel's own files in the state directory, and the directory if nothing
// else is in it. RemoveState fails while the record names a host's file, so callers must call
// TakeOut first.
func (in *Installer) RemoveState() error {
	// A daemon that was just killed holds its lock until the system has closed its files.
	ctx, cancel := context.WithTimeout(context.Background(), lockWait)
	defer cancel()
	release, err := store.Wait(ctx, in.State, daemonLock, store.Alone)
	if errors.Is(err, context.DeadlineExceeded) {
		return errors.New("a daemon serves this folder: end the hosts that use it, or 'memkernel serve', first")
	}
	if err != nil {
		return err
	}
	defer release()
	r, err := readRecord(in.State)
	if err != nil {
		return err
	}
	if len(r.Files) > 0 {
		return fmt.Errorf("%s is needed to put back %s: take memkernel out of it first", in.State.Where(recordName), r.Files[0].Path)
	}
	own, others, err := in.StateFiles()
	if err != nil {
		return err
	}
	socket, err := rendezvous.Path(in.State.Where(""))
	if err == nil && filepath.Dir(socket) != in.State.Where("") {
		_ = os.Remove(socket)               // a daemon that was killed left it
		_ = os.Remove(filepath.Dir(socket)) // if no other workspace's socket is in it
	}
	if _, err := in.State.Remove(store.Synced, own...); err != nil || len(others) > 0 {
		return err
	}
	if err := os.Remove(in.State.Where("")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
