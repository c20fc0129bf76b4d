package index

import (
	"context"
	"iter"
	"os"
	"strings"

	"github.com/memkernel/memkernel/index/internal/drv"
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

// Lag counts the changes of files that an index does not have yet.
type Lag struct {
	// Files counts the files that were added or written since the last Sync.
	Files int `json:"files"`
	// Removed counts the files that no longer exist.
	Removed int `json:"removed"`
	// Bytes are the sizes of Files.
	Bytes int64 `json:"bytes"`
	// Rules reports whether the index was made by other rules. The next Sync must then read every
	// file.
	Rules bool `json:"rules"`
}

// Zero reports whether the index is up to date.
func (l Lag) Zero() bool { return l == Lag{} }

// Lag compares the files with the state at the last Sync and counts the changes. It opens no file: it
// sums up the stats of source and compares the sum with the sum that Sync stored. It changes
// nothing. It skips the files for which source yields an error.
func (ix *Index) Lag(ctx context.Context, source iter.Seq2[FileStat, error]) (lag Lag, err error) {
	l, err := List(ctx, source)
	if err != nil {
		return lag, err
	}
	err = ix.read(ctx, "compare index", func(h *handles, v *view) error {
		outdated := v.outdated(ix.door.opts.Chunker)
		if !outdated && len(l.Problems) == 0 && l.Stamp == v.stamp {
			return nil
		}
		known, err := readFiles(ctx, h.read)
		if err == nil {
			w := l.compare(known, false)
			lag = Lag{Files: len(w.Read), Removed: len(w.Remove), Bytes: w.Bytes(), Rules: outdated}
		}
		return err
	})
	return lag, err
}

// At returns the last chunk of a file that holds a line. The hit is empty if there is none.
func (ix *Index) At(ctx context.Context, path string, line int) (hit Hit, err error) {
	err = ix.read(ctx, "read chunk", func(h *handles, _ *view) error {
		found, err := readHits(ctx, h.read, `SELECT `+hitColumns+` FROM files AS f JOIN chunks AS c ON c.file=f.id
			WHERE f.path=? AND ? BETWEEN c.start_line AND c.end_line ORDER BY c.end_line DESC, c.seq LIMIT 1`, path, line)
		if len(found) > 0 {
			hit = found[0]
		}
		return err
	})
	return hit, err
}

// Paths lists all files of the index.
func (ix *Index) Paths(ctx context.Context) (paths []string, err error) {
	err = ix.read(ctx, "list indexed files", func(h *handles, _ *view) error {
		known, err := readFiles(ctx, h.read)
		for _, f := range known {
			paths = append(paths, f.path)
		}
		return err
	})
	return paths, err
}

// Labels returns the labels of all files that have labels, by path. The caller must not change
// them.
func (ix *Index) Labels(ctx context.Context) (labels map[string][]string, err error) {
	err = ix.read(ctx, "read labels", func(h *handles, v *view) error {
		if known := v.labels.Load(); known != nil {
			labels = *known
			return nil
		}
		labels = map[string][]string{}
		var path, stored string
		err := drv.Each(ctx, h.read, []any{&path, &stored}, func() error {
			labels[path] = SplitLines(stored)
			return nil
		}, "SELECT path, labels FROM files WHERE labels<>''")
		if err == nil {
			v.labels.Store(&labels)
		}
		return err
	})
	return labels, err
}

// LabelsOf returns the stored form of the labels of a file with these chunks: one on each line.
func LabelsOf(chunks []ReadyChunk) string {
	if len(chunks) == 0 {
		return ""
	}
	var out []string
	for _, l := range chunks[0].Labels {
		if l = strings.Join(strings.Fields(l), " "); l != "" {
			out = append(out, l)
		}
	}
	return strings.Join(out, "\n")
}
