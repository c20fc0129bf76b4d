package memory

import (
	"cmp"
	"context"
	"errors"
	"sync/atomic"

	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/sessions"
)

// past reads past sessions and makes documents of them, which are searched.
type past struct {
	store *sessions.Store
	o     *Options
	agent func(key string) string
	found atomic.Bool // a past session exists, or has existed
}

// sources list past sessions.
func (p *past) sources() (from []sessions.Lister) {
	for _, src := range p.o.Sessions.Sources {
		from = append(from, owned(src.Find, p.agent))
	}
	if own := p.o.Sessions.Own; own != nil {
		from = append(from, owned(own, p.agent))
	}
	return from
}

// any reports whether a past session exists, or has existed.
func (p *past) any(ctx context.Context) (any bool) {
	if p.found.Load() {
		return true
	}
	for _, list := range p.sources() {
		if !any {
			list(ctx, func(sessions.Conversation) bool { any = true; return false }, func(string, error) {})
		}
	}
	if any {
		p.found.Store(true)
	}
	return any
}

// read makes documents of new turns. Unless all is true, it skips known sessions with few new
// turns. If another process is making documents and wait is true, read waits for the other
// process. If wait is false, it leaves the work to that process. Sessions that can't be read are
// reported as skipped.
func (p *past) read(ctx context.Context, all, wait bool, r *api.Reindexed) error {
	if !p.o.Sessions.Enabled {
		return nil
	}
	report, err := p.store.Update(ctx, sessions.UpdateOptions{All: all, Wait: wait, Now: p.o.Now()}, p.sources()...)
	if errors.Is(err, sessions.ErrBusy) {
		err = nil // the other process does the work
	}
	r.Sessions = report
	return err
}

// owned lists the conversations of another lister. It sets the agent of each conversation that has
// none.
func owned(list sessions.Lister, agent func(key string) string) sessions.Lister {
	return func(ctx context.Context, yield func(sessions.Conversation) bool, failed func(string, error)) {
		list(ctx, func(c sessions.Conversation) bool {
			c.Agent = cmp.Or(c.Agent, agent(c.Key))
			return yield(c)
		}, failed)
	}
}
