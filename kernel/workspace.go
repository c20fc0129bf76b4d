package kernel

import (
	"errors"
	"io/fs"
	"strings"
	"time"

	"github.com/memkernel/memkernel/kernel/internal/ids"
	"github.com/memkernel/memkernel/kernel/internal/plan"
	"github.com/memkernel/memkernel/pagevm"
)

// The faults that a workspace's files can cause.
const (
	// FaultWorkspaceFile: a file could not be read, and stands in no prompt.
	FaultWorkspaceFile = plan.FaultWorkspaceFile
	// FaultWorkspaceSize: the files take more than their share even at their
	// floors.
	FaultWorkspaceSize = plan.FaultWorkspaceSize
	// FaultHostTruncated: the host's own prompt shows a file in part; the rest is
	// carried.
	FaultHostTruncated = plan.FaultHostTruncated
)

// cachedFile is a file as it was read, good while its stat stays.
type cachedFile struct {
	size int64
	mod  time.Time
	plan.File
}

// mtimeGrain is the age from which a modification time is trusted: within a clock's
// grain a file can change twice.
const mtimeGrain = 2 * time.Second

// source reads a file of the workspace; ok is false if there is none.
func (m *memory) source(private bool, path string) (src plan.File, ok bool, err error) {
	store := m.store(private)
	f, err := store.Stat(path)
	if err != nil || f.ModTime.IsZero() {
		return plan.File{}, false, err
	}
	m.mu.Lock()
	c, known := m.cache[path]
	m.mu.Unlock()
	if known && c.size == f.Size && c.mod.Equal(f.ModTime) {
		return c.File, true, nil
	}
	l, err := store.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return plan.File{}, false, nil
	}
	if err != nil {
		return plan.File{}, false, err
	}
	text := m.masker.Text(strings.TrimPrefix(l.Text, "\ufeff"))
	c = cachedFile{size: f.Size, mod: f.ModTime, File: plan.File{Path: path, Type: pagevm.Type(f.PageType), Text: text, Hash: ids.Hash(text),
		Lines: 1 + strings.Count(strings.TrimSuffix(text, "\n"), "\n")}}
	if !l.Unsettled && time.Since(f.ModTime) > mtimeGrain {
		m.mu.Lock()
		m.cache[path] = c
		m.mu.Unlock()
	}
	return c.File, strings.TrimSpace(text) != "", nil
}
