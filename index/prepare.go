package index

import (
	"context"
	"time"
)

// prepared is a file that was read, cut and analysed, ready to be written.
type prepared struct {
	job
	// err is the error of the Reader.
	err error
	// hash is the hash of all chunks and their places.
	hash   []byte
	chunks []ReadyChunk
	// again reports whether the file may change once more without a change of its stat.
	again bool
}

// same reports whether the index already has the file's content.
func (p *prepared) same() bool { return p.Row != nil && string(p.Row.hash) == string(p.hash) }

// prepare reads files ahead of the writer, in order, and sends them in batches, until all are sent
// or the context ends.
func (s *syncer) prepare(ctx context.Context, jobs []job, out chan<- []*prepared) error {
	defer close(out)
	limit := min(batchFirst, s.opts.BatchChunks)
	for len(jobs) > 0 {
		batch, err := s.batch(ctx, jobs, limit)
		if err != nil {
			return err
		}
		jobs = jobs[len(batch):]
		limit = min(2*limit, s.opts.BatchChunks)
		select {
		case out <- batch:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// batch prepares the files of one transaction. On a slow disk it returns fewer files, so that
// files that are ready need not wait.
func (s *syncer) batch(ctx context.Context, jobs []job, limit int) (batch []*prepared, err error) {
	chunks, bytes := 0, 0
	began := time.Now()
	for len(batch) < min(len(jobs), batchFiles) {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		f, err := s.file(ctx, jobs[len(batch)])
		if err == nil {
			err = ctx.Err() // the error of an interrupted reading says nothing about the file
		}
		if err != nil {
			return nil, err
		}
		batch = append(batch, f)
		for i := range f.chunks {
			if f.chunks[i].Words != nil {
				chunks++
				bytes += len(f.chunks[i].Text)
			}
		}
		if chunks >= limit || bytes >= batchBytes || time.Since(began) > batchTime {
			break
		}
	}
	return batch, nil
}

// file prepares one file. The returned error is an error of the index. An error of the Reader is
// in the result.
func (s *syncer) file(ctx context.Context, j job) (*prepared, error) {
	f := &prepared{job: j}
	f.again = j.Stat.Young(time.Now())
	chunks, err := s.read(j.Stat.Path)
	if err != nil {
		f.err = err
		return f, nil
	}
	f.chunks, f.hash = Ready(j.Stat.Path, chunks)
	if f.same() {
		return f, nil
	}
	return f, s.analyse(ctx, f)
}

// analyse makes the words of the chunks that the index doesn't have.
func (s *syncer) analyse(ctx context.Context, f *prepared) error {
	have := map[chunkKey]bool{}
	if f.Row != nil && f.Row.chunks > 0 {
		old, err := oldChunks(ctx, s.h.read, f.Row.id)
		if err != nil {
			return err
		}
		for _, o := range old {
			have[o.key] = true
		}
	}
	for i := range f.chunks {
		if r := &f.chunks[i]; !have[r.key()] {
			r.Analyse(s.a, f.Stat.Path)
		}
	}
	return nil
}
