package upkeep

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/markdownstore"
)

// An edit is a request to change files, by an agent or by hand. It is a run: the old and new
// contents of the files are backed up and promised before any file is touched. The authors of the
// written lines are recorded. Unlike other runs, an edit is not retried. A change that can't be
// written now is given up and reported.

// The bounds of an edit, which are far above the edits that agents make.
const (
	mostEditFiles = 200
	mostEditBytes = 1 << 20
	mostEditLines = 10_000
)

// Editor is the party that requests an edit: a session, or a person or program by hand.
type Editor struct {
	// Session is the folder of the session. Key makes the delivery idempotent. With "" every
	// delivery is a new edit.
	Session, Key string
	// Voice is the party that edits by hand, "" for a session.
	Voice api.Voice
	// How names the kind of the edit in the history, "" for an ordinary edit.
	How string
	// See are the files that the session sees.
	See  *markdownstore.Store
	Rule api.EditRule
	Now  time.Time
}

// standing is the present content of a file, read for an edit.
type standing struct {
	markdownstore.Loaded
	Exists bool
}

// Edit changes files. If one of them has changed since it was read, no file is changed.
func (k *Keeper) Edit(ctx context.Context, e Editor, files []api.EditFile) (*api.Edited, error) {
	return k.edit(ctx, e, func(*run) ([]api.EditFile, error) { return files, nil })
}

// edit makes the changes that plan returns for the present files. It holds the lock of the
// project's journal, so that no other edit is made meanwhile.
func (k *Keeper) edit(ctx context.Context, e Editor, plan func(*run) ([]api.EditFile, error)) (*api.Edited, error) {
	if e.Rule == api.EditNone {
		return nil, api.ErrEditsOff
	}
	r, unlock, err := k.begin(ctx, api.RunEdit, e.Now, true)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if out, err := r.repeated(&e); out != nil || err != nil {
		return out, err
	}
	files, err := plan(r)
	if err != nil {
		return nil, err
	}
	return r.change(ctx, &e, files)
}

// standing reads a file that may be edited.
func (r *run) standing(e *Editor, path string) (out standing, err error) {
	f, err := e.See.Editable(path)
	if err != nil {
		return out, err
	}
	out.Loaded, err = e.See.ReadFile(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		out.File = f
		return out, nil
	}
	if err != nil {
		return out, err
	}
	if out.Unsettled {
		return out, &api.EditError{Path: f.Path, Why: "somebody is writing to it: try again"}
	}
	if markdownstore.Parse(out.Path, out.Text).Binary {
		return out, &api.EditError{Path: f.Path, Why: "it is not text"}
	}
	out.Exists = true
	return out, nil
}

// repeated returns the earlier edit with the same key, if its files are still as that edit left
// them.
func (r *run) repeated(e *Editor) (*api.Edited, error) {
	if e.Key == "" {
		return nil, nil
	}
	for _, l := range slices.Backward(r.log) {
		if l.run.Kind != api.RunEdit || l.run.Key != e.Key || l.run.Session != e.Session || l.undone || l.done == nil || len(l.done.Kept) > 0 {
			continue
		}
		out := &api.Edited{Edit: l.id, Duplicate: true}
		for _, st := range l.run.Steps {
			now, err := r.standing(e, st.Path)
			if err != nil || now.Hash != l.done.Files[st.Path] {
				return nil, err
			}
			f := api.EditedFile{Path: st.Path, Version: now.Hash}
			if before, err := r.backup(st.Before); err == nil {
				f.StartLine, f.EndLine = written(before, now.Text)
			}
			out.Files = append(out.Files, f)
		}
		if err := r.journal.Stands(); err != nil {
			return nil, err
		}
		return out, nil
	}
	return nil, nil
}

// change has the present and the new content of a file of an edit.
type change struct {
	standing
	to     string
	remove bool
}

