package retain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/internal/longwork"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/internal/archive"
	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/kernel/internal/session"
	"github.com/memkernel/memkernel/kernel/internal/workstate"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/sessions"
)

// Forget removes pages, spans, blobs or a whole session from all that is kept, and keeps
// tombstones. Get then answers FORGOTTEN. If the host sends a forgotten message again, the
// message stays forgotten, and the prompt shows a notice in its place. The next plan of the
// session builds a new projection, which costs a cache miss. Forget does not touch the host's own
// data or the workspace's files.
func (k *Keeper) Forget(ctx context.Context, req api.ForgetRequest) (*api.Forgotten, error) {
	if req.Session == (len(req.IDs) > 0) {
		return nil, errors.New("forget: name the ids of pages, spans or blobs, or the whole session")
	}
	req.Now = k.At(req.Now)
	out := &api.Forgotten{Applied: req.Apply, Pages: []api.ForgottenPage{}, Blobs: []string{}, Kept: []string{}, Backups: []string{}, Already: []string{}, Elsewhere: []string{}, Memory: []api.ForgottenFacts{}}
	folders, err := k.forgetFolders(&req)
	if perr := k.forgetPast(ctx, &req, out); perr != nil {
		return nil, fmt.Errorf("forget: %w", perr)
	}
	if errors.Is(err, api.ErrNoSession) && len(out.Transcripts) > 0 {
		err = nil
	}
	if err != nil {
		return nil, fmt.Errorf("forget: %w", err)
	}
	known, gone := map[string]bool{}, map[session.Holder]bool{}
	var changed, blobs []string
	for _, f := range longwork.Over(ctx, "session", folders) {
		before := *out
		var b *session.Promise
		err := k.visit(ctx, f, req.Apply, func(s *session.Session) (err error) {
			*out = before
			b, err = k.promiseForget(ctx, s, &req, out, known)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("forget: %w", err)
		}
		if b == nil {
			continue
		}
		changed, blobs = append(changed, f), append(blobs, b.Blobs...)
		for _, t := range b.Pages {
			gone[session.Holder{Folder: f, Page: t.ID}] = true
		}
	}
	for _, id := range req.IDs {
		if !known[id] {
			return nil, fmt.Errorf("forget: nothing is known of %s in session %q; get and plan --explain name what is", id, req.SessionKey)
		}
	}
	var held map[string][]session.Holder
	if len(blobs) > 0 {
		if held, err = session.Holders(ctx, k.State); err != nil {
			return nil, fmt.Errorf("forget: %w", err)
		}
	}
	slices.Sort(blobs)
	for _, h := range slices.Compact(blobs) {
		if slices.ContainsFunc(held[h], func(p session.Holder) bool { return !gone[p] }) {
			out.Kept = append(out.Kept, h)
		} else {
			out.Blobs = append(out.Blobs, h)
		}
	}
	if !req.Apply {
		return out, ctx.Err()
	}
	if err := k.finishForget(ctx, changed); err != nil {
		return out, err
	}
	k.dropPast(ctx, out)
	return out, nil
}

// forgetFolders returns the sessions that may hold the contents to forget, the named one first.
func (k *Keeper) forgetFolders(req *api.ForgetRequest) ([]string, error) {
	own := folder.Of(req.SessionKey)
	all, err := folder.All(k.State)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(all, own) && slices.Contains(all, req.SessionKey) {
		if key, err := folder.KeyIn(k.State, req.SessionKey); err == nil && key == req.SessionKey {
			own = req.SessionKey // the folder's owner is unknown, so status has its name
		}
	}
	folders := []string{own}
	if slices.ContainsFunc(req.IDs, store.IsHash) {
		for _, f := range all {
			if f != own {
				folders = append(folders, f)
			}
		}
	}
	if !slices.Contains(all, own) && len(folders) == 1 {
		return nil, k.NoSession(req.SessionKey)
	}
	return folders, nil
}

// visit calls f with a session, for writing if apply is true.
func (k *Keeper) visit(ctx context.Context, name string, apply bool, f func(*session.Session) error) error {
	if apply {
		return k.Sessions.WriteFolder(ctx, name, f)
	}
	s, unlock, err := k.Sessions.Visit(ctx, name)
	if err != nil {
		return err
	}
	defer unlock()
	return f(s)
}

// promiseForget looks up the contents to forget in one session and, with req.Apply, writes the
// promise. It returns nil if the session holds no such contents. It notes known ids in known.
func (k *Keeper) promiseForget(ctx context.Context, s *session.Session, req *api.ForgetRequest, out *api.Forgotten, known map[string]bool) (*session.Promise, error) {
	pages, already := meant(s, req, known)
	out.Already = append(out.Already, already...)
	if len(pages) == 0 && !req.Session {
		return nil, nil
	}
	b := session.PromiseOf(pages, s.Masker.Text(req.Reason))
	b.Whole = req.Session
	scrub := s.Scrubber(pages)
	if err := k.forgetEntries(ctx, s, scrub, req, out); err != nil {
		return nil, err
	}
	for _, p := range pages {
		out.Pages = append(out.Pages, api.ForgottenPage{Session: s.Key, ID: p.ID, Type: p.Type, Tool: p.Tool, Path: p.Path, Bytes: p.Bytes, Created: p.Created})
		out.Bytes += p.Bytes
	}
	out.Elsewhere = append(out.Elsewhere, elsewhere(s, pages, scrub)...)
	clean, err := s.Unquoted(ctx, scrub, req.Session)
	if err != nil {
		return nil, err
	}
	quoting, err := k.Upkeep.Quoting(clean)
	if err != nil {
		return nil, err
	}
	out.Backups = append(out.Backups, quoting...)
	files, err := k.Upkeep.Holding(ctx, clean)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		out.Elsewhere = append(out.Elsewhere, f+", which an agent edited, quotes it")
	}
	if !req.Apply {
		return b, nil
	}
	if err := k.forgetSaid(ctx, s, pages); err != nil {
		return nil, err
	}
	return b, s.Promise(b, req.Now)
}

