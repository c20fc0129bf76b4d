package proxy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/transcript"
)

// A flush turn of the proxy is a request of its own with the client's path, model and key. The
// client did not ask for it and does not see it. The proxy does not put the question into the
// client's request, because the client would then show the model's answer to its user.

// flusher is a planner that can make the question of a flush turn, such as a [kernel.Kernel].
type flusher interface {
	FlushTurn(context.Context, api.FlushRequest) (*api.FlushTurn, error)
	ObserveFlush(context.Context, api.FlushReply) (*api.Flushed, error)
}

// flushTime is how long a flush turn may take.
const flushTime = time.Minute

// wayOut describes how a request went out.
type wayOut struct {
	url    *url.URL
	header http.Header
}

// ownWay returns the way out of the proxy's own request that follows a client's request.
func ownWay(sent *http.Request) wayOut {
	to := *sent.URL
	way := wayOut{&to, sent.Header.Clone()}
	for _, name := range []string{"Accept-Encoding", "Content-Encoding", "Content-Length", "Idempotency-Key", "Expect"} {
		way.header.Del(name) // of that request alone
	}
	way.header.Set("Content-Type", "application/json")
	way.header.Set("Accept", "application/json")
	return way
}

// flushDue asks the model which facts should outlive the next cut. The client does not see this
// request.
func (x *Proxy) flushDue(e *exchange, sent *http.Request) {
	f, ok := x.planner.(flusher)
	atCloud := e.format == transcript.FormatAnthropic && e.model != "" // whose body would be another
	if !ok || atCloud || !x.opt.FlushTurns || e.out.plan == nil || e.out.plan.FlushDue == "" {
		return
	}
	way := ownWay(sent)
	key, model, format, name := e.line.session, strings.Clone(e.body.Model), e.format, e.line.name
	began := x.opt.Now()
	x.work.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), flushTime)
		defer cancel()
		done, usage, err := x.flush(ctx, f, way, format, api.FlushRequest{SessionKey: key, Model: model})
		if err != nil {
			x.log.Warn("flush: the model was not heard", "detail", err.Error(), "conversation", name)
			return
		}
		if done == nil {
			return
		}
		if usage != nil && x.opt.Billed != nil {
			x.opt.Billed(Billed{Conversation: name, Model: model, Row: done.Bill, Usage: *usage, Began: began})
		}
		attrs := []any{"reason", done.Reason, "conversation", name}
		if usage != nil {
			attrs = append(attrs, "input_tokens", usage.InputTotal(), "output_tokens", usage.OutputTokens)
		}
		x.log.Info(done.Line, attrs...)
	})
}

// flush makes one flush turn. It returns nil if there was nothing to ask.
func (x *Proxy) flush(ctx context.Context, f flusher, way wayOut, format transcript.Format, ask api.FlushRequest) (*api.Flushed, *memkernel.Usage, error) {
	turn, err := f.FlushTurn(ctx, ask)
	if err != nil || turn.Prompt == "" {
		return nil, nil, err
	}
	body, _, err := transcript.Render(format, &transcript.Request{Model: ask.Model, System: memkernel.Text(turn.System), MaxTokens: turn.MaxTokens,
		Messages: []memkernel.Message{{Role: memkernel.RoleUser, Parts: memkernel.Text(turn.Prompt)}}})
	if err != nil {
		return nil, nil, err
	}
	h, data, err := way.fetch(ctx, x.opt.Transport, body)
	if err != nil {
		return nil, nil, err
	}
	a, err := readCopy(format, h, data)
	if err == nil && !a.whole {
		err = errors.New("the answer did not come to its end")
	}
	if err != nil {
		return nil, nil, err
	}
	reply := api.FlushReply{SessionKey: ask.SessionKey, Model: ask.Model, Usage: a.usage}
	if a.message != nil {
		reply.Text = transcript.Text(*a.message)
	}
	done, err := f.ObserveFlush(ctx, reply)
	return done, a.usage, err
}

// fetch sends one request and returns its whole answer. Its errors name no address.
func (way wayOut) fetch(ctx context.Context, t http.RoundTripper, body []byte) (http.Header, []byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, way.url.String(), bytes.NewReader(body))
	if err != nil {
		return nil, nil, fmt.Errorf("make the request: %s", kind(err))
	}
	r.Header = way.header
	res, err := t.RoundTrip(r)
	if err != nil {
		return nil, nil, fmt.Errorf("the upstream did not answer: %s", kind(err))
	}
	defer res.Body.Close()
	data, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return nil, nil, fmt.Errorf("the answer broke off: %s", kind(err))
	}
	if res.StatusCode != http.StatusOK {
		return nil, nil, fmt.Errorf("the upstream answered with status %d", res.StatusCode)
	}
	return res.Header, data, nil
}
