package picoclaw

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/transcript"
)

// session is a conversation in the host's own messages.
type session[M any] struct {
	m    *Manager[M]
	key  string
	used int64 // guarded by the manager's lock

	mu sync.Mutex
	// gone reports whether the manager has forgotten the session.
	gone bool
	// in holds the JSON of the messages. It is nil if the session was not read yet.
	in *transcript.Intake
	// host has the values that the JSON was made of.
	host []M
	// plan is the plan that the last call was made of, "" once a turn named it.
	plan                  string
	window, answer, fixed int
	// limit is a size that was too large for the provider. It bounds the window that the host
	// gives. 0 is no limit.
	limit int
}

// load replaces the conversation.
func (s *session[M]) load(history []M) error {
	in, err := transcript.NewIntake(transcript.OpenAI)
	if err != nil {
		return err
	}
	next := session[M]{m: s.m, in: in}
	for i, msg := range history {
		if err := next.add(msg); err != nil {
			return fmt.Errorf("message %d: %w", i+1, err)
		}
	}
	s.in, s.host, s.plan, s.limit = next.in, next.host, "", 0
	return nil
}

// add appends a message. It skips the host's system messages. It also skips the kernel's own
// blocks, which a host that aborted a turn may have put into its record.
func (s *session[M]) add(msg M) error {
	raw, err := json.Marshal(msg)
	if err != nil {
		return err
	}
	one, err := transcript.NewIntake(transcript.OpenAI)
	if err != nil {
		return err
	}
	if err := one.Append([]string{string(raw)}, nil); err != nil {
		return fmt.Errorf("%w: hand in messages of chat completions", err)
	}
	if msgs := one.Messages(); len(msgs) == 0 || isBlock(msgs[0]) {
		return nil
	}
	if err := s.in.Append([]string{string(raw)}, nil); err != nil {
		return err
	}
	s.host = append(s.host, msg)
	return nil
}

// isBlock recognises a message that only a kernel writes.
func isBlock(m memkernel.Message) bool {
	text := transcript.Text(m)
	return m.Role == memkernel.RoleUser && (strings.HasPrefix(text, blockMark) || strings.HasPrefix(text, restoreMark))
}

// endsWith reports whether the conversation ends with a message.
func (s *session[M]) endsWith(msg M) bool {
	raw, err := json.Marshal(msg)
	n := s.in.Len()
	return err == nil && n > 0 && s.in.Values()[n-1] == string(raw)
}

// asked returns the number of messages up to the last message that was or will be sent to a
// model.
func asked(msgs []memkernel.Message) int {
	n := len(msgs)
	for n > 0 && msgs[n-1].Role == memkernel.RoleAssistant {
		n--
	}
	return n
}

// assemble plans the last call, and appends the answer to it.
func (s *session[M]) assemble(ctx context.Context) ([]M, error) {
	msgs := s.in.Messages()
	n := asked(msgs)
	if n == 0 {
		return slices.Clone(s.host), nil
	}
	req := s.call()
	req.SessionKey, req.Messages, req.Private, req.Now = s.key, msgs[:n], s.m.opt.Private(s.key), s.m.opt.Now()
	req.Source = s.m.opt.Source(s.key)
	for i := range msgs[n:] {
		req.FixedTokens += tokensOf(s.in.Values()[n+i])
	}
	plan, err := s.m.k.PlanContext(ctx, *req)
	if err != nil {
		return nil, err
	}
	for _, f := range plan.Faults {
		s.m.opt.Logger.Warn("plan has a fault", "session", s.key, "code", f.Code, "detail", f.Detail)
	}
	s.plan = plan.ID
	// A tool call that a kill left without a result gets the result that the next plan shows.
	answer, _ := transcript.Repair(msgs[n:], false)
	return s.spell(slices.Concat(plan.Messages, answer))
}

// tokensOf returns a cautious guess of an answer's tokens. The next plan counts the answer
// exactly.
func tokensOf(json string) int { return len(json)/3 + 4 }

