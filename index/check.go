package index

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"os"
	"strings"

	"github.com/memkernel/memkernel/index/analysis"
	"github.com/memkernel/memkernel/index/internal/drv"
	"github.com/memkernel/memkernel/index/internal/fts5"
	"github.com/memkernel/memkernel/index/internal/vec"
)

// Check verifies the whole index and yields its faults: SQLite's own structures, every chunk
// against its hash, every word list against the texts, every vector, and that the tables agree
// with each other. It reads everything and changes nothing. Use Lag to see whether the index
// agrees with the files. If Check yields anything, the caller should call Rebuild. The errors
// wrap ErrDamaged, except an error because of which the check could not continue.
func (ix *Index) Check(ctx context.Context) iter.Seq[error] {
	return func(yield func(error) bool) {
		err := check(ctx, ix, yield, (*checker).sqlite, (*checker).meta, (*checker).files, (*checker).texts, (*checker).words, (*checker).rows, (*checker).vectors)
		if err != nil {
			yield(explain("check index", ix.door.path, err))
		}
	}
}

// Intact returns an error of kind ErrDamaged if the file is not whole: SQLite's own checks fail,
// or a stored text does not match its hash. It reads the whole file but is cheaper than Check,
// because it does not make the word lists again.
func (ix *Index) Intact(ctx context.Context) (damage error) {
	err := check(ctx, ix, func(err error) bool {
		damage = err
		return false
	}, (*checker).whole, (*checker).hashes)
	return cmp.Or(damage, explain("check index", ix.door.path, err))
}

// check runs the checks on its own connection. The full-text module caches a directory of its
// parts in each connection, and integrity_check and fts5vocab use that cache even if another
// connection has changed the directory since.
func check(ctx context.Context, ix *Index, yield func(error) bool, steps ...func(*checker) error) error {
	_, done, err := ix.door.use(ctx)
	if err != nil {
		return err
	}
	defer done()
	db, tx, err := snapshot(ctx, ix.door)
	if err != nil {
		return err
	}
	defer db.Close()
	defer tx.Rollback()
	c := &checker{ctx: ctx, tx: tx, ix: ix, yield: yield}
	for _, step := range steps {
		err := step(c)
		if err != nil && kindOf(err) != ErrDamaged && !c.stopped {
			return err
		}
		if err != nil {
			c.found("%w", err)
		}
		if c.stopped {
			return nil
		}
	}
	return nil
}

// snapshot opens a connection to the index and begins a transaction on it. All reads of the
// transaction see the same state of the index.
func snapshot(ctx context.Context, d *door) (db *sql.DB, tx *sql.Tx, err error) {
	db, err = d.opts.reading(d.path, func(db *sql.DB) (err error) {
		db.SetMaxOpenConns(1)
		if tx, err = db.BeginTx(ctx, nil); err != nil {
			return err
		}
		var n int
		err = tx.QueryRowContext(ctx, "SELECT count(*) FROM meta").Scan(&n)
		if err != nil && kindOf(err) != ErrDamaged {
			tx.Rollback()
			return err
		}
		return nil
	})
	return db, tx, err
}

// checker is the state of a running Check or Intact.
type checker struct {
	ctx     context.Context
	tx      *sql.Tx
	ix      *Index
	yield   func(error) bool
	stopped bool

	// m is nil if meta can't be read.
	m *meta
	// chunks counts the chunks of each file.
	chunks map[int64]int
	// langs counts the chunks of each language.
	langs map[string]int64
	// terms holds, for each word, a sum over the places of the word in the texts.
	terms map[string]tracks
}

// found reports a finding.
func (c *checker) found(format string, args ...any) {
	if !c.stopped {
		c.stopped = !c.yield(Problem("check index", c.ix.door.path, ErrDamaged, fmt.Errorf(format, args...)))
	}
}

// sqlite runs the checks of SQLite and of the modules of its virtual tables.
func (c *checker) sqlite() error { return c.pragma("PRAGMA integrity_check(20)") }

