package pgindex

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/index/analysis"
)

// errOvertaken reports that another process wrote without holding the lock. This can happen with a
// pooler that gives one connection to several programs.
var errOvertaken = errors.New("another process changed the index at the same time")

// change runs f in a transaction that also raises the space's generation by one.
func (s *syncer) change(ctx context.Context, f func(tx pgx.Tx) error) error {
	err := pgx.BeginFunc(ctx, s.conn, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `UPDATE spaces SET generation=generation+1 WHERE id=$1::integer AND generation=$2::bigint`, s.space, s.generation)
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 0 {
			return index.Problem("sync index", s.site.place, index.ErrBusy, errOvertaken)
		}
		return f(tx)
	})
	if err == nil {
		s.generation++
	}
	return err
}

// remove removes the rows of deleted files.
func (s *syncer) remove(ctx context.Context, files []*fileRow) error {
	if len(files) == 0 {
		return nil
	}
	var ids []int64
	chunks := 0
	for _, f := range files {
		ids, chunks = append(ids, f.ID), chunks+f.Chunks
	}
	err := s.change(ctx, func(tx pgx.Tx) error { return s.delete(ctx, tx, ids) })
	if err == nil {
		s.report.Removed, s.report.ChunksRemoved = len(ids), chunks
	}
	return err
}

// delete removes rows of files. Their chunks go with them.
func (s *syncer) delete(ctx context.Context, tx pgx.Tx, files []int64) error {
	_, err := tx.Exec(ctx, `DELETE FROM files WHERE scope = ANY($1::integer[]) AND id = ANY($2::bigint[])`, ownScopes(s.space), files)
	return err
}

// prepared is a file that was read and cut into chunks.
type prepared struct {
	job
	err    error
	hash   []byte
	chunks []index.ReadyChunk
	again  bool
	// same reports that the index has the file's content already.
	same bool
}

// batchBytes and batchFiles bound a transaction in addition to the number of its chunks.
const (
	batchBytes = 8 << 20
	batchFiles = 256
)

// readAll reads files, cuts and analyses them, and writes them batch by batch.
func (s *syncer) readAll(ctx context.Context, jobs []job) error {
	a := s.site.analyzers.Lend()
	defer s.site.analyzers.Give(a)
	for len(jobs) > 0 {
		var batch []*prepared
		chunks, bytes := 0, 0
		for len(batch) < min(len(jobs), batchFiles) && chunks < s.opts.BatchChunks && bytes < batchBytes {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			f := s.prepare(a, jobs[len(batch)])
			batch = append(batch, f)
			for i := range f.chunks {
				chunks, bytes = chunks+1, bytes+len(f.chunks[i].Text)
			}
		}
		if err := s.write(ctx, batch); err != nil {
			return err
		}
		jobs = jobs[len(batch):]
	}
	return nil
}

// prepare reads a file, and finds the words of its chunks.
func (s *syncer) prepare(a *analysis.Analyzer, j job) *prepared {
	f := &prepared{job: j, again: j.Stat.Young(time.Now())}
	if !storable(j.Stat.Path) {
		f.err = errors.New("its name is no valid text: PostgreSQL can't hold it")
		return f
	}
	chunks, err := s.read(j.Stat.Path)
	if err != nil {
		f.err = err
		return f
	}
	f.chunks, f.hash = index.Ready(j.Stat.Path, chunks)
	f.same = j.Row != nil && string(j.Row.Hash) == string(f.hash) && j.Row.Analysis == analysis.Version && j.Row.Scope == s.scope(j.Stat.Path)
	if f.same {
		return f
	}
	for i := range f.chunks {
		c := &f.chunks[i]
		if !storable(c.ID) || !storable(c.Date) {
			f.err = fmt.Errorf("chunk %d has a name or date that is no valid text", i)
			return f
		}
		c.Analyse(a, j.Stat.Path)
	}
	return f
}

// storable reports whether PostgreSQL can hold a text unchanged.
func storable(s string) bool { return utf8.ValidString(s) && !strings.Contains(s, "\x00") }

func (s *syncer) scope(path string) int32 {
	if s.site.opts.Private(path) {
		return privateScope(s.space)
	}
	return sharedScope(s.space)
}

// write writes files in one transaction. The report counts them only once they
// are committed.
func (s *syncer) write(ctx context.Context, batch []*prepared) error {
	report := s.report
	err := s.change(ctx, func(tx pgx.Tx) error { return s.writeFiles(ctx, tx, batch, &report) })
	if err != nil {
		return err
	}
	s.report = report
	for _, f := range batch {
		s.done.Files++
		s.done.Bytes += f.Stat.Size
	}
	if s.done.Chunks = report.ChunksAdded; s.opts.Progress != nil {
		s.opts.Progress(s.done)
	}
	return nil
}