// call returns the plan request for the host's calls.
func (s *session[M]) call() *api.PlanRequest {
	o := &s.m.opt
	req := &api.PlanRequest{Model: o.Model, ContextWindow: s.window, MaxTokens: s.answer, FixedTokens: s.fixed, Resolver: o.Resolver, Format: transcript.FormatOpenAI}
	if s.limit > 0 {
		req.ContextWindow = min(req.ContextWindow, s.limit)
	}
	if req.FixedTokens == 0 {
		req.FixedTokens = o.FixedTokens
	}
	return req
}

// spell converts a plan's messages to the host's type.
func (s *session[M]) spell(planned []memkernel.Message) ([]M, error) {
	items, _ := s.in.Items(planned)
	out := make([]M, 0, len(planned))
	for _, it := range items {
		if it.JSON == "" {
			out = append(out, s.host[it.From:it.To]...)
			continue
		}
		var msg M
		if err := json.Unmarshal(plain(it.JSON), &msg); err != nil {
			return nil, fmt.Errorf("decode a planned message: %w", err)
		}
		out = append(out, msg)
	}
	return out, nil
}

// plain joins content that is a list of texts into one text, which is the only form of content in
// PicoClaw's messages.
func plain(message string) []byte {
	var m map[string]json.RawMessage
	var parts []struct{ Type, Text string }
	if json.Unmarshal([]byte(message), &m) != nil || json.Unmarshal(m["content"], &parts) != nil || parts == nil {
		return []byte(message)
	}
	texts := make([]string, 0, len(parts))
	for _, p := range parts {
		if p.Type != "text" {
			return []byte(message)
		}
		texts = append(texts, p.Text)
	}
	content, err := json.Marshal(strings.Join(texts, "\n\n"))
	if err != nil {
		return []byte(message) // a string always can
	}
	m["content"] = content
	out, err := json.Marshal(m)
	if err != nil {
		return []byte(message) // like a message that was just read
	}
	return out
}

// observe commits the present messages. If the newest message ends a turn, it commits them as a
// turn.
func (s *session[M]) observe(ctx context.Context) error {
	msgs := s.in.Messages()
	if len(msgs) == 0 {
		return nil
	}
	t := api.Turn{SessionKey: s.key, Model: s.m.opt.Model, Messages: msgs, Private: s.m.opt.Private(s.key), Source: s.m.opt.Source(s.key), Now: s.m.opt.Now()}
	last := msgs[len(msgs)-1]
	if last.Role != memkernel.RoleAssistant || transcript.HasCalls(last) {
		_, err := s.m.k.ObserveToolResult(ctx, t)
		return err
	}
	t.PlanID = s.plan
	o, err := s.m.k.ObserveTurn(ctx, t)
	if err == nil && o.Outcome == api.Committed {
		s.plan = ""
	}
	return err
}

// compact cuts the beginning of the next plan.
func (s *session[M]) compact(ctx context.Context, req CompactRequest) error {
	p, err := s.m.k.Compact(ctx, api.Boundary{SessionKey: s.key, Model: s.m.opt.Model, Messages: s.in.Messages(), Reason: string(req.Reason),
		Compact: &api.CompactWish{Call: s.call(), Force: req.Reason == Retry}, Private: s.m.opt.Private(s.key), Source: s.m.opt.Source(s.key), Now: s.m.opt.Now()})
	if err != nil {
		return err
	}
	c := p.Compaction
	if c == nil {
		return errors.New("no compaction was made")
	}
	switch c.Reason {
	case api.CompactOK:
		if req.Reason == Retry {
			s.limit = c.TokensBefore - c.TokensBefore/10
		}
		return nil
	case api.CompactNextPlan:
		return nil
	}
	return fmt.Errorf("%s: %s", c.Reason, c.Detail)
}

// The message that replaces removed messages in a plan begins with the state to continue from.
// Without such a state it begins with its own title.
const (
	blockMark   = "[Context kept by memkernel:"
	restoreMark = "[Checkpoint cp_"
)