// whole runs SQLite's quick check. Before that, it compares the file's size with the size of a page,
// because SQLite reads the missing end of a page as zeros.
func (c *checker) whole() error {
	if fi, err := os.Stat(c.ix.door.path); err == nil && fi.Size()%drv.PageSize != 0 {
		c.found("its last page is cut off")
	}
	return c.pragma("PRAGMA quick_check(1)")
}

func (c *checker) pragma(query string) error {
	var said string
	return drv.Each(c.ctx, c.tx, []any{&said}, func() error {
		if said != "ok" {
			c.found("%s", said)
		}
		return nil
	}, query)
}

func (c *checker) meta() error {
	m, err := loadMeta(c.ctx, c.tx)
	if err != nil && kindOf(err) == nil && c.ctx.Err() == nil {
		c.found("%w", err)
		return nil
	}
	c.m = m
	return err
}

// files checks the sum over the stats of all files, and the stored chunks of each file.
func (c *checker) files() error {
	c.chunks = map[int64]int{}
	known, err := readFiles(c.ctx, c.tx)
	if err != nil {
		return err
	}
	var stamp uint64
	for _, f := range known {
		stamp += statHash(f.path, f.size, f.mtime)
		c.chunks[f.id] = f.chunks
		if err := c.file(f); err != nil || c.stopped {
			return err
		}
	}
	if c.m != nil && stamp != c.m.stamp {
		c.found("the sum over all files is %x, not %x", stamp, c.m.stamp)
	}
	return nil
}

// file checks the stored rows of a file's chunks other than their texts.
func (c *checker) file(f fileRow) error {
	old, err := oldChunks(c.ctx, c.tx, f.id)
	if err != nil || len(f.hash) == 0 {
		return err
	}
	chunks := make([]ReadyChunk, len(old))
	for i, o := range old {
		chunks[i] = ReadyChunk{Hash: o.key.hash, Chunk: Chunk{ID: o.key.id, StartLine: o.startLine, EndLine: o.endLine, Tokens: o.size,
			Date: o.key.date, Keywords: o.key.keywords}}
		if o.seq != i {
			c.found("chunk %d of %s stands in place %d", i, f.path, o.seq)
		}
	}
	if len(chunks) > 0 {
		var labels string
		if err := c.tx.QueryRowContext(c.ctx, "SELECT labels FROM files WHERE id=?", f.id).Scan(&labels); err != nil {
			return err
		}
		chunks[0].Labels = SplitLines(labels)
	}
	if !bytes.Equal(hashFile(chunks), f.hash) {
		c.found("the chunks of %s are not those that were stored", f.path)
	}
	return nil
}

// hashes checks every chunk against its hash.
func (c *checker) hashes() error { return c.eachText(func(storedText) {}) }

// eachText checks every chunk against its hash, and calls f for it.
func (c *checker) eachText(f func(storedText)) error {
	_, err := eachText(c.ctx, c.tx, func(t storedText) error {
		if hashStored(t.trail, t.body) != t.hash {
			c.found("chunk %d (%s of %s) is not the text that was stored", t.row, t.id, t.path)
		}
		if f(t); c.stopped {
			return errStop
		}
		return nil
	})
	return err
}

// texts checks every chunk, and counts its words.
func (c *checker) texts() error {
	a := c.ix.analyzers.Lend()
	defer c.ix.analyzers.Give(a)
	c.langs, c.terms = map[string]int64{}, map[string]tracks{}
	seqs := map[int64]int{}
	err := c.eachText(func(t storedText) {
		if c.m != nil && t.row >= c.m.nextRow {
			c.found("chunk %d has a row that was not given out yet", t.row)
		}
		seqs[t.file]++
		c.langs[t.lang]++
		c.count(t.row, analyse(a, t.path, t.keywords, t.trail, t.date, t.body))
	})
	for file, n := range c.chunks {
		if seqs[file] != n {
			c.found("file %d has %d chunks, not %d", file, seqs[file], n)
		}
		delete(seqs, file)
	}
	for file := range seqs {
		c.found("chunks belong to file %d, which is not there", file)
	}
	return err
}

// errStop ends eachText after the caller of Check has stopped reading faults.
var errStop = errors.New("stop")

// tracks sums up the places of a word. It holds their number, and a sum over row, column and
// offset that differs if any of these differs. The query below makes the same sum.
type tracks struct{ n, sum int64 }

