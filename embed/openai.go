package embed

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"

	openai "github.com/sashabaranov/go-openai"
)

// openAI is the provider for servers with OpenAI's API.
type openAI struct {
	cfg  Config // without zero fields, but for those that mean something
	base string
	key  string
	http *http.Client
	// length of the vectors: as configured, else as first seen, 0 before.
	length atomic.Int64
}

func newOpenAI(c Config, base *url.URL, key string) *openAI {
	o := &openAI{cfg: c, base: base.String(), key: key}
	o.http = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	o.length.Store(int64(c.Dimensions))
	return o
}

// Model is the model's name followed by the settings that differ from the
// defaults: two servers may mean different models by one name, and texts cut
// elsewhere have other vectors. Names have no white space, prefixes are quoted;
// so different settings have different names.
func (o *openAI) Model() string {
	parts := []string{o.cfg.Model}
	add := func(differs bool, format string, value any) {
		if differs {
			parts = append(parts, fmt.Sprintf(format, value))
		}
	}
	add(o.base != DefaultBaseURL, "at=%s", o.base)
	add(o.cfg.Dimensions != 0, "dimensions=%d", o.cfg.Dimensions)
	add(o.cfg.QueryPrefix != "", "query=%q", o.cfg.QueryPrefix)
	add(o.cfg.DocumentPrefix != "", "document=%q", o.cfg.DocumentPrefix)
	add(o.cfg.MaxTextBytes != DefaultMaxTextBytes, "max_text_bytes=%d", o.cfg.MaxTextBytes)
	return strings.Join(parts, " ")
}

// Format keeps the key out of every print of the provider.
func (o *openAI) Format(f fmt.State, _ rune) { io.WriteString(f, o.Model()) }

// EmbedQuery implements Provider.
func (o *openAI) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	if blank(text) {
		return nil, fmt.Errorf("embed question with %s: it is blank", o.cfg.Model)
	}
	input, _ := fit(o.cfg.QueryPrefix, text, o.cfg.MaxTextBytes)
	vectors, err := o.request(ctx, []string{input}, new(Usage))
	if err != nil {
		return nil, err
	}
	return vectors[0], nil
}

// EmbedDocuments implements Provider.
func (o *openAI) EmbedDocuments(ctx context.Context, texts []string) (Result, error) {
	var res Result
	for i, t := range texts {
		if blank(t) {
			return res, fmt.Errorf("embed %d texts with %s: text %d is blank: leave it out", len(texts), o.cfg.Model, i+1)
		}
	}
	for len(texts) > 0 {
		inputs, truncated := o.batch(texts)
		vectors, err := o.request(ctx, inputs, &res.Usage)
		res.Vectors = append(res.Vectors, vectors...)
		if err != nil {
			return res, err
		}
		res.Truncated += truncated
		texts = texts[len(inputs):]
	}
	return res, nil
}

// batch makes the inputs of one request of the leading texts.
func (o *openAI) batch(texts []string) (inputs []string, truncated int) {
	room := o.cfg.BatchBytes
	for _, t := range texts[:min(len(texts), o.cfg.BatchSize)] {
		input, cut := fit(o.cfg.DocumentPrefix, t, o.cfg.MaxTextBytes)
		if room -= len(input); room < 0 && len(inputs) > 0 {
			break
		}
		inputs = append(inputs, input)
		if cut {
			truncated++
		}
	}
	return inputs, truncated
}

// request sends one request until it is answered, refused or given up.
func (o *openAI) request(ctx context.Context, inputs []string, use *Usage) ([][]float32, error) {
	for tries := 1; ; tries++ {
		use.Requests++
		vectors, err := o.try(ctx, inputs, use)
		if err == nil {
			return vectors, nil
		}
		if ctx.Err() != nil {
			return vectors, o.ended(ctx)
		}
		e := o.explain(err)
		e.Tries = tries
		wait, ok := o.again(ctx, e)
		if !ok {
			return vectors, e
		}
		if pause(ctx, wait) != nil {
			return nil, o.ended(ctx)
		}
		use.Retries++
	}
}

func (o *openAI) ended(ctx context.Context) error {
	return fmt.Errorf("embed with %s at %s: %w", o.cfg.Model, o.base, ctx.Err())
}

// try sends a request once. Beside an error it returns the vectors before the
// first unusable one, since they are paid for.
func (o *openAI) try(ctx context.Context, inputs []string, use *Usage) ([][]float32, error) {
	ctx, cancel := context.WithTimeout(ctx, o.cfg.Timeout)
	defer cancel()
	conf := openai.DefaultConfig(o.key)
	conf.BaseURL = o.base
	conf.HTTPClient = exchange{o, answerBytes(len(inputs))}
	resp, err := openai.NewClientWithConfig(conf).CreateEmbeddings(ctx, openai.EmbeddingRequest{
		Input: inputs, Model: openai.EmbeddingModel(o.cfg.Model), Dimensions: o.cfg.Dimensions,
	})
	if err != nil {
		return nil, err
	}
	use.Tokens += max(0, resp.Usage.PromptTokens)
	return o.read(resp.Data, len(inputs))
}

// exchange is one request on the wire. It answers in place of the client
// library where that would read without bound, take a redirect for an answer,
// or put the whole answer into its error.
type exchange struct {
	o     *openAI
	limit int64 // bytes of the answer
}

func (x exchange) Do(req *http.Request) (*http.Response, error) {
	resp, err := x.o.http.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode/100 != 2 {
		defer resp.Body.Close()
		return nil, x.o.refusal(resp)
	}
	resp.Body = http.MaxBytesReader(nil, resp.Body, x.limit)
	return resp, nil
}

// answerBytes bounds the answer to n texts: 256 KiB hold some 10,000 numbers,
// more than any model's vector has.
func answerBytes(n int) int64 { return 64<<10 + int64(n)*256<<10 }
