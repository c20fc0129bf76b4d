package index

import (
	"context"
	"os"
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
	// Model and Dim describe the vectors in use. Vectors counts the chunks that have such a
	// vector. Cached counts the vectors kept for all models.
	Model           string
	Dim             int
	Vectors, Cached int64
	// Chunker names the rules by which the files were cut into chunks.
	Chunker string
}

// Stats reads the figures of the index.
func (ix *Index) Stats(ctx context.Context) (s Stats, err error) {
	err = ix.read(ctx, "read statistics", func(h *handles, v *view) error {
		s = Stats{Model: v.model, Dim: v.dim, Chunker: v.chunker}
		err := h.read.QueryRowContext(ctx, `SELECT
			(SELECT count(*) FROM files), (SELECT count(*) FROM files WHERE again),
			(SELECT count(*) FROM chunks), (SELECT ifnull(sum(length(CAST(body AS BLOB))), 0) FROM chunks),
			(SELECT count(*) FROM embedding_cache)`).Scan(&s.Files, &s.Unread, &s.Chunks, &s.TextBytes, &s.Cached)
		if err == nil && s.Model != "" {
			err = h.read.QueryRowContext(ctx, "SELECT count(*) FROM chunks_vec_rowids").Scan(&s.Vectors)
		}
		return err
	})
	for _, end := range []string{"", "-wal"} {
		if fi, err := os.Stat(ix.door.path + end); err == nil {
			s.FileBytes += fi.Size()
		}
	}
	return s, err
}