const tracksQuery = `SELECT term, count(*), sum((doc*8191 + offset +
	CASE col WHEN 'body' THEN 0 WHEN 'trail' THEN 131071 WHEN 'file' THEN 262142 ELSE 393213 END) % 1000003)
	FROM temp.vocab GROUP BY term`

// count adds a chunk's words.
func (c *checker) count(row int64, w *Words) {
	for col, text := range w.columns() {
		offset := int64(0)
		for t := range strings.FieldsSeq(text) {
			p := c.terms[t]
			p.n++
			p.sum += (row*8191 + offset + int64(col)*131071) % 1000003
			c.terms[t] = p
			offset++
		}
	}
}

// words checks that the full-text index holds the same places as the texts, for each word.
func (c *checker) words() error {
	if c.m == nil || c.m.analysis != analysis.Version {
		return nil // the words were made by other rules, and the next Sync makes them again
	}
	if _, err := c.tx.ExecContext(c.ctx, fts5.Vocabulary); err != nil {
		return err
	}
	var term string
	var got tracks
	err := drv.Each(c.ctx, c.tx, []any{&term, &got.n, &got.sum}, func() error {
		if want := c.terms[term]; want != got {
			c.found("word %q stands in %d places and was indexed in %d, or in others", term, want.n, got.n)
		}
		delete(c.terms, term)
		return nil
	}, tracksQuery)
	if err != nil {
		return err
	}
	for term := range c.terms {
		c.found("word %q of the texts is not indexed", term)
		break
	}
	for lang, n := range c.langs {
		if c.m.langs[lang] != n {
			c.found("language %q has %d chunks, not %d", lang, n, c.m.langs[lang])
		}
	}
	return nil
}

// rows checks that chunks and chunks_fts hold the same rows.
func (c *checker) rows() error {
	return c.empty("chunks and their words don't match in row %d",
		"SELECT row FROM chunks EXCEPT "+fts5.Rows,
		fts5.Rows+" EXCEPT SELECT row FROM chunks")
}

// empty reports each row that one of the queries returns.
func (c *checker) empty(format string, queries ...string) error {
	for _, q := range queries {
		var row int64
		err := drv.Each(c.ctx, c.tx, []any{&row}, func() error {
			c.found(format, row)
			return nil
		}, q+" LIMIT 5")
		if err != nil {
			return err
		}
	}
	return nil
}

// vectors checks the cache, and checks that chunks_vec has the cached vector of each chunk.
func (c *checker) vectors() error {
	var id int64
	var model string
	var dim int
	var hash, vector sql.RawBytes
	err := drv.Each(c.ctx, c.tx, []any{&id, &model, &hash, &dim, &vector}, func() error {
		if _, ok := vec.Decode(vector, dim); !ok || len(hash) != len(Hash{}) {
			c.found("vector %d of %s is not whole", id, model)
		}
		return nil
	}, "SELECT id, model, hash, dim, vector FROM embedding_cache")
	if err != nil || c.m == nil || c.m.model == "" {
		return err
	}
	const cached = `SELECT c.row FROM chunks AS c JOIN embedding_cache AS e ON e.hash=c.hash AND e.model=(
		SELECT value FROM meta WHERE key='model')`
	err = c.empty("chunks and their vectors don't match in row %d",
		cached+" EXCEPT SELECT rowid FROM chunks_vec_rowids",
		"SELECT rowid FROM chunks_vec_rowids EXCEPT "+cached,
		`SELECT v.rowid FROM chunks_vec AS v JOIN chunks AS c ON c.row=v.rowid JOIN embedding_cache AS e ON e.hash=c.hash
			AND e.model=(SELECT value FROM meta WHERE key='model') WHERE v.embedding<>e.vector`)
	if err == nil {
		err = c.codes()
	}
	return err
}

// codes checks the codes of the vectors in use.
func (c *checker) codes() error {
	if !c.m.codes.Coded() {
		return nil
	}
	return c.m.codes.Check(c.ctx, c.tx, c.m.dim, c.m.vectors(c.ctx, c.tx), c.found)
}
