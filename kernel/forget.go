package kernel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/internal/erasure"
	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/kernel/internal/session"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/sessions"
)

// ReasonForgotten is the [Content.Reason] of what was forgotten, or went by
// retention; Detail says which, and why.
const ReasonForgotten = "FORGOTTEN"

// ForgetRequest says what is to be forgotten.
type ForgetRequest struct {
	SessionKey string
	// IDs are pages and spans of the session, and hashes of blobs. A blob is
	// forgotten with every page that holds it, in all sessions.
	IDs []string
	// Session forgets all of the session; IDs must be empty then.
	Session bool
	// Reason is kept with the tombstones, secrets masked.
	Reason string
	// Apply does it. Without it the answer says what would be done, and nothing is
	// written.
	Apply bool
	Now   time.Time
}

// Forgotten says what was forgotten, or would be.
type Forgotten struct {
	Applied bool            `json:"applied"`
	Pages   []ForgottenPage `json:"pages"`
	// Blobs are removed, Kept are blobs of these pages that others need too.
	Blobs []string `json:"blobs"`
	Kept  []string `json:"kept_blobs"`
	// Backups are those of memory's files that quote the pages, by hash: they go, and what
	// was pruned then can't be undone.
	Backups []string `json:"backups"`
	// Bytes is what the pages held.
	Bytes int64 `json:"bytes"`
	// Already are ids that were forgotten before.
	Already []string `json:"already"`
	// Elsewhere names what says the same in other words or other places, and stays:
	// pages of equal content, what hosts wrote, entries of memory files.
	Elsewhere []string `json:"elsewhere"`
	// Transcripts are documents of the session that were made to be searched. The
	// transcripts that they were made of stay where they are, and are not read again.
	Transcripts []sessions.Forgotten `json:"transcripts"`
}

// ForgottenPage is a page that was forgotten.
type ForgottenPage struct {
	// Session is the key of its session.
	Session string `json:"session"`
	folder  string
	ID      string      `json:"id"`
	Type    pagevm.Type `json:"type"`
	Tool    string      `json:"tool"`
	Path    string      `json:"path"`
	Bytes   int64       `json:"bytes"`
	Created time.Time   `json:"created,omitzero"`
}

// Forget removes pages, spans, blobs or a whole session from all that is kept, and
// keeps tombstones: Get answers FORGOTTEN, and the same message does not come back
// when the host sends it again, in whose place a prompt then says so. The next plan
// of the session begins its projection anew, at the price of a cache miss. What the
// host keeps itself, and the workspace's files, are not touched.
func (k *Kernel) Forget(ctx context.Context, req ForgetRequest) (*Forgotten, error) {
	if req.Session == (len(req.IDs) > 0) {
		return nil, errors.New("forget: name the ids of pages, spans or blobs, or the whole session")
	}
	if req.Now.IsZero() {
		req.Now = k.now()
	}
	out := &Forgotten{Applied: req.Apply, Pages: []ForgottenPage{}, Blobs: []string{}, Kept: []string{}, Backups: []string{}, Already: []string{}, Elsewhere: []string{}}
	folders, err := forgetFolders(k.state, &req)
	if perr := k.forgetPast(ctx, &req, out); perr != nil {
		return nil, fmt.Errorf("forget: %w", perr)
	}
	if errors.Is(err, ErrNoSession) && len(out.Transcripts) > 0 {
		err = nil
	}
	if err != nil {
		return nil, fmt.Errorf("forget: %w", err)
	}
	known := map[string]bool{}
	var changed, blobs []string
	for _, f := range folders {
		b, err := k.promiseForget(ctx, f, &req, out, known)
		if err != nil {
			return nil, fmt.Errorf("forget: %w", err)
		}
		if b != nil {
			changed, blobs = append(changed, f), append(blobs, b.Blobs...)
		}
	}
	for _, id := range req.IDs {
		if !known[id] {
			return nil, fmt.Errorf("forget: nothing is known of %s in session %q; get and plan --explain name what is", id, req.SessionKey)
		}
	}
	if err := out.splitBlobs(k.state, blobs); err != nil {
		return nil, fmt.Errorf("forget: %w", err)
	}
	if !req.Apply {
		return out, ctx.Err()
	}
	if err := k.finishForget(ctx, changed); err != nil {
		return out, err
	}
	k.memory.dropPast(ctx, out)
	return out, nil
}