// meant returns the pages of a session that a request names, in order, and the pages among them
// that were forgotten before. An id is the id of a page or of a span, or the hash of a blob.
func meant(s *session.Session, req *api.ForgetRequest, known map[string]bool) (pages []*pagevm.Page, already []string) {
	set := map[string]*pagevm.Page{}
	if req.Session {
		set = s.Pages
	}
	for _, id := range req.IDs {
		page, _, _ := archive.CutLines(id)
		switch sp, span := s.Spans[page]; {
		case store.IsHash(id):
			for _, p := range s.Pages {
				if p.Hash == id || slices.Contains(session.BlobsOf(p), id) {
					set[p.ID], known[id] = p, true
				}
			}
			_, gone := s.Graves.Blobs[id]
			known[id] = known[id] || gone
		case s.Pages[page] != nil:
			set[page], known[id] = s.Pages[page], true
		case span:
			known[id] = true
			for _, m := range sp.Pages {
				if p := s.Pages[m]; p != nil {
					set[m] = p
				}
			}
		case s.Graves.Pages[page].ID != "":
			known[id] = true
			already = append(already, page)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(set)) {
		pages = append(pages, set[id])
	}
	return pages, already
}

// forgetEntries removes from memory's files the entries that a flush wrote and that quote the pages.
// If the whole session is forgotten, it removes all that the session's flushes wrote, and the texts
// that the session imported from another program's memory. It must run before the promise is made. Once the promise is carried
// out, the session no longer knows its entries.
func (k *Keeper) forgetEntries(ctx context.Context, s *session.Session, scrub *session.Scrubber, req *api.ForgetRequest, out *api.Forgotten) error {
	if k.Memory == nil {
		return nil
	}
	files := map[string]map[string]string{}
	for _, promised := range s.Promised() {
		var e struct{ Path, Text string }
		if err := json.Unmarshal(promised.Current().Value, &e); err != nil {
			return fmt.Errorf("read entry %s of memory: %w", promised.ID, err)
		}
		flushed, _ := workstate.WrittenBy(promised.ID)
		if flushed && (req.Session || scrub.Text(e.Text) != e.Text) || req.Session && strings.HasPrefix(e.Path, markdownstore.ImportedDir) {
			if files[e.Path] == nil {
				files[e.Path] = map[string]string{}
			}
			files[e.Path][promised.ID] = e.Text
		}
	}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		out.Elsewhere = append(out.Elsewhere, k.Upkeep.Promoted(slices.Collect(maps.Values(files[path]))...)...)
		r, err := k.Memory.Store(true).Retract(ctx, path, files[path], req.Apply)
		if err != nil {
			return err
		}
		if r.Gone > 0 {
			out.Memory = append(out.Memory, api.ForgottenFacts{Path: path, Entries: r.Gone})
		}
		for _, id := range r.Changed {
			out.Elsewhere = append(out.Elsewhere, fmt.Sprintf("entry %s of %s was changed since", id, path))
		}
	}
	return nil
}

