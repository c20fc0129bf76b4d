package memory

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/kernel/indexing"
)

// Migrate gives the index at To what the one at From has: chunks, the model in
// use, and all vectors.
func (m *Memory) Migrate(ctx context.Context, o *indexing.MigrateOptions) (*indexing.MigrateReport, error) {
	mig := &migration{corpus: &m.corpus, o: o, r: &indexing.MigrateReport{From: o.From.Place, To: o.To.Place},
		source: opened{backend: o.From, rules: m.index.rules}, target: opened{backend: o.To, rules: m.index.rules}}
	return mig.r, mig.run(ctx)
}

type migration struct {
	corpus         *corpus
	source, target opened
	o              *indexing.MigrateOptions
	r              *indexing.MigrateReport
	// from is nil if there is none.
	from, to indexing.Index
}

func (m *migration) run(ctx context.Context) (err error) {
	if err := m.open(ctx); err != nil {
		return err
	}
	if m.from != nil {
		defer m.from.Close()
	}
	if m.to, err = m.o.To.Open(ctx, m.target.options()); err != nil {
		return err
	}
	defer m.to.Close()
	if err := m.chunks(ctx); err != nil {
		return err
	}
	if m.from != nil {
		if err := m.vectors(ctx); err != nil {
			return err
		}
		if err := m.verify(ctx); err != nil {
			return err
		}
	}
	if m.r.Stats, err = m.to.Stats(ctx); err != nil {
		return err
	}
	lag, err := m.to.Lag(ctx, m.corpus.files(ctx, nil))
	m.r.Behind = !lag.Zero()
	return err
}

// open opens the index that is copied.
func (m *migration) open(ctx context.Context) error {
	o := m.source.options()
	o.ReadOnly = true
	ix, err := m.o.From.Open(ctx, o)
	switch {
	case errors.Is(err, index.ErrMissing):
		m.r.Made = "there is no index yet at " + m.o.From.Place
		return nil
	case errors.Is(err, index.ErrDamaged), errors.Is(err, index.ErrOlder):
		m.r.Restored = err.Error()
		if err := m.restore(ctx); err != nil {
			return err
		}
		ix, err = m.o.From.Open(ctx, o)
	}
	if err == nil {
		m.from = ix
	}
	return err
}

// restore makes the source anew from the files; its vectors stay.
func (m *migration) restore(ctx context.Context) error {
	ix, err := m.o.From.Rebuild(ctx, m.source.options())
	if err != nil {
		return err
	}
	defer ix.Close()
	return update(ctx, m.corpus, &m.source, ix, &how{Options: indexing.Options{Wait: m.o.Wait}}, &indexing.Report{})
}

// chunks copies files and chunks, or makes them from the files.
func (m *migration) chunks(ctx context.Context) error {
	rules := m.target.rules.Chunker
	if m.from != nil {
		was, err := m.from.Chunker(ctx)
		if err != nil {
			return err
		}
		if was != rules {
			m.r.Made = "the chunks there were cut by other rules"
		}
	}
	if m.r.Made != "" {
		r := &indexing.Report{}
		err := update(ctx, m.corpus, &m.target, m.to, &how{Options: indexing.Options{Wait: m.o.Wait, Progress: m.o.Progress}}, r)
		m.r.SyncReport = r.SyncReport
		return err
	}
	o := &index.SyncOptions{Wait: m.o.Wait, Progress: told(m.o.Progress)}
	var err error
	m.r.SyncReport, err = m.to.Sync(ctx, m.from.Files(ctx), func(path string) ([]index.Chunk, error) { return m.from.FileChunks(ctx, path) }, o)
	return err
}

// copyStep is how many vectors go over at a time.
const copyStep = 256

// vectors copies those that the target lacks, and puts the model in use.
func (m *migration) vectors(ctx context.Context) error {
	model, dim, err := m.from.Model(ctx)
	if err != nil {
		return err
	}
	now, long, err := m.to.Model(ctx)
	if err == nil && model != "" && (now != model || long != dim) {
		err = m.to.UseModel(ctx, model, dim)
	}
	if err != nil {
		return err
	}
	stats, err := m.from.Stats(ctx)
	if err != nil {
		return err
	}
	var step []index.StoredEmbedding
	done := 0
	flush := func() error {
		if err := m.put(ctx, step); err != nil {
			return err
		}
		done += len(step)
		step = step[:0]
		if m.o.Progress != nil {
			m.o.Progress(indexing.Progress{Stage: indexing.StageVectors, Done: int64(done), Total: max(int64(done), int64(stats.Cached)), Files: m.r.Files, Chunks: m.r.ChunksAdded})
		}
		return nil
	}
	for e, err := range m.from.Embeddings(ctx) {
		if err != nil {
			return err
		}
		if len(step) > 0 && (len(step) == copyStep || step[0].Model != e.Model) {
			if err := flush(); err != nil {
				return err
			}
		}
		step = append(step, e)
	}
	return flush()
}

