package fts5

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/memkernel/memkernel/index/internal/drv"
)

// WordList is the words of a state of the file, in order, packed: a word may be one
// whose rows were deleted since.
type WordList struct {
	text  string
	ends  []uint32
	first []uint32 // by first byte, the number of the first word from it on
}

// maxVocabulary bounds the words that are held, in bytes. A file with more has none.
const maxVocabulary = 8 << 20

// pagesAtOnce is how many pages are held while the words are read.
const pagesAtOnce = 512

// Words returns the words of the file as db sees it, with this structure record, of
// those that want accepts. They are read when they are first asked for, and kept; nil if
// they can't be read, or are too many.
func (c *Cache) Words(ctx context.Context, db drv.Conn, structure []byte, want func(term []byte) bool) *WordList {
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

func readWords(ctx context.Context, db drv.Conn, structure []byte, want func(term []byte) bool) (*WordList, error) {
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
	var all []string
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
			err = l.each(func(term []byte) {
				if len(term) > 1 && term[0] == termMark && want(term[1:]) {
					all = append(all, string(term[1:]))
					size += len(term) - 1
				}
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
	all = slices.Compact(all)
	v := &WordList{text: strings.Join(all, ""), ends: make([]uint32, len(all)), first: make([]uint32, 257)}
	end := uint32(0)
	for i, w := range all {
		end += uint32(len(w))
		v.ends[i] = end
		v.first[int(w[0])+1] = uint32(i + 1)
	}
	for b := 1; b < len(v.first); b++ {
		v.first[b] = max(v.first[b], v.first[b-1])
	}
	return v, nil
}

// each calls f for the terms that begin on a page. f must not keep its argument.
func (l leaf) each(f func(term []byte)) error {
	r, term, at := numbers{b: l.terms}, []byte(nil), uint64(0)
	for first := true; len(r.b) > 0; first = false {
		at += r.next()
		if r.bad || at > uint64(len(l.content)) {
			return errUnknownForm
		}
		t, keep := numbers{b: l.content[at:]}, uint64(0)
		if !first {
			keep = t.next()
		}
		n := t.next()
		if t.bad || keep > uint64(len(term)) || n > uint64(len(t.b)) {
			return errUnknownForm
		}
		term = append(term[:keep], t.b[:n]...)
		f(term)
	}
	return nil
}

func (v *WordList) at(i int) string {
	from := uint32(0)
	if i > 0 {
		from = v.ends[i-1]
	}
	return v.text[from:v.ends[i]]
}

// Has reports whether a word is among them.
func (v *WordList) Has(word string) bool {
	if word == "" {
		return false
	}
	lo, hi := int(v.first[word[0]]), int(v.first[int(word[0])+1])
	for lo < hi {
		mid := (lo + hi) / 2
		if v.at(mid) < word {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo < len(v.ends) && v.at(lo) == word
}

// Near returns the words that begin as one does and are made of it by at most so many
// letters put in, left out, changed or swapped with the next.
func (v *WordList) Near(word string, most int) (out []string) {
	if word == "" {
		return nil
	}
	w := []rune(word)
	var buf []rune
	for i := int(v.first[word[0]]); i < int(v.first[int(word[0])+1]); i++ {
		t := v.at(i)
		if n := utf8.RuneCountInString(t); n < len(w)-most || n > len(w)+most {
			continue
		}
		if buf = append(buf[:0], []rune(t)...); buf[0] == w[0] && distance(w, buf, most) <= most {
			out = append(out, t)
		}
	}
	return out
}

// Distance counts the edits between two words, a swap of neighbours as one; more than
// most is most+1.
func Distance(a, b string, most int) int { return distance([]rune(a), []rune(b), most) }

// distance counts the edits between two words, a swap of neighbours as one; more than
// most is most+1.
func distance(a, b []rune, most int) int {
	var rows [3][maxEdited + 1]int
	if len(a) > maxEdited || len(b) > maxEdited {
		return most + 1
	}
	for j := range len(b) + 1 {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		row, last, lastButOne := &rows[i%3], &rows[(i+2)%3], &rows[(i+1)%3]
		row[0] = i
		least := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(row[j-1]+1, last[j]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], lastButOne[j-2]+1)
			}
			least = min(least, row[j])
		}
		if least > most {
			return most + 1
		}
	}
	return rows[len(a)%3][len(b)]
}

// maxEdited is the length of the longest word that is compared.
const maxEdited = 40
