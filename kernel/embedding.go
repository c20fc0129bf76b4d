package kernel

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/memkernel/memkernel/embed"
	"github.com/memkernel/memkernel/index"
)

// EmbedEstimate is what a reindex has to embed, counted before anything is sent.
type EmbedEstimate struct {
	// Texts lack a vector of the model; Tokens are about what it makes of them.
	Texts, Tokens int
	// Free tells that the model is on this machine; else Price is what tokens
	// cost, nil if that is not known.
	Free  bool
	Price *embed.Price
}

// USD is what it would cost, about; ok is false if that is not known.
func (e EmbedEstimate) USD() (usd float64, ok bool) {
	switch {
	case e.Free || e.Tokens == 0:
		return 0, true
	case e.Price == nil:
		return 0, false
	}
	return float64(e.Tokens) * e.Price.USD / 1e6, true
}

// String says it in a line.
func (e EmbedEstimate) String() string {
	s := fmt.Sprintf("about %d tokens in %d texts", e.Tokens, e.Texts)
	switch usd, known := e.USD(); {
	case e.Free:
		return s + ", on this machine"
	case !known:
		return s + ", at a price that is not known"
	case usd < 0.005:
		return s + ", under a cent"
	default:
		return s + fmt.Sprintf(", about $%.2f", usd)
	}
}

// EmbedLimit is what a reindex may send unasked to a model that is not on this
// machine. Zero fields are no limit.
type EmbedLimit struct {
	USD    float64
	Tokens int
}

// EmbedLimitError is returned where a reindex would send more than its limit.
// Nothing was sent; [ReindexOptions.Approved] sends it.
type EmbedLimitError struct {
	Estimate EmbedEstimate
	Limit    EmbedLimit
}

func (e *EmbedLimitError) Error() string {
	limit := fmt.Sprintf("%d tokens", e.Limit.Tokens)
	if usd, known := e.Estimate.USD(); known && e.Limit.USD > 0 && usd > e.Limit.USD {
		limit = fmt.Sprintf("$%.2f", e.Limit.USD)
	}
	return fmt.Sprintf("embed: %v, is more than the %s that are sent unasked", e.Estimate, limit)
}

func (l EmbedLimit) allows(e EmbedEstimate) error {
	usd, _ := e.USD()
	if e.Free || (l.USD == 0 || usd <= l.USD) && (l.Tokens == 0 || e.Tokens <= l.Tokens) {
		return nil
	}
	return &EmbedLimitError{e, l}
}

// filling gives chunks their vectors in one reindex.
type filling struct {
	m    *memory
	ix   Vectors
	p    embed.Provider
	opts *ReindexOptions
	r    *ReindexReport
}

// fill gives every chunk its vector and puts the embedder's model in use. Where
// another model is in use, its vectors answer until the new ones are complete.
func (m *memory) fill(ctx context.Context, ix Vectors, opts *ReindexOptions, r *ReindexReport) error {
	if m.opts.Embedder == nil {
		return nil
	}
	f := &filling{m, ix, m.opts.Embedder, opts, r}
	err := f.once(ctx, opts.Full)
	if errors.Is(err, index.ErrModel) { // the length changed
		err = f.once(ctx, true)
	}
	return err
}

// probeText is a text that every model takes.
const probeText = "memory"

// once fills the index. check looks whether the model still gives vectors of the
// length that is in use.
func (f *filling) once(ctx context.Context, check bool) error {
	if err := f.allowed(ctx); err != nil {
		return err
	}
	used, dim, err := f.ix.Model(ctx)
	if err == nil && (check || used != f.p.Model()) {
		used, dim, err = f.measure(ctx)
	}
	if err == nil && used == "" {
		used, err = f.p.Model(), f.ix.UseModel(ctx, f.p.Model(), dim)
	}
	if err != nil {
		return err
	}
	report, err := embed.Fill(ctx, f.p, f.missing(ctx), f.put, f.progress())
	f.r.Embedded = &report
	if err == nil {
		err = f.media(ctx)
	}
	if err != nil || used == f.p.Model() {
		return err
	}
	return f.ix.UseModel(ctx, f.p.Model(), dim)
}

// allowed estimates what is to be sent and holds it against the limit.
func (f *filling) allowed(ctx context.Context) error {
	estimate, err := f.estimate(ctx)
	f.r.Estimate = &estimate
	if err == nil && !f.opts.Approved {
		err = f.m.opts.EmbedLimit.allows(estimate)
	}
	return err
}

// measure finds out how long the model's vectors are, forgets those of its name that
// are not, since they can't be compared with any question, and tells which model
// is in use then.
func (f *filling) measure(ctx context.Context) (used string, dim int, err error) {
	if dim = embed.Describe(f.p).Dim; dim == 0 {
		v, err := f.p.EmbedQuery(ctx, probeText)
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

func (f *filling) estimate(ctx context.Context) (EmbedEstimate, error) {
	d := embed.Describe(f.p)
	e := EmbedEstimate{Free: d.Free, Price: d.Price}
	_, takesMedia := f.p.(embed.MediaProvider)
	for t, err := range f.ix.MissingEmbeddings(ctx, f.p.Model()) {
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

// neverEmbedded counts the texts without a vector that take more tokens than a whole
// day has, and what the longest takes.
func (m *memory) neverEmbedded(ctx context.Context) (n, tokens int, err error) {
	if m.opts.Embedder == nil {
		return 0, 0, nil
	}
	d := embed.Describe(m.opts.Embedder)
	if d.Budget == nil {
		return 0, 0, nil
	}
	_, perDay, err := d.Budget.Spent()
	if err != nil {
		return 0, 0, err
	}
	ix, err := m.reader(ctx)
	if err != nil {
		return 0, 0, err
	}
	_, takesMedia := m.opts.Embedder.(embed.MediaProvider)
	for t, err := range ix.MissingEmbeddings(ctx, m.opts.Embedder.Model()) {
		if err != nil {
			return n, tokens, err
		}
		text := embed.Compose(t.Trail, t.Text)
		if d.MaxTextBytes > 0 {
			text = text[:min(len(text), d.MaxTextBytes)]
		}
		takes := embed.EstimateTokens(text)
		switch media := mediaType(t.Path) != ""; {
		case media && !takesMedia:
			continue
		case media:
			takes += embed.MediaTokens
		}
		if takes > perDay {
			n, tokens = n+1, max(tokens, takes)
		}
	}
	return n, tokens, nil
}

func (f *filling) progress() *embed.FillOptions {
	o := &embed.FillOptions{}
	if tell := f.opts.Progress; tell != nil {
		o.Progress = func(r embed.FillReport) {
			tell(ReindexProgress{Stage: StageEmbed, Done: int64(r.Done()), Total: int64(r.Texts), Files: f.r.Files, Chunks: f.r.ChunksAdded})
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

// missing are the texts without a vector; files of media come apart.
func (f *filling) missing(ctx context.Context) iter.Seq2[embed.Text[index.Hash], error] {
	return func(yield func(embed.Text[index.Hash], error) bool) {
		for t, err := range f.ix.MissingEmbeddings(ctx, f.p.Model()) {
			if err == nil && mediaType(t.Path) != "" {
				continue
			}
			if !yield(embed.Text[index.Hash]{Key: t.Hash, Text: embed.Compose(t.Trail, t.Text)}, err) {
				return
			}
		}
	}
}