// forgetFolders are the sessions that may hold what is meant, the named one first.
func forgetFolders(state store.Store, req *ForgetRequest) ([]string, error) {
	if req.SessionKey == "" {
		req.SessionKey = DefaultSession
	}
	own, err := folder.Of(state, req.SessionKey)
	if err != nil {
		return nil, err
	}
	all, err := folder.All(state)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(all, own) && slices.Contains(all, req.SessionKey) {
		if key, err := folder.KeyIn(state, req.SessionKey); err == nil && key == req.SessionKey {
			own = req.SessionKey // nobody knows whose the folder is, so status has its name
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
		return nil, noSession(state, req.SessionKey)
	}
	return folders, nil
}

// promiseForget looks up what is meant in one session and, if it is to be done,
// writes the promise. It gives nil if the session holds none of it.
func (k *Kernel) promiseForget(ctx context.Context, name string, req *ForgetRequest, out *Forgotten, known map[string]bool) (*erasure.Promise, error) {
	s, unlock, err := k.visit(ctx, name, req.Apply)
	if err != nil {
		return nil, err
	}
	defer unlock()
	pages, already := s.Erasable().Meant(req.IDs, req.Session, known)
	out.Already = append(out.Already, already...)
	b := erasure.PromiseOf(pages, req.Session, s.Masker.Text(req.Reason))
	if len(b.Pages) == 0 && !b.Whole {
		return nil, nil
	}
	for _, p := range pages {
		out.Pages = append(out.Pages, ForgottenPage{Session: s.Key, folder: name, ID: p.ID, Type: p.Type, Tool: p.Tool, Path: p.Path, Bytes: p.Bytes, Created: p.Created})
		out.Bytes += p.Bytes
	}
	out.Elsewhere = append(out.Elsewhere, elsewhere(s, pages)...)
	quoting, err := k.upkeep.Quoting(erasure.NewScrubber(s.Reader(), pages).Text)
	if err != nil {
		return nil, err
	}
	out.Backups = append(out.Backups, quoting...)
	if !req.Apply {
		return b, nil
	}
	if err := k.memory.forgetSaid(ctx, s, pages); err != nil {
		return nil, err
	}
	return b, s.PromiseErasure(b, req.Now)
}

// splitBlobs tells the blobs that go from those that other pages need.
func (out *Forgotten) splitBlobs(state store.Store, blobs []string) error {
	slices.Sort(blobs)
	needed := map[string]bool{}
	if len(blobs) > 0 {
		gone := map[string]bool{}
		for _, p := range out.Pages {
			gone[p.folder+"/"+p.ID] = true
		}
		var err error
		if needed, err = erasure.Needed(state, gone); err != nil {
			return err
		}
	}
	for _, h := range slices.Compact(blobs) {
		if needed[h] {
			out.Kept = append(out.Kept, h)
		} else {
			out.Blobs = append(out.Blobs, h)
		}
	}
	return nil
}

// finishForget removes what was promised. Opening a session to be written does it.
func (k *Kernel) finishForget(ctx context.Context, folders []string) error {
	for _, f := range folders {
		s, unlock, err := k.visit(ctx, f, true)
		if err != nil {
			return fmt.Errorf("session %s: it is forgotten, and will be removed when the session is next opened: %w", f, err)
		}
		err = s.EraseErr
		unlock()
		if err != nil {
			return fmt.Errorf("session %s: it is forgotten, and will be removed when the session is next opened: %w", f, err)
		}
	}
	return nil
}

// elsewhere names what holds the same as some pages, and is not one of them.
func elsewhere(s *session.Session, pages []*pagevm.Page) []string {
	var out []string
	for _, id := range s.Erasable().Same(pages) {
		out = append(out, "page "+id+" has the same content")
	}
	sc := erasure.NewScrubber(s.Reader(), pages)
	for _, id := range sortedKeys(s.Memories.Entries) {
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

// goneContent is the answer for what was forgotten or went by retention.
func goneContent(id string, g erasure.Grave, what string) *Content {
	detail := what
	if !g.Time.IsZero() {
		detail += " on " + g.Time.UTC().Format("2006-01-02")
	}
	if r := strings.TrimSpace(g.Reason); r != "" {
		detail += ": " + r
	}
	return &Content{ID: id, Reason: ReasonForgotten, Detail: detail}
}
