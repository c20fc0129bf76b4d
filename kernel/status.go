package kernel

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Status is what stands in a state directory.
type Status struct {
	StateDir string          `json:"state_dir"`
	Sessions []SessionStatus `json:"sessions"`
	// Blobs and BlobBytes count the content-addressed store.
	Blobs     int   `json:"blobs"`
	BlobBytes int64 `json:"blob_bytes"`
}

// SessionStatus is what stands of one session.
type SessionStatus struct {
	// Key is the session's folder: its key, or a safe form of it.
	Key   string       `json:"key"`
	Pages int          `json:"pages"`
	Turns int          `json:"turns"`
	Spans int          `json:"spans"`
	Lines []LineStatus `json:"lines"`
	// JournalBytes and ProjectionBytes are file sizes.
	JournalBytes    int64 `json:"journal_bytes"`
	ProjectionBytes int64 `json:"projection_bytes"`
}

// LineStatus is one conversation: a branch planned for a model.
type LineStatus struct {
	Branch     string    `json:"branch"`
	Model      string    `json:"model"`
	Generation int       `json:"generation"`
	Messages   int       `json:"messages"`
	Items      int       `json:"items"`
	Cuts       int       `json:"cuts"`
	Tokens     int       `json:"tokens"`
	LastPlan   string    `json:"last_plan"`
	LastStart  time.Time `json:"last_start,omitzero"`
}

// Status reads what is where and how big. It writes nothing.
func (k *Kernel) Status(ctx context.Context) (*Status, error) {
	st := &Status{StateDir: k.stateDir, Sessions: []SessionStatus{}}
	folders, err := k.sessionFolders()
	if err != nil {
		return nil, err
	}
	for _, f := range folders {
		s, unlock, err := k.openFolder(ctx, f, f, false)
		if err != nil {
			return nil, err
		}
		st.Sessions = append(st.Sessions, s.status())
		unlock()
	}
	for info, err := range k.blobs.Walk() {
		if err != nil {
			return nil, err
		}
		st.Blobs++
		st.BlobBytes += info.Bytes
	}
	return st, nil
}

// sessionFolders lists the folders of all sessions.
func (k *Kernel) sessionFolders() ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(k.stateDir, "sessions"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		if e.IsDir() {
			out = append(out, e.Name())
		}
	}
	return out, nil
}

func (s *session) status() SessionStatus {
	st := SessionStatus{Key: filepath.Base(s.dir), Pages: len(s.pages), Turns: s.turns, Spans: len(s.spans), Lines: []LineStatus{},
		JournalBytes: size(filepath.Join(s.dir, "journal.jsonl")), ProjectionBytes: size(filepath.Join(s.dir, "projection.jsonl"))}
	names := map[string]lineKey{}
	for key := range s.lines {
		names[key.branch+"\x00"+key.model] = key
	}
	for _, name := range sortedKeys(names) {
		l := s.lines[names[name]]
		st.Lines = append(st.Lines, LineStatus{Branch: l.branch, Model: l.model, Generation: l.proj.Generation,
			Messages: len(l.proj.Seen), Items: len(l.proj.Items), Cuts: len(l.proj.Cuts), Tokens: l.proj.Tokens(),
			LastPlan: l.planID, LastStart: l.ledger.LastStart})
	}
	return st
}

func size(path string) int64 {
	st, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return st.Size()
}
