package turn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/internal/ids"
	"github.com/memkernel/memkernel/kernel/internal/session"
	"github.com/memkernel/memkernel/kernel/internal/upkeep"
	"github.com/memkernel/memkernel/markdownstore"
)

var errMemoryOff = errors.New("memory is switched off")

// editing calls edit for the session that requests an edit, which nobody else uses meanwhile.
func (d *Desk) editing(ctx context.Context, key string, private bool, now time.Time, edit func(upkeep.Editor) error) error {
	if d.Memory == nil {
		return errMemoryOff
	}
	if now.IsZero() {
		now = d.Now()
	}
	return d.Sessions.Write(ctx, key, func(s *session.Session) error {
		return edit(upkeep.Editor{Session: s.Name, See: d.Memory.Store(private), Rule: d.Edits, Now: now})
	})
}

// EditPassage replaces or removes a passage of a file of memory.
func (d *Desk) EditPassage(ctx context.Context, req *api.PassageRequest) (out *api.Edited, err error) {
	asked := *req
	asked.Now = time.Time{}
	raw, err := json.Marshal(asked)
	if err != nil {
		return nil, err
	}
	err = d.editing(ctx, req.SessionKey, req.Private, req.Now, func(e upkeep.Editor) (err error) {
		e.Key = ids.Page("ed", e.Session, string(raw))
		out, err = d.Upkeep.EditPassage(ctx, e, req)
		return err
	})
	return out, err
}

// Edit changes whole files of memory.
func (d *Desk) Edit(ctx context.Context, req *api.EditRequest) (out *api.Edited, err error) {
	err = d.editing(ctx, req.SessionKey, req.Private, req.Now, func(e upkeep.Editor) (err error) {
		out, err = d.Upkeep.Edit(ctx, e, func(upkeep.Reading) ([]api.EditFile, error) { return req.Files, nil })
		return err
	})
	return out, err
}

// UndoEdit takes an edit back.
func (d *Desk) UndoEdit(ctx context.Context, req *api.UndoRequest) (out *api.EditUndone, err error) {
	err = d.editing(ctx, req.SessionKey, req.Private, req.Now, func(e upkeep.Editor) (err error) {
		out, err = d.Upkeep.UndoEdit(ctx, e, req.Edit)
		return err
	})
	return out, err
}

// Content returns a file of memory as an agent sees it.
func Content(ctx context.Context, d *Desk, path string, private bool) (*api.MemoryFile, error) {
	if d.Memory == nil {
		return nil, fmt.Errorf("read %s: %w", path, errMemoryOff)
	}
	store := d.Memory.Store(private)
	f, err := store.Stat(path)
	if err != nil {
		return nil, err
	}
	if !f.Memory {
		return nil, &markdownstore.DeniedError{Path: path, Reason: markdownstore.DenyNotMemory}
	}
	out := &api.MemoryFile{Path: f.Path}
	if f.ModTime.IsZero() {
		return out, ctx.Err()
	}
	l, err := store.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return out, ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	text := strings.ReplaceAll(strings.TrimPrefix(l.Text, "\xef\xbb\xbf"), "\r\n", "\n")
	out.Path, out.Version, out.Exists = l.Path, l.Hash, true
	out.Text = d.Masker.Text(text)
	out.Secrets = out.Text != text
	out.Text = strings.ToValidUTF8(out.Text, "\uFFFD")
	return out, ctx.Err()
}
