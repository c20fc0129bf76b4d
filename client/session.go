package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/memkernel/memkernel/client/protocol"
)

// SessionOptions are the common parameters of all calls of a session.
type SessionOptions struct {
	// Dialect is the dialect of the messages. Default: anthropic.
	Dialect string
	// Model is the model that the call is for.
	Model string
	// Private marks a session that may show MEMORY.md.
	Private bool
}

// Session is a session's conversation. Callers must hand in all messages, as the host has them.
// The session sends only the messages that the daemon does not hold. Several goroutines may use a
// session. Their calls run one after the other.
type Session struct {
	c   *Client
	key string
	opt SessionOptions

	mu sync.Mutex
	// base marks the conversation that the daemon holds. sent are the messages of that
	// conversation.
	base string
	sent []json.RawMessage
}

// Session returns the conversation of a session.
func (c *Client) Session(key string, o SessionOptions) *Session {
	o.Dialect = cmp.Or(o.Dialect, "anthropic")
	return &Session{c: c, key: key, opt: o}
}

// Plan has the messages to send with a call.
type Plan struct {
	protocol.Planned
	// Messages are the messages to send. An unchanged message has the host's own bytes.
	Messages []json.RawMessage
}

// Plan plans a call. The plan's other parameters are in p, which may be nil.
func (s *Session) Plan(ctx context.Context, messages []json.RawMessage, p *protocol.PlanParams) (*Plan, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	call := protocol.PlanParams{}
	if p != nil {
		call = *p
	}
	s.common(&call.SessionKey, &call.Model, &call.Private)
	got := &Plan{}
	err := s.hand(ctx, messages, func(ctx context.Context, conv *protocol.Conversation) (*protocol.Mark, error) {
		call.Conversation = conv
		planned, err := s.c.Plan(ctx, &call)
		if err != nil {
			return nil, err
		}
		got.Planned = *planned
		return planned.Conversation, nil
	})
	if err != nil {
		return nil, err
	}
	if got.Messages, err = got.expand(messages); err != nil {
		return nil, err
	}
	return got, nil
}

// expand returns the messages of all items.
func (p *Plan) expand(messages []json.RawMessage) ([]json.RawMessage, error) {
	var out []json.RawMessage
	for i := range p.Items {
		it := &p.Items[i]
		if it.Host == nil {
			out = append(out, it.Message)
			continue
		}
		from, to := it.Host[0], it.Host[1]
		if from < 0 || to < from || to > int64(len(messages)) {
			return nil, fmt.Errorf("memkernel: plan: item %d stands for messages %d to %d of %d", i, from, to, len(messages))
		}
		out = append(out, messages[from:to]...)
	}
	return out, nil
}

// ObserveTurn commits the conversation up to here. messages must end with the model's answer.
func (s *Session) ObserveTurn(ctx context.Context, messages []json.RawMessage, p *protocol.TurnParams) (*protocol.Observed, error) {
	return s.observe(ctx, messages, p, s.c.ObserveTurn)
}

// ObserveToolResult commits a result in the middle of a turn.
func (s *Session) ObserveToolResult(ctx context.Context, messages []json.RawMessage, p *protocol.TurnParams) (*protocol.Observed, error) {
	return s.observe(ctx, messages, p, s.c.ObserveToolResult)
}

func (s *Session) observe(ctx context.Context, messages []json.RawMessage, p *protocol.TurnParams, f func(context.Context, *protocol.TurnParams) (*protocol.Observed, error)) (*protocol.Observed, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	call := protocol.TurnParams{}
	if p != nil {
		call = *p
	}
	s.common(&call.SessionKey, &call.Model, &call.Private)
	var got *protocol.Observed
	err := s.hand(ctx, messages, func(ctx context.Context, conv *protocol.Conversation) (mark *protocol.Mark, err error) {
		call.Conversation = conv
		if got, err = f(ctx, &call); err != nil {
			return nil, err
		}
		return got.Conversation, nil
	})
	return got, err
}

// WriteDown has a model write down the facts that should outlive the next cut of the
// conversation. The function complete must make one completion without tools, outside the
// conversation. WriteDown returns nil if there was nothing to ask.
func (s *Session) WriteDown(ctx context.Context, messages []json.RawMessage, complete func(*protocol.FlushTurn) (string, error)) (*protocol.Flushed, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	call := protocol.FlushTurnParams{}
	s.common(&call.SessionKey, &call.Model, &call.Private)
	var ask *protocol.FlushTurn
	err := s.hand(ctx, messages, func(ctx context.Context, conv *protocol.Conversation) (mark *protocol.Mark, err error) {
		call.Conversation = conv
		if ask, err = s.c.FlushTurn(ctx, &call); err != nil {
			return nil, err
		}
		return ask.Conversation, nil
	})
	if err != nil || ask.Prompt == "" {
		return nil, err
	}
	text, err := complete(ask)
	if err != nil {
		return nil, err
	}
	return s.c.ObserveFlush(ctx, &protocol.ObserveFlushParams{SessionKey: s.key, Private: s.opt.Private, Text: text})
}

// End ends the conversation. The session can be resumed.
func (s *Session) End(ctx context.Context) (*protocol.Passed, error) {
	return s.c.EndSession(ctx, &protocol.BoundaryParams{SessionKey: s.key, Private: s.opt.Private})
}

func (s *Session) common(key, model *string, private *bool) {
	*key = s.key
	*model = cmp.Or(*model, s.opt.Model)
	*private = *private || s.opt.Private
}

// hand calls f with the conversation's new messages. If the daemon lost the old messages, it
// calls f again with all messages.
func (s *Session) hand(ctx context.Context, messages []json.RawMessage, f func(context.Context, *protocol.Conversation) (*protocol.Mark, error)) error {
	all := make([]any, len(messages))
	for i, m := range messages {
		all[i] = m
	}
	whole := &protocol.Conversation{Dialect: s.opt.Dialect, Messages: all}
	conv := whole
	if s.base != "" {
		keep := 0
		for keep < min(len(messages), len(s.sent)) && bytes.Equal(messages[keep], s.sent[keep]) {
			keep++
		}
		n := int64(keep)
		conv = &protocol.Conversation{Base: s.base, Keep: &n, Messages: all[keep:]}
	}
	s.base = ""
	mark, err := f(ctx, conv)
	if e := (*Error)(nil); errors.As(err, &e) && e.Code == "BASE_UNKNOWN" {
		mark, err = f(ctx, whole)
	}
	if err != nil {
		return err
	}
	s.sent = slices.Clone(messages)
	if mark != nil {
		s.base = mark.Base
	}
	return nil
}
