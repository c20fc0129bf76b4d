package index

import (
	"context"
	"database/sql"
	"errors"
	"iter"
	"time"

	"github.com/memkernel/memkernel/index/internal/vec"
)

// StoredEmbedding is a stored vector, of length 1, with what it is of.
type StoredEmbedding struct {
	Model  string
	Hash   Hash
	Vector []float32
}

// Files lists the files that the index holds as they were when they were read, by
// path. Those that are to be read again, whatever their stat, have a time that is a
// nanosecond early: an index that is made from this listing holds what is known of
// them, and finds that they have changed.
func (ix *Index) Files(ctx context.Context) iter.Seq2[FileStat, error] {
	return func(yield func(FileStat, error) bool) {
		known, err := knownFiles(ctx, ix.door)
		if err != nil {
			yield(FileStat{}, explain("list indexed files", ix.door.path, err))
			return
		}
		for _, f := range known {
			if !yield(KnownStat(f.path, f.size, f.mtime, f.again), nil) {
				return
			}
		}
	}
}

// KnownStat returns the stat of a file as [Index.Files] yields it: its time in
// ns since 1970, and whether it is to be read again.
func KnownStat(path string, size, mtime int64, again bool) FileStat {
	if again {
		mtime--
	}
	return FileStat{Path: path, Size: size, ModTime: time.Unix(0, mtime)}
}

func knownFiles(ctx context.Context, d *door) ([]fileRow, error) {
	h, done, err := d.use(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	return readFiles(ctx, h.read)
}

// FileChunks returns the chunks that the index holds of a file, in order.
func (ix *Index) FileChunks(ctx context.Context, path string) ([]Chunk, error) {
	h, done, err := ix.door.use(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	rows, err := h.read.QueryContext(ctx, `SELECT c.id, c.start_line, c.end_line, c.trail, c.date, c.tokens, c.body, c.keywords
		FROM files AS f JOIN chunks AS c ON c.file=f.id WHERE f.path=? ORDER BY c.seq`, path)
	if err != nil {
		return nil, explain("read chunks", ix.door.path, err)
	}
	defer rows.Close()
	var out []Chunk
	for rows.Next() {
		var c Chunk
		var trail string
		if err := rows.Scan(&c.ID, &c.StartLine, &c.EndLine, &trail, &c.Date, &c.Tokens, &c.Text, &c.Keywords); err != nil {
			return nil, explain("read chunks", ix.door.path, err)
		}
		c.Trail = splitTrail(trail)
		c.Keywords, c.Facts = SplitFacts(c.Keywords, c.StartLine)
		out = append(out, c)
	}
	return out, explain("read chunks", ix.door.path, rows.Err())
}

// exportStep is how many vectors Embeddings reads at a time.
const exportStep = 256

// Embeddings yields all vectors of all models that the index keeps, in use or not.
// One that is not whole is passed over: it is as good as missing. The index may be
// written while it runs.
func (ix *Index) Embeddings(ctx context.Context) iter.Seq2[StoredEmbedding, error] {
	return Steps(-1, func(after int64) ([]StoredEmbedding, int64, error) {
		step, last, err := storedAfter(ctx, ix.door, after)
		return step, last, explain("read embeddings", ix.door.path, err)
	})
}

func storedAfter(ctx context.Context, d *door, after int64) (out []StoredEmbedding, last int64, err error) {
	h, done, err := d.use(ctx)
	if err != nil {
		return nil, after, err
	}
	defer done()
	rows, err := h.read.QueryContext(ctx, `SELECT id, model, hash, dim, vector FROM embedding_cache
		WHERE id>? ORDER BY id LIMIT ?`, after, exportStep)
	if err != nil {
		return nil, after, err
	}
	defer rows.Close()
	last = after
	for rows.Next() {
		var e StoredEmbedding
		var dim int
		var hash, vector sql.RawBytes
		if err := rows.Scan(&last, &e.Model, &hash, &dim, &vector); err != nil {
			return nil, after, err
		}
		var whole bool
		if e.Vector, whole = vec.Decode(vector, dim); whole && copy(e.Hash[:], hash) == len(e.Hash) {
			out = append(out, e)
		}
	}
	return out, last, rows.Err()
}

// Held returns, of some texts, the vectors of a model that the index keeps.
func (ix *Index) Held(ctx context.Context, model string, hashes []Hash) (map[Hash][]float32, error) {
	h, done, err := ix.door.use(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	out := make(map[Hash][]float32, len(hashes))
	for _, hash := range hashes {
		var dim int
		var vector []byte
		err := h.read.QueryRowContext(ctx, "SELECT dim, vector FROM embedding_cache WHERE hash=? AND model=?", hash[:], model).Scan(&dim, &vector)
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err != nil {
			return nil, explain("read embeddings", ix.door.path, err)
		}
		if v, whole := vec.Decode(vector, dim); whole {
			out[hash] = v
		}
	}
	return out, nil
}

// Place names a line of a file.
type Place struct {
	Path string
	Line int
}

// At returns, for each place, the chunk that holds the line; a place that is in no
// chunk has an empty Path. Of chunks that overlap it is the one that ends last.
func (ix *Index) At(ctx context.Context, places []Place) ([]Hit, error) {
	h, done, err := ix.door.use(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	out := make([]Hit, len(places))
	for i, p := range places {
		found, err := readHits(ctx, h.read, `SELECT `+hitColumns+`, 0.0 FROM files AS f JOIN chunks AS c ON c.file=f.id
			WHERE f.path=? AND ? BETWEEN c.start_line AND c.end_line ORDER BY c.end_line DESC, c.seq LIMIT 1`, p.Path, p.Line)
		if err != nil {
			return nil, explain("read chunks", ix.door.path, err)
		}
		if len(found) > 0 {
			out[i] = found[0]
		}
	}
	return out, nil
}

// Paths lists all files of the index.
func (ix *Index) Paths(ctx context.Context) ([]string, error) {
	known, err := knownFiles(ctx, ix.door)
	out := make([]string, len(known))
	for i, f := range known {
		out[i] = f.path
	}
	return out, explain("list indexed files", ix.door.path, err)
}

// Chunker names the rules by which the index's chunks were cut.
func (ix *Index) Chunker(ctx context.Context) (string, error) {
	h, done, err := ix.door.use(ctx)
	if err != nil {
		return "", err
	}
	defer done()
	v, err := h.look(ctx)
	if err != nil {
		return "", explain("read rules", ix.door.path, err)
	}
	return v.chunker, nil
}

// Rules returns the name of the rules by which the caller cuts files
// (Options.Chunker).
func (ix *Index) Rules() string { return ix.door.opts.Chunker }
