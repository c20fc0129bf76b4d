package memory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/memkernel/memkernel/embed"
	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/kernel/internal/memory/syncer"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/sessions"
)

// ReindexOptions say how the index is brought up to date.
type ReindexOptions struct {
	// Full makes it anew; of the old one only the vectors are taken over.
	Full bool
	// Wait is how long to wait for another process that is indexing.
	Wait time.Duration
	// Approved sends texts to the embedder without asking [Options.Allow].
	Approved bool
	// Progress, if not nil, is told how far it is.
	Progress func(Progress)

	// delta leaves past sessions alone of which little is new.
	delta bool
	// words leaves vectors for later, suspect looks for damage all the same.
	words, suspect bool
}

// The stages of progress.
const (
	StageIndex = "index"
	StageEmbed = "embed"
	// StageVectors is that of a migration in which vectors are copied.
	StageVectors = "vectors"
)

// Progress is how far it is: in bytes of files to read, then in texts to embed, or
// vectors to copy.
type Progress struct {
	Stage       string
	Done, Total int64
	Files       int
	Chunks      int
}

// Report says what a reindex did.
type Report struct {
	index.SyncReport
	// Rebuilt tells why the index was made anew, Aside is where the old file is kept.
	Rebuilt, Aside string
	// Skipped are files that look like memory and were not indexed, Notes oddities of
	// files that were.
	Skipped, Notes []Skipped
	// Unsettled is why it could not be written down which Markdown is memory.
	Unsettled error
	// Left is the Markdown that is no memory, by the folder's name; nil if nobody asked.
	Left *markdownstore.LeftOut
	// Estimate is what had to be embedded, nil without an embedder.
	Estimate *Estimate
	// Embedded reports the vectors, nil without an embedder; EmbedErr is why some
	// are missing.
	Embedded *embed.FillReport
	EmbedErr error
	// Sessions says what was read of past sessions.
	Sessions sessions.Report
	// Stats is the index afterwards.
	Stats index.Stats
}

// done is what the syncer has to know of it.
func (r *Report) done() syncer.Done {
	return syncer.Done{Files: r.Read, Removed: r.Removed, Vectors: r.EmbedErr}
}

// Reindex brings the index up to date because somebody asks for it.
func (m *Memory) Reindex(ctx context.Context, o *ReindexOptions) (*Report, error) {
	r, err := m.reindex(ctx, o)
	if ctx.Err() == nil {
		m.Sync.Ran(syncer.Asked, r.done(), err)
	}
	if err == nil {
		m.Sync.Renewed(index.Lag{Files: len(r.Failed)})
	}
	return r, err
}

func (m *Memory) reindex(ctx context.Context, o *ReindexOptions) (*Report, error) {
	r := &Report{}
	if err := m.o.Prepare(); err != nil {
		return r, fmt.Errorf("reindex: %w", err)
	}
	if settle := m.o.Store.Settle; settle != nil {
		r.Unsettled = settle()
	}
	if !o.words {
		if err := m.readPast(ctx, o, r); err != nil {
			return r, fmt.Errorf("reindex: %w", err)
		}
	}
	ix, err := writer(ctx, &m.index, r, o.Full)
	if err != nil {
		return r, err
	}
	defer ix.Close()
	if (!o.delta || o.suspect) && !o.Full {
		if err := damage(ctx, ix); err != nil {
			fresh, err := rebuilt(ctx, &m.index, r, err)
			if err != nil {
				return r, err
			}
			fresh.Close() // ix finds the new file by itself
		}
	}
	if err := update(ctx, &m.corpus, &m.index, ix, o, r); err != nil {
		return r, err
	}
	if o.words && m.o.Sessions.Enabled { // the files first: somebody waits
		if err := m.readPast(ctx, o, r); err != nil {
			return r, fmt.Errorf("reindex: %w", err)
		}
		files := r.SyncReport
		if err := update(ctx, &m.corpus, &m.index, ix, o, r); err != nil {
			return r, err
		}
		r.Read, r.Removed = r.Read+files.Read, r.Removed+files.Removed
	}
	if r.Unsettled != nil {
		r.Notes = append(r.Notes, Skipped{Reason: r.Unsettled.Error()})
	}
	if !o.delta {
		r.Left = surveyed(ctx, m)
	}
	if m.o.Embedder != nil && !o.words {
		r.EmbedErr = fill(ctx, &filling{&m.corpus, ix, m.o.Embedder, m.o.Allow, o, r})
	}
	if r.EmbedErr != nil && ctx.Err() != nil {
		return r, r.EmbedErr
	}
	r.Stats, err = ix.Stats(ctx)
	return r, err
}

