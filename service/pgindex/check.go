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
			c.own = ownScopes(v.space)
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

// faults runs a query that returns the numbers of faulty rows.
func (c *checker) faults(ctx context.Context, tx pgx.Tx, what, query string, args ...any) error {
	rows, _ := tx.Query(ctx, query, append([]any{c.own}, args...)...)
	bad, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	for _, row := range bad {
		c.found(what, row)
	}
	return err
}

func (c *checker) run(ctx context.Context, tx pgx.Tx) error {
	err := c.faults(ctx, tx, "file %d has another number of chunks than it says", `SELECT f.id FROM files AS f LEFT JOIN chunks AS c ON c.file=f.id
		WHERE f.scope = ANY($1::integer[]) GROUP BY f.id, f.chunks HAVING count(c.row)<>f.chunks LIMIT 5`)
	if err != nil {
		return err
	}
	err = c.faults(ctx, tx, "chunk %d has another scope than its file", `SELECT c.row FROM chunks AS c JOIN files AS f ON f.id=c.file
		WHERE f.scope = ANY($1::integer[]) AND c.scope<>f.scope LIMIT 5`)
	if err != nil {
		return err
	}
	a := c.site.analyzers.Lend()
	defer c.site.analyzers.Give(a)
	for last := int64(0); !c.stopped; {
		before := last
		if err := c.step(ctx, tx, a, &last); err != nil || last == before {
			return err
		}
	}
	return nil
}

const checkStep = 200

// step checks the next chunks after row last. It analyses their text again, and the server compares
// the words with the stored ones.
func (c *checker) step(ctx context.Context, tx pgx.Tx, a *analysis.Analyzer, last *int64) error {
	rows, _ := tx.Query(ctx, `SELECT c.row, f.path, f.analysis, c.hash, c.trail, c.keywords, c.date, c.body
		FROM chunks AS c JOIN files AS f ON f.id=c.file WHERE c.scope = ANY($1::integer[]) AND c.row>$2::bigint ORDER BY c.row LIMIT $3::integer`,
		c.own, *last, checkStep)
	var same []int64
	var terms []string
	var words []int
	var path, date string
	var rules int
	var hash, trail, keywords, body []byte
	_, err := pgx.ForEachRow(rows, []any{last, &path, &rules, &hash, &trail, &keywords, &date, &body}, func() error {
		r := index.ReadyChunk{Chunk: index.Chunk{Text: string(body), Date: date, Keywords: string(keywords)}, TrailText: string(trail)}
		if h := index.HashChunk(index.SplitLines(r.TrailText), r.Text); string(h[:]) != string(hash) {
			c.found("chunk %d of %s is not the text that was stored", *last, path)
			return nil
		}
		if rules != analysis.Version {
			return nil // the chunk was made by other rules, and the next Sync makes it again
		}
		r.Analyse(a, path)
		v, n := vectorOf(r.Words)
		same, terms, words = append(same, *last), append(terms, v), append(words, n)
		return nil
	})
	if err != nil {
		return err
	}
	return c.faults(ctx, tx, "the words of chunk %d are not those of its text", `SELECT c.row
		FROM unnest($2::bigint[], $3::text[], $4::integer[]) AS w(row, terms, words) JOIN chunks AS c ON c.row=w.row
		WHERE c.scope = ANY($1::integer[]) AND (c.terms<>w.terms::tsvector OR c.words<>w.words)`, same, terms, words)
}