// finishForget opens the sessions of folders for writing, which removes the promised contents.
func (k *Keeper) finishForget(ctx context.Context, folders []string) error {
	for _, f := range longwork.Over(ctx, "session", folders) {
		err := k.Sessions.WriteFolder(ctx, f, func(s *session.Session) error { return s.EraseErr })
		if err != nil {
			return fmt.Errorf("session %s: it is forgotten, and will be removed when the session is next opened: %w", f, err)
		}
	}
	return nil
}

// elsewhere names places other than pages that hold the same content as the pages.
func elsewhere(s *session.Session, pages []*pagevm.Page, sc *session.Scrubber) []string {
	var out []string
	hashes, meant := map[string]bool{}, map[string]bool{}
	for _, p := range pages {
		meant[p.ID], hashes[p.Hash] = true, p.Bytes >= session.SameBytes
	}
	for _, id := range slices.Sorted(maps.Keys(s.Pages)) {
		if hashes[s.Pages[id].Hash] && !meant[id] {
			out = append(out, "page "+id+" has the same content")
		}
	}
	for _, id := range slices.Sorted(maps.Keys(s.Memories.Entries)) {
		if flushed, _ := workstate.WrittenBy(id); flushed {
			continue // this entry is removed
		}
		if b := s.Memories.Entries[id]; sc.Text(b.Text) != b.Text {
			out = append(out, fmt.Sprintf("entry %s of %s quotes it", id, b.Path))
		}
	}
	for _, p := range s.Stored() {
		raw, err := json.Marshal(p.Fields)
		if err == nil && string(sc.JSON(raw)) != string(raw) {
			out = append(out, fmt.Sprintf("%s %s, which a host wrote, quotes it", p.Type, strings.TrimPrefix(p.Address.String(), "session/")))
		}
	}
	return out
}

// forgetPast forgets the conversations of a session, or reports which ones it would forget. It
// must run before the rest of the session is removed, because the conversations can't be found
// afterwards.
func (k *Keeper) forgetPast(ctx context.Context, req *api.ForgetRequest, out *api.Forgotten) error {
	m := k.Memory
	out.Transcripts = []sessions.Forgotten{}
	if m == nil || !req.Session {
		return nil
	}
	if kept, err := m.Past.Exists(); err != nil || !kept && !k.Past {
		return err
	}
	found, err := m.Past.Matching(req.SessionKey)
	if err == nil && req.Apply {
		own := sessions.Folder(m.Agent(req.SessionKey), folder.Of(req.SessionKey))
		found, err = m.Past.Forget(ctx, req.SessionKey, own, k.Masker.Text(req.Reason), req.Now)
	}
	out.Transcripts = append(out.Transcripts, found...)
	return err
}

// forgetSaid removes the text of pages from the documents of past sessions.
func (k *Keeper) forgetSaid(ctx context.Context, s *session.Session, pages []*pagevm.Page) error {
	m := k.Memory
	if m == nil {
		return nil
	}
	if kept, err := m.Past.Exists(); !kept || err != nil {
		return err
	}
	var turns []sessions.Turn
	r := s.Reader()
	for _, p := range pages {
		if p.Type != pagevm.Conversation {
			continue
		}
		text, err := r.Content(p)
		if store.OutOfReach(err) {
			return err
		}
		if err != nil {
			continue // the content is gone already
		}
		turns = append(turns, archive.Turns(p, text)...)
	}
	if len(turns) == 0 {
		return nil
	}
	return m.Past.ForgetTurns(ctx, turns)
}

// dropPast removes forgotten documents from the index, and rebuilds the index if an entry left a
// file. If the removal fails now, searches leave the documents out until it is done.
func (k *Keeper) dropPast(ctx context.Context, out *api.Forgotten) {
	m := k.Memory
	if m == nil {
		return
	}
	kept, err := m.Past.Exists()
	switch {
	case len(out.Memory) > 0:
		err = k.reindexed(ctx, &api.Everywhere{})
	case err == nil && kept:
		err = m.Drop(ctx)
	}
	if err != nil {
		out.Elsewhere = append(out.Elsewhere, "the index, where nobody finds it any more: the next reindex removes it ("+err.Error()+")")
	}
}
