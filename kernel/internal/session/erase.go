package session

import (
	"context"
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/kernel/internal/trace"
	"github.com/memkernel/memkernel/kernel/internal/workstate"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/journal"
)

// erase removes the promised contents that still exist, and records that they are removed. The
// caller must read the session again afterwards.
func (s *Session) erase(ctx context.Context) error {
	if err := s.openJournal(); err != nil {
		return err
	}
	var todo Promise // all promises together
	var done []store.Record
	forgot := false
	for _, id := range slices.Sorted(maps.Keys(s.Graves.unerased)) {
		b := s.Graves.unerased[id]
		forgot = forgot || !b.Retire
		todo.Whole, todo.Prompts = todo.Whole || b.Whole, todo.Prompts || b.Prompts || !b.Retire
		todo.Blobs = append(todo.Blobs, b.Blobs...)
		done = append(done, store.Record{Op: opForgotten, ID: id, Body: json.RawMessage("{}")})
	}
	if todo.Prompts {
		var condemned []*pagevm.Page // the promised pages that can still be read
		for _, id := range slices.Sorted(maps.Keys(s.Graves.condemned)) {
			condemned = append(condemned, s.Graves.condemned[id])
		}
		scrub := s.Scrubber(condemned)
		if forgot && (len(condemned) > 0 || todo.Whole) && s.Name != folder.Project {
			clean, err := s.Unquoted(ctx, scrub, todo.Whole)
			if err != nil {
				return err
			}
			if err := s.o.Upkeep.Forget(ctx, clean, nil); err != nil {
				return err
			}
		}
		if err := s.rewrite(ctx, todo.Whole, forgot, func(r *store.Record) (bool, error) { return s.erased(r, todo.Whole, scrub) }); err != nil {
			return err
		}
	} else if err := s.Sync(); err != nil {
		return err
	}
	if len(todo.Blobs) > 0 {
		if err := RemoveUnheld(ctx, s.o.State, s.Blobs, todo.Blobs); err != nil {
			return err
		}
	}
	_, err := s.Journal.Append(true, done...)
	return err
}

// Unquoted returns a function that removes quotes of pages from a text of memory's files or their
// backups. If the whole session is forgotten, it also removes the session's own writes.
func (s *Session) Unquoted(ctx context.Context, scrub *Scrubber, whole bool) (func(string) string, error) {
	if !whole {
		return scrub.Text, nil
	}
	return s.o.Upkeep.Unwritten(ctx, s.Name, scrub.Text)
}

// erased edits a record of the journal, and reports whether to keep it. It removes forgotten
// pages, and the kernel's own texts about the pages, which are the summaries and the texts of
// blocks.
func (s *Session) erased(r *store.Record, whole bool, scrub *Scrubber) (keep bool, err error) {
	switch r.Op {
	case opForget, opForgotten:
		return true, nil
	}
	if whole {
		return false, nil
	}
	switch r.Op {
	case ingest.Op:
		return s.erasePages(r)
	case branch.OpCut: // spans stay readable; no projection shows the texts any more
		return true, edited(r, func(b *branch.Cut) {
			b.Texts = nil
			for i := range b.Spans {
				sp := &b.Spans[i]
				for _, id := range sp.Pages {
					if _, gone := s.Graves.Pages[id]; gone {
						sp.Text = "[" + sp.ID + ": " + ingest.ForgottenText + "]"
					}
				}
			}
		})
	case journal.OpSnapshot:
		return true, eraseSnapshot(r, scrub)
	case journal.OpStaged, journal.OpRejected, opRemember:
		r.Body = scrub.JSON(r.Body)
	}
	return true, nil
}

// erasePages drops the pages that were forgotten. It removes a record without other pages.
func (s *Session) erasePages(r *store.Record) (keep bool, err error) {
	var b ingest.Body
	if err := unmarshal(*r, &b); err != nil {
		return false, err
	}
	before := len(b.Pages)
	b.Pages = slices.DeleteFunc(b.Pages, func(p *pagevm.Page) bool {
		g, ok := s.Graves.Pages[p.ID]
		if ok && g.Hash == p.Hash {
			delete(b.Content, p.ID)
			return true
		}
		return false
	})
	if len(b.Pages) == before {
		return true, nil
	}
	r.Body, err = json.Marshal(b)
	return len(b.Pages) > 0, err
}

