package hook

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/retrieval"
)

// recordFormat is the version of a record. 1 is the first.
const recordFormat = 1

// record is the hooks' state of a session between its events. It is derived: without it the
// transcript is read from its beginning and a note may be shown again.
type record struct {
	Format int    `json:"format"`
	Key    string `json:"key"`
	// Seam is where the last committed turn of the transcript begins.
	Seam seam `json:"seam"`
	// Model is the one that spoke last.
	Model string `json:"model,omitempty"`
	// Level is the gauge's level that was reported.
	Level int `json:"level,omitempty"`
	// Shown has the ids of the notes that were recalled since the last compaction, the newest
	// last. Lines has the lines that the session began with.
	Shown []string    `json:"shown,omitempty"`
	Lines []lineRange `json:"lines,omitempty"`
	// Told is the reason of the last search.
	Told string `json:"told,omitempty"`
	// Compaction is the last one that was announced.
	Compaction *compaction `json:"compaction,omitempty"`
	// Begin is the beginning to send with the next prompt, for hosts that lose the text of a
	// session's start. Brought is the beginning that was sent with a prompt, until the transcript
	// shows it.
	Begin   *beginning `json:"begin,omitempty"`
	Brought *brought   `json:"brought,omitempty"`
	// Compactions is how many of them, as the transcript counts, were answered for.
	Compactions int `json:"compactions,omitempty"`
	// Worked is when the session was last at work, zero since a compaction was announced.
	Worked time.Time `json:"worked,omitzero"`
	// Prompted is when the user's last prompt came.
	Prompted time.Time `json:"prompted,omitzero"`
	// Broken is the line of the transcript that was reported last as unreadable.
	Broken string `json:"broken,omitempty"`

	// Taken is how large the transcript was when it was read last, in bytes.
	Taken int64 `json:"taken,omitempty"`

	// borrowed: another hook holds the session's lock, and its version of the record counts.
	borrowed bool
}

// compaction is an announced compaction, with the state of the transcript at that time.
type compaction struct {
	Path string    `json:"path"`
	Size int64     `json:"size"`
	At   time.Time `json:"at"`
}

// lineRange are lines of a file, 1-based and inclusive.
type lineRange struct {
	Path string `json:"path"`
	From int    `json:"from"`
	To   int    `json:"to"`
}

// shows reports whether the model has seen a hit.
func (r *record) shows(hit retrieval.Hit) bool {
	return slices.Contains(r.Shown, hit.ID) || slices.ContainsFunc(r.Lines, func(l lineRange) bool {
		return l.Path == hit.Path && l.From <= hit.StartLine && hit.EndLine <= l.To
	})
}

// maxShown bounds how many recalled notes are remembered.
const maxShown = 400

// show notes that the model has seen these notes.
func (r *record) show(ids []string) {
	r.Shown = append(r.Shown, ids...)
	if n := len(r.Shown) - maxShown; n > 0 {
		r.Shown = slices.Delete(r.Shown, 0, n)
	}
}

// cut forgets which notes the model has seen, after a compaction.
func (r *record) cut() {
	r.Level, r.Shown, r.Lines = 0, nil, nil
}

// folder returns where records are.
func folder(stateDir string) store.Store { return store.Files(stateDir).In("hook") }

// safeName makes a file's name of a key; different keys never share one.
func safeName(key string) string {
	sum := sha256.Sum256([]byte(key))
	b := []byte(key[:min(len(key), 80)])
	for i, c := range b {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-') {
			b[i] = '_'
		}
	}
	return string(b) + "-" + hex.EncodeToString(sum[:6])
}

// readRecord reads a session's record. One that is missing, damaged, of another
// version or of another session is begun anew; err reports it where it is no matter of
// course.
func readRecord(stateDir, key string) (*record, error) {
	fresh := &record{Format: recordFormat, Key: key}
	in, name := folder(stateDir), safeName(key)+".json"
	path := in.Where(name)
	data, err := in.Get(name)
	if errors.Is(err, fs.ErrNotExist) {
		return fresh, nil
	}
	if err != nil {
		return fresh, err
	}
	r := &record{}
	if err := json.Unmarshal(data, r); err != nil {
		return fresh, fmt.Errorf("%s: %w; it is begun anew", path, err)
	}
	if r.Format != recordFormat || r.Key != key {
		return fresh, fmt.Errorf("%s: it has format %d and is of session %q; it is begun anew", path, r.Format, r.Key)
	}
	return r, nil
}

func (r *record) write(stateDir string) error {
	if r.borrowed {
		return nil
	}
	return writeJSON(folder(stateDir), safeName(r.Key)+".json", r)
}

// writeJSON replaces a file whole. It is not synced: after a power failure the transcript still
// has the lost data.
func writeJSON(dir store.Store, name string, v any) error {
	data, err := json.Marshal(v)
	if err == nil {
		_, err = dir.Put(store.Unsynced, store.Doc{Name: name, Data: append(data, '\n')})
	}
	return err
}

// newest names the session of a host that was spoken of last.
type newest struct {
	Key string `json:"key"`
}

func newestFile(h Host) string { return "newest-" + string(h) + ".json" }

// Newest returns the key of the session of a host that its hooks spoke of last, "" if
// they never did.
func Newest(stateDir string, h Host) string {
	data, err := folder(stateDir).Get(newestFile(h))
	var n newest
	if err != nil || json.Unmarshal(data, &n) != nil {
		return ""
	}
	return n.Key
}

// lockSession keeps events of one session apart, also those of several processes:
// hosts run them side by side.
func lockSession(ctx context.Context, stateDir, key string) (unlock func(), err error) {
	_ = store.KeepOutOfGit(store.Files(stateDir)) // where it can't be written nothing else depends on it
	if unlock, err = store.Wait(ctx, folder(stateDir), safeName(key)+".lock", store.Alone); err != nil {
		return nil, fmt.Errorf("wait for another hook of session %s: %w", key, err)
	}
	return unlock, nil
}
