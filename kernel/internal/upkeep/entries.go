package upkeep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/markdownstore"
)

// EditEntry replaces or removes an entry of a file.
func (k *Keeper) EditEntry(ctx context.Context, e Editor, req *api.EntryRequest) (*api.EntryEdited, error) {
	out := &api.EntryEdited{Path: req.Path, Promoted: []string{}}
	if req.Delete {
		e.How = howForget
	}
	edited, err := k.editFile(ctx, e, req.Path, func(now standing) (f api.EditFile, err error) {
		if !now.Exists {
			return f, &api.EditError{Path: req.Path, Why: "there is no such file"}
		}
		old, err := entryOn(now, req)
		if none := (*api.NoLineError)(nil); err != nil && (req.Was == "" || !errors.As(err, &none)) {
			return f, err
		}
		if req.Was != "" && (old == nil || k.listed(old) != req.Was) {
			return f, stale(k, now, "the entry on line "+strconv.Itoa(req.Line)+" reads otherwise by now, so nothing was changed", req.Line, "")
		}
		out.Path, out.Line, out.Before = now.Path, old.StartLine, k.Masker.Text(old.Text)
		p := api.PassageRequest{Version: now.Hash, From: old.StartLine, Lines: old.EndLine - old.StartLine + 1, Delete: req.Delete}
		if req.Delete {
			out.Promoted = k.Promoted(old.Text)
		} else {
			p.Text = markdownstore.Item(old.Text, req.Text)
		}
		f, err = passage(k, now, &p)
		if rest := strings.TrimSpace(strings.TrimPrefix(f.Text, byteOrder)); req.Delete && strings.HasPrefix(rest, "# ") && !strings.Contains(rest, "\n") {
			f.Remove = true // a title alone is no memory
		}
		return f, err
	})
	if err != nil {
		return nil, err
	}
	out.Edit, out.Masked = edited.Edit, edited.Masked
	if !req.Delete {
		out.After, out.EndLine = k.textOn(out.Path, out.Line)
	}
	return out, nil
}

// entryOn returns the single entry on some lines of a file.
func entryOn(now standing, req *api.EntryRequest) (*consolidation.Entry, error) {
	all := consolidation.Entries(now.Path, strings.ReplaceAll(now.Text, "\r\n", "\n"))
	var on []*consolidation.Entry
	for _, e := range all {
		if e.StartLine <= max(req.EndLine, req.Line) && e.EndLine >= req.Line {
			on = append(on, e)
		}
	}
	if len(on) == 1 {
		return on[0], nil
	}
	if len(on) > 1 {
		var places []string
		for i := range on[:min(len(on), mostListed)] {
			places = append(places, on[i].Place())
		}
		return nil, &api.EditError{Path: now.Path, Why: fmt.Sprintf("lines %d to %d hold %d entries: name one of %s", req.Line, req.EndLine, len(on), strings.Join(places, ", "))}
	}
	return nil, noEntry(now.Path, req.Line, len(linesOf(now.Text)), all)
}

// noEntry returns the error for a line that belongs to no entry of a file.
func noEntry(path string, line, lines int, all []*consolidation.Entry) error {
	none := &api.NoLineError{Path: path, Line: line, Lines: lines}
	if len(all) > 0 {
		far := func(e *consolidation.Entry) int { return max(e.StartLine-line, line-e.EndLine, 0) }
		none.Near = slices.MinFunc(all, func(a, b *consolidation.Entry) int { return cmp.Compare(far(a), far(b)) }).StartLine
	}
	return none
}

// Promoted returns the places and texts of the entries of MEMORY.md that were promoted from lines
// that occur in texts.
func (k *Keeper) Promoted(texts ...string) []string {
	out := []string{}
	if k.Files == nil {
		return out
	}
	memory, _ := k.Files.ReadFile(memoryPath)
	for _, e := range consolidation.Entries(memoryPath, memory.Text) {
		for _, ref := range e.From {
			path, n, _ := consolidation.PlaceOf(ref)
			log, err := k.Files.ReadFile(path)
			lines := linesOf(log.Text)
			if err != nil || n < 1 || n > len(lines) || strings.TrimSpace(lines[n-1]) == "" {
				continue
			}
			if slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(t, strings.TrimSpace(lines[n-1])) }) {
				out = append(out, e.Place()+" "+k.Masker.Text(e.Plain))
			}
		}
	}
	return out
}

// memoryPath is the file of curated memory.
const memoryPath = "MEMORY.md"

// mostListed is how many places an error names.
const mostListed = 5

// textOn returns the entry on a line of a file, with secrets masked, and its last line.
func (k *Keeper) textOn(path string, line int) (string, int) {
	l, err := k.Files.ReadFile(path)
	if err == nil {
		for _, e := range consolidation.Entries(path, strings.ReplaceAll(l.Text, "\r\n", "\n")) {
			if e.On(line) {
				return k.Masker.Text(e.Text), e.EndLine
			}
		}
	}
	return "", line
}

