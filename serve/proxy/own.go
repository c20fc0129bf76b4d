package proxy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/transcript"
)

// When a cut is near, the proxy asks the provider to compact the conversation. It sends a request
// of its own with the client's path, model and key. The conversation continues meanwhile. The
// kernel replaces the covered messages by the compaction before the next plan. If no compaction
// comes, the kernel makes its own cut.

// compactor is a planner that takes a provider's compaction, such as a [kernel.Kernel].
type compactor interface {
	Compact(context.Context, api.Boundary) (*api.Passed, error)
}

const (
	// compactTime is how long a provider may take for a compaction.
	compactTime = 5 * time.Minute
	// compactShare is the share of the window that is left before the next cut when the proxy
	// requests a compaction. So the compaction arrives before the cut.
	compactShare = .1
)

// compaction describes how to request a compaction from a provider.
type compaction struct {
	// path is added to the path of a call. beta is added to the client's Anthropic-Beta header.
	path, beta string
	// edit turns the members of a call into the members of a request for a compaction.
	edit func(map[string]json.RawMessage)
	// blocks reads the compaction from the answer. It returns no blocks if the answer has no
	// compaction.
	blocks func(answer []byte) []json.RawMessage
}

// anthropicCompaction is compaction on demand of the Messages API
// (platform.claude.com/docs/build-with-claude/compaction, read in November 2026).
var anthropicCompaction = &compaction{
	beta: "compact-2026-09-04",
	edit: func(m map[string]json.RawMessage) {
		delete(m, "stream")
		delete(m, "context_management") // the API accepts only one of the two
		m["compaction"] = json.RawMessage(`{"type":"summarize"}`)
	},
	blocks: func(data []byte) []json.RawMessage {
		var a anthropicMessage
		if json.Unmarshal(data, &a) != nil || a.Stop == nil || *a.Stop != "compaction" || len(a.Content) != 1 {
			return nil
		}
		return a.Content
	},
}

// responsesCompaction is POST /responses/compact (developers.openai.com/api/reference, read in
// November 2026).
var responsesCompaction = &compaction{
	path: "/compact",
	edit: func(m map[string]json.RawMessage) {
		takes := []string{"model", "input", "instructions", "prompt_cache_key", "prompt_cache_options", "prompt_cache_retention"}
		maps.DeleteFunc(m, func(name string, _ json.RawMessage) bool { return !slices.Contains(takes, name) })
	},
	blocks: func(data []byte) []json.RawMessage {
		var a struct {
			Output []json.RawMessage `json:"output"`
		}
		if json.Unmarshal(data, &a) != nil || !bytes.Contains(data, []byte(`"encrypted_content"`)) {
			return nil
		}
		return a.Output
	},
}

