package memory

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/memkernel/memkernel/embed"
	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/api"
)

// ProbeText is a text that every embedding model accepts.
const ProbeText = "memory"

// errUnasked is the reason why a model on another machine has made no vectors yet: no caller has
// requested the first ones.
var errUnasked = errors.New("the first are made by a reindex that somebody asks for, since the model is not on this machine")

// filling gives chunks their vectors in one reindex.
type filling struct {
	corpus *corpus
	ix     api.MemoryIndex
	p      embed.Provider
	allow  func(api.EmbedEstimate) error
	opts   *how
	r      *api.Reindexed
}

// The machine that makes vectors for a shared index must hold fillLock. The lock is in its own
// folder, so that a holder who loses it while paused may still write everything else.
const fillLock = "vectors/fill.lock"

// fillPoll is the time between checks whether another machine is done.
const fillPoll = 500 * time.Millisecond

// fillAlone is fill by one machine at a time. A later machine finds little or nothing left to do.
func fillAlone(ctx context.Context, o *Options, f *filling) error {
	for o.Leases != nil {
		release, err := o.Leases.Lock(fillLock, store.Alone)
		if err == nil {
			defer release()
			break
		}
		if held := (*store.LockedError)(nil); !errors.As(err, &held) {
			return fmt.Errorf("lock: %w", err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-o.After(fillPoll):
		}
	}
	return fill(ctx, f)
}

// fill gives every chunk a vector and puts the embedder's model in use. Until all its vectors are
// made, searches use the vectors of the previous model.
func fill(ctx context.Context, f *filling) error {
	err := f.once(ctx, f.opts.Full)
	if errors.Is(err, index.ErrModel) { // the length changed
		err = f.once(ctx, true)
	}
	return err
}

// once fills the index. With check, it first checks that the model still returns vectors of the
// length in use.
func (f *filling) once(ctx context.Context, check bool) error {
	used, dim, err := f.ix.Model(ctx)
	if err == nil && used == "" && f.opts.delta && !embed.Describe(f.p).Free {
		return errUnasked
	}
	if err == nil {
		err = f.allowed(ctx)
	}
	if err == nil && (check || used != f.p.Model()) {
		used, dim, err = f.measure(ctx)
	}
	if err == nil && used == "" {
		used, err = f.p.Model(), f.ix.UseModel(ctx, f.p.Model(), dim)
	}
	if err != nil {
		return err
	}
	report, err := embed.Fill(ctx, f.p, missingTexts(ctx, f.ix, f.p.Model()), f.put, f.progress())
	f.r.Embedded = &report
	if err == nil {
		err = f.media(ctx)
	}
	if err == nil && used != f.p.Model() {
		err = f.ix.UseModel(ctx, f.p.Model(), dim)
	}
	if m, ok := f.ix.(measurer); err == nil && ok {
		var down error // if the embedder fails here, nothing is measured, and no vector is missing
		err = m.Measure(ctx, func(ctx context.Context, text string) (v []float32, err error) {
			v, err = f.p.EmbedQuery(ctx, text)
			down = err
			return v, err
		})
		if down != nil {
			err = ctx.Err()
		}
	}
	return err
}

// measurer is an index that can measure the quality of its vectors.
type measurer interface {
	Measure(ctx context.Context, embed func(ctx context.Context, text string) ([]float32, error)) error
}

// allowed estimates the tokens to send, and returns an error if they may not be sent.
func (f *filling) allowed(ctx context.Context) error {
	e, err := estimate(ctx, f.ix, f.p)
	f.r.Estimate = &e
	if err == nil && !f.opts.Approved && f.allow != nil {
		err = f.allow(e)
	}
	return err
}

// measure determines the length of the model's vectors. It forgets vectors of another length that
// are stored under the model's name, because they can't be compared with any question. It returns
// the model that is then in use.
func (f *filling) measure(ctx context.Context) (used string, dim int, err error) {
	if dim = embed.Describe(f.p).Dim; dim == 0 {
		v, err := f.p.EmbedQuery(ctx, ProbeText)
		if err != nil {
			return "", 0, fmt.Errorf("embed: %w", err)
		}
		dim = len(v)
	}
	forgotten, err := f.ix.KeepLength(ctx, f.p.Model(), dim)
	if err == nil && forgotten > 0 {
		err = f.allowed(ctx)
	}
	if err == nil {
		used, _, err = f.ix.Model(ctx)
	}
	return used, dim, err
}

func (f *filling) progress() *embed.FillOptions {
	o := &embed.FillOptions{}
	if tell := f.opts.Progress; tell != nil {
		o.Progress = func(r embed.FillReport) {
			tell(api.ReindexProgress{Stage: "embed", Done: int64(r.Done()), Total: int64(r.Texts), Files: f.r.Files, Chunks: f.r.ChunksAdded})
		}
	}
	return o
}

func (f *filling) put(ctx context.Context, vs []embed.Vector[index.Hash]) error {
	out := make([]index.Embedding, len(vs))
	for i := range vs {
		out[i] = index.Embedding{Hash: vs[i].Key, Vector: vs[i].Vector}
	}
	return f.ix.PutEmbeddings(ctx, f.p.Model(), out)
}

// media embeds the files that lack a vector. A refused file stays without a vector and is
// reported.
func (f *filling) media(ctx context.Context) error {
	p, ok := f.p.(embed.MediaProvider)
	for t, err := range f.ix.MissingEmbeddings(ctx, f.p.Model()) {
		if err != nil {
			return err
		}
		if !ok || mediaType(t.Path) == "" {
			continue
		}
		if err := f.file(ctx, p, t); err != nil {
			return err
		}
	}
	return nil
}

func (f *filling) file(ctx context.Context, p embed.MediaProvider, t index.Missing) error {
	file, line, err := f.corpus.media(t.Path)
	if err != nil || line != t.Text {
		f.r.Skipped = append(f.r.Skipped, api.SkippedFile{Path: t.Path, Reason: "it changed while it was indexed: run reindex again"})
		return nil
	}
	v, use, err := p.EmbedMedia(ctx, file)
	f.r.Embedded.Requests += use.Requests
	f.r.Embedded.Tokens += use.Tokens
	var e *embed.Error
	switch {
	case errors.As(err, &e) && e.Texts:
		f.r.Embedded.Refused++
		f.r.Skipped = append(f.r.Skipped, api.SkippedFile{Path: t.Path, Reason: "it is found by its name only: " + err.Error()})
		return nil
	case err != nil:
		return err
	}
	f.r.Embedded.Embedded++
	return f.put(context.WithoutCancel(ctx), []embed.Vector[index.Hash]{{Key: t.Hash, Vector: v}})
}

// missingTexts returns the texts without a vector, except media files.
func missingTexts(ctx context.Context, ix api.MemoryIndex, model string) iter.Seq2[embed.Text[index.Hash], error] {
	return func(yield func(embed.Text[index.Hash], error) bool) {
		for t, err := range ix.MissingEmbeddings(ctx, model) {
			if err == nil && mediaType(t.Path) != "" {
				continue
			}
			if !yield(embed.Text[index.Hash]{Key: t.Hash, Text: embed.Compose(t.Trail, t.Text)}, err) {
				return
			}
		}
	}
}

// estimate counts the texts that have no vector yet.
func estimate(ctx context.Context, ix api.MemoryIndex, p embed.Provider) (api.EmbedEstimate, error) {
	d := embed.Describe(p)
	e := api.EmbedEstimate{Free: d.Free, Price: d.Price}
	_, takesMedia := p.(embed.MediaProvider)
	for t, err := range ix.MissingEmbeddings(ctx, p.Model()) {
		switch {
		case err != nil:
			return e, err
		case mediaType(t.Path) == "":
			e.Texts++
			e.Tokens += embed.EstimateTokens(embed.Compose(t.Trail, t.Text))
		case takesMedia:
			e.Texts++
			e.Tokens += embed.MediaTokens
		}
	}
	return e, nil
}
