package kernel

import (
	"context"

	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/billing"
	"github.com/memkernel/memkernel/kernel/health"
	"github.com/memkernel/memkernel/kernel/internal/turn"
)

// Status reads the places and sizes of the stored state. With nil options it covers the newest
// sessions. It writes nothing. If a requested session does not exist, it returns an
// [api.NoSessionError].
func (k *Kernel) Status(ctx context.Context, o *api.StatusOptions) (*api.Status, error) {
	if o == nil {
		o = &api.StatusOptions{}
	}
	return k.inspect.Status(ctx, *o)
}

// SessionStatus reads the stored state of one session, and the state of memory, without looking
// at any other session. It writes nothing.
func (k *Kernel) SessionStatus(ctx context.Context, key string) (api.SessionStatus, api.MemoryStatus, error) {
	s, unlock, err := k.open(ctx, key)
	if err != nil {
		return api.SessionStatus{}, api.MemoryStatus{}, err
	}
	st := k.inspect.Session(s)
	unlock()
	return st, k.inspect.MemoryStatus(ctx), ctx.Err()
}

// Check verifies every invariant of the state directory. Journals must be readable from end to
// end. Every page must restore to the content that its hash names. Every blob and backup must
// match its name. No projection may show a page that can't be restored, show a page twice, or
// show a page below its floor. If there is an index, it must be whole. Check writes nothing.
func (k *Kernel) Check(ctx context.Context) ([]health.Finding, error) { return k.inspect.Check(ctx) }

// Usage reads the recorded bills. It writes nothing. For a damaged line it returns an error that
// names file and line.
func (k *Kernel) Usage(ctx context.Context, o billing.Options) (*billing.Report, error) {
	return turn.Usage(ctx, k.state, o, func(key string) error { return noSession(k.state, key) })
}

// MemoryEnabled reports whether the kernel uses the workspace's files.
func (k *Kernel) MemoryEnabled() bool { return k.memory != nil }

// EmbeddingModel returns the model that turns questions into vectors, "" if searches use words
// only.
func (k *Kernel) EmbeddingModel() string { return k.inspect.Set.Embedder }

// IndexPath returns the place of the index over the workspace's Markdown. The place is a file or
// the name of a database, "" if memory is off.
func (k *Kernel) IndexPath() string { return k.inspect.Set.Index.Path }

// Doctor checks a workspace and its state folder, and reports each fault with its remedy. It
// changes nothing. A workspace that can't be opened is a finding too. Doctor returns an error
// only if the context ends.
func Doctor(ctx context.Context, workspaceDir string, opts *Options, o *health.DoctorOptions) (*health.Report, error) {
	r := &health.Report{Findings: []health.Finding{}}
	if o == nil {
		o = &health.DoctorOptions{}
	}
	k, err := Open(ctx, workspaceDir, opts)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		r.Add(health.Finding{Code: health.Workspace, Severity: health.Error, What: err.Error(), Hint: "name a folder that is there and can be read"})
		return r, nil
	}
	defer k.Close()
	look := *o
	if look.Now.IsZero() {
		look.Now = k.now()
	}
	return r, k.inspect.Doctor(ctx, r, look)
}
