package kernel

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/memkernel/memkernel/embed"
	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/sessions"
)

// ReindexOptions are settings of one [Kernel.Reindex]; nil means the defaults.
type ReindexOptions struct {
	// Full makes the index anew; of the old one only the vectors are taken over. What
	// stands in its place and is no index, or one of a newer format, is moved aside.
	Full bool
	// Wait is how long to wait for another process that is indexing; default 10 s.
	Wait time.Duration
	// Approved sends texts to the embedder whatever [MemoryOptions.EmbedLimit] says.
	Approved bool
	// Progress, if not nil, is told how far it is.
	Progress func(ReindexProgress)

	// delta leaves past sessions alone of which little is new.
	delta bool
}

// The stages of a reindex.
const (
	StageIndex = "index"
	StageEmbed = "embed"
)

// ReindexProgress is how far a reindex is: in bytes of files to read, then in
// texts to embed.
type ReindexProgress struct {
	Stage       string
	Done, Total int64
	Files       int
	Chunks      int
}

// ReindexReport says what a reindex did.
type ReindexReport struct {
	index.SyncReport
	// Rebuilt tells why the index was made anew; "" if it was not.
	Rebuilt string
	// Aside is where the old file is kept, "" if it is not.
	Aside string
	// Skipped are files that look like memory and were not indexed.
	Skipped []Skipped
	// Notes are oddities of files that were indexed all the same.
	Notes []Skipped
	// Estimate is what had to be embedded, nil without an embedder.
	Estimate *EmbedEstimate
	// Embedded reports the vectors, nil without an embedder; EmbedErr is why some
	// are missing.
	Embedded *embed.FillReport
	EmbedErr error
	// Sessions says what was read of past sessions.
	Sessions sessions.Report
	// Stats is the index afterwards.
	Stats index.Stats
}

// Skipped is a file and what is to be said about it.
type Skipped struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// Reindex brings the index up to date with the workspace, and makes it if there is
// none. An index that is damaged or of an older format is made anew, and a damaged one
// moved aside; one that is somebody else's file, or of a newer format, is an error and
// stays, unless [ReindexOptions.Full] is set. If an
// embedder is configured, texts without a vector get theirs; that it fails is in
// the report, since the search by words needs none.
func (k *Kernel) Reindex(ctx context.Context, opts *ReindexOptions) (*ReindexReport, error) {
	if k.memory == nil {
		return nil, errors.New("reindex: memory is switched off")
	}
	if opts == nil {
		opts = &ReindexOptions{}
	}
	r, err := k.memory.reindex(ctx, opts)
	if ctx.Err() == nil {
		k.memory.ran(SyncAsked, r, err)
	}
	if err == nil {
		k.memory.fresh.renewed(index.Lag{Files: len(r.Failed)})
	}
	return r, err
}

func (m *memory) reindex(ctx context.Context, opts *ReindexOptions) (*ReindexReport, error) {
	r := &ReindexReport{}
	if err := ignoreState(m.state); err != nil && !store.Exists(m.state, "") {
		return r, fmt.Errorf("reindex: %w", err)
	}
	if err := m.readPast(ctx, opts, r); err != nil {
		return r, fmt.Errorf("reindex: %w", err)
	}
	ix, err := m.writer(ctx, r, opts.Full)
	if err != nil {
		return r, err
	}
	defer ix.Close()
	if !opts.delta && !opts.Full {
		if err := damage(ctx, ix); err != nil {
			fresh, err := m.rebuilt(ctx, r, err)
			if err != nil {
				return r, err
			}
			fresh.Close() // ix finds the new file by itself
		}
	}
	if err := m.sync(ctx, ix, opts, r); err != nil {
		return r, err
	}
	r.EmbedErr = m.fill(ctx, ix, opts, r)
	if r.EmbedErr != nil && ctx.Err() != nil {
		return r, r.EmbedErr
	}
	r.Stats, err = ix.Stats(ctx)
	return r, err
}

// writer opens the index to be written, made anew if that is the only way.
func (m *memory) writer(ctx context.Context, r *ReindexReport, full bool) (Index, error) {
	if full {
		o := m.indexOptions()
		o.Force, o.Aside = true, func(path string, why error) { r.Rebuilt, r.Aside = why.Error(), path }
		look := m.indexOptions()
		look.ReadOnly = true
		ix, err := m.opts.Backend.Open(ctx, look)
		if err == nil {
			err = errors.Join(damage(ctx, ix), ix.Close())
		}
		if errors.Is(err, index.ErrDamaged) {
			o.Damaged = err
		}
		return m.opts.Backend.Rebuild(ctx, o)
	}
	ix, err := m.opts.Backend.Open(ctx, m.indexOptions())
	if errors.Is(err, index.ErrDamaged) || errors.Is(err, index.ErrOlder) {
		ix, err = m.rebuilt(ctx, r, err)
	}
	return ix, err
}

