package index

import (
	"context"
	"database/sql"

	"github.com/memkernel/memkernel/index/analysis"
	"github.com/memkernel/memkernel/index/internal/drv"
	"github.com/memkernel/memkernel/index/internal/fts5"
)

// reanalyseStep is the number of chunks held in memory while their words are made again.
const reanalyseStep = 500

// reanalyse makes the words of all chunks again from the texts in the index. It does so in one
// transaction, because searches in words made by two different rules are unreliable.
func (s *syncer) reanalyse(ctx context.Context) error {
	done := 0
	err := s.change(ctx, func(tx *sql.Tx, m *meta) (err error) {
		if err = fts5.Make(ctx, tx); err != nil {
			return err
		}
		m.analysis, m.langs = analysis.Version, map[string]int64{}
		done, err = eachText(ctx, tx, func(c storedText) error {
			w := analyse(s.a, c.path, c.keywords, c.trail, c.date, c.body)
			m.langs[w.Lang]++
			if _, err := tx.ExecContext(ctx, fts5.Insert,
				c.row, w.Body, w.Trail, w.File, w.Names); err != nil {
				return err
			}
			if w.Lang == c.lang {
				return nil
			}
			_, err := tx.ExecContext(ctx, "UPDATE chunks SET lang=? WHERE row=?", w.Lang, c.row)
			return err
		})
		return err
	})
	s.report.Reanalysed = done
	return err
}

// storedText is the input of a chunk's words and hash.
type storedText struct {
	row, file             int64
	id                    string
	hash                  Hash
	lang, trail, keywords string
	date, body, path      string
}

// eachText calls f for every chunk in the order of rows. It reads in steps, so
// that f may write to the tables.
func eachText(ctx context.Context, db drv.Conn, f func(storedText) error) (n int, err error) {
	for last := int64(-1); ; {
		step, err := texts(ctx, db, last)
		if err != nil || len(step) == 0 {
			return n, err
		}
		for _, c := range step {
			if err := f(c); err != nil {
				return n, err
			}
			n++
			last = c.row
		}
	}
}

func texts(ctx context.Context, db drv.Conn, after int64) ([]storedText, error) {
	return drv.All(ctx, db, func(c *storedText) []any {
		return []any{&c.row, &c.file, &c.id, &c.hash, &c.lang, &c.trail, &c.keywords, &c.date, &c.body, &c.path}
	}, `SELECT c.row, c.file, c.id, c.hash, c.lang, c.trail, c.keywords, c.date, c.body, ifnull(f.path, '')
		FROM chunks AS c LEFT JOIN files AS f ON f.id=c.file WHERE c.row>? ORDER BY c.row LIMIT ?`, after, reanalyseStep)
}

// The number of segments of one level that chunks_fts merges into one segment. A small number
// makes searches fast, a large number makes writing fast. Merging four at a time would take a
// quarter of a large sync's time, so a large sync merges by mergeMany and merges the remaining
// segments at its end.
const (
	mergeFew  = 4 // SQLite's default
	mergeMany = 16
	// manyBytes is the total size of files from which a sync counts as large.
	manyBytes = 4 << 20
)

// mergeBy sets how many segments are merged into one.
func (s *syncer) mergeBy(ctx context.Context, n int) error {
	if now, err := s.mergedBy(ctx); err != nil || now == n {
		return err
	}
	return s.change(ctx, func(tx *sql.Tx, _ *meta) error {
		_, err := tx.ExecContext(ctx, fts5.MergeAt, n)
		return err
	})
}

func (s *syncer) mergedBy(ctx context.Context) (n int, err error) {
	err = s.h.read.QueryRowContext(ctx, fts5.MergedAt, mergeFew).Scan(&n)
	return n, err
}

// merge merges the segments that a large sync has left unmerged, a few pages in each transaction.
// Fewer segments make searches faster: a search reads at least a page for each word in each
// segment.
func (s *syncer) merge(ctx context.Context) error {
	for more := true; more; {
		err := s.change(ctx, func(tx *sql.Tx, _ *meta) (err error) {
			more, err = fts5.Merge(ctx, tx)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// tidy merges segments and packs vectors after the files are written.
func (s *syncer) tidy(ctx context.Context) error {
	now, err := s.mergedBy(ctx)
	if err == nil && now > mergeFew {
		err = s.merge(ctx)
	}
	if err != nil {
		return err
	}
	if err := s.mergeBy(ctx, mergeFew); err != nil {
		return err
	}
	return s.packVectors(ctx)
}

// packVectors makes chunks_vec again when more than half of its places are of deleted vectors.
// sqlite-vec never reuses such a place, and reads it in every search.
func (s *syncer) packVectors(ctx context.Context) error {
	if s.meta.model == "" {
		return nil
	}
	var blocks, rows int64
	err := s.h.read.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM chunks_vec_chunks),
		(SELECT count(*) FROM chunks_vec_rowids)`).Scan(&blocks, &rows)
	if err != nil || blocks*vecBlock <= 2*rows+2*vecBlock {
		return err
	}
	return s.change(ctx, func(tx *sql.Tx, m *meta) error { return fillVectors(ctx, tx, m) })
}

// fillVectors makes chunks_vec from the cache.
func fillVectors(ctx context.Context, tx drv.Conn, m *meta) error {
	if _, err := tx.ExecContext(ctx, "DROP TABLE IF EXISTS chunks_vec"); err != nil || m.model == "" {
		return err
	}
	if _, err := tx.ExecContext(ctx, createVec(m.dim)); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO chunks_vec(rowid, embedding)
		SELECT c.row, e.vector FROM chunks AS c
		JOIN embedding_cache AS e ON e.hash=c.hash AND e.model=? AND e.dim=? ORDER BY c.row`, m.model, m.dim)
	return err
}
