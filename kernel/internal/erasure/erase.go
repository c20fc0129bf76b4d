package erasure

import (
	"context"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/internal/archive"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/kernel/internal/trace"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/journal"
)

// Session is the part of a session that erasing needs.
type Session struct {
	State, Dir store.Store
	Local      store.Store // the session's folder on this machine
	Journal    *journal.Journal
	Blobs      *store.Blobs
	Reader     *archive.Reader
	// Sync makes the session's writes durable.
	Sync func() error
	// Own are the types of the journal's pages that are made from the conversation. Texts that a
	// host wrote stay as they are.
	Own []pagevm.Type
	// Said are the operations of the records that quote the conversation.
	Said []string
}

// Quoting reaches the other places that may quote a session.
type Quoting interface {
	// Backups removes the backups of memory's files that clean would change. If whole is true, it
	// removes the backups that hold the session's own writes.
	Backups(ctx context.Context, clean func(string) string, whole bool) error
	// Nets removes the session's words from the workspace's records of the session's state.
	Nets(ctx context.Context) error
	// Derived closes the session's derived files, because they are removed.
	Derived()
}

// Erase removes the promised contents that still exist, and records that they are removed. The
// caller must read the session again afterwards.
func (l *Ledger) Erase(ctx context.Context, from Session, q Quoting) error {
	var todo Promise // all promises together
	ids := sortedKeys(l.unerased)
	rewrite, forgot := false, false
	for _, id := range ids {
		b := l.unerased[id]
		forgot = forgot || !b.Retire
		todo.Whole, todo.Prompts = todo.Whole || b.Whole, todo.Prompts || b.Prompts || !b.Retire
		todo.Blobs = append(todo.Blobs, b.Blobs...)
		rewrite = rewrite || !b.Retire || b.Prompts
	}
	if rewrite {
		var condemned []*pagevm.Page // the promised pages that can still be read
		for _, id := range sortedKeys(l.condemned) {
			condemned = append(condemned, l.condemned[id])
		}
		scrub := NewScrubber(from.Reader, condemned)
		if forgot && (len(condemned) > 0 || todo.Whole) {
			if err := q.Backups(ctx, scrub.Text, todo.Whole); err != nil {
				return err
			}
		}
		e := eraser{Ledger: l, from: &from, whole: todo.Whole, scrub: scrub}
		if _, err := from.Journal.Rewrite(e.edit); err != nil {
			return err
		}
	}
	if todo.Prompts || todo.Whole {
		q.Derived()
		if err := removeFiles(&from, &todo, forgot); err != nil {
			return err
		}
	}
	if forgot {
		if err := from.Sync(); err != nil {
			return err
		}
		if err := q.Nets(ctx); err != nil {
			return err
		}
	}
	if err := from.Sync(); err != nil {
		return err
	}
	if err := removeBlobs(ctx, from.State, from.Blobs, todo.Blobs); err != nil {
		return err
	}
	var done []store.Record
	for _, id := range ids {
		done = append(done, store.Record{Op: OpForgotten, ID: id, Body: json.RawMessage("{}")})
	}
	_, err := from.Journal.Append(true, done...)
	return err
}

// eraser edits the records of a journal. It removes contents, and the kernel's own texts about
// the contents, which are the summaries and the texts of blocks.
type eraser struct {
	*Ledger
	from  *Session
	whole bool
	scrub *Scrubber
}

func (e *eraser) edit(r *store.Record) (bool, error) {
	switch r.Op {
	case OpForget, OpForgotten:
		return true, nil
	}
	if e.whole {
		return false, nil
	}
	switch r.Op {
	case ingest.Op:
		return e.ingest(r)
	case branch.OpCut:
		return true, e.cut(r)
	case journal.OpSnapshot:
		return true, e.snapshot(r)
	case journal.OpStaged, journal.OpRejected:
		r.Body = e.scrub.JSON(r.Body)
	default:
		if slices.Contains(e.from.Said, r.Op) {
			r.Body = e.scrub.JSON(r.Body)
		}
	}
	return true, nil
}

// ingest drops the pages that were forgotten. It removes a record without other pages.
func (e *eraser) ingest(r *store.Record) (bool, error) {
	var b ingest.Body
	if err := decode(*r, &b); err != nil {
		return false, err
	}
	before := len(b.Pages)
	b.Pages = slices.DeleteFunc(b.Pages, func(p *pagevm.Page) bool {
		g, ok := e.forgotten[p.ID]
		if ok && g.Hash == p.Hash {
			delete(b.Content, p.ID)
			return true
		}
		return false
	})
	if len(b.Pages) == before {
		return true, nil
	}
	var err error
	r.Body, err = json.Marshal(b)
	return len(b.Pages) > 0, err
}

// cut keeps the spans, so that they can be read. It drops the texts of blocks, which no
// projection shows any more, and the lists of recent work, which name no page.
func (e *eraser) cut(r *store.Record) error {
	var b branch.Cut
	if err := decode(*r, &b); err != nil {
		return err
	}
	b.Texts = nil
	for i := range b.Spans {
		sp := &b.Spans[i]
		sp.Worked = ""
		for _, id := range sp.Pages {
			if _, gone := e.forgotten[id]; gone {
				sp.Text = "[" + sp.ID + ": " + ingest.ForgottenText + "]"
			}
		}
	}
	raw, err := json.Marshal(b)
	r.Body = raw
	return err
}

// snapshot removes quotes from the summaries and the session's own account. Texts that a host
// wrote stay as they are.
func (e *eraser) snapshot(r *store.Record) error {
	var b struct {
		Writeback    int                  `json:"writeback"`
		Seq          int                  `json:"seq"`
		Transactions json.RawMessage      `json:"transactions"`
		Pages        []journal.StoredPage `json:"pages"`
	}
	if err := decode(*r, &b); err != nil {
		return err
	}
	for i := range b.Pages {
		if !slices.Contains(e.from.Own, b.Pages[i].Type) {
			continue
		}
		for _, f := range b.Pages[i].Fields {
			for _, entry := range f.Entries {
				for v := range entry.Versions {
					entry.Versions[v].Value = e.scrub.JSON(entry.Versions[v].Value)
				}
			}
		}
	}
	b.Transactions = e.scrub.JSON(b.Transactions)
	raw, err := json.Marshal(&b)
	r.Body = raw
	return err
}

// removeFiles removes the session's projections. If something was forgotten, it also removes the
// captured state and the checkpoints, because they quote messages without naming them. The state
// is captured again from the host's next messages. If a whole session was forgotten, it keeps
// only the journal and the lock.
func removeFiles(from *Session, todo *Promise, forgot bool) error {
	var gone []string
	err := store.Walk(from.Dir, func(at string, _ store.Entry) error {
		in, name := path.Split(at)
		switch quotes := path.Base(in); {
		case name == folder.JournalFile || name == folder.HeadFile || name == folder.LockFile || name == folder.WhoseFile:
		case name == folder.RecordsFile || store.IsAside(name) || strings.HasSuffix(name, ".damaged"),
			todo.Whole, forgot && (quotes == "state" || quotes == "checkpoints"):
			gone = append(gone, at)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if _, err = from.Dir.Remove(store.Synced, gone...); err == nil && todo.Whole {
		_, err = from.Local.Remove(store.Synced, trace.File, trace.OldFile)
	}
	return err
}