func (r *run) change(ctx context.Context, e *Editor, files []api.EditFile) (*api.Edited, error) {
	if len(files) > mostEditFiles {
		return nil, &api.EditError{Why: fmt.Sprintf("these are %d files; one edit changes at most %d", len(files), mostEditFiles)}
	}
	out := &api.Edited{}
	marks := "" // the texts of the files to remove; their entries may be moved to other files
	for i := range files {
		if files[i].Remove {
			now, err := r.standing(e, files[i].Path)
			if err != nil {
				return nil, err
			}
			marks += now.Text + "\n"
		}
	}
	var all []change
	for i := range files {
		c, n, err := r.changeOf(ctx, e, &files[i], marks)
		if err != nil {
			return nil, err
		}
		out.Masked += n
		if !c.remove && c.Exists && c.to == c.Text {
			out.Files = append(out.Files, api.EditedFile{Path: c.Path, Version: c.Hash})
			continue
		}
		if slices.ContainsFunc(all, func(o change) bool { return strings.EqualFold(o.Path, c.Path) }) {
			return nil, &api.EditError{Path: c.Path, Why: "one edit changes a file once"}
		}
		all = append(all, *c)
	}
	if len(all) == 0 {
		return out, ctx.Err()
	}
	if err := r.attribute(e, all); err != nil {
		return nil, err
	}
	for i := range all {
		if c := &all[i]; c.remove {
			r.removes(c.Path, c.Text)
		} else {
			r.becomes(c.Path, c.Text, c.to)
		}
	}
	r.removalsLast()
	r.promise.Session, r.promise.Key, r.promise.Person, r.promise.How = e.Session, e.Key, e.Voice == api.VoicePerson, e.How
	d, err := r.commit(ctx)
	if err != nil {
		return nil, err
	}
	if len(d.Kept) > 0 {
		return nil, notDone(r, e, d)
	}
	out.Edit = r.id()
	for i := range all {
		f := api.EditedFile{Path: all[i].Path, Version: d.Files[all[i].Path]}
		f.StartLine, f.EndLine = written(all[i].Text, all[i].to)
		out.Files = append(out.Files, f)
	}
	return out, nil
}

// notDone reports the files that an edit left alone. For a file that somebody changed meanwhile it
// also has the present content.
func notDone(r *run, e *Editor, d *done) error {
	kept := d.Kept[0]
	if !strings.HasSuffix(kept, changedMeanwhile) {
		return &api.EditError{Why: "not all of it was done: " + strings.Join(d.Kept, "; ")}
	}
	path, _, _ := strings.Cut(kept, ": ")
	now, err := r.standing(e, path)
	if err != nil {
		return err
	}
	return r.stale(now, "somebody changed it meanwhile, so it was left as it is")
}

// changeOf checks the new content of a file.
func (r *run) changeOf(ctx context.Context, e *Editor, f *api.EditFile, marks string) (*change, int, error) {
	now, err := r.standing(e, f.Path)
	if err != nil {
		return nil, 0, err
	}
	c := &change{standing: now, remove: f.Remove}
	switch {
	case now.Hash != f.Version && !now.Exists:
		return nil, 0, r.stale(now, "there is no such file")
	case now.Hash != f.Version && f.Version == "":
		return nil, 0, r.stale(now, "there is such a file already")
	case now.Hash != f.Version:
		return nil, 0, r.stale(now, "it is not the version that was read")
	case r.secret(now.Text):
		return nil, 0, &api.SecretError{Path: now.Path}
	case f.Remove && !now.Exists:
		return nil, 0, r.stale(now, "there is no such file")
	case f.Remove:
		return c, 0, nil
	}
	if f.From != "" { // a copy of another file
		from, err := r.standing(e, f.From)
		switch {
		case err != nil:
			return nil, 0, err
		case !from.Exists:
			return nil, 0, r.stale(from, "there is no such file")
		case now.Exists:
			return nil, 0, r.stale(now, "there is such a file already")
		case r.secret(from.Text):
			return nil, 0, &api.SecretError{Path: from.Path}
		}
		c.to = from.Text
		return c, 0, newName(r, ctx, now.Path)
	}
	if bare := strings.ReplaceAll(now.Text, "\r\n", ""); len(bare) < len(now.Text) && strings.Contains(bare, "\n") {
		return nil, 0, &api.EditError{Path: now.Path, Why: "its lines end in two ways, which an edit would change: let the user save it with one"}
	}
	text := strings.ToValidUTF8(strings.ReplaceAll(f.Text, "\r\n", "\n"), "\uFFFD")
	if len(text) > mostEditBytes || strings.Count(text, "\n") > mostEditLines+strings.Count(now.Text, "\n") {
		return nil, 0, &api.EditError{Path: now.Path, Why: fmt.Sprintf("one edit writes at most %d bytes and %d lines: split it", mostEditBytes, mostEditLines)}
	}
	if markdownstore.Parse(now.Path, text).Binary {
		return nil, 0, &api.EditError{Path: now.Path, Why: "the new text is not text: memory is Markdown"}
	}
	if e.Voice != api.VoicePerson {
		text = consolidation.ByAgent(now.Path, text, now.Text, marks)
	}
	text, masked := r.Masker.Mask(markdownstore.EscapeMarkers(now.Text+"\n"+marks, text))
	if r.secret(text) {
		return nil, 0, &api.SecretError{Path: now.Path}
	}
	if c.to = asIs(now.Text, text); strings.HasPrefix(now.Text, byteOrder) && !strings.HasPrefix(text, byteOrder) {
		c.to = byteOrder + c.to
	}
	if !now.Exists {
		return c, masked, newName(r, ctx, now.Path)
	}
	return c, masked, nil
}