// Drop takes out of the index what is no longer to be found, now.
func (m *Memory) Drop(ctx context.Context) error {
	if _, err := m.index.get(ctx); err != nil {
		return nil // there is nothing that could be searched
	}
	r := &Report{}
	ix, err := writer(ctx, &m.index, r, false)
	if err != nil {
		return err
	}
	return errors.Join(update(ctx, &m.corpus, &m.index, ix, &ReindexOptions{}, r), ix.Close())
}

// update lists, reads and cuts what is to be indexed for an index. Damage that shows only
// then makes it anew.
func update(ctx context.Context, c *corpus, x *opened, ix Index, opts *ReindexOptions, r *Report) error {
	o := &index.SyncOptions{Wait: opts.Wait, Progress: indexing(opts.Progress)}
	once := func() (err error) {
		r.Skipped, r.Notes = []Skipped{}, []Skipped{}
		for _, f := range r.Sessions.Failed {
			r.Skipped = append(r.Skipped, Skipped{Path: f.Path, Reason: f.Err.Error()})
		}
		files := c.files(ctx, func(s Skipped) { r.Skipped = append(r.Skipped, s) })
		r.SyncReport, err = ix.Sync(ctx, files, func(path string) ([]index.Chunk, error) { return c.chunks(path, r) }, o)
		return err
	}
	err := once()
	if errors.Is(err, index.ErrDamaged) {
		fresh, rerr := rebuilt(ctx, x, r, err)
		if rerr != nil {
			return rerr
		}
		fresh.Close() // ix finds the new file by itself
		err = once()
	}
	return err
}

// indexing tells an index's progress as ours.
func indexing(tell func(Progress)) func(index.Progress) {
	if tell == nil {
		return nil
	}
	return func(p index.Progress) {
		tell(Progress{Stage: StageIndex, Done: p.Bytes, Total: p.BytesTotal, Files: p.Files, Chunks: p.Chunks})
	}
}

// pastDir is where documents of past sessions are kept, in the state folder.
const pastDir = "transcripts"

// Agent is whose a session is: the one that its key names, or the memory's.
func (m *Memory) Agent(key string) string {
	return cmp.Or(sessions.AgentOf(key), m.o.Sessions.Agent, sessions.DefaultAgent)
}

// readPast makes documents of what is new in past sessions. What can't be read is
// told as skipped.
func (m *Memory) readPast(ctx context.Context, opts *ReindexOptions, r *Report) error {
	o := &m.o.Sessions
	if !o.Enabled {
		return nil
	}
	from := []sessions.Lister{}
	for _, src := range o.Sources {
		from = append(from, owned(src.Find, m.Agent))
	}
	if o.Own != nil {
		from = append(from, owned(o.Own, m.Agent))
	}
	report, err := m.Past.Update(ctx, sessions.UpdateOptions{All: !opts.delta, Wait: !opts.delta, Now: m.o.Now()}, from...)
	if errors.Is(err, sessions.ErrBusy) {
		err = nil // the other process does it
	}
	r.Sessions = report
	return err
}

// owned lists what another lists, with the agent of those that are nobody's.
func owned(list sessions.Lister, agent func(key string) string) sessions.Lister {
	return func(ctx context.Context, yield func(sessions.Conversation) bool, failed func(string, error)) {
		list(ctx, func(c sessions.Conversation) bool {
			c.Agent = cmp.Or(c.Agent, agent(c.Key))
			return yield(c)
		}, failed)
	}
}
