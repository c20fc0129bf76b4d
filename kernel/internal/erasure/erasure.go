// Package erasure removes forgotten and expired contents from the stored data of a session: the
// promise in its journal, the pages and their quotes, the files and the blobs. It opens no
// session and holds no lock except the lock of the blobs. It never decides how long contents are
// kept.
package erasure

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/internal/ids"
	"github.com/memkernel/memkernel/pagevm"
)

// Forgetting is a logged operation: the journal first lists the contents to forget, by id and
// hash, and from that line on they are forgotten. Then the contents are removed, and the journal
// records that too. After a kill in between, the removal is completed when the session is next
// opened for writing.
//
//	forget     {"pages":[{"id":…,"hash":…}],"blobs":[…],"reason":…}   the promise, synced
//	           journal rewritten without contents and without their quotes
//	           projections removed, then blobs that no other page needs
//	forgotten  {}                                                      done
const (
	OpForget    = "forget"
	OpForgotten = "forgotten"
)

// sameBytes is the size from which equal content counts as the same content, wherever it occurs.
// Shorter content, such as "ok", occurs too often.
const sameBytes = 32

// Promise is the body of an [OpForget] record: it lists the contents to remove.
type Promise struct {
	// Retire reports that retention removes the contents. Pages stay, and the same content may
	// come back.
	Retire bool `json:"retire,omitempty"`
	// Whole reports that the whole session is removed.
	Whole bool `json:"whole,omitempty"`
	// Prompts reports that the session's projections are removed, too.
	Prompts bool        `json:"prompts,omitempty"`
	Pages   []Tombstone `json:"pages"`
	Blobs   []string    `json:"blobs,omitempty"`
	Reason  string      `json:"reason,omitempty"`
}

// Tombstone is the record of a removed page. It identifies the page and holds none of its text.
type Tombstone struct {
	ID   string `json:"id"`
	Hash string `json:"hash"`
	// Key is the host message from which the page was made.
	Key   string `json:"key,omitempty"`
	Bytes int64  `json:"bytes"`
}

// PromiseOf returns the promise for some pages. whole says that the whole session is removed.
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

// Record returns the promise as a record of the journal of the session in the folder name. Once
// the record is synced, the named contents are gone for every reader.
func (b *Promise) Record(name string, now time.Time) (store.Record, error) {
	body, err := json.Marshal(b)
	if err != nil {
		return store.Record{}, err
	}
	return store.Record{Op: OpForget, ID: ids.Page("fo", name, now.UTC().Format(time.RFC3339Nano), string(body)), Time: now, Body: body}, nil
}

// Grave is a page that was forgotten, or whose content retention removed.
type Grave struct {
	Tombstone
	Reason string
	Time   time.Time
}

// Ledger is a session's list of removed contents, as its journal records them.
type Ledger struct {
	// forgotten has the tombstones of forgotten pages, by page.
	forgotten map[string]Grave
	// forgottenHash has the hashes of forgotten contents.
	forgottenHash map[string]bool
	// retired has the pages whose content retention removed.
	retired map[string]Grave
	// goneBlobs has the blobs of forgotten and retired pages. The value is true for blobs of
	// forgotten pages.
	goneBlobs map[string]bool
	// condemned has the forgotten pages whose content may still exist.
	condemned map[string]*pagevm.Page
	// unerased has the promises that are not carried out yet, by record.
	unerased map[string]Promise
}

// NewLedger returns an empty ledger.
func NewLedger() Ledger {
	return Ledger{forgotten: map[string]Grave{}, forgottenHash: map[string]bool{}, retired: map[string]Grave{}, goneBlobs: map[string]bool{},
		condemned: map[string]*pagevm.Page{}, unerased: map[string]Promise{}}
}

// Any, Forgotten, ForgottenContent and Retired are for ingesting.
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

// Burial returns how a page was forgotten, and false if the page was not forgotten. Retirement
// returns how retention removed the page's content, or the zero value if the content was not
// removed.
func (l *Ledger) Burial(page string) (Grave, bool) {
	g, ok := l.forgotten[page]
	return g, ok
}

func (l *Ledger) Retirement(page string) Grave { return l.retired[page] }

// GoneBlob reports whether a blob was removed with its pages, and whether the pages were
// forgotten.
func (l *Ledger) GoneBlob(hash string) (forgotten, gone bool) {
	forgotten, gone = l.goneBlobs[hash]
	return forgotten, gone
}

// Count counts the pages that were forgotten, and the pages whose content retention removed.
func (l *Ledger) Count() (forgotten, retired int) { return len(l.forgotten), len(l.retired) }

// Back takes note that the content of a page was handed in again.
func (l *Ledger) Back(page string) { delete(l.retired, page) }

// Owes reports whether a promise is not kept yet.
func (l *Ledger) Owes() bool { return len(l.unerased) > 0 }

// Keep adds an OpForget or OpForgotten record to the ledger. It deletes forgotten pages from
// pages. dropped reports whether it deleted any.
func (l *Ledger) Keep(r store.Record, pages map[string]*pagevm.Page) (dropped bool, err error) {
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

func decode(r store.Record, v any) error {
	if err := json.Unmarshal(r.Body, v); err != nil {
		return fmt.Errorf("read %s record %s: %w", r.Op, r.ID, err)
	}
	return nil
}

// sortedKeys lists the keys of a map in order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