// byteOrder is the mark that a file may begin with.
const byteOrder = "\xef\xbb\xbf"

// newName refuses a name that differs from another file's name only in the case of letters. Some
// file systems would use one file for both names.
func newName(r *run, ctx context.Context, path string) error {
	for f, err := range r.Files.Walk(ctx) {
		if err == nil && f.Path != path && strings.EqualFold(f.Path, path) {
			return &api.EditError{Path: path, Why: "there is " + f.Path + ", whose name differs in the case of its letters alone: use that one"}
		}
	}
	return ctx.Err()
}

// attribute checks that an edit does not change a person's words without permission, and records
// the authors of the written lines. Moved lines keep their authors.
func (r *run) attribute(e *Editor, all []change) error {
	rec, unread := r.record()
	moved := map[string]consolidation.Origin{}
	r.promise.Said = map[string]map[string]consolidation.Origin{}
	for i := range all {
		maps.Copy(moved, rec.Machines(all[i].Path, all[i].Text))
	}
	for i := range all {
		c, said, author, stood := &all[i], map[string]consolidation.Origin{}, consolidation.OriginAgent, map[string]bool{}
		if e.Voice == api.VoicePerson {
			author = consolidation.OriginHand
		}
		for l := range strings.SplitSeq(c.Text, "\n") {
			stood[consolidation.LineHash(l)] = true
		}
		for l := range strings.SplitSeq(c.to, "\n") {
			hash := consolidation.LineHash(l)
			if strings.TrimSpace(l) == "" || stood[hash] {
				continue
			}
			if said[hash] = moved[hash]; said[hash] == "" || !author.Machine() {
				said[hash] = author
			}
		}
		if e.Rule != api.EditAny {
			if touch := rec.With(c.Path, said).Touches(c.Path, c.Text, c.to); touch != nil {
				touch.Text = r.Masker.Text(touch.Text)
				return &api.PersonError{Touch: touch}
			}
		}
		if len(said) > 0 {
			r.promise.Said[c.Path] = said
		}
	}
	if err := unread(); err != nil {
		return fmt.Errorf("read what was written before: %w", err)
	}
	return nil
}

// written returns the first and the last line of after that differ from before. It returns 0 if
// lines were only removed.
func written(before, after string) (start, end int) {
	was, is := linesOf(before), linesOf(after)
	for start < min(len(was), len(is)) && was[start] == is[start] {
		start++
	}
	n := 0
	for n < min(len(was), len(is))-start && was[len(was)-1-n] == is[len(is)-1-n] {
		n++
	}
	if len(is)-n <= start {
		return 0, 0
	}
	return start + 1, len(is) - n
}

