package kernel

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/journal"
)

// sameBytes is the size from which equal content is the same content, wherever it
// stands. Below it, "ok" is said too often.
const sameBytes = 32

// grave is a page that was forgotten.
type grave struct {
	tombstone
	reason string
	time   time.Time
}

// erasures is what a session's journal says of what went.
type erasures struct {
	// forgotten are tombstones by page, forgottenHash by content.
	forgotten     map[string]grave
	forgottenHash map[string]bool
	// retired are pages whose content went by retention. goneBlobs are the blobs of
	// both, true for those that were forgotten.
	retired   map[string]grave
	goneBlobs map[string]bool
	// condemned are forgotten pages whose content may still be there, unerased the
	// promises that are not kept yet, by record.
	condemned map[string]*pagevm.Page
	unerased  map[string]forgetBody
}

func newErasures() erasures {
	return erasures{forgotten: map[string]grave{}, forgottenHash: map[string]bool{}, retired: map[string]grave{}, goneBlobs: map[string]bool{},
		condemned: map[string]*pagevm.Page{}, unerased: map[string]forgetBody{}}
}

// keepErasure applies an opForget or opForgotten record to the state in memory.
func (s *session) keepErasure(r journal.Record) error {
	if r.Op == opForgotten {
		delete(s.unerased, r.ID)
		return nil
	}
	var b forgetBody
	if err := unmarshal(r, &b); err != nil {
		return err
	}
	s.unerased[r.ID] = b
	for _, h := range b.Blobs {
		s.goneBlobs[h] = s.goneBlobs[h] || !b.Retire
	}
	for _, t := range b.Pages {
		g := grave{t, b.Reason, r.Time}
		p := s.pages[t.ID]
		if b.Retire {
			s.retired[t.ID] = g
			continue
		}
		if s.forgotten[t.ID] = g; t.Bytes >= sameBytes {
			s.forgottenHash[t.Hash] = true
		}
		if p != nil && p.Hash == t.Hash {
			s.condemned[t.ID] = p
			delete(s.pages, t.ID)
			delete(s.archivedPages, t.ID)
			s.archiveSpans, s.archivedPages = nil, map[string]bool{}
		}
	}
	return nil
}

// eraseAll removes what promises say, if there are any, and reads the session
// again. What can't be removed now stays promised, with the reason in eraseErr.
func (s *session) eraseAll(ctx context.Context, k *Kernel) error {
	s.eraseErr = nil
	if len(s.unerased) == 0 {
		return nil
	}
	s.eraseErr = s.erase(ctx, k)
	s.forget()
	s.readOnly = false
	return s.refresh(true)
}

func (s *session) erase(ctx context.Context, k *Kernel) error {
	var todo forgetBody // all promises together
	ids := sortedKeys(s.unerased)
	rewrite, forgot := false, false
	for _, id := range ids {
		b := s.unerased[id]
		forgot = forgot || !b.Retire
		todo.Whole, todo.Prompts = todo.Whole || b.Whole, todo.Prompts || b.Prompts || !b.Retire
		todo.Blobs = append(todo.Blobs, b.Blobs...)
		rewrite = rewrite || !b.Retire || b.Prompts
	}
	if err := s.openJournal(); err != nil {
		return err
	}
	if forgot { // while what is to go can still be read
		if err := k.forgetBackups(ctx, s); err != nil {
			return err
		}
	}
	if rewrite {
		if err := s.rewriteWithout(&todo); err != nil {
			return err
		}
	}
	if err := s.removeFiles(&todo, forgot); err != nil {
		return err
	}
	if forgot {
		if err := s.life.ForgetMarkdown(ctx); err != nil {
			return err
		}
	}
	if err := s.removeBlobs(ctx, todo.Blobs); err != nil {
		return err
	}
	var done []journal.Record
	for _, id := range ids {
		done = append(done, journal.Record{Op: opForgotten, ID: id, Body: json.RawMessage("{}")})
	}
	_, err := s.journal.Append(true, done...)
	return err
}

// rewriteWithout takes contents out of the journal, and out of what the kernel
// itself made of them: the summaries and the texts of blocks.
func (s *session) rewriteWithout(todo *forgetBody) error {
	e := eraser{s: s, whole: todo.Whole, scrub: s.scrubberOf(s.condemnedPages())}
	_, err := s.journal.Rewrite(e.edit)
	return err
}

// condemnedPages are forgotten pages whose content may still be there.
func (s *session) condemnedPages() []*pagevm.Page {
	pages := make([]*pagevm.Page, 0, len(s.condemned))
	for _, id := range sortedKeys(s.condemned) {
		pages = append(pages, s.condemned[id])
	}
	return pages
}

// eraser edits the records of a journal.
type eraser struct {
	s     *session
	whole bool
	scrub *scrubber
}

func (e *eraser) edit(r *journal.Record) (bool, error) {
	switch r.Op {
	case opForget, opForgotten:
		return true, nil
	}
	if e.whole {
		return false, nil
	}
	switch r.Op {
	case opIngest:
		return e.ingest(r)
	case opCut:
		return true, e.cut(r)
	case journal.OpSnapshot:
		return true, e.snapshot(r)
	case journal.OpStaged, journal.OpRejected, opRemember:
		r.Body = e.scrub.json(r.Body)
	}
	return true, nil
}

