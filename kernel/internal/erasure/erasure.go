// Package erasure takes what was forgotten, or went by retention, out of what is kept of
// a session: the promise in its journal, what is to go and what quotes it, the texts
// that are cleaned of it, the files and blobs that go. It opens no session and holds no
// lock but that of the blobs, and it never decides for how long things are kept.
package erasure

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/memkernel/memkernel/kernel/internal/ids"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/journal"
)

// Forgetting is a logged operation: the journal first says what is to go, by id and
// hash, and from that line on it is forgotten. Then what it held is removed, and
// the journal says that too. A kill in between is made good when the session is
// next opened to be written.
//
//	forget     {"pages":[{"id":…,"hash":…}],"blobs":[…],"reason":…}   the promise, synced
//	           journal rewritten without contents and without what quotes them
//	           projections removed, then blobs that no other page needs
//	forgotten  {}                                                      done
const (
	OpForget    = "forget"
	OpForgotten = "forgotten"
)

// sameBytes is the size from which equal content is the same content, wherever it
// stands. Below it, "ok" is said too often.
const sameBytes = 32

// Promise is the body of an [OpForget] record: what is to go.
type Promise struct {
	// Retire: contents go by retention. Pages stay, and the same content may come
	// back.
	Retire bool `json:"retire,omitempty"`
	// Whole: all of the session goes; Prompts: its projections go too.
	Whole   bool        `json:"whole,omitempty"`
	Prompts bool        `json:"prompts,omitempty"`
	Pages   []Tombstone `json:"pages"`
	Blobs   []string    `json:"blobs,omitempty"`
	Reason  string      `json:"reason,omitempty"`
}

// Tombstone is what is left of a page: enough to know it again, nothing of what it
// said.
type Tombstone struct {
	ID   string `json:"id"`
	Hash string `json:"hash"`
	// Key is the host message that it came from.
	Key   string `json:"key,omitempty"`
	Bytes int64  `json:"bytes"`
}

// PromiseOf is the promise for some pages. whole says that all of the session goes.
func PromiseOf(pages []*pagevm.Page, whole bool, reason string) *Promise {
	b := &Promise{Whole: whole, Pages: []Tombstone{}, Reason: reason}
	for _, p := range pages {
		b.add(p)
	}
	return b
}

func (b *Promise) add(p *pagevm.Page) {
	b.Pages = append(b.Pages, Tombstone{ID: p.ID, Hash: p.Hash, Key: p.MessageKey, Bytes: p.Bytes})
	b.Blobs = append(b.Blobs, BlobsOf(p)...)
}

// Record is the promise as a record of the journal of the session whose folder has a
// name. Once it is synced, what it names is gone for whoever asks.
func (b *Promise) Record(name string, now time.Time) (journal.Record, error) {
	body, err := json.Marshal(b)
	if err != nil {
		return journal.Record{}, err
	}
	return journal.Record{Op: OpForget, ID: ids.Page("fo", name, now.UTC().Format(time.RFC3339Nano), string(body)), Time: now, Body: body}, nil
}

// Grave is a page that was forgotten, or whose content went by retention.
type Grave struct {
	Tombstone
	Reason string
	Time   time.Time
}

// Ledger is what a session's journal says of what went.
type Ledger struct {
	// forgotten are tombstones by page, forgottenHash by content.
	forgotten     map[string]Grave
	forgottenHash map[string]bool
	// retired are pages whose content went by retention. goneBlobs are the blobs of
	// both, true for those that were forgotten.
	retired   map[string]Grave
	goneBlobs map[string]bool
	// condemned are forgotten pages whose content may still be there, unerased the
	// promises that are not kept yet, by record.
	condemned map[string]*pagevm.Page
	unerased  map[string]Promise
}

// NewLedger is a ledger of nothing.
func NewLedger() Ledger {
	return Ledger{forgotten: map[string]Grave{}, forgottenHash: map[string]bool{}, retired: map[string]Grave{}, goneBlobs: map[string]bool{},
		condemned: map[string]*pagevm.Page{}, unerased: map[string]Promise{}}
}

// Any, Forgotten, ForgottenContent and Retired are what ingesting has to know.
func (l *Ledger) Any() bool { return len(l.forgotten) > 0 }

func (l *Ledger) Forgotten(page string) (hash string, ok bool) {
	g, ok := l.forgotten[page]
	return g.Hash, ok
}

func (l *Ledger) ForgottenContent(hash string) bool { return l.forgottenHash[hash] }

func (l *Ledger) Retired(page string) bool {
	_, ok := l.retired[page]
	return ok
}

// Burial is how a page was forgotten, false if it was not. Retirement is how its content
// went by retention, the zero value if it did not.
func (l *Ledger) Burial(page string) (Grave, bool) {
	g, ok := l.forgotten[page]
	return g, ok
}

func (l *Ledger) Retirement(page string) Grave { return l.retired[page] }

// GoneBlob reports whether a blob went with its pages, and whether they were forgotten.
func (l *Ledger) GoneBlob(hash string) (forgotten, gone bool) {
	forgotten, gone = l.goneBlobs[hash]
	return forgotten, gone
}

// Count counts the pages that were forgotten, and those whose content went by retention.
func (l *Ledger) Count() (forgotten, retired int) { return len(l.forgotten), len(l.retired) }

// Back takes note that the content of a page was handed in again.
func (l *Ledger) Back(page string) { delete(l.retired, page) }

// Owes reports whether a promise is not kept yet.
func (l *Ledger) Owes() bool { return len(l.unerased) > 0 }

// Keep takes over an OpForget or OpForgotten record. What is forgotten leaves pages;
// dropped reports whether something did.
func (l *Ledger) Keep(r journal.Record, pages map[string]*pagevm.Page) (dropped bool, err error) {
	if r.Op == OpForgotten {
		delete(l.unerased, r.ID)
		return false, nil
	}
	var b Promise
	if err := decode(r, &b); err != nil {
		return false, err
	}
	l.unerased[r.ID] = b
	for _, h := range b.Blobs {
		l.goneBlobs[h] = l.goneBlobs[h] || !b.Retire
	}
	for _, t := range b.Pages {
		g := Grave{t, b.Reason, r.Time}
		p := pages[t.ID]
		if b.Retire {
			l.retired[t.ID] = g
			continue
		}
		if l.forgotten[t.ID] = g; t.Bytes >= sameBytes {
			l.forgottenHash[t.Hash] = true
		}
		if p != nil && p.Hash == t.Hash {
			l.condemned[t.ID] = p
			delete(pages, t.ID)
			dropped = true
		}
	}
	return dropped, nil
}

func decode(r journal.Record, v any) error {
	if err := json.Unmarshal(r.Body, v); err != nil {
		return fmt.Errorf("read %s record %s: %w", r.Op, r.ID, err)
	}
	return nil
}

// sortedKeys lists the keys of a map in order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