func (s *syncer) writeFiles(ctx context.Context, tx pgx.Tx, batch []*prepared, r *index.SyncReport) error {
	var w pgx.Batch
	var gone []int64 // the rows of removed and replaced files
	var ids []string // the chunks of replaced files, with their hashes
	var hashes [][]byte
	for _, f := range batch {
		if !s.count(f, r) {
			if f.Row != nil && errors.Is(f.err, fs.ErrNotExist) {
				gone = append(gone, f.Row.ID)
			} else if f.Row != nil {
				w.Queue(`UPDATE files SET size=$3::bigint, mtime=$4::bigint, again=$5::boolean WHERE scope = ANY($1::integer[]) AND id=$2::bigint`,
					ownScopes(s.space), f.Row.ID, f.Stat.Size, f.Stat.Nanos(), f.again)
			}
			continue
		}
		for i := range f.chunks {
			c := &f.chunks[i]
			if r.ChunkBytes += int64(len(c.Text)); f.Row != nil {
				ids, hashes = append(ids, c.ID), append(hashes, c.Hash[:])
			}
		}
		if r.ChunksAdded += len(f.chunks); f.Row != nil {
			r.ChunksRemoved += f.Row.Chunks
			gone = append(gone, f.Row.ID)
		}
		s.queue(&w, f)
	}
	var kept int
	err := tx.QueryRow(ctx, `SELECT count(*) FROM (SELECT id, hash FROM chunks WHERE scope = ANY($1::integer[]) AND file = ANY($2::bigint[])
		INTERSECT ALL SELECT * FROM unnest($3::text[], $4::bytea[])) AS kept`, ownScopes(s.space), gone, ids, hashes).Scan(&kept)
	if err != nil {
		return err
	}
	r.ChunksKept, r.ChunksAdded, r.ChunksRemoved = r.ChunksKept+kept, r.ChunksAdded-kept, r.ChunksRemoved-kept
	if err := s.delete(ctx, tx, gone); err != nil {
		return err
	}
	return tx.SendBatch(ctx, &w).Close()
}

// count counts a file in the report. It reports whether the file's rows must be replaced.
func (s *syncer) count(f *prepared, r *index.SyncReport) (replace bool) {
	switch {
	case errors.Is(f.err, fs.ErrNotExist):
		if f.Row != nil {
			r.Removed, r.ChunksRemoved = r.Removed+1, r.ChunksRemoved+f.Row.Chunks
		}
		return false
	case errors.Is(f.err, index.ErrSkip):
		r.Read, r.Skipped = r.Read+1, r.Skipped+1
		f.chunks, f.hash, f.again = nil, []byte{}, false
		return true
	case f.err != nil:
		r.Failed = append(r.Failed, index.FileError{Path: f.Stat.Path, Err: f.err})
		f.again = true
		return false
	}
	r.Read, r.Bytes = r.Read+1, r.Bytes+f.Stat.Size
	switch {
	case f.same && f.Row.Size == f.Stat.Size && f.Row.Mtime == f.Stat.Nanos():
		r.Unchanged++
	case f.same:
		r.Touched++
	case f.Row == nil:
		r.Added++
	default:
		r.Changed++
	}
	return !f.same
}

// queue adds the rows of a file and of its chunks to a batch.
func (s *syncer) queue(w *pgx.Batch, f *prepared) {
	scope := s.scope(f.Stat.Path)
	w.Queue(`INSERT INTO files(space, scope, path, size, mtime, hash, chunks, again, analysis, labels)
		VALUES($1::integer, $2::integer, $3::text, $4::bigint, $5::bigint, $6::bytea, $7::integer, $8::boolean, $9::integer, $10::bytea)`,
		s.space, scope, f.Stat.Path, f.Stat.Size, f.Stat.Nanos(), f.hash, len(f.chunks), f.again, analysis.Version, []byte(index.LabelsOf(f.chunks)))
	for i := range f.chunks {
		c := &f.chunks[i]
		terms, words := vectorOf(c.Words)
		w.Queue(`INSERT INTO chunks(file, scope, seq, id, hash, start_line, end_line, tokens, lang, date, trail, keywords, body, words, terms)
			VALUES(currval('files_id_seq'), $1::integer, $2::integer, $3::text, $4::bytea, $5::integer, $6::integer, $7::integer, $8::text, $9::text,
				$10::bytea, $11::bytea, $12::bytea, $13::integer, $14::text::tsvector)`,
			scope, i, c.ID, c.Hash[:], c.StartLine, c.EndLine, c.Tokens, c.Words.Lang, c.Date,
			[]byte(c.TrailText), []byte(c.Keywords), []byte(c.Text), words, terms)
	}
}

// maxVector is the most bytes of a tsvector's text. The server refuses a tsvector of 1 MiB, and
// the text is longer than the tsvector.
const maxVector = 1<<20 - 1<<10

// vectorOf returns a chunk's terms as the text of a tsvector, each term with its places and the
// weight of its field. words is the number of places. vectorOf leaves out the last words of a huge
// chunk.
func vectorOf(w *index.Words) (terms string, words int) {
	var b []byte
	for _, field := range []struct{ terms, weight string }{{w.Trail, "A"}, {w.Names, "B"}, {w.File, "C"}, {w.Body, "D"}} {
		for t := range strings.FieldsSeq(field.terms) {
			if words++; len(b) < maxVector {
				b = fmt.Appendf(b, "'%s':%d%s ", quoted.Replace(t), words, field.weight)
			}
		}
	}
	return string(b), words
}