// ingest drops the pages that were forgotten; a record with no other goes.
func (e *eraser) ingest(r *journal.Record) (bool, error) {
	var b ingest.Body
	if err := unmarshal(*r, &b); err != nil {
		return false, err
	}
	before := len(b.Pages)
	b.Pages = slices.DeleteFunc(b.Pages, func(p *pagevm.Page) bool {
		g, ok := e.s.forgotten[p.ID]
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

// cut keeps the spans, so that they can be read, and drops the texts of blocks:
// no projection shows them any more.
func (e *eraser) cut(r *journal.Record) error {
	var b cutBody
	if err := unmarshal(*r, &b); err != nil {
		return err
	}
	b.Texts = nil
	for i := range b.Spans {
		sp := &b.Spans[i]
		for _, id := range sp.Pages {
			if _, gone := e.s.forgotten[id]; gone {
				sp.Text = "[" + sp.ID + ": " + ingest.ForgottenText + "]"
			}
		}
	}
	raw, err := json.Marshal(b)
	r.Body = raw
	return err
}

// snapshot takes quotes out of the summaries and the session's own account. What a
// host wrote stays as it was written.
func (e *eraser) snapshot(r *journal.Record) error {
	var b struct {
		Writeback    int                  `json:"writeback"`
		Seq          int                  `json:"seq"`
		Transactions json.RawMessage      `json:"transactions"`
		Pages        []journal.StoredPage `json:"pages"`
	}
	if err := unmarshal(*r, &b); err != nil {
		return err
	}
	for i := range b.Pages {
		if t := b.Pages[i].Type; t != summaryType && t != sessionType {
			continue
		}
		for _, f := range b.Pages[i].Fields {
			for _, entry := range f.Entries {
				for v := range entry.Versions {
					entry.Versions[v].Value = e.scrub.json(entry.Versions[v].Value)
				}
			}
		}
	}
	b.Transactions = e.scrub.json(b.Transactions)
	raw, err := json.Marshal(&b)
	r.Body = raw
	return err
}

// removeFiles removes the session's projections; where something was forgotten the
// captured state and the checkpoints, too, which quote messages without saying which
// (the state is captured again from what the host sends); and of a whole session all
// but the journal and the lock.
func (s *session) removeFiles(todo *forgetBody, forgot bool) error {
	if !todo.Prompts && !todo.Whole {
		return nil
	}
	if s.records != nil {
		s.records.Close()
		s.records = nil
	}
	s.tracer.Forget()
	var gone []string
	err := store.Walk(s.files, func(at string, _ store.Entry) error {
		folder, name := path.Split(at)
		switch quotes := path.Base(folder); {
		case name == journalFile || name == journalHead || name == lockName || name == whoseFile:
		case name == recordsFile || store.IsAside(name) || strings.HasSuffix(name, ".damaged"),
			todo.Whole, forgot && (quotes == "state" || quotes == "checkpoints"):
			gone = append(gone, at)
		}
		return nil
	})
	if err != nil {
		return err
	}
	_, err = s.files.Remove(store.Synced, gone...)
	return err
}

// removeBlobs deletes blobs that no page needs.
func (s *session) removeBlobs(ctx context.Context, hashes []string) error {
	if len(hashes) == 0 {
		return nil
	}
	unlock, err := lockBlobs(ctx, s.root, store.Alone)
	if err != nil {
		return err
	}
	defer unlock()
	needed, err := neededBlobs(s.root, nil)
	if err != nil {
		return err
	}
	for _, h := range hashes {
		if needed[h] {
			continue
		}
		if err := s.blobs.Delete(h); err != nil {
			return err
		}
	}
	return nil
}

// lockBlobs keeps the removal of blobs apart from what writes a blob and then the
// journal line that names it: the one holds the lock alone, the others share it.
func lockBlobs(ctx context.Context, state store.Store, share store.Share) (func(), error) {
	return lockState(ctx, state, "blobs.lock", share)
}

// lockState takes a lock of the state directory.
func lockState(ctx context.Context, state store.Store, name string, share store.Share) (func(), error) {
	release, err := store.Wait(ctx, state, name, share)
	if err != nil {
		return nil, fmt.Errorf("take %s: %w", state.Where(name), err)
	}
	return release, nil
}

// neededBlobs are the blobs that pages of any journal hold. It reads the files and
// takes no session's lock. Gone names what doesn't count: pages by folder/id, sessions
// by folder.
func neededBlobs(root store.Store, gone map[string]bool) (map[string]bool, error) {
	folders, err := sessionFolders(root)
	if err != nil {
		return nil, err
	}
	needed := map[string]bool{}
	for _, f := range folders {
		if gone[f] {
			continue
		}
		pages, err := holders(sessionDir(root, f))
		if err != nil {
			return nil, fmt.Errorf("which blobs are needed can't be told: %w", err)
		}
		for id, blobs := range pages {
			if gone[f+"/"+id] {
				continue
			}
			for _, h := range blobs {
				needed[h] = true
			}
		}
	}
	return needed, nil
}

// holders are the blobs that the pages of a journal hold, by page.
func holders(dir store.Store) (map[string][]string, error) {
	j, err := journal.OpenJournalIn(dir, journalFile, &journal.Options{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer j.Close()
	pages := map[string][]string{}
	for r, err := range j.Records() {
		if err != nil {
			return nil, err
		}
		switch r.Op {
		case opIngest:
			var b ingest.Body
			if err := unmarshal(r, &b); err != nil {
				return nil, err
			}
			for _, p := range b.Pages {
				pages[p.ID] = append(pages[p.ID], blobsOf(p)...)
			}
		case opForget:
			var b forgetBody
			if err := unmarshal(r, &b); err != nil {
				return nil, err
			}
			for _, t := range b.Pages {
				delete(pages, t.ID)
			}
		}
	}
	return pages, nil
}
