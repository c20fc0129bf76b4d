package fts5

import (
	"bytes"
	"context"
	"slices"

	"github.com/memkernel/memkernel/index/internal/drv"
)

// maxVocabulary bounds the words that are kept in memory, in bytes. If a file has more, none are kept.
const maxVocabulary = 8 << 20

// pagesAtOnce is the number of pages that are in memory at a time while the words are read.
const pagesAtOnce = 512

// Words returns the words of the file that want accepts, in order. structure must be the structure
// record that db reads. The words are read on the first call and kept as long as the record stays the
// same. All rows of a word may be deleted. Words returns nil if the words can't be read or are too
// many.
func (c *Cache) Words(ctx context.Context, db drv.Conn, structure []byte, want func(term []byte) bool) []string {
	c.wordsMu.Lock()
	defer c.wordsMu.Unlock()
	if bytes.Equal(structure, c.wordsOf) {
		return c.words
	}
	words, err := readWords(ctx, db, structure, want)
	if ctx.Err() != nil {
		return nil
	}
	c.wordsOf, c.words = structure, nil
	if err == nil {
		c.words = words
	}
	return c.words
}

func readWords(ctx context.Context, db drv.Conn, structure []byte, want func(term []byte) bool) ([]string, error) {
	segments, err := readSegments(ctx, db, structure)
	if err != nil {
		return nil, err
	}
	var ids []int64
	for i := range segments {
		for _, p := range segments[i].pages {
			ids = append(ids, segments[i].pageID(p.page))
		}
		ids = append(ids, segments[i].pageID(segments[i].first))
	}
	slices.Sort(ids)
	all := []string{}
	size := 0
	for chunk := range slices.Chunk(slices.Compact(ids), pagesAtOnce) {
		pages, err := readPages(ctx, db, chunk, nil)
		if err != nil {
			return nil, err
		}
		for _, id := range chunk {
			l, err := parseLeaf(pages[id])
			if err != nil {
				return nil, err
			}
			err = l.each(func(term, _ []byte, _ bool) bool {
				if len(term) > 1 && term[0] == termMark && want(term[1:]) {
					all = append(all, string(term[1:]))
					size += len(term) - 1
				}
				return true
			})
			if err != nil {
				return nil, err
			}
			if size > maxVocabulary {
				return nil, errUnknownForm
			}
		}
	}
	slices.Sort(all)
	return slices.Clip(slices.Compact(all)), nil
}
