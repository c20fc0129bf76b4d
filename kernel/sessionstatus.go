package kernel

import "context"

// SessionStatus says what stands of one session, and how memory is, without looking
// at any other session. It writes nothing.
func (k *Kernel) SessionStatus(ctx context.Context, key string) (SessionStatus, MemoryStatus, error) {
	s, unlock, err := k.open(ctx, key, false)
	if err != nil {
		return SessionStatus{}, MemoryStatus{}, err
	}
	st := s.status(k.now())
	unlock()
	return st, k.memoryStatus(ctx), ctx.Err()
}

// MemoryEnabled tells whether the workspace's files are used at all.
func (k *Kernel) MemoryEnabled() bool { return k.memory != nil }

// EmbeddingModel is the model by which questions become vectors, "" for words alone.
func (k *Kernel) EmbeddingModel() string {
	if k.memory == nil || k.memory.opts.Embedder == nil {
		return ""
	}
	return k.memory.opts.Embedder.Model()
}