// put stores vectors of one model, but for those that are there.
func (m *migration) put(ctx context.Context, step []index.StoredEmbedding) error {
	if len(step) == 0 {
		return nil
	}
	hashes := make([]index.Hash, len(step))
	for i, e := range step {
		hashes[i] = e.Hash
	}
	have, err := m.to.Held(ctx, step[0].Model, hashes)
	if err != nil {
		return err
	}
	var out []index.Embedding
	for _, e := range step {
		if _, ok := have[e.Hash]; !ok {
			out = append(out, index.Embedding{Hash: e.Hash, Vector: e.Vector})
		}
	}
	m.r.VectorsCopied, m.r.VectorsThere = m.r.VectorsCopied+len(out), m.r.VectorsThere+len(step)-len(out)
	if len(out) == 0 {
		return nil
	}
	return m.to.PutEmbeddings(ctx, step[0].Model, out)
}

// sample is how many files, and how many vectors, are held against each other.
const sample = 100

// verify holds the target against the source: the counts, and a sample of both.
func (m *migration) verify(ctx context.Context) error {
	if m.r.Made == "" {
		if err := m.verifyFiles(ctx); err != nil {
			return err
		}
	}
	return m.verifyVectors(ctx)
}

func (m *migration) differs(format string, args ...any) error {
	return fmt.Errorf("%s does not hold what %s holds: %s: run it again, or make it from the files by a full reindex", m.o.To.Place, m.o.From.Place, fmt.Sprintf(format, args...))
}

func (m *migration) verifyFiles(ctx context.Context) error {
	var paths []string
	for f, err := range m.from.Files(ctx) {
		if err != nil {
			return err
		}
		paths = append(paths, f.Path)
	}
	there := 0
	for _, err := range m.to.Files(ctx) {
		if err != nil {
			return err
		}
		there++
	}
	if failed := len(m.r.Failed); there+failed < len(paths) {
		return m.differs("%d files of %d", there, len(paths))
	}
	for i := 0; i < len(paths); i += max(1, len(paths)/sample) {
		if slices.ContainsFunc(m.r.Failed, func(f index.FileError) bool { return f.Path == paths[i] }) {
			continue
		}
		if err := m.verifyFile(ctx, paths[i]); err != nil {
			return err
		}
	}
	return nil
}

func (m *migration) verifyFile(ctx context.Context, path string) error {
	want, err := m.from.FileChunks(ctx, path)
	if err != nil {
		return err
	}
	got, err := m.to.FileChunks(ctx, path)
	if err != nil {
		return err
	}
	if len(want) != len(got) {
		return m.differs("%s has %d chunks there, not %d", path, len(got), len(want))
	}
	for i, w := range want {
		g := got[i]
		if w.ID != g.ID || w.StartLine != g.StartLine || w.EndLine != g.EndLine || index.HashChunk(w.Trail, w.Text) != index.HashChunk(g.Trail, g.Text) {
			return m.differs("chunk %d of %s is another", i+1, path)
		}
		m.r.Compared++
	}
	return nil
}

// verifyVectors compares vectors of the model in use, and counts all.
func (m *migration) verifyVectors(ctx context.Context) error {
	a, err := m.from.Stats(ctx)
	if err != nil || a.Cached == 0 {
		return err
	}
	b, err := m.to.Stats(ctx)
	if err != nil {
		return err
	}
	if b.Cached < a.Cached {
		return m.differs("%d vectors of %d", b.Cached, a.Cached)
	}
	nth := 0
	for e, err := range m.from.Embeddings(ctx) {
		if err != nil {
			return err
		}
		if nth++; (nth-1)%max(1, int(a.Cached)/sample) != 0 {
			continue
		}
		held, err := m.to.Held(ctx, e.Model, []index.Hash{e.Hash})
		if err != nil {
			return err
		}
		if v, ok := held[e.Hash]; !ok || !near(v, e.Vector) {
			return m.differs("the vector of text %s by %s is another", e.Hash, e.Model)
		}
		m.r.Compared++
	}
	return nil
}

// near reports whether two unit vectors are the same but for rounding.
func near(a, b []float32) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if math.Abs(float64(a[i]-b[i])) > 1e-5 {
			return false
		}
	}
	return true
}
