package picoclaw

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
)

// Manager is a context manager of PicoClaw's shape. It is safe for concurrent use. Calls of one
// session run one after the other. A Manager need not be closed. The caller must close the
// kernel.
type Manager[M any] struct {
	k   *kernel.Kernel
	opt Options[M]

	mu       sync.Mutex
	sessions map[string]*session[M]
	// uses counts the uses of all sessions. It orders the sessions by their last use.
	uses int64
}

// New returns a manager on a kernel. With nil options it uses the defaults.
func New[M any](k *kernel.Kernel, opt *Options[M]) *Manager[M] {
	m := &Manager[M]{k: k, sessions: map[string]*session[M]{}}
	if opt != nil {
		m.opt = *opt
	}
	m.opt = m.opt.withDefaults()
	return m
}

// hold locks a session. If the manager does not hold the session, hold reads it from the host's
// record, and fresh is true.
func (m *Manager[M]) hold(key string) (s *session[M], fresh bool, err error) {
	for {
		s = m.find(key)
		s.mu.Lock()
		if !s.gone {
			break
		}
		s.mu.Unlock() // the manager forgot the session while hold waited for its lock
	}
	if s.in != nil {
		return s, false, nil
	}
	if err := s.load(m.opt.History(key)); err != nil {
		s.mu.Unlock()
		return nil, false, fmt.Errorf("read history of session %q: %w", key, err)
	}
	return s, true, nil
}

// find returns a session. If the manager holds too many sessions, find forgets another session.
func (m *Manager[M]) find(key string) *session[M] {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.uses++
	s := m.sessions[key]
	if s == nil {
		if len(m.sessions) >= m.opt.MaxSessions {
			m.letGo()
		}
		s = &session[M]{m: m, key: key}
		m.sessions[key] = s
	}
	s.used = m.uses
	return s
}

// letGo forgets the session that was used least recently and is not in use now. The session can
// be read again. The caller must hold m.mu.
func (m *Manager[M]) letGo() {
	var oldest *session[M]
	for _, s := range m.sessions {
		if (oldest == nil || s.used < oldest.used) && s.mu.TryLock() {
			if oldest != nil {
				oldest.mu.Unlock()
			}
			oldest = s
		}
	}
	if oldest == nil {
		return // all are in use
	}
	oldest.gone = true
	delete(m.sessions, oldest.key)
	oldest.mu.Unlock()
}

// Assemble plans the history of the next call. If the kernel can't plan, it returns the whole
// conversation as history and logs the reason: a host that gets an error sends no history at all.
func (m *Manager[M]) Assemble(ctx context.Context, req AssembleRequest) (*AssembleResponse[M], error) {
	s, _, err := m.hold(req.SessionKey)
	if err != nil {
		m.opt.Logger.Error("history can't be planned", "session", req.SessionKey, "error", err)
		return &AssembleResponse[M]{History: m.opt.History(req.SessionKey)}, nil
	}
	defer s.mu.Unlock()
	s.window, s.answer, s.fixed = req.Budget, req.MaxTokens, req.ReserveTokens
	history, err := s.assemble(ctx)
	if err != nil {
		m.opt.Logger.Error("history is not planned", "session", req.SessionKey, "error", err)
		history = slices.Clone(s.host)
	}
	return &AssembleResponse[M]{History: history}, nil
}

// Ingest adds a message to the conversation. The message is in the kernel's journal when Ingest
// returns nil. After an error the message is still in the conversation, and the next call of any
// kind commits it. A message that is not a chat completions message is an error, and is not
// added.
func (m *Manager[M]) Ingest(ctx context.Context, req IngestRequest[M]) error {
	s, fresh, err := m.hold(req.SessionKey)
	if err != nil {
		return err
	}
	defer s.mu.Unlock()
	// The host records a message before it passes it on.
	if !fresh || !s.endsWith(req.Message) {
		if err := s.add(req.Message); err != nil {
			return fmt.Errorf("ingest into session %q: %w", req.SessionKey, err)
		}
	}
	if err := s.observe(ctx); err != nil {
		return fmt.Errorf("ingest into session %q: %w", req.SessionKey, err)
	}
	return nil
}

// Compact makes room. At the end of a turn it makes room only if the user requested that, because
// plans cut by themselves when a cut pays. The error says why nothing was reclaimed.
func (m *Manager[M]) Compact(ctx context.Context, req CompactRequest) error {
	if req.Reason == Summarize && !req.Manual {
		return nil
	}
	s, _, err := m.hold(req.SessionKey)
	if err != nil {
		return err
	}
	defer s.mu.Unlock()
	if req.Budget > 0 {
		s.window = req.Budget
	}
	if err := s.compact(ctx, req); err != nil {
		return fmt.Errorf("compact session %q: %w", req.SessionKey, err)
	}
	return nil
}

// Clear begins a new conversation of a session. It first commits the old conversation, which can
// be searched until it is forgotten (memkernel forget).
func (m *Manager[M]) Clear(ctx context.Context, sessionKey string) error {
	s, _, err := m.hold(sessionKey)
	if err != nil {
		return err
	}
	defer s.mu.Unlock()
	_, err = m.k.Reset(ctx, api.Boundary{SessionKey: sessionKey, Model: m.opt.Model, Messages: s.in.Messages(), Reason: "clear",
		Private: m.opt.Private(sessionKey), Source: m.opt.Source(sessionKey), Now: m.opt.Now()})
	if err != nil && !errors.Is(err, api.ErrNoSession) {
		return fmt.Errorf("clear session %q: %w", sessionKey, err)
	}
	return s.load(nil)
}
