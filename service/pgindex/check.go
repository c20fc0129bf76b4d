package pgindex

import (
	"context"
	"fmt"
	"iter"

	"github.com/jackc/pgx/v5"

	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/index/analysis"
)

// Check verifies this agent's part of the index, in one state of the database, and yields each
// fault. It compares every chunk with its hash, the chunk's words with its text, and the tables
// with each other. It changes nothing. Faults wrap ErrDamaged. Rebuild repairs them.
func (ix *Index) Check(ctx context.Context) iter.Seq[error] {
	return func(yield func(error) bool) {
		c := &checker{site: ix.site, yield: yield}
		opts := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
		v, err := ix.site.look(ctx)
		if err == nil {
			c.own, err = ownScopes(ctx, ix.site, v)
		}
		if err == nil {
			err = pgx.BeginTxFunc(ctx, ix.site.pool, opts, func(tx pgx.Tx) error { return c.run(ctx, tx) })
		}
		if err != nil && !c.stopped {
			yield(ix.site.explain("check index", err))
		}
	}
}

type checker struct {
	site    *site
	yield   func(error) bool
	stopped bool
	own     []int32
}

func (c *checker) found(format string, args ...any) {
	if !c.stopped {
		c.stopped = !c.yield(index.Problem("check index", c.site.place, index.ErrDamaged, fmt.Errorf(format, args...)))
	}
}

// tables holds the queries that find rows that contradict each other.
var tables = []struct{ what, query string }{
	{"file %d has another number of chunks than it says", `SELECT f.id FROM files AS f LEFT JOIN chunks AS c ON c.file=f.id
		WHERE f.scope = ANY($1::integer[]) GROUP BY f.id, f.chunks HAVING count(c.row)<>f.chunks LIMIT 5`},
	{"chunk %d has another scope than its file", `SELECT c.row FROM chunks AS c JOIN files AS f ON f.id=c.file
		WHERE f.scope = ANY($1::integer[]) AND c.scope<>f.scope LIMIT 5`},
	{"words stand for chunk %d, which is not there", `SELECT DISTINCT p.chunk FROM postings AS p
		WHERE p.scope = ANY($1::integer[]) AND NOT EXISTS (SELECT 1 FROM chunks AS c WHERE c.row=p.chunk AND c.scope=p.scope) LIMIT 5`},
}

func (c *checker) run(ctx context.Context, tx pgx.Tx) error {
	for _, t := range tables {
		rows, err := tx.Query(ctx, t.query, c.own)
		if err != nil {
			return err
		}
		bad, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		if err != nil {
			return err
		}
		for _, row := range bad {
			c.found(t.what, row)
		}
	}
	a, err := c.site.analyzers.Lend()
	if err != nil {
		return err
	}
	defer c.site.analyzers.Give(a)
	for last := int64(-1); !c.stopped; {
		n, err := c.step(ctx, tx, a, &last)
		if err != nil || n == 0 {
			return err
		}
	}
	return nil
}

// stored is a chunk that was read for a check.
type stored struct {
	row      int64
	path     string
	hash     []byte
	analysis int
	ready    index.ReadyChunk
	words    int
	have     map[string]float64
}

const checkStep = 200

// step checks the next chunks after row last.
func (c *checker) step(ctx context.Context, tx pgx.Tx, a *analysis.Analyzer, last *int64) (int, error) {
	rows, err := tx.Query(ctx, `SELECT c.row, f.path, f.analysis, c.hash, c.words, c.trail, c.keywords, c.date, c.body
		FROM chunks AS c JOIN files AS f ON f.id=c.file WHERE c.scope = ANY($1::integer[]) AND c.row>$2::bigint ORDER BY c.row LIMIT $3::integer`,
		c.own, *last, checkStep)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	byRow := map[int64]*stored{}
	var ids []int64
	for rows.Next() {
		s := &stored{have: map[string]float64{}}
		var trail, keywords, body []byte
		if err := rows.Scan(&s.row, &s.path, &s.analysis, &s.hash, &s.words, &trail, &keywords, &s.ready.Date, &body); err != nil {
			return 0, err
		}
		s.ready.TrailText, s.ready.Keywords, s.ready.Text = string(trail), string(keywords), string(body)
		byRow[s.row], ids, *last = s, append(ids, s.row), s.row
	}
	if rows.Err() != nil {
		return 0, rows.Err()
	}
	if err := c.readWords(ctx, tx, ids, byRow); err != nil {
		return 0, err
	}
	for _, id := range ids {
		c.chunk(a, byRow[id])
	}
	return len(ids), nil
}

func (c *checker) readWords(ctx context.Context, tx pgx.Tx, ids []int64, into map[int64]*stored) error {
	rows, err := tx.Query(ctx, `SELECT chunk, term, tf, words FROM postings WHERE scope = ANY($1::integer[]) AND chunk = ANY($2::bigint[])`, c.own, ids)
	if err != nil {
		return err
	}
	var row int64
	var term string
	var tf float32
	var words int
	_, err = pgx.ForEachRow(rows, []any{&row, &term, &tf, &words}, func() error {
		s := into[row]
		s.have[term] += float64(tf)
		if words != s.words {
			c.found("word %q of chunk %d knows another length of it", term, row)
		}
		return nil
	})
	return err
}

// chunk compares a chunk with its hash and its words.
func (c *checker) chunk(a *analysis.Analyzer, s *stored) {
	if h := index.HashChunk(index.SplitTrail(s.ready.TrailText), s.ready.Text); string(h[:]) != string(s.hash) {
		c.found("chunk %d of %s is not the text that was stored", s.row, s.path)
		return
	}
	if s.analysis != analysis.Version {
		return // the chunk was made by other rules, and the next Sync makes it again
	}
	s.ready.Analyse(a, s.path)
	_, want, words := frequencies(s.ready.Words)
	same := words == s.words && len(want) == len(s.have)
	for t, tf := range want {
		same = same && float32(s.have[t]) == float32(tf)
	}
	if !same {
		c.found("the words of chunk %d of %s are not those of its text", s.row, s.path)
	}
}
