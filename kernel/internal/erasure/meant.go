package erasure

import (
	"maps"
	"slices"
	"time"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/internal/archive"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/pagevm"
)

// Held lists the contents of a session that a request to forget can mean.
type Held struct {
	Pages map[string]*pagevm.Page
	Spans map[string]branch.Span
	Gone  *Ledger
}

// Meant returns the pages that the ids in named name, in order, or all pages. An id is the id of
// a page or of a span, or the hash of a blob. Meant notes known ids in known. already has the
// pages that were forgotten before.
func (h Held) Meant(named []string, all bool, known map[string]bool) (pages []*pagevm.Page, already []string) {
	set := map[string]*pagevm.Page{}
	if all {
		maps.Copy(set, h.Pages)
	}
	for _, id := range named {
		page, _, _ := archive.CutLines(id)
		switch sp, span := h.Spans[page]; {
		case store.IsHash(id):
			for _, p := range h.Pages {
				if p.Hash == id || slices.Contains(BlobsOf(p), id) {
					set[p.ID], known[id] = p, true
				}
			}
			known[id] = known[id] || h.Gone.goneBlobs[id]
		case h.Pages[page] != nil:
			set[page], known[id] = h.Pages[page], true
		case span:
			known[id] = true
			for _, m := range sp.Pages {
				if p := h.Pages[m]; p != nil {
					set[m] = p
				}
			}
		case h.Gone.forgotten[page].ID != "":
			known[id] = true
			already = append(already, page)
		}
	}
	for _, id := range sortedKeys(set) {
		pages = append(pages, set[id])
	}
	return pages, already
}

// Same returns the other pages that have the same content as one of pages.
func (h Held) Same(pages []*pagevm.Page) (out []string) {
	hashes, meant := map[string]bool{}, map[string]bool{}
	for _, p := range pages {
		meant[p.ID] = true
		hashes[p.Hash] = p.Bytes >= sameBytes
	}
	for _, id := range sortedKeys(h.Pages) {
		if hashes[h.Pages[id].Hash] && !meant[id] {
			out = append(out, id)
		}
	}
	return out
}

// Holds reports whether a page holds a blob that must exist.
func (h Held) Holds(hash string) bool {
	for id, p := range h.Pages {
		if !h.Gone.Retired(id) && slices.Contains(BlobsOf(p), hash) {
			return true
		}
	}
	return false
}

// Expired returns the promise for the pages whose blobs may be removed. These pages were made
// before the given time. Pages that are cited, or that are pointed to by page or blob, stay and
// are counted in kept.
func (h Held) Expired(before time.Time, pointed, cited map[string]bool) (b *Promise, kept int) {
	b = &Promise{Retire: true, Pages: []Tombstone{}, Reason: "retention"}
	for _, id := range sortedKeys(h.Pages) {
		p := h.Pages[id]
		if h.Gone.Retired(id) || len(BlobsOf(p)) == 0 || p.Created.IsZero() || !p.Created.Before(before) {
			continue
		}
		if pointed[id] || cited[id] || slices.ContainsFunc(BlobsOf(p), func(h string) bool { return pointed[h] }) {
			kept++
			continue
		}
		b.add(p)
	}
	return b, kept
}
