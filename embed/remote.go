package embed

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/memkernel/memkernel/internal/endpoint"
)

// remote is a provider that sends texts to a server.
type remote struct {
	*service
	cfg  Config // without zero fields, except for those that mean something
	base string
	// own reports whether base is the provider's own host. loopback reports whether base is on
	// this machine.
	own, loopback bool
	key           string
	http          *http.Client
	// textBytes is the number of bytes of a text that are sent: maxTextBytes.
	textBytes int
	patience  patience
	// length is the length of the vectors: the configured length, or else the length of the first
	// vector. It is 0 before the first vector.
	length atomic.Int64
}

func newRemote(s *service, c Config, base *url.URL, key string) *remote {
	o := &remote{service: s, cfg: c, base: base.String(), own: s.own(base), loopback: endpoint.Loopback(base), key: key, textBytes: maxTextBytes}
	o.http = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	o.length.Store(int64(c.Dimensions))
	return o
}

// Model returns the model's name followed by the settings that differ from the defaults, because
// two servers may have different models of one name.
func (o *remote) Model() string {
	s := o.cfg.Model
	if o.service != openAI {
		s += " by=" + o.name
	}
	if o.base != o.baseURL {
		s += " at=" + o.base
	}
	return s + o.cfg.suffix()
}

// Format keeps the key out of every print of the provider.
func (o *remote) Format(f fmt.State, _ rune) { io.WriteString(f, o.Model()) }

// EmbedQuery implements Provider.
func (o *remote) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	if blank(text) {
		return nil, fmt.Errorf("embed question with %s: it is blank", o.cfg.Model)
	}
	question := fit(o.cfg.QueryPrefix, text, o.textBytes)
	if err := o.patience.tired(); err != nil {
		return nil, o.explain(err)
	}
	vectors, err := o.request(ctx, forQuery, []input{{text: question}}, new(Usage))
	o.patience.learn(ctx, err)
	if err != nil {
		return nil, err
	}
	return vectors[0], nil
}

// EmbedDocuments implements Provider.
func (o *remote) EmbedDocuments(ctx context.Context, texts []string) (Result, error) {
	var res Result
	for i, t := range texts {
		if blank(t) {
			return res, fmt.Errorf("embed %d texts with %s: text %d is blank: leave it out", len(texts), o.cfg.Model, i+1)
		}
	}
	for len(texts) > 0 {
		inputs := o.batch(texts)
		vectors, err := o.request(ctx, forDocument, inputs, &res.Usage)
		res.Vectors = append(res.Vectors, vectors...)
		if err != nil {
			return res, err
		}
		texts = texts[len(inputs):]
	}
	return res, nil
}

// batch takes the inputs of one request from the leading texts. It takes at least one text, and
// at most as many as a request may hold.
func (o *remote) batch(texts []string) (inputs []input) {
	room := o.batchBytes
	for _, t := range texts[:min(len(texts), o.cfg.BatchSize, o.maxBatch)] {
		in := input{text: fit(o.cfg.DocumentPrefix, t, o.textBytes)}
		if room -= len(in.text); room < 0 && len(inputs) > 0 {
			break
		}
		inputs = append(inputs, in)
	}
	return inputs
}

// request sends a request and returns the vectors. After an error it tries again if the same request
// may succeed later and the wait before it ends before ctx does.
func (o *remote) request(ctx context.Context, t task, inputs []input, use *Usage) ([][]float32, error) {
	for tries := 1; ; tries++ {
		vectors, err := o.try(ctx, t, inputs, use)
		if err == nil {
			return vectors, nil
		}
		if ctx.Err() == nil {
			e := o.explain(err)
			e.Tries = tries
			wait := max(backoff(tries), e.RetryAfter)
			end, ends := ctx.Deadline()
			if !e.transient || tries >= o.cfg.MaxTries || e.RetryAfter > maxRetryAfter || ends && time.Until(end) <= wait {
				return vectors, e
			}
			select {
			case <-time.After(wait):
				continue
			case <-ctx.Done():
			}
		}
		return vectors, fmt.Errorf("embed with %s at %s: %w", o.cfg.Model, o.base, ctx.Err())
	}
}

// try sends a request once. With an error it also returns the vectors before the first unusable one,
// because they are paid for.
func (o *remote) try(ctx context.Context, t task, inputs []input, use *Usage) ([][]float32, error) {
	ctx, cancel := context.WithTimeout(ctx, o.cfg.Timeout)
	defer cancel()
	use.Requests++
	path, body := o.body(&o.cfg, t, inputs)
	var a answer
	if err := o.post(ctx, path, body, answerBytes(len(inputs)), &a); err != nil {
		return nil, err
	}
	use.Tokens += a.tokens()
	return o.read(a.rows(), len(inputs))
}

// post sends a request and decodes at most limit bytes of the answer.
func (o *remote) post(ctx context.Context, path string, body any, limit int64, into any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, o.base+path, bytes.NewReader(raw))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	if o.key != "" {
		o.authorize(req.Header, o.key)
	}
	resp, err := o.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		return o.refusal(resp)
	}
	return json.NewDecoder(http.MaxBytesReader(nil, resp.Body, limit)).Decode(into)
}

// answerBytes returns the largest size of an answer to n texts. It allows 256 KiB for each vector,
// which is about 10,000 numbers and more than any model returns.
func answerBytes(n int) int64 { return 64<<10 + int64(n)*256<<10 }
