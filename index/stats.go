package index

import (
	"context"
	"os"
	"time"
)

// Stats counts the content of an index.
type Stats struct {
	Files, Chunks int64
	// Unread counts the files that must be read again: the last attempt failed, or the file was
	// written so recently that it may have changed since.
	Unread int64
	// TextBytes is the size of the chunks' text. FileBytes is the size of the index on disk with
	// its log.
	TextBytes, FileBytes int64
	// Tokens by the chunker's counter.
	Tokens int64
	// Languages counts chunks by language. The language "" is for chunks without Latin letters.
	Languages map[string]int64
	// Model and Dim describe the vectors in use. Vectors counts the chunks that have such a
	// vector. Cached counts the vectors kept for all models.
	Model           string
	Dim             int
	Vectors, Cached int64
	// Generation counts the changes of the index.
	Generation int64
	// Format is the version of the file format. Analysis is the version of the rules that made
	// the words.
	Format, Analysis int
	// Chunker names the rules by which the files were cut into chunks.
	Chunker string
	// Newest is the youngest file's modification time.
	Newest time.Time
	Driver string
}

// Stats reads the figures of the index.
func (ix *Index) Stats(ctx context.Context) (s Stats, err error) {
	err = ix.read(ctx, "read statistics", func(h *handles, v *view) error {
		s, err = h.stats(ctx, v)
		return err
	})
	for _, end := range []string{"", "-wal"} {
		if fi, err := os.Stat(ix.door.path + end); err == nil {
			s.FileBytes += fi.Size()
		}
	}
	return s, err
}

func (h *handles) stats(ctx context.Context, v *view) (Stats, error) {
	s := Stats{
		Languages: v.clone().langs, Model: v.model, Dim: v.dim, Generation: v.generation,
		Format: formatVersion, Analysis: v.analysis, Chunker: v.chunker, Driver: Driver,
	}
	var newest int64
	err := h.read.QueryRowContext(ctx, `SELECT
		(SELECT count(*) FROM files), (SELECT count(*) FROM files WHERE again),
		(SELECT count(*) FROM chunks), (SELECT ifnull(sum(length(CAST(body AS BLOB))), 0) FROM chunks),
		(SELECT ifnull(sum(tokens), 0) FROM chunks), (SELECT count(*) FROM embedding_cache),
		(SELECT ifnull(max(mtime), 0) FROM files)`).Scan(
		&s.Files, &s.Unread, &s.Chunks, &s.TextBytes, &s.Tokens, &s.Cached, &newest)
	if err == nil && s.Model != "" {
		err = h.read.QueryRowContext(ctx, "SELECT count(*) FROM chunks_vec_rowids").Scan(&s.Vectors)
	}
	if newest > 0 {
		s.Newest = time.Unix(0, newest)
	}
	return s, err
}