// compactDue has the provider compact the conversation of an answered call, if a cut is near.
func (x *Proxy) compactDue(e *exchange, sent *http.Request) {
	k, ok := x.planner.(compactor)
	at := apis[e.format].compaction
	if !ok || !x.opt.ProviderCompaction || at == nil || e.model != "" || e.out.plan == nil {
		return
	}
	p := e.out.plan
	next := p.Layout.Cut.Next()
	covers := covered(e.body.Messages)
	if next <= 0 || float64(p.Budgets.PlannedInputTokens) < float64(next)-compactShare*float64(p.Budgets.ContextWindow) || covers == 0 {
		return
	}
	// Once for each cut of the conversation.
	generation := int64(p.Generation)
	if asked := e.line.compacted.Load(); asked > generation || !e.line.compacted.CompareAndSwap(asked, generation+1) {
		return
	}
	body, err := e.compactionBody(at, covers)
	if err != nil {
		return // Write made the body, so it is JSON
	}
	r := sent.Clone(context.Background())
	setBody(r, body)
	for _, name := range []string{"Accept-Encoding", "Content-Encoding", "Idempotency-Key", "Expect"} {
		r.Header.Del(name) // it belongs to the client's request
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json")
	r.URL.Path += at.path
	if at.beta != "" {
		r.Header.Set("Anthropic-Beta", strings.Join(append(r.Header.Values("Anthropic-Beta"), at.beta), ","))
	}
	// The work must not keep the client's request in memory.
	ln, host, format, began := e.line, fingerprints(e.body.Messages[:covers]), e.format, x.opt.Now()
	to := api.Boundary{SessionKey: ln.session, Branch: ln.branch, Model: strings.Clone(e.body.Model), Reason: "provider", Private: x.opt.Private, Source: e.from}
	x.work.Go(func() {
		ctx, cancel := context.WithTimeout(r.Context(), compactTime)
		defer cancel()
		a, data, err := x.fetch(r.WithContext(ctx), format)
		attrs := []any{"messages", covers, "conversation", ln.name}
		if u := a.usage; u != nil {
			attrs = append(attrs, "input_tokens", u.InputTotal(), "output_tokens", u.OutputTokens)
			if x.opt.Billed != nil {
				x.opt.Billed(Billed{Conversation: ln.name, Model: to.Model, Usage: *u, Began: began})
			}
		}
		if err == nil {
			err = ln.take(ctx, k, to, x.opt.Now(), at.blocks(data), host)
		}
		if err != nil {
			x.log.Warn("the provider's compaction is not used: the next cut is the kernel's own", "detail", err.Error(), "conversation", ln.name)
			return
		}
		x.log.Info("compacted by the provider", attrs...)
	})
}

// fetch sends one request of the proxy's own and reads its answer as far as that is possible. It
// also returns the answer's bytes. Its errors name no address.
func (x *Proxy) fetch(r *http.Request, format transcript.Format) (a answer, data []byte, err error) {
	res, err := x.opt.Transport.RoundTrip(r)
	if err != nil {
		return a, nil, fmt.Errorf("the upstream did not answer: %s", kind(err))
	}
	defer res.Body.Close()
	data, err = io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	switch {
	case err != nil:
		return a, nil, fmt.Errorf("the answer broke off: %s", kind(err))
	case res.StatusCode != http.StatusOK:
		return a, nil, fmt.Errorf("the upstream answered with status %d", res.StatusCode)
	}
	a, _ = readCopy(format, res.Header, data) // an answer that can't be read has no bill
	return a, data, nil
}

// covered returns the number of messages that a compaction should cover. They are the messages
// before the user's newest turn. If that turn is most of the conversation, they are the messages
// before the last quarter of the bytes.
func covered(msgs []memkernel.Message) int {
	size := func(from int) (n int) {
		for i := from; i < len(msgs); i++ {
			n += len(msgs[i].Raw)
		}
		return n
	}
	turn := len(msgs) - 1
	for turn > 0 && !transcript.PlainUser(msgs[turn]) {
		turn--
	}
	all := size(0)
	if 2*size(turn) <= all {
		return turn
	}
	for i := turn + 1; i < len(msgs); i++ {
		if msgs[i].Role == memkernel.RoleAssistant && 4*size(i) <= all {
			return i
		}
	}
	return 0
}

// compactionBody returns the request for a compaction of the first messages, in the form in which
// they went out.
func (e *exchange) compactionBody(at *compaction, covers int) ([]byte, error) {
	first := *e.body
	first.Messages = first.Messages[:covers]
	edit := transcript.BodyEdit{Messages: first.Messages}
	if s := e.line.planned.Load(); s != nil {
		if msgs, markers := s.extended(&first, 0); msgs != nil {
			edit.Messages, edit.Markers = msgs, markers
		}
	}
	body, _ := e.body.Write(edit)
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil {
		return nil, err
	}
	at.edit(members)
	return textutil.JSON(members)
}

// take has the kernel show a compaction, if the conversation still begins with the messages covered.
func (ln *line) take(ctx context.Context, k compactor, to api.Boundary, now time.Time, blocks []json.RawMessage, covered []uint64) error {
	if len(blocks) == 0 {
		return errors.New("the answer holds none")
	}
	ln.slot <- struct{}{}
	defer func() { <-ln.slot }()
	if s := ln.planned.Load(); s == nil || len(s.host) < len(covered) || !slices.Equal(s.host[:len(covered)], covered) {
		return errors.New("the client has changed the messages that it covers")
	}
	made := &api.ProviderCompaction{Covers: len(covered)}
	for _, raw := range blocks {
		made.Blocks = append(made.Blocks, string(raw))
	}
	to.Now, to.Compact = now, &api.CompactWish{Provider: made}
	p, err := k.Compact(ctx, to)
	if err == nil && p.Compaction.Reason != api.CompactOK {
		err = errors.New(p.Compaction.Detail)
	}
	return err
}
