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

// editing calls edit for the session that requests an edit, while no other call uses the session.
// An edit by hand belongs to no session.
func editing[T any](ctx context.Context, d *Desk, key string, voice api.Voice, private bool, now time.Time, edit func(upkeep.Editor) (*T, error)) (*T, error) {
	if d.Memory == nil {
		return nil, errMemoryOff
	}
	e := upkeep.Editor{Voice: voice, See: d.Memory.Store(private), Rule: d.Edits, Now: d.At(now)}
	if voice == api.VoicePerson {
		e.See, e.Rule = e.See.ByHand(), api.EditAny
	}
	if voice != "" {
		return edit(e)
	}
	return session.In(ctx, d.Sessions, "", key, func(s *session.Session) (*T, error) {
		e.Session = s.Name
		return edit(e)
	})
}

// MemoryEditor changes memory's files, by compare-and-swap.
type MemoryEditor struct{ Desk *Desk }

// Passage replaces a passage of a file of memory, or removes it. If the passage has changed since
// it was read, Passage returns an [api.StaleError] with the current text. Passage backs the
// file up first, and records the change in the project's journal before it writes the file. After
// a kill the next run completes the change. For a person's entry Passage returns an
// [api.PersonError] and changes nothing, unless the rule permits the change.
// Secrets in the text are masked. A repeated request is carried out only once.
func (m MemoryEditor) Passage(ctx context.Context, req api.PassageRequest) (*api.Edited, error) {
	asked := req
	asked.Now = time.Time{}
	raw, err := json.Marshal(asked)
	if err != nil {
		return nil, err
	}
	return editing(ctx, m.Desk, req.SessionKey, "", req.Private, req.Now, func(e upkeep.Editor) (*api.Edited, error) {
		e.Key = ingest.PageID("ed", e.Session, string(raw))
		return m.Desk.Upkeep.EditPassage(ctx, e, &req)
	})
}

// Rewrite replaces whole files of memory, creates new ones and removes others, by the same rules
// as [MemoryEditor.Passage]. If one of the files has changed since it was read, no file is
// changed.
func (m MemoryEditor) Rewrite(ctx context.Context, req api.EditRequest) (*api.Edited, error) {
	return editing(ctx, m.Desk, req.SessionKey, "", req.Private, req.Now, func(e upkeep.Editor) (*api.Edited, error) {
		return m.Desk.Upkeep.Edit(ctx, e, req.Files)
	})
}

// Entry replaces or removes an entry of a file of memory by hand, by the same rules as
// [MemoryEditor.Passage]. A person may change any entry, also in the log of a past day. If no
// entry is on the line, Entry returns an [api.NoLineError].
func (m MemoryEditor) Entry(ctx context.Context, req api.EntryRequest) (*api.EntryEdited, error) {
	return editing(ctx, m.Desk, "", cmp.Or(req.Voice, api.VoiceAgent), req.Private, req.Now, func(e upkeep.Editor) (*api.EntryEdited, error) {
		return m.Desk.Upkeep.EditEntry(ctx, e, &req)
	})
}

// Undo undoes an edit of memory or, by hand, a change of upkeep or another undo. Lines that
// somebody wrote since stay. If an earlier line has no place any more, Undo changes nothing and
// returns an [api.StaleError].
func (m MemoryEditor) Undo(ctx context.Context, req api.UndoRequest) (*api.EditUndone, error) {
	return editing(ctx, m.Desk, req.SessionKey, req.Voice, req.Private, req.Now, func(e upkeep.Editor) (*api.EditUndone, error) {
		return m.Desk.Upkeep.Undo(ctx, e, req.Edit)
	})
}

// List lists the entries of memory, those of the newest day first.
func (m MemoryEditor) List(ctx context.Context, req api.ListRequest) (*api.MemoryList, error) {
	if m.Desk.Memory == nil {
		return nil, errors.New("list memory: memory is switched off")
	}
	out, err := m.Desk.Upkeep.Entries(ctx, m.Desk.Memory.Store(req.Private), req.Path)
	if err != nil {
		return nil, fmt.Errorf("list memory: %w", err)
	}
	if out.Total = len(out.Entries); req.Max > 0 {
		out.Entries = out.Entries[:min(out.Total, req.Max)]
	}
	return out, ctx.Err()
}

// Files lists the workspace's files of memory, by path: MEMORY.md, USER.md, memory/ and the other
// included files. Files that may not be read are left out.
func (m MemoryEditor) Files(ctx context.Context, private bool) ([]markdownstore.File, error) {
	if m.Desk.Memory == nil {
		return nil, errors.New("list memory: memory is switched off")
	}
	var out []markdownstore.File
	for f, err := range m.Desk.Memory.Store(private).Walk(ctx) {
		switch {
		case errors.Is(err, markdownstore.ErrDenied):
			continue
		case err != nil:
			return nil, fmt.Errorf("list memory: %w", err)
		}
		if f.Memory && !f.Shadowed {
			out = append(out, f)
		}
	}
	return out, ctx.Err()
}

// Rule returns the rule for which entries of memory agents may change.
func (m MemoryEditor) Rule() api.EditRule {
	if m.Desk.Memory == nil {
		return api.EditNone
	}
	return m.Desk.Edits
}

// Content returns a file of memory for editing, with secrets masked. A missing file is not an
// error.
func (m MemoryEditor) Content(ctx context.Context, path string, private bool) (*api.MemoryFile, error) {
	d := m.Desk
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
