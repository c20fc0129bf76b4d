package fts5

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/memkernel/memkernel/index/internal/drv"
)

// errUnknownForm means that the word lists are not in the form that this
// package reads.
var errUnknownForm = errors.New("word lists of an unknown form")

// listVersion is the version of the format that this package reads.
const listVersion = 4

// segment is one sorted run of terms.
type segment struct {
	id, first, last int64
	// pages lists, in order, the pages on which a term begins.
	pages []pageStart
}

// pageStart is a page and a lower bound of its first term.
type pageStart struct {
	term []byte
	page int64
}

// parseSegments reads the structure record: a cookie, the mark of version 2 (for tables whose rows can
// be deleted without their text), counts, and the segments, level by level.
func parseSegments(b []byte) ([]segment, error) {
	if len(b) < 8 || !bytes.Equal(b[4:8], []byte{0xff, 0, 0, 1}) {
		return nil, errUnknownForm
	}
	r := numbers{b: b[8:]}
	levels := r.next()
	r.skip(2) // segments in all, pages ever written
	var out []segment
	for ; levels > 0 && !r.bad; levels-- {
		r.skip(1) // segments being merged
		for n := r.next(); n > 0 && !r.bad; n-- {
			s := segment{id: int64(r.next()), first: int64(r.next()), last: int64(r.next())}
			r.skip(5) // origins, deleted rows
			if s.first > 0 {
				out = append(out, s)
			}
		}
	}
	if r.bad {
		return nil, errUnknownForm
	}
	return out, nil
}

// numbers reads varints one after another. A read after the end sets bad.
type numbers struct {
	b   []byte
	bad bool
}

func (r *numbers) next() uint64 {
	v, n := varint(r.b)
	r.bad = r.bad || n == 0
	r.b = r.b[n:]
	return v
}

func (r *numbers) skip(n int) {
	for range n {
		r.next()
	}
}

// pageID returns the key of a page in chunks_fts_data.
func (s *segment) pageID(page int64) int64 { return s.id<<37 + page }

// span returns the first and the last page that may hold a term's rows. If from is larger than to, the
// segment does not have the term.
func (s *segment) span(key []byte) (from, to int64) {
	i, found := slices.BinarySearchFunc(s.pages, key, func(p pageStart, key []byte) int { return bytes.Compare(p.term, key) })
	if !found {
		i--
	}
	from, to = s.first, s.last
	if i >= 0 {
		from = max(from, s.pages[i].page)
	}
	if i+1 < len(s.pages) {
		to = min(to, s.pages[i+1].page)
	}
	return from, to
}

// readSegments reads the list of segments and the first terms of their pages.
func readSegments(ctx context.Context, db drv.Conn, structure []byte) ([]segment, error) {
	segments, err := parseSegments(structure)
	if err != nil {
		return nil, err
	}
	var id int64
	var p pageStart
	err = drv.Each(ctx, db, []any{&id, &p.term, &p.page}, func() error {
		if i := slices.IndexFunc(segments, func(s segment) bool { return s.id == id }); i >= 0 {
			segments[i].pages = append(segments[i].pages, p)
		}
		return nil
	}, "SELECT segid, term, pgno>>1 FROM chunks_fts_idx")
	for i := range segments {
		slices.SortFunc(segments[i].pages, func(a, b pageStart) int {
			return cmp.Or(bytes.Compare(a.term, b.term), cmp.Compare(a.page, b.page))
		})
	}
	return segments, err
}

// Pages is the query that reads pages of the word lists. Callers should prepare it.
const Pages = "SELECT id, block FROM chunks_fts_data WHERE id IN (SELECT value FROM json_each(?))"

// readPages reads pages by their keys in chunks_fts_data, adds them to there, and returns the result.
func readPages(ctx context.Context, db drv.Conn, ids []int64, there map[int64][]byte) (map[int64][]byte, error) {
	if there == nil {
		there = make(map[int64][]byte, len(ids))
	}
	slices.Sort(ids)
	var id int64
	var block []byte
	err := drv.Each(ctx, db, []any{&id, &block}, func() error {
		there[id] = block
		return nil
	}, Pages, drv.JSONList(slices.Compact(ids)))
	return there, err
}

// leaf is a parsed page.
type leaf struct {
	// content is the page before the list of term offsets, with the page's head.
	content []byte
	// terms holds the offset of each term as the distance to the previous one, as varints.
	terms []byte
}

func parseLeaf(b []byte) (leaf, error) {
	if len(b) < 4 {
		return leaf{}, errUnknownForm
	}
	size := int(binary.BigEndian.Uint16(b[2:]))
	if size < 4 || size > len(b) {
		return leaf{}, errUnknownForm
	}
	return leaf{b[:size], b[size:]}, nil
}

// carried returns the part of the page that belongs to the last term of the previous page. more
// reports whether the rows of that term may continue on the next page.
func (l leaf) carried() (part []byte, more bool, err error) {
	if len(l.terms) == 0 {
		return l.content[4:], true, nil
	}
	at, n := varint(l.terms)
	if n == 0 || at < 4 || at > uint64(len(l.content)) {
		return nil, false, errUnknownForm
	}
	return l.content[4:at], false, nil
}

// find returns the rows of a term on the page where the term begins. It returns nil if the term begins
// on another page. more reports whether the rows may continue on the next page.
func (l leaf) find(key []byte) (part []byte, more bool, err error) {
	err = l.each(func(term, rows []byte, last bool) bool {
		c := bytes.Compare(term, key)
		if c == 0 {
			part, more = rows, last
		}
		return c < 0
	})
	return part, more, err
}

// each calls f for each term that begins on a page, with the term's rows on the page, until f returns
// false. last reports whether the rows may continue on the next page. f must not keep term. In the
// file, a term lacks the prefix that it shares with the previous term; each restores it.
func (l leaf) each(f func(term, rows []byte, last bool) bool) error {
	r, term, size := numbers{b: l.terms}, []byte(nil), uint64(len(l.content))
	at := r.next()
	for first := true; len(l.terms) > 0; first = false {
		end, last := size, len(r.b) == 0
		if !last {
			end = at + r.next()
		}
		if r.bad || at > end || end > size {
			return errUnknownForm
		}
		t, keep := numbers{b: l.content[at:end]}, uint64(0)
		if !first {
			keep = t.next()
		}
		n := t.next()
		if t.bad || keep > uint64(len(term)) || n > uint64(len(t.b)) {
			return errUnknownForm
		}
		term = append(term[:keep], t.b[:n]...)
		if !f(term, t.b[n:], last) || last {
			return nil
		}
		at = end
	}
	return nil
}