// linesOf returns the lines of a text without their ends.
func linesOf(text string) []string {
	text = strings.TrimSuffix(strings.ReplaceAll(strings.TrimPrefix(text, byteOrder), "\r\n", "\n"), "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// removalsLast orders the steps so that a kill leaves moved text in two places and never loses it.
func (r *run) removalsLast() {
	slices.SortStableFunc(r.promise.Steps, func(a, b *step) int { return strings.Compare(fmt.Sprint(a.Gone), fmt.Sprint(b.Gone)) })
}

// removes promises the removal of a file.
func (r *run) removes(path, before string) {
	r.promise.Steps = append(r.promise.Steps, &step{Path: path, Since: r.changed(path), Before: r.need(path, before), Gone: true})
}

// Appended records a session's addition to the end of a file as an edit, so that an undo can take
// it back. It returns the name of the edit, "" if the file can't be backed up or has other changes,
// too.
func (k *Keeper) Appended(ctx context.Context, session, path, before string, existed bool, now time.Time) (string, error) {
	r, unlock, err := k.begin(ctx, api.RunEdit, now, true)
	if err != nil {
		return "", err
	}
	defer unlock()
	l, err := r.Files.ReadFile(path)
	if err != nil || !strings.HasPrefix(l.Text, strings.TrimRight(before, "\r\n")) || asIs(before, l.Text) != l.Text {
		return "", err
	}
	r.becomes(path, before, l.Text)
	if !existed {
		r.promise.Steps[0].Before = ""
	}
	if len(r.held) > 0 {
		return "", nil
	}
	r.promise.Session, r.promise.How = session, howRemember
	d, err := r.commit(ctx)
	if err != nil || len(d.Kept) > 0 {
		return "", err
	}
	return r.id(), nil
}

// isEdit reports whether a run is an edit, or an undo that an editor requested. Such a run is given
// up if it can't be done.
func (p *promise) isEdit() bool { return p.Kind == api.RunEdit || p.Session != "" || p.Person }

// leastQuoted is the least length, in bytes, of a line that identifies its author. A shorter line
// may be anyone's.
const leastQuoted = 8

// Unwritten returns a function that does the work of clean, and also removes the lines that the
// edits of a session wrote into memory's files.
func (k *Keeper) Unwritten(ctx context.Context, session string, clean func(string) string) (func(string) string, error) {
	r, unlock, err := k.begin(ctx, api.RunSeen, time.Time{}, false)
	if errors.Is(err, errOff) {
		return clean, nil
	}
	if err != nil {
		return nil, err
	}
	defer unlock()
	said := map[string]consolidation.Origin{}
	for _, l := range r.log {
		if l.run.Kind == api.RunEdit && l.run.Session == session {
			for _, lines := range l.run.Said {
				maps.Copy(said, lines)
			}
		}
	}
	if len(said) == 0 {
		return clean, nil
	}
	return func(text string) string {
		var b strings.Builder
		for l := range strings.Lines(clean(text)) {
			if len(strings.TrimSpace(l)) < leastQuoted || said[consolidation.LineHash(l)] == "" {
				b.WriteString(l)
			}
		}
		return b.String()
	}, nil
}

// Holding returns the files that agents edited and whose present content clean would change.
func (k *Keeper) Holding(ctx context.Context, clean func(string) string) ([]string, error) {
	r, unlock, err := k.begin(ctx, api.RunSeen, time.Time{}, false)
	if errors.Is(err, errOff) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer unlock()
	edited := map[string]bool{}
	for _, l := range r.log {
		for _, st := range l.run.Steps {
			edited[st.Path] = edited[st.Path] || l.run.Kind == api.RunEdit
		}
	}
	var out []string
	for _, path := range slices.Sorted(maps.Keys(edited)) {
		if !edited[path] {
			continue
		}
		switch l, err := k.Files.ReadFile(path); {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, markdownstore.ErrDenied):
		case err != nil:
			return nil, err
		case clean(l.Text) != l.Text:
			out = append(out, path)
		}
	}
	return out, nil
}
