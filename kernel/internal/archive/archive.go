// Package archive reads the contents of pages as they were stored: from their representations,
// their blobs, or the journal. It cuts the contents that left the prompts into pieces, which a
// search finds one by one. The package writes nothing, and keeps only the searched texts in
// memory.
package archive

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/journal"
	"github.com/memkernel/memkernel/retrieval"
)

// ErrRetired is returned for content that retention removed.
var ErrRetired = errors.New("its content is no longer kept")

// Reader reads the contents of a session's pages. The contents of small pages are in the journal.
// The Reader reads the journal once, when the first small page is needed.
type Reader struct {
	Dir     store.Store      // of the session
	Journal *journal.Journal // nil without a journal
	Blobs   *store.Blobs
	Retired func(page string) bool // retention removed the content of a page

	inline map[string]string // by page id and content hash
}

// Content reads a page from its representation, its blob, or the journal.
func (r *Reader) Content(p *pagevm.Page) (string, error) {
	if rep := ingest.FullRep(p); rep != nil {
		return rep.Text, nil
	}
	if p.Blob != "" {
		b, err := r.Blobs.Get(p.Blob)
		if errors.Is(err, fs.ErrNotExist) && r.Retired(p.ID) {
			return "", ErrRetired
		}
		if err != nil {
			return "", fmt.Errorf("get page %s: %w", p.ID, err)
		}
		return string(b), nil
	}
	if err := r.load(); err != nil {
		return "", fmt.Errorf("get page %s: %w", p.ID, err)
	}
	text, ok := r.inline[p.ID+p.Hash]
	if !ok {
		return "", fmt.Errorf("get page %s: its content is not in %s", p.ID, r.Dir.Where(folder.JournalFile))
	}
	return text, nil
}

func (r *Reader) load() error {
	if r.inline != nil || r.Journal == nil {
		return nil
	}
	r.inline = map[string]string{}
	for rec, err := range r.Journal.Records() {
		if err != nil {
			return err
		}
		if rec.Op != ingest.Op {
			continue
		}
		var b ingest.Body
		if err := json.Unmarshal(rec.Body, &b); err != nil {
			return fmt.Errorf("read %s record %s: %w", rec.Op, rec.ID, err)
		}
		for _, p := range b.Pages {
			if text, ok := b.Content[p.ID]; ok {
				r.inline[p.ID+p.Hash] = text
			}
		}
	}
	return nil
}

// Left holds the searchable text of pages that left a session's prompts. The zero value is empty.
type Left struct {
	spans *retrieval.Spans
	pages map[string]bool
}

// unread is a page that could not be read.
type unread struct {
	Page string
	Err  error
}

// Take adds pages to the searchable text. It returns the whole text, and the pages that could not
// be read. The function shown returns a page, or nil if the page does not exist, and the page's
// text if it need not be read from disk. Pages that retention removed are not searched.
func (l *Left) Take(r *Reader, pages []string, shown func(id string) (*pagevm.Page, string, bool)) (*retrieval.Spans, []unread) {
	var fresh []retrieval.Span
	var failed []unread
	for _, id := range pages {
		if l.pages[id] {
			continue
		}
		p, text, here := shown(id)
		if p == nil {
			continue
		}
		if !here {
			if raw, err := r.Content(p); err == nil {
				text = Plain(p, raw)
			} else if !errors.Is(err, ErrRetired) {
				failed = append(failed, unread{id, err})
				continue
			}
		}
		if l.pages == nil {
			l.pages = map[string]bool{}
		}
		l.pages[id] = true
		fresh = append(fresh, pieces(p, text)...)
	}
	if len(fresh) > 0 {
		l.spans = l.spans.With(fresh...)
	}
	return l.spans, failed
}
