package embed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/memkernel/memkernel/embed/static"
)

// local is a model in this process.
type local struct {
	cfg    Config
	model  *static.Model
	length atomic.Int64
}

func localFromConfig(c Config) (Provider, error) {
	if c.ModelDir == "" {
		return nil, errors.New("embedding provider local has no model: set model_dir to the folder of one")
	}
	m, err := static.Load(c.ModelDir)
	if err != nil {
		return nil, fmt.Errorf("embedding provider local: %w", err)
	}
	if c.Dimensions < 0 || c.Dimensions > m.Dim() {
		return nil, errors.Join(fmt.Errorf("embedding dimensions %d: the vectors of %s have length %d", c.Dimensions, m.Dir(), m.Dim()), m.Close())
	}
	return &local{cfg: c, model: m}, nil
}

// Model returns the folder's name and a fingerprint of its contents. The folder may be copied and
// moved, but its contents must not change.
func (l *local) Model() string {
	return fmt.Sprintf("%q by=local print=%s", l.model.Name(), l.model.Fingerprint()) + l.cfg.suffix()
}

// Format prints the model's name.
func (l *local) Format(f fmt.State, _ rune) { io.WriteString(f, l.Model()) }

// Close releases the model's file.
func (l *local) Close() error { return l.model.Close() }

// EmbedQuery implements Provider.
func (l *local) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	return l.embed(ctx, l.cfg.QueryPrefix, text)
}

// EmbedDocuments implements Provider.
func (l *local) EmbedDocuments(ctx context.Context, texts []string) (Result, error) {
	var res Result
	for i, t := range texts {
		v, err := l.embed(ctx, l.cfg.DocumentPrefix, t)
		if err != nil {
			return res, fmt.Errorf("text %d of %d: %w", i+1, len(texts), err)
		}
		res.Vectors = append(res.Vectors, v)
	}
	return res, nil
}

func (l *local) embed(ctx context.Context, prefix, text string) ([]float32, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("embed with %s: %w", l.model.Dir(), err)
	}
	v, err := l.model.Embed(fit(prefix, text, maxTextBytes))
	e := &Error{Endpoint: l.model.Dir(), Model: l.model.Name(), Err: err, Tries: 1, Hint: "other texts may do"}
	switch {
	case errors.Is(err, static.ErrNoToken):
		e.Texts = true
		return nil, e
	case err != nil:
		e.Hint = "see that the model's files are whole, then start again"
		return nil, e
	}
	if n := l.cfg.Dimensions; n != 0 {
		v = v[:n]
	}
	if bad := check(v, &l.length, "the model's files changed: start again"); bad != nil {
		bad.Endpoint, bad.Model, bad.Tries, bad.Err = e.Endpoint, e.Model, 1, fmt.Errorf("the vector %w", bad.Err)
		return nil, bad
	}
	return v, nil
}

func (l *local) describe() description {
	dim := l.cfg.Dimensions
	if dim == 0 {
		dim = l.model.Dim()
	}
	return description{Provider: providerLocal, Model: l.model.Name(), Dim: dim, Free: true, Note: fmt.Sprintf("vectors of length %d, from %s", dim, l.model.Dir())}
}
