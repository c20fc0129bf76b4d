package memory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/sessions"
)

// how configures how the index is brought up to date.
type how struct {
	api.ReindexOptions
	// delta skips past sessions with few new turns.
	delta bool
	// words makes no vectors. suspect checks the index for damage in any case.
	words, suspect bool
	// busy, if it is more than 0, bounds how long a statement waits for another program's lock.
	busy time.Duration
}

// Reindex brings the index up to date at a caller's request.
func (m *Memory) Reindex(ctx context.Context, o *api.ReindexOptions) (*api.Reindexed, error) {
	r, err := m.reindex(ctx, &how{ReindexOptions: *o})
	if ctx.Err() == nil {
		m.Sync.Ran("reindex", r, err)
	}
	if err == nil {
		m.Sync.Renewed(index.Lag{Files: len(r.Failed)})
	}
	return r, err
}

func (m *Memory) reindex(ctx context.Context, o *how) (*api.Reindexed, error) {
	r := &api.Reindexed{}
	if err := m.o.Prepare(); err != nil {
		return r, fmt.Errorf("reindex: %w", err)
	}
	var unsettled error // why the list of Markdown that is memory could not be written
	if settle := m.o.Store.Settle; settle != nil {
		unsettled = settle()
	}
	if !o.words {
		if err := m.heard.read(ctx, !o.delta, !o.delta, r); err != nil {
			return r, fmt.Errorf("reindex: %w", err)
		}
	}
	x := &opened{backend: m.index.backend, ranking: m.index.ranking, rules: m.index.rules}
	if o.busy > 0 {
		x.rules.BusyTimeout = min(o.busy, 5*time.Second)
	}
	ix, err := writer(ctx, x, r, o.Full)
	if err != nil {
		return r, err
	}
	defer ix.Close()
	if (!o.delta || o.suspect) && !o.Full {
		if err := damage(ctx, ix); err != nil {
			fresh, err := rebuilt(ctx, x, r, err)
			if err != nil {
				return r, err
			}
			fresh.Close() // ix finds the new index file by itself
		}
	}
	if err := update(ctx, &m.corpus, x, ix, o, r); err != nil {
		return r, err
	}
	if o.words && m.o.Sessions.Enabled { // the files come first, because a caller waits for them
		if err := m.heard.read(ctx, !o.delta, !o.delta, r); err != nil {
			return r, fmt.Errorf("reindex: %w", err)
		}
		files := r.SyncReport
		if err := update(ctx, &m.corpus, x, ix, o, r); err != nil {
			return r, err
		}
		r.Read, r.Removed = r.Read+files.Read, r.Removed+files.Removed
	}
	if unsettled != nil {
		r.Notes = append(r.Notes, api.SkippedFile{Reason: unsettled.Error()})
	}
	if !o.delta {
		if left := surveyed(ctx, m); left != nil {
			r.Left = *left
		}
	}
	if m.o.Embedder != nil && !o.words {
		r.EmbedErr = fillAlone(ctx, &m.o, &filling{&m.corpus, ix, m.o.Embedder, m.o.Allow, o, r})
	}
	if r.EmbedErr != nil && ctx.Err() != nil {
		return r, r.EmbedErr
	}
	r.Stats, err = ix.Stats(ctx)
	return r, err
}

// Drop removes from the index at once the documents that must no longer be found.
func (m *Memory) Drop(ctx context.Context) error {
	if _, err := m.index.get(ctx); err != nil {
		return nil // nothing to search
	}
	r := &api.Reindexed{}
	ix, err := writer(ctx, &m.index, r, false)
	if err != nil {
		return err
	}
	return errors.Join(update(ctx, &m.corpus, &m.index, ix, &how{}, r), ix.Close())
}

// update lists, reads and cuts the documents to index. If it finds damage in the index, it
// rebuilds the index.
func update(ctx context.Context, c *corpus, x *opened, ix api.MemoryIndex, opts *how, r *api.Reindexed) error {
	o := &index.SyncOptions{Full: opts.Full, Wait: opts.Wait, Progress: told(opts.Progress)}
	once := func() (err error) {
		r.Skipped, r.Notes = []api.SkippedFile{}, []api.SkippedFile{}
		for _, f := range r.Sessions.Failed {
			r.Skipped = append(r.Skipped, api.SkippedFile{Path: f.Path, Reason: f.Err.Error()})
		}
		files := c.files(ctx, func(s api.SkippedFile) { r.Skipped = append(r.Skipped, s) })
		r.SyncReport, err = ix.Sync(ctx, files, func(path string) ([]index.Chunk, error) { return c.chunks(path, r) }, o)
		return err
	}
	err := once()
	if errors.Is(err, index.ErrDamaged) {
		fresh, rerr := rebuilt(ctx, x, r, err)
		if rerr != nil {
			return rerr
		}
		fresh.Close() // ix finds the new index file by itself
		err = once()
	}
	return err
}

// told returns a function that passes an index's progress on to tell.
func told(tell func(api.ReindexProgress)) func(index.Progress) {
	if tell == nil {
		return nil
	}
	return func(p index.Progress) {
		tell(api.ReindexProgress{Stage: "index", Done: p.Bytes, Total: p.BytesTotal, Files: p.Files, FilesTotal: p.FilesTotal, Chunks: p.Chunks})
	}
}

// pastDir is the folder for documents of past sessions, in the state folder.
const pastDir = "transcripts"

// Agent returns the agent that a session's key names, or [sessions.DefaultAgent].
func (m *Memory) Agent(key string) string {
	return cmp.Or(sessions.AgentOf(key), sessions.DefaultAgent)
}
