package fts5

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/memkernel/memkernel/index/internal/drv"
)

// Structure is a subquery for the structure record of the word lists. The record changes whenever a
// word is added or removed.
const Structure = "(SELECT block FROM chunks_fts_data WHERE id=10)"

// Row is a chunk's row number and its score: −bm25, or 0 if that is negative.
type Row struct {
	Row   int64
	Score float64
}

// Compare orders rows, best first. Rows with equal scores are ordered by their numbers.
func (r Row) Compare(o Row) int {
	return cmp.Or(cmp.Compare(o.Score, r.Score), cmp.Compare(r.Row, o.Row))
}

// Cache holds the word lists of the last state of the file that a search read. Several goroutines may
// use it at once. The zero value is empty.
type Cache struct {
	mu         sync.Mutex
	structure  []byte
	lists      *wordLists
	unreadable bool

	wordsMu sync.Mutex
	wordsOf []byte
	words   []string
}

// search is one search for words.
type search struct {
	db    drv.Conn
	terms []string
	// lists is nil if SQLite is used.
	lists *wordLists
}

// Search begins a search for terms in the file. structure must be the structure record that db reads.
func (c *Cache) Search(ctx context.Context, db drv.Conn, structure []byte, terms []string) *search {
	s := &search{db: db, terms: terms}
	if allPlain(terms) {
		s.lists = c.get(ctx, db, structure)
	}
	return s
}

// Counts returns how many chunks hold each word. It returns nil if no search has read the word lists
// of this structure record yet.
func (c *Cache) Counts(ctx context.Context, db drv.Conn, structure []byte, terms []string) (out []int64) {
	c.mu.Lock()
	lists := c.lists
	if !bytes.Equal(structure, c.structure) {
		lists = nil
	}
	c.mu.Unlock()
	if lists == nil || !allPlain(terms) {
		return nil
	}
	found, err := lists.find(ctx, db, terms)
	if err != nil {
		return nil
	}
	for _, p := range found {
		out = append(out, int64(p.n))
	}
	return out
}

// get returns the word lists, or nil if the caller must search with SQLite. For the first search of a
// new state it returns nil, because reading the lists takes longer than one search.
func (c *Cache) get(ctx context.Context, db drv.Conn, structure []byte) *wordLists {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !bytes.Equal(structure, c.structure) {
		c.structure, c.lists, c.unreadable = structure, nil, false
		return nil
	}
	if c.lists == nil && !c.unreadable {
		lists, err := loadLists(ctx, db, structure)
		if err == nil {
			c.lists = lists
		}
		c.unreadable = err != nil && ctx.Err() == nil
	}
	return c.lists
}

// Best returns the n best of the rows that hold any of the words, best first. If the word lists can't
// be read, SQLite searches instead.
func (s *search) Best(ctx context.Context, n int) ([]Row, error) {
	if s.lists != nil {
		out, err := s.lists.top(ctx, s.db, s.terms, n)
		if err == nil {
			return out, nil
		}
		s.lists = nil
	}
	return bestBySQL(ctx, s.db, s.terms, n)
}

// bestQuery finds the best rows. It sorts by an expression, because sorting by the hidden column rank
// would sort all matches before the limit applies.
const bestQuery = `SELECT row, max(0.0, -score) FROM (
	SELECT rowid AS row, bm25(chunks_fts, ?, ?, ?, ?) AS score
	FROM chunks_fts WHERE chunks_fts MATCH ? ORDER BY score LIMIT ?)`

// amongQuery is bestQuery limited to a list of rows.
var amongQuery = strings.Replace(bestQuery, "ORDER", "AND +rowid IN (SELECT value FROM json_each(?)) ORDER", 1)

// bestBySQL returns the n best rows as SQLite finds them.
func bestBySQL(ctx context.Context, db drv.Conn, terms []string, n int) ([]Row, error) {
	return rowsBySQL(ctx, db, matchExpr(terms), nil, n)
}

// rowsBySQL returns the n best rows for a full-text expression. If among is not empty, only its rows
// are candidates.
func rowsBySQL(ctx context.Context, db drv.Conn, expr string, among []Row, n int) ([]Row, error) {
	query, args := bestQuery, []any{BM25.Weights[0], BM25.Weights[1], BM25.Weights[2], BM25.Weights[3], expr}
	if len(among) > 0 {
		ids := make([]int64, len(among))
		for i, r := range among {
			ids[i] = r.Row
		}
		query, args = amongQuery, append(args, drv.JSONList(ids))
	}
	return drv.All(ctx, db, func(r *Row) []any { return []any{&r.Row, &r.Score} }, query, append(args, n)...)
}

// Count counts the chunks that hold a word. It does not use fts5vocab, which would be faster: fts5vocab
// does not notice changes by other connections, and reports a changed index as damaged.
func Count(ctx context.Context, db drv.Conn, term string) (n int64, err error) {
	err = db.QueryRowContext(ctx, "SELECT count(*) FROM chunks_fts WHERE chunks_fts MATCH ?", matchExpr([]string{term})).Scan(&n)
	return n, err
}

// quoted escapes a word for use between quotes. It replaces zero bytes, which would end the
// expression.
var quoted = strings.NewReplacer(`"`, `""`, "\x00", " ")

// matchExpr returns a full-text expression that any of the words satisfies.
// Every word is a quoted string, so nothing in it is an operator.
func matchExpr(terms []string) string {
	var b strings.Builder
	for i, t := range terms {
		if i > 0 {
			b.WriteString(" OR ")
		}
		b.WriteByte('"')
		quoted.WriteString(&b, t)
		b.WriteByte('"')
	}
	return b.String()
}

// allPlain reports whether SQLite's tokenizer leaves all words unchanged, so that the word lists have
// them in this form.
func allPlain(terms []string) bool {
	return !slices.ContainsFunc(terms, func(t string) bool {
		return t == "" || strings.ContainsFunc(t, func(r rune) bool {
			return r < 0x80 && (r < 'a' || r > 'z') && (r < '0' || r > '9')
		})
	})
}