// mostTries is the number of attempts to add an entry while others write to the file.
const mostTries = 5

// Add adds an entry at the end of a file, as an edit that can be taken back. An entry that is in
// the file already is not added again.
func (k *Keeper) Add(ctx context.Context, e Editor, path, text string) (*api.EntryEdited, error) {
	if e.Rule == api.EditNone {
		e.Rule = api.EditOwn // an addition changes no existing entry
	}
	e.How = howRemember
	out := &api.EntryEdited{Path: path, Promoted: []string{}}
	add := func(now standing) (api.EditFile, error) {
		was, entry := strings.ReplaceAll(now.Text, "\r\n", "\n"), markdownstore.Item("- ", text)
		if e.Voice != api.VoicePerson {
			entry = consolidation.Remembered(now.Path, entry, nil)
		}
		for _, x := range consolidation.Entries(now.Path, was) {
			if x.Text == k.Masker.Text(entry) {
				out.Path, out.Line, out.Duplicate = now.Path, x.StartLine, true
				return api.EditFile{Path: now.Path, Version: now.Hash, Text: was}, nil
			}
		}
		f := api.EditFile{Path: now.Path, Version: now.Hash}
		out.Path = now.Path
		f.Text, out.Line = markdownstore.Grown(now.Path, was, entry)
		return f, nil
	}
	edited, err := k.editFile(ctx, e, path, add)
	for try := 1; err != nil; try++ {
		if _, stale := errors.AsType[*api.StaleError](err); !stale || try == mostTries {
			return nil, err
		}
		edited, err = k.editFile(ctx, e, path, add)
	}
	out.Edit, out.Masked = edited.Edit, edited.Masked
	out.After, out.EndLine = k.textOn(out.Path, out.Line)
	return out, nil
}

// Entries lists the entries of the files of memory that a session sees, the newest first. path is
// a file or a folder, or "" for all files.
func (k *Keeper) Entries(ctx context.Context, see *markdownstore.Store, path string) (*api.MemoryList, error) {
	r, unlock, err := k.begin(ctx, api.RunSeen, time.Time{}, false)
	if err != nil {
		return nil, err
	}
	defer unlock()
	snap, err := r.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	rec, unread := r.record()
	written := map[line]time.Time{} // the times at which edits wrote lines of files
	for _, l := range r.log {
		for path, lines := range l.run.Said {
			for hash := range lines {
				written[line{path, hash}] = l.run.Time
			}
		}
	}
	out := &api.MemoryList{Entries: []api.MemoryEntry{}, Skipped: []api.SkippedFile{}}
	changed := map[string]string{} // the day on which each file was last changed
	for _, f := range snap.Files {
		if class, _ := see.Classify(f.Path); !class.Memory || f.Shadowed || f.Kind == markdownstore.KindBuffer {
			continue
		}
		if path != "" && f.Path != path && !strings.HasPrefix(f.Path, strings.TrimSuffix(path, "/")+"/") {
			continue
		}
		_, err := see.Stat(f.Path)
		if denied := (*markdownstore.DeniedError)(nil); f.Err != nil && !(errors.As(err, &denied) && denied.Reason == markdownstore.DenyPrivate) {
			out.Skipped = append(out.Skipped, api.SkippedFile{Path: f.Path, Reason: f.Err.Error()})
		}
		if err != nil || f.Err != nil {
			continue
		}
		changed[f.Path] = see.Today(f.ModTime)
		for _, x := range f.Entries {
			at := written[line{f.Path, consolidation.LineHash(firstLine(x.Text))}]
			day := x.Date
			if day == "" && !at.IsZero() {
				day = see.Today(at)
			}
			out.Entries = append(out.Entries, api.MemoryEntry{Path: f.Path, Line: x.StartLine, EndLine: x.EndLine, Date: day, By: authorOf(rec.Origin(f.Path, x.ID, x.Text)), ID: x.ID,
				Text: k.listed(x), Written: at})
		}
	}
	slices.SortStableFunc(out.Entries, func(a, b api.MemoryEntry) int {
		return cmp.Or(cmp.Compare(cmp.Or(b.Date, changed[b.Path]), cmp.Or(a.Date, changed[a.Path])), b.Written.Compare(a.Written), cmp.Compare(a.Path, b.Path), cmp.Compare(b.Line, a.Line))
	})
	return out, unread()
}

// listed returns an entry's text as lists show it.
func (k *Keeper) listed(x *consolidation.Entry) string {
	return k.Masker.Text(x.Words())
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}

// authorOf returns the author of an entry as lists name it.
func authorOf(o consolidation.Origin) string {
	switch {
	case o == consolidation.OriginUpkeep:
		return api.ByUpkeep
	case o.Machine():
		return api.ByAgent
	case o == consolidation.OriginUnknown:
		return ""
	}
	return api.ByPerson
}
