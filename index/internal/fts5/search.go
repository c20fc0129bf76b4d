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

// Structure is a subquery for the structure record of the word lists, which is
// another one whenever a word was added or removed.
const Structure = "(SELECT block FROM chunks_fts_data WHERE id=10)"

// Row is a chunk's row and its −bm25, at least 0.
type Row struct {
	Row   int64
	Score float64
}

// Compare orders rows, best first. Rows with equal scores are ordered by their numbers.
func (r Row) Compare(o Row) int {
	return cmp.Or(cmp.Compare(o.Score, r.Score), cmp.Compare(r.Row, o.Row))
}

// Cache holds the word lists of the state of the file last seen. Several
// goroutines may use one; its zero value is empty.
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

// Search begins a search in the file as db sees it, with this structure record.
func (c *Cache) Search(ctx context.Context, db drv.Conn, structure []byte, terms []string) *search {
	s := &search{db: db, terms: terms}
	if allPlain(terms) {
		s.lists = c.get(ctx, db, structure)
	}
	return s
}

// Counts returns how many chunks hold each word, or nil if the word lists of this structure record
// were not read by a search before.
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

// get returns the word lists, or nil if the caller must use SQLite instead: also for the first
// search of a new state, since reading the lists takes longer than that.
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

// Best finds the n best rows, best first: every row with any of the words is a
// candidate. If the word lists can't be read, SQLite searches instead, and its
// error is returned if it can't read them either.
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

// bestQuery sorts by the expression and not by the hidden column rank, which
// would sort every match before the limit applies.
const bestQuery = `SELECT row, max(0.0, -score) FROM (
	SELECT rowid AS row, bm25(chunks_fts, ?, ?, ?, ?) AS score
	FROM chunks_fts WHERE chunks_fts MATCH ? ORDER BY score LIMIT ?)`

// amongQuery is bestQuery among some rows.
var amongQuery = strings.Replace(bestQuery, "ORDER", "AND +rowid IN (SELECT value FROM json_each(?)) ORDER", 1)

// bestBySQL is the way that needs to know nothing of the format.
func bestBySQL(ctx context.Context, db drv.Conn, terms []string, n int) ([]Row, error) {
	return rowsBySQL(ctx, db, matchExpr(terms), nil, n)
}

// rowsBySQL finds the n best rows for an expression, among some rows if they are given.
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

// Count counts the chunks that hold a word. (The module fts5vocab would be
// faster, but does not notice that another connection has changed the index,
// and then takes it for damaged.)
func Count(ctx context.Context, db drv.Conn, term string) (n int64, err error) {
	err = db.QueryRowContext(ctx, "SELECT count(*) FROM chunks_fts WHERE chunks_fts MATCH ?", matchExpr([]string{term})).Scan(&n)
	return n, err
}

// quoted makes a word fit to be between quotes. A zero byte would end the
// whole expression.
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

// allPlain reports whether words are in the index as they are: SQLite's own
// tokenizer neither splits nor changes them.
func allPlain(terms []string) bool {
	return !slices.ContainsFunc(terms, func(t string) bool {
		return t == "" || strings.ContainsFunc(t, func(r rune) bool {
			return r < 0x80 && (r < 'a' || r > 'z') && (r < '0' || r > '9')
		})
	})
}
