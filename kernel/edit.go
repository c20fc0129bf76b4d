package kernel

import (
	"context"
	"errors"
	"fmt"

	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/internal/turn"
	"github.com/memkernel/memkernel/markdownstore"
)

// checkEdits returns an error for an unknown rule. Otherwise an agent could change more than was
// meant.
func checkEdits(r api.EditRule) error {
	switch r {
	case "", api.EditOwn, api.EditAny, api.EditNone:
		return nil
	}
	return fmt.Errorf("Memory.Edits is %q: give own, any or none", r)
}

// MemoryEditor changes memory's files, by compare-and-swap.
type MemoryEditor struct{ k *Kernel }

// Editor returns the kernel's editor of memory.
func (k *Kernel) Editor() MemoryEditor { return MemoryEditor{k} }

// shown returns an error for a path with characters that can't be shown.
func shown(path string) error {
	if textutil.IsVisible(path) {
		return nil
	}
	return &markdownstore.DeniedError{Path: path, Reason: markdownstore.DenyName}
}

// Passage replaces a passage of a file of memory, or removes it. If the passage has changed since
// it was read, Passage returns an [api.StaleError] with the current text. Passage backs the
// file up first, and records the change in the project's journal before it writes the file. After
// a kill the next run completes the change. For a person's entry Passage returns an
// [api.PersonError] and changes nothing, unless [MemoryOptions.Edits] permits the change.
// Secrets in the text are masked. A repeated request is carried out only once.
func (e MemoryEditor) Passage(ctx context.Context, req api.PassageRequest) (*api.Edited, error) {
	if err := shown(req.Path); err != nil {
		return nil, err
	}
	return e.k.desk.EditPassage(ctx, &req)
}

// Rewrite replaces whole files of memory, creates new ones and removes others, by the same rules
// as [MemoryEditor.Passage]. If one of the files has changed since it was read, no file is
// changed.
func (e MemoryEditor) Rewrite(ctx context.Context, req api.EditRequest) (*api.Edited, error) {
	for i := range req.Files {
		if err := shown(req.Files[i].Path); err != nil {
			return nil, err
		}
	}
	return e.k.desk.Edit(ctx, &req)
}

// Entry replaces or removes an entry of a file of memory by hand, by the same rules as
// [MemoryEditor.Passage]. A person may change any entry, also in the log of a past day. If no
// entry is on the line, Entry returns an [api.NoLineError].
func (e MemoryEditor) Entry(ctx context.Context, req api.EntryRequest) (*api.EntryEdited, error) {
	if err := shown(req.Path); err != nil {
		return nil, err
	}
	return e.k.desk.EditEntry(ctx, &req)
}

// List lists the entries of memory, those of the newest day first.
func (e MemoryEditor) List(ctx context.Context, req api.ListRequest) (*api.MemoryList, error) {
	if e.k.memory == nil {
		return nil, errors.New("list memory: memory is switched off")
	}
	out, err := e.k.desk.Upkeep.Entries(ctx, e.k.memory.Store(req.Private), req.Path)
	if err != nil {
		return nil, fmt.Errorf("list memory: %w", err)
	}
	if out.Total = len(out.Entries); req.Max > 0 {
		out.Entries = out.Entries[:min(out.Total, req.Max)]
	}
	return out, ctx.Err()
}

// Undo undoes an edit of memory or, by hand, a change of upkeep or another undo. Lines that
// somebody wrote since stay. If an earlier line has no place any more, Undo changes nothing and
// returns an [api.StaleError].
func (e MemoryEditor) Undo(ctx context.Context, req api.UndoRequest) (*api.EditUndone, error) {
	return e.k.desk.Undo(ctx, &req)
}

// Content returns a file of memory for editing, with secrets masked. A missing file is not an
// error.
func (e MemoryEditor) Content(ctx context.Context, path string, private bool) (*api.MemoryFile, error) {
	if err := shown(path); err != nil {
		return nil, err
	}
	return turn.Content(ctx, e.k.desk, path, private)
}

// Files lists the workspace's files of memory, by path: MEMORY.md, USER.md, memory/ and the other
// included files. Files that may not be read are left out.
func (e MemoryEditor) Files(ctx context.Context, private bool) ([]markdownstore.File, error) {
	if e.k.memory == nil {
		return nil, errors.New("list memory: memory is switched off")
	}
	var out []markdownstore.File
	for f, err := range e.k.memory.Store(private).Walk(ctx) {
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
func (e MemoryEditor) Rule() api.EditRule {
	if e.k.memory == nil {
		return api.EditNone
	}
	return e.k.desk.Edits
}
