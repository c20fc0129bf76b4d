package represent

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/internal/lex"
	"github.com/memkernel/memkernel/pagevm/mask"
)

// Compressor shortens texts by the host's own means, such as a learned token filter or a model.
// It is called only when a page is ingested, with text in which secrets are masked. Several
// goroutines may call it at once, and it must return soon after its context ends.
type Compressor interface {
	// Name is stored with the compressor's text.
	Name() string
	// Compress returns a shorter form of the text. If it returns an error, the mechanical form
	// stays, and the ingest does not fail.
	Compress(ctx context.Context, in CompressInput) (string, error)
}

// CompressInput is a text to shorten.
type CompressInput struct {
	Type pagevm.Type
	// Tool is the tool that produced the text, "" if no tool did. Kind is the kind of the text,
	// see [ContentKind].
	Tool, Kind string
	Text       string
	// Bytes is the wished size of the result.
	Bytes int
}

// Recompress replaces the mechanical compressed representation among reps by the text that opt's
// compressor makes of a tool result. The caller must pass reps from [Evidence].
// Recompress uses the text only if it came in time, is valid UTF-8, holds no secrets, and is
// smaller with its footer than the whole. It then drops lower representations that are not
// smaller than the new one. Otherwise the mechanical representation stays, and its Refused holds
// the reason. Without a compressor, or for a result that is too small for a compressed
// representation, Recompress returns reps unchanged.
//
// Unlike the other functions, Recompress is not pure.
func Recompress(ctx context.Context, in EvidenceInput, reps []pagevm.Rep, opt *Options) []pagevm.Rep {
	if opt == nil || opt.Compressor == nil || len(reps) == 0 || len(in.Text) < minBytes {
		return reps
	}
	in = in.valid()
	text, refused := opt.compress(ctx, &in)
	if refused != "" {
		if reps[0].Level == pagevm.Compressed {
			reps[0].Refused = refused
		}
		return reps
	}
	chain := repChain{left: len(in.Text)}
	chain.add(pagevm.Compressed, text)
	chain.reps[0].Maker = opt.Compressor.Name()
	for _, r := range reps {
		if r.Level != pagevm.Compressed && len(r.Text) < chain.left {
			chain.left = len(r.Text)
			chain.reps = append(chain.reps, r)
		}
	}
	return chain.reps
}

// compress calls the compressor and returns its answer, or the reason why the answer can't be
// used.
func (o *Options) compress(ctx context.Context, in *EvidenceInput) (text, refused string) {
	ctx, cancel := context.WithTimeout(ctx, o.Time())
	defer cancel()
	if ctx.Err() != nil {
		return "", "no time left"
	}
	want := CompressInput{Type: pagevm.Evidence, Tool: in.Tool, Kind: ContentKind(in.Text), Text: in.Text, Bytes: roomFor(len(in.Text), 0)}
	text, err := o.Compressor.Compress(ctx, want)
	foot := "\n[of " + lex.SizeText(in.Bytes) + ", shortened by " + o.Compressor.Name() + readWhole(in) + "]"
	switch {
	case ctx.Err() != nil:
		return "", "no answer in time"
	case err != nil:
		reason, _ := mask.Mask(strings.ToValidUTF8(err.Error(), "\uFFFD"))
		return "", clip("error: "+reason, 160)
	case blank(text):
		return "", "empty"
	case !utf8.ValidString(text):
		return "", "not UTF-8"
	case len(text)+len(foot) >= len(in.Text):
		return "", "not smaller"
	}
	if _, secrets := mask.Mask(text); secrets > 0 {
		return "", "has " + lex.Plural(secrets, "secret")
	}
	return text + foot, ""
}
