package session

import (
	"encoding/json"
	"time"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/internal/archive"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/pagevm"
)

// Forgetting is a logged operation: the journal first lists the contents to forget, by id and hash,
// and from that record on, they are forgotten. Then the contents are removed, and the journal
// records that, too. After a kill in between, the removal is completed when the session is next
// opened for writing.
//
//	forget     {"pages":[{"id":…,"hash":…}],"blobs":[…],"reason":…}   the promise, synced
//	           journal rewritten without contents and without their quotes
//	           projections removed, then blobs that no other page needs
//	forgotten  {}                                                      done
const (
	opForget    = "forget"
	opForgotten = "forgotten"
)

// SameBytes is the size from which equal content counts as the same content, wherever it occurs.
// Shorter content, such as "ok", occurs too often.
const SameBytes = 32

// Promise is the body of a forget record: it lists the contents to remove.
type Promise struct {
	// Retire reports that retention removes the contents. The pages stay, and equal content may be
	// stored again.
	Retire bool `json:"retire,omitempty"`
	// Whole reports that the whole session is removed.
	Whole bool `json:"whole,omitempty"`
	// Prompts reports that the session's projections are removed, too.
	Prompts bool        `json:"prompts,omitempty"`
	Pages   []tombstone `json:"pages"`
	Blobs   []string    `json:"blobs,omitempty"`
	Reason  string      `json:"reason,omitempty"`
}

// tombstone is the record of a removed page. It identifies the page and holds none of its text.
type tombstone struct {
	ID   string `json:"id"`
	Hash string `json:"hash"`
	// Key is the host message from which the page was made.
	Key   string `json:"key,omitempty"`
	Bytes int64  `json:"bytes"`
}

// PromiseOf returns the promise to remove some pages.
func PromiseOf(pages []*pagevm.Page, reason string) *Promise {
	b := &Promise{Pages: []tombstone{}, Reason: reason}
	for _, p := range pages {
		b.Pages = append(b.Pages, tombstone{ID: p.ID, Hash: p.Hash, Key: p.MessageKey, Bytes: p.Bytes})
		b.Blobs = append(b.Blobs, BlobsOf(p)...)
	}
	return b
}

// Promise durably records the contents to remove. After it returns, no reader gets these
// contents.
func (s *Session) Promise(b *Promise, now time.Time) error {
	body, err := json.Marshal(b)
	if err != nil {
		return err
	}
	if err := s.openJournal(); err != nil {
		return err
	}
	rec := store.Record{Op: opForget, ID: ingest.PageID("fo", s.Name, now.UTC().Format(time.RFC3339Nano), string(body)), Time: now, Body: body}
	_, err = s.Journal.Append(true, rec)
	if err == nil {
		err = s.Sync()
	}
	if err != nil {
		s.Invalidate()
		return err
	}
	return s.replay(rec)
}

// grave is a page that was forgotten, or whose content retention removed.
type grave struct {
	tombstone
	Reason string
	Time   time.Time
}

// graves lists a session's removed contents, as its journal records them.
type graves struct {
	// Pages has the forgotten pages. Unkept has the pages whose content was removed by retention.
	Pages, Unkept map[string]grave
	// Blobs has the removed blobs of the pages in Pages and Unkept. The value is true for blobs of
	// forgotten pages.
	Blobs map[string]bool
	// contents has the hashes of forgotten contents.
	contents map[string]bool
	// condemned has the forgotten pages whose content may still exist.
	condemned map[string]*pagevm.Page
	// unerased has the promises that are not carried out yet, by record.
	unerased map[string]Promise
}

// Any, Forgotten, ForgottenContent and Retired implement the interface that package ingest needs.
func (g *graves) Any() bool { return len(g.Pages) > 0 }

func (g *graves) Forgotten(page string) (hash string, ok bool) {
	t, ok := g.Pages[page]
	return t.Hash, ok
}

func (g *graves) ForgottenContent(hash string) bool { return g.contents[hash] }

func (g *graves) Retired(page string) bool {
	_, ok := g.Unkept[page]
	return ok
}

// bury applies an opForget or opForgotten record. It deletes forgotten pages from the session.
func (s *Session) bury(r store.Record) error {
	g := &s.Graves
	if r.Op == opForgotten {
		delete(g.unerased, r.ID)
		return nil
	}
	var b Promise
	if err := unmarshal(r, &b); err != nil {
		return err
	}
	g.unerased[r.ID] = b
	for _, h := range b.Blobs {
		g.Blobs[h] = g.Blobs[h] || !b.Retire
	}
	for _, t := range b.Pages {
		buried := grave{t, b.Reason, r.Time}
		if b.Retire {
			g.Unkept[t.ID] = buried
			continue
		}
		if g.Pages[t.ID] = buried; t.Bytes >= SameBytes {
			g.contents[t.Hash] = true
		}
		if p := s.Pages[t.ID]; p != nil && p.Hash == t.Hash {
			g.condemned[t.ID] = p
			delete(s.Pages, t.ID)
			s.Left = archive.Left{}
		}
	}
	return nil
}
