package install

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/internal/store"
)

// configName is the workspace's own configuration.
const configName = "config.yaml"

// stateNames are what names in a state directory begin with, but for the configuration.
var stateNames = []string{".gitignore", ".mk~", "backups", "blobs", "calibration.json", "config.lock", "embedding-", "hook", "index.", "install.", "left_out.json", "markdown.lock", "project", "serve", "sessions", "summary", "sync.json", "transcripts", "workspace"}

// StateFiles lists the names in the state directory: those that are memkernel's own, and
// those that stay, as a configuration does that a person wrote or changed.
func (in *Installer) StateFiles() (own, others []string, err error) {
	entries, err := in.State.List("")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	for _, e := range entries {
		if slices.ContainsFunc(stateNames, func(p string) bool { return strings.HasPrefix(e.Name, p) }) || e.Name == configName && in.settled() {
			own = append(own, e.Name)
		} else {
			others = append(others, e.Name)
		}
	}
	return own, others, err
}

// settled tells whether no person had a hand in the configuration.
func (in *Installer) settled() bool {
	text, err := in.State.Get(configName)
	return err == nil && slices.ContainsFunc(in.Configs, func(own []byte) bool { return bytes.Equal(own, text) })
}

// daemonLock is the lock that a running 'memkernel serve' holds.
const daemonLock = "serve.lock"

// RemoveState removes what is memkernel's own in the state directory, and the directory if
// nothing else is there. What the files of hosts were before goes with it, so they come
// first.
func (in *Installer) RemoveState() error {
	release, err := in.State.Lock(daemonLock, store.Alone)
	var held *store.LockedError
	if errors.As(err, &held) {
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
	if _, err := in.State.Remove(store.Synced, own...); err != nil || len(others) > 0 {
		return err
	}
	if err := os.Remove(in.State.Where("")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