// edited changes the body of a record.
func edited[T any](r *store.Record, change func(*T)) error {
	b := new(T)
	if err := unmarshal(*r, b); err != nil {
		return err
	}
	change(b)
	var err error
	r.Body, err = json.Marshal(b)
	return err
}

// eraseSnapshot removes quotes from the summaries and the session's own account. Texts that a host
// wrote stay as they are.
func eraseSnapshot(r *store.Record, scrub *Scrubber) error {
	type snapshot struct {
		Writeback    int                  `json:"writeback"`
		Seq          int                  `json:"seq"`
		Transactions json.RawMessage      `json:"transactions"`
		Pages        []journal.StoredPage `json:"pages"`
	}
	return edited(r, func(b *snapshot) {
		for _, p := range b.Pages {
			if p.Type != summaryType && p.Type != sessionType && p.Type != memoryType {
				continue
			}
			for _, f := range p.Fields {
				for _, entry := range f.Entries {
					if flushed, _ := workstate.WrittenBy(entry.ID); p.Type == memoryType && !flushed {
						continue
					}
					for v := range entry.Versions {
						entry.Versions[v].Value = scrub.JSON(entry.Versions[v].Value)
					}
				}
			}
		}
		b.Transactions = scrub.JSON(b.Transactions)
	})
}

// Censor removes words from the journal's records, except for pages, and from the data that derives
// from these records. clean returns a text without the words. Censor reads the session again.
func (s *Session) Censor(ctx context.Context, clean func(string) string) (err error) {
	if err := s.openJournal(); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			s.Invalidate()
		}
	}()
	found := false
	for r, err := range s.Journal.Records() {
		if err != nil {
			return err
		}
		if found = censored(&r, clean); found {
			break
		}
	}
	if !found {
		return ctx.Err()
	}
	err = s.rewrite(ctx, false, true, func(r *store.Record) (keep bool, err error) {
		if !censored(r, clean) || r.Op != branch.OpCut {
			return true, nil
		}
		return true, edited(r, func(b *branch.Cut) { b.Texts = nil }) // texts are named by their hashes
	})
	if err != nil {
		return err
	}
	s.Invalidate()
	s.untidy = false
	return s.Refresh(true)
}

// censored cleans all texts of a record, and reports whether the record changed. It does not change
// pages and promises.
func censored(r *store.Record, clean func(string) string) (changed bool) {
	switch r.Op {
	case ingest.Op, opForget, opForgotten:
		return false
	}
	r.Body, changed = editJSON(r.Body, func(map[string]any) bool { return false }, func(_, t string) string { return clean(t) })
	return changed
}

// rewrite edits the journal's records, and then removes the files that derive from them. With whole
// it removes all of them. With forgot it also removes the session's words from the records of its
// state in the workspace.
func (s *Session) rewrite(ctx context.Context, whole, forgot bool, edit func(*store.Record) (keep bool, err error)) error {
	err := s.Journal.Rewrite(edit)
	if err == nil {
		err = s.removeFiles(whole, forgot)
	}
	if err == nil {
		err = s.Sync()
	}
	if err == nil && forgot {
		err = s.Life.ForgetMarkdown(ctx)
	}
	return err
}

// removeFiles removes the session's projections. If something was forgotten, it also removes the
// captured state and the checkpoints, because they quote messages without naming them. The state
// is captured again from the host's next messages. If a whole session was forgotten, it keeps
// only the journal and the lock.
func (s *Session) removeFiles(whole, forgot bool) error {
	s.records = nil
	s.Tracer.Forget()
	var gone []string
	err := store.Walk(s.Files, func(at string, _ store.Entry) error {
		in, name := path.Split(at)
		switch quotes := path.Base(in); {
		case name == folder.JournalFile || name == folder.HeadFile || name == folder.LockFile || name == folder.WhoseFile:
		case name == folder.RecordsFile || store.IsAside(name) || strings.HasSuffix(name, ".damaged"),
			whole, forgot && (quotes == "state" || quotes == "checkpoints"):
			gone = append(gone, at)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if _, err = s.Files.Remove(store.Synced, gone...); err == nil && whole {
		_, err = s.Local.Remove(store.Synced, trace.File, trace.OldFile)
	}
	return err
}
