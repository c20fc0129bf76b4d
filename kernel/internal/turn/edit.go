package turn

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/kernel/internal/session"
	"github.com/memkernel/memkernel/kernel/internal/upkeep"
	"github.com/memkernel/memkernel/markdownstore"
)

var errMemoryOff = errors.New("memory is switched off")

// editing calls edit for the session that requests an edit, which nobody else uses meanwhile. An
// edit by hand belongs to no session.
func editing[T any](ctx context.Context, d *Desk, key string, voice api.Voice, private bool, now time.Time, edit func(upkeep.Editor) (*T, error)) (*T, error) {
	if d.Memory == nil {
		return nil, errMemoryOff
	}
	e := upkeep.Editor{Voice: voice, See: d.Memory.Store(private), Rule: d.Edits, Now: d.at(now)}
	if voice == api.VoicePerson {
		e.See, e.Rule = e.See.ByHand(), api.EditAny
	}
	if voice != "" {
		return edit(e)
	}
	return session.In(ctx, d.Sessions, key, func(s *session.Session) (*T, error) {
		e.Session = s.Name
		return edit(e)
	})
}

// EditEntry replaces or removes an entry of a file by hand.
func (d *Desk) EditEntry(ctx context.Context, req *api.EntryRequest) (*api.EntryEdited, error) {
	return editing(ctx, d, "", cmp.Or(req.Voice, api.VoiceAgent), req.Private, req.Now, func(e upkeep.Editor) (*api.EntryEdited, error) {
		return d.Upkeep.EditEntry(ctx, e, req)
	})
}

// EditPassage replaces or removes a passage of a file of memory.
func (d *Desk) EditPassage(ctx context.Context, req *api.PassageRequest) (*api.Edited, error) {
	asked := *req
	asked.Now = time.Time{}
	raw, err := json.Marshal(asked)
	if err != nil {
		return nil, err
	}
	return editing(ctx, d, req.SessionKey, "", req.Private, req.Now, func(e upkeep.Editor) (*api.Edited, error) {
		e.Key = ingest.PageID("ed", e.Session, string(raw))
		return d.Upkeep.EditPassage(ctx, e, req)
	})
}

// Edit changes whole files of memory.
func (d *Desk) Edit(ctx context.Context, req *api.EditRequest) (*api.Edited, error) {
	return editing(ctx, d, req.SessionKey, "", req.Private, req.Now, func(e upkeep.Editor) (*api.Edited, error) {
		return d.Upkeep.Edit(ctx, e, func(upkeep.Reading) ([]api.EditFile, error) { return req.Files, nil })
	})
}

// Undo takes a change of memory back.
func (d *Desk) Undo(ctx context.Context, req *api.UndoRequest) (*api.EditUndone, error) {
	return editing(ctx, d, req.SessionKey, req.Voice, req.Private, req.Now, func(e upkeep.Editor) (*api.EditUndone, error) {
		return d.Upkeep.Undo(ctx, e, req.Edit)
	})
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
