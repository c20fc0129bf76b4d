package embed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/memkernel/memkernel/embed/static"
)

// Text is a text that needs a vector, under the caller's key.
type Text[K any] struct {
	Key  K
	Text string
}

// Vector is the vector of a Text.
type Vector[K any] struct {
	Key    K
	Vector []float32
}

// FillOptions are settings of Fill. A nil *FillOptions means the defaults.
type FillOptions struct {
	// BatchSize is the number of texts that are passed to the provider at a time. Their vectors
	// are then stored together. The default is 64. A kill costs at most the price of one batch.
	BatchSize int
	// Progress, if not nil, is called with the report so far after every batch
	// and at the end, but not after an error.
	Progress func(FillReport)
}

// FillReport is the result of a Fill. Texts is the sum of Embedded, Blank and Refused,
// unless the Fill was cut short or texts were added meanwhile.
type FillReport struct {
	// Texts is the number of texts without a vector when the Fill began.
	Texts int
	// Embedded counts the texts that were sent and have a vector. Blank counts the texts that have
	// nothing to embed.
	Embedded, Blank int
	// Refused counts the texts that the provider refuses even alone. They get no vector, and the
	// next Fill tries them again. RefusedErr is the reason for the first refused text.
	Refused    int
	RefusedErr error
	Usage
}

// Done returns the number of finished texts.
func (r FillReport) Done() int { return r.Embedded + r.Blank + r.Refused }

// Fill embeds the texts and hands the vectors to put, batch by batch. After an error the vectors
// that were put before it remain. Fill ranges over texts twice. The first time it counts the
// texts. The second time it embeds this number of texts, and calls put between them.
//
// Once ctx ends, no request is sent or waited for. The context of put does not end with ctx, so
// that paid vectors are kept. put must return by itself.
//
// If a provider refuses texts (Error.Texts), their batch is halved until each refused text is
// alone. Only refused texts get no vector. If the provider then refuses a plain word too, the
// texts are not the cause, and the run ends with the error.
func Fill[K any](ctx context.Context, p Provider, texts iter.Seq2[Text[K], error], put func(context.Context, []Vector[K]) error, opts *FillOptions) (FillReport, error) {
	f := filler[K]{ctx: ctx, p: p, put: put}
	if opts != nil {
		f.opts = *opts
	}
	f.opts.BatchSize = cmp.Or(f.opts.BatchSize, defaultBatchSize)
	err := f.run(texts)
	return f.report, err
}

// filler is the state of a running Fill.
type filler[K any] struct {
	ctx    context.Context
	p      Provider
	put    func(context.Context, []Vector[K]) error
	opts   FillOptions
	report FillReport

	batch []Text[K]
	ready []Vector[K] // to be put with the next batch
	inRow int         // texts refused since the last text was accepted
}

func (f *filler[K]) run(texts iter.Seq2[Text[K], error]) error {
	for t, err := range texts {
		if err != nil {
			return fmt.Errorf("list texts to embed: %w", err)
		}
		if f.report.Texts++; blank(t.Text) {
			f.report.Blank++
		}
	}
	left := f.report.Texts - f.report.Blank
	for t, err := range texts {
		if err != nil {
			return fmt.Errorf("list texts to embed: %w", err)
		}
		if blank(t.Text) {
			continue
		}
		if left--; left < 0 {
			break // it was added meanwhile, and is left to the next Fill
		}
		if f.batch = append(f.batch, t); len(f.batch) < f.opts.BatchSize {
			continue
		}
		if err := f.flush(); err != nil {
			return err
		}
	}
	return f.flush()
}

// flush embeds the batch and puts its vectors.
func (f *filler[K]) flush() error {
	batch := f.batch
	f.batch = nil
	err := f.embed(batch)
	if e := f.store(); err == nil {
		err = e
	}
	if err == nil && f.opts.Progress != nil {
		f.opts.Progress(f.report)
	}
	return err
}

const (
	// probe is a text that every model accepts.
	probe = "word"
	// probeEvery is the number of texts in a row that may be refused between two probes.
	probeEvery = 8
)

// embed requests the vectors of some texts. If the provider refuses one of the texts, it requests them
// again in halves.
func (f *filler[K]) embed(ws []Text[K]) error {
	if len(ws) == 0 {
		return nil
	}
	texts := make([]string, len(ws))
	for i, w := range ws {
		texts[i] = w.Text
	}
	res, err := f.p.EmbedDocuments(f.ctx, texts)
	f.report.add(res.Usage)
	if n := len(res.Vectors); n > len(ws) || err == nil && n != len(ws) {
		return fmt.Errorf("embed with %s: the provider gave %d vectors for %d texts", f.p.Model(), n, len(ws))
	}
	for i, v := range res.Vectors {
		f.settle(ws[i], v)
	}
	if err == nil {
		return nil
	}
	return f.refused(ws[len(res.Vectors):], err)
}

func (f *filler[K]) refused(ws []Text[K], err error) error {
	var e *Error
	if !errors.As(err, &e) || !e.Texts {
		return err
	}
	if half := len(ws) / 2; half > 0 {
		if err := f.embed(ws[:half]); err != nil {
			return err
		}
		return f.embed(ws[half:])
	}
	if f.inRow%probeEvery == 0 && !errors.Is(err, static.ErrNoToken) {
		res, err := f.p.EmbedDocuments(f.ctx, []string{probe})
		if f.report.add(res.Usage); err != nil {
			return err // the provider takes no text at all
		}
	}
	f.inRow++
	f.report.RefusedErr = cmp.Or(f.report.RefusedErr, err)
	f.settle(ws[0], nil)
	return nil
}

// settle counts a text and adds its vector to ready. nil means that the provider refuses the text.
func (f *filler[K]) settle(t Text[K], v []float32) {
	if v == nil {
		f.report.Refused++
		return
	}
	f.report.Embedded++
	f.inRow = 0
	f.ready = append(f.ready, Vector[K]{t.Key, v})
}

func (f *filler[K]) store() error {
	if len(f.ready) == 0 {
		return nil
	}
	ready := f.ready
	f.ready = nil
	if err := f.put(context.WithoutCancel(f.ctx), ready); err != nil {
		return fmt.Errorf("store %d vectors: %w", len(ready), err)
	}
	return nil
}