// damage is what is the matter with an index that can tell, nil if nothing is.
func damage(ctx context.Context, ix Index) error {
	if c, ok := ix.(interface{ Intact(context.Context) error }); ok {
		if err := c.Intact(ctx); errors.Is(err, index.ErrDamaged) {
			return err
		}
	}
	return nil
}

// rebuilt makes the index anew that is older, or damaged.
func (m *memory) rebuilt(ctx context.Context, r *ReindexReport, why error) (Index, error) {
	r.Rebuilt = why.Error()
	o := m.indexOptions()
	o.Aside = func(path string, _ error) { r.Aside = path }
	if errors.Is(why, index.ErrDamaged) {
		o.Damaged = why
	}
	return m.opts.Backend.Rebuild(ctx, o)
}

// sync lists, reads and cuts the workspace's files for the index. Damage that
// shows only then makes it anew.
func (m *memory) sync(ctx context.Context, ix Index, opts *ReindexOptions, r *ReindexReport) error {
	o := &index.SyncOptions{Wait: opts.Wait}
	if opts.Progress != nil {
		o.Progress = func(p index.Progress) {
			opts.Progress(ReindexProgress{Stage: StageIndex, Done: p.Bytes, Total: p.BytesTotal, Files: p.Files, Chunks: p.Chunks})
		}
	}
	once := func() (err error) {
		r.Skipped, r.Notes = []Skipped{}, []Skipped{}
		for _, f := range r.Sessions.Failed {
			r.Skipped = append(r.Skipped, Skipped{Path: f.Path, Reason: f.Err.Error()})
		}
		files := m.files(ctx, func(s Skipped) { r.Skipped = append(r.Skipped, s) })
		r.SyncReport, err = ix.Sync(ctx, files, func(path string) ([]index.Chunk, error) { return m.chunks(path, r) }, o)
		return err
	}
	err := once()
	if errors.Is(err, index.ErrDamaged) {
		fresh, rerr := m.rebuilt(ctx, r, err)
		if rerr != nil {
			return rerr
		}
		fresh.Close() // ix finds the new file by itself
		err = once()
	}
	return err
}

// chunks reads a file and cuts it.
func (m *memory) chunks(path string, r *ReindexReport) ([]index.Chunk, error) {
	if isPast(path) {
		return m.pastChunks(path)
	}
	if mediaType(path) != "" {
		return m.mediaChunk(path)
	}
	l, err := m.private.ReadFile(path)
	if err != nil {
		return nil, err
	}
	d := markdownstore.Parse(path, m.masker.Lines(l.Text))
	for _, n := range d.Notes {
		note := Skipped{Path: path, Reason: n.Text}
		if n.Line > 0 {
			note.Path = fmt.Sprintf("%s:%d", path, n.Line)
		}
		if n.Code == markdownstore.NoteBinary {
			r.Skipped = append(r.Skipped, note)
			return nil, fmt.Errorf("%s: %w", path, index.ErrSkip)
		}
		r.Notes = append(r.Notes, note)
	}
	var out []index.Chunk
	words := d.Keywords()
	for c := range markdownstore.ChunkSeq(d, chunking(m.private)) {
		out = append(out, index.Chunk{ID: c.ID, StartLine: c.StartLine, EndLine: c.EndLine, Trail: c.Trail, Date: c.Date,
			Tokens: c.Tokens, Text: c.Text, Keywords: words})
	}
	return out, nil
}

// pastChunks cuts a document of a past session, whose secrets are masked already.
func (m *memory) pastChunks(path string) ([]index.Chunk, error) {
	text, err := m.past.Read(path)
	if err != nil {
		return nil, err
	}
	var out []index.Chunk
	date := sessions.Date(path)
	for c := range markdownstore.ChunkSeq(markdownstore.Parse(path, text), chunking(m.private)) {
		out = append(out, index.Chunk{ID: c.ID, StartLine: c.StartLine, EndLine: c.EndLine, Trail: c.Trail, Date: date, Tokens: c.Tokens, Text: c.Text})
	}
	return out, nil
}

func chunking(s *markdownstore.Store) *markdownstore.Chunking {
	c := s.Chunking()
	return &c
}
