package hook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/retrieval"
)

// recordFormat is the version of a record.
const recordFormat = 1

// record is the hooks' state of a session between its events. The record is derived data. Without
// it the transcript is read from its beginning and a note may be shown again.
type record struct {
	Format int    `json:"format"`
	Key    string `json:"key"`
	// Seam is the place in the transcript at which the last committed turn begins.
	Seam seam `json:"seam"`
	// Model is the model of the last answer.
	Model string `json:"model,omitempty"`
	// Level is the last reported level of the gauge.
	Level int `json:"level,omitempty"`
	// Shown has the ids of the notes that were recalled since the last compaction, the newest
	// last.
	Shown []string `json:"shown,omitempty"`
	// Lines has the lines of files that the session began with.
	Lines []Lines `json:"lines,omitempty"`
	// Given are the texts that were added to the session, the newest last.
	Given []Given `json:"given,omitempty"`
	// Told is the reason of the last search.
	Told string `json:"told,omitempty"`
	// Compaction is the last announced compaction.
	Compaction *compaction `json:"compaction,omitempty"`
	// Begin is the beginning to send with the next prompt, for hosts that lose the text of a
	// session's start.
	Begin *beginning `json:"begin,omitempty"`
	// Brought is the beginning that was sent with a prompt, until the transcript shows it.
	Brought *brought `json:"brought,omitempty"`
	// Compactions is the number of compactions in the transcript that have been answered.
	Compactions int `json:"compactions,omitempty"`
	// Worked is the last time at which the session was at work. It is zero after a compaction was
	// announced.
	Worked time.Time `json:"worked,omitzero"`
	// Prompted is the time of the user's last prompt.
	Prompted time.Time `json:"prompted,omitzero"`
	// Broken is the transcript's line that was last reported as unreadable.
	Broken string `json:"broken,omitempty"`

	// Taken is the size of the transcript when it was last read, in bytes.
	Taken int64 `json:"taken,omitempty"`

	// borrowed means that another hook holds the session's lock. The version of the record that
	// the other hook writes counts.
	borrowed bool
}

// compaction is an announced compaction, with the state of the transcript at that time.
type compaction struct {
	Path string    `json:"path"`
	Size int64     `json:"size"`
	At   time.Time `json:"at"`
}

// Lines are lines of a file, 1-based and inclusive.
type Lines struct {
	Path string `json:"path"`
	From int    `json:"from"`
	To   int    `json:"to"`
}

// shows reports whether the model has seen a hit.
func (r *record) shows(hit retrieval.Hit) bool {
	return slices.Contains(r.Shown, hit.ID) || slices.ContainsFunc(r.Lines, func(l Lines) bool {
		return l.Path == hit.Path && l.From <= hit.StartLine && hit.EndLine <= l.To
	})
}

// maxShown bounds how many recalled notes are remembered. maxGiven bounds how many added texts
// are: a day's prompts, our choice.
const (
	maxShown = 400
	maxGiven = 200
)

// Given describes the text that a hook added to a prompt or to the beginning of a session. Bytes is
// 0 if the hook added nothing.
type Given struct {
	At time.Time `json:"at"`
	// Prompt reports whether the text was added to a person's prompt.
	Prompt bool `json:"prompt,omitempty"`
	// Bytes is the size of the added text.
	Bytes int `json:"bytes,omitempty"`
	// Lines are the lines of files that the text quotes.
	Lines []Lines `json:"lines,omitempty"`
}

// GivenTo returns what hooks added to a session, the oldest first.
func GivenTo(stateDir, key string) []Given {
	r, _ := readRecord(stateDir, key) // an unreadable record counts as empty
	return r.Given
}

// cut forgets the notes that the model has seen. It is called after a compaction.
func (r *record) cut() {
	r.Level, r.Shown, r.Lines = 0, nil, nil
}

// folder returns where records are.
func folder(stateDir string) store.Store { return store.Files(stateDir).In("hook") }

// safeName returns the file name of a key. Different keys never share a name.
func safeName(key string) string {
	b := []byte(key[:min(len(key), 80)])
	for i, c := range b {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-') {
			b[i] = '_'
		}
	}
	return string(b) + "-" + store.Sum([]byte(key))[:12]
}

// readRecord reads a session's record. If the record is missing, damaged, of another version or
// of another session, it returns a new record. The error is nil if the record was read or is missing.
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

// writeJSON replaces a whole file. It does not sync the file, because after a power failure the
// transcript still has the lost data.
func writeJSON(dir store.Store, name string, v any) error {
	data, err := json.Marshal(v)
	if err == nil {
		_, err = dir.Put(store.Unsynced, store.Doc{Name: name, Data: append(data, '\n')})
	}
	return err
}

// newest names the session of a host's last event.
type newest struct {
	Key string `json:"key"`
}

func newestFile(h Host) string { return "newest-" + string(h) + ".json" }

// Newest returns the key of the session of the host's last event, "" if there was no event.
func Newest(stateDir string, h Host) string {
	data, err := folder(stateDir).Get(newestFile(h))
	var n newest
	if err != nil || json.Unmarshal(data, &n) != nil {
		return ""
	}
	return n.Key
}

// lockSession keeps the events of one session apart, also in several processes, because hosts run
// hooks in parallel.
func lockSession(ctx context.Context, stateDir, key string) (unlock func(), err error) {
	_ = store.KeepOutOfGit(store.Files(stateDir)) // nothing depends on it if it can't be written
	if unlock, err = store.Wait(ctx, folder(stateDir), safeName(key)+".lock", store.Alone); err != nil {
		return nil, fmt.Errorf("wait for another hook of session %s: %w", key, err)
	}
	return unlock, nil
}
