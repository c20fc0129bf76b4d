package relevance

import (
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/embed"
	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/retrieval"
)

// engine indexes and searches a set. [index.Index] implements it.
type engine interface {
	retrieval.Index
	Sync(ctx context.Context, source iter.Seq2[index.FileStat, error], read index.Reader, opts *index.SyncOptions) (index.SyncReport, error)
	UseModel(ctx context.Context, model string, dim int) error
	MissingEmbeddings(ctx context.Context, model string) iter.Seq2[index.Missing, error]
	PutEmbeddings(ctx context.Context, model string, vectors []index.Embedding) error
	Close() error
}

// bench is a set with its index.
type bench struct {
	Set
	Index engine
	// MinShare is [retrieval.Query.MinShare] of every question.
	MinShare float64
	// Chunks requests chunks instead of passages.
	Chunks bool
	// Places requests places instead of lines. Hits is the number of hits. 0 means
	// hitLimit, or knownLimit for known items.
	Places bool
	Hits   int
	// Unpacked skips the judging of packed notes, which takes most of the time.
	Unpacked bool
	store    *markdownstore.Store
	counter  budget.Counter
	cache    *budget.Cache
	dir      string
	// cut holds the indexed chunks. lines holds the lines of the files that the chunks were cut
	// from.
	cut   []cut
	lines map[string][]string
	// stops holds the function words of the files' languages.
	stops map[string]bool
}

// Open indexes a set's folder. It follows links to folders and files. The index is in a temporary
// folder, which Close removes.
func Open(ctx context.Context, set Set) (b *bench, err error) {
	made := &bench{Set: set, cache: budget.NewCache(0), lines: map[string][]string{}}
	defer func() {
		if err != nil {
			made.Close()
		}
	}()
	b = made
	if b.counter, err = budget.For("o200k"); err != nil {
		return nil, err
	}
	if b.dir, err = os.MkdirTemp("", "memkernel-relevance-"); err != nil {
		return nil, err
	}
	if b.Dir, err = follow(set.Dir, filepath.Join(b.dir, "set")); err != nil {
		return nil, err
	}
	opts := markdownstore.Options{Private: true, Timezone: time.UTC}
	if b.store, err = markdownstore.Open(b.Dir, &opts); err != nil {
		return nil, err
	}
	if !b.store.MemoryWorkspace() { // all Markdown is memory, as in the program
		b.store.Close()
		opts.Include = markdownstore.Everything()
		if b.store, err = markdownstore.Open(b.Dir, &opts); err != nil {
			return nil, err
		}
	}
	chunking := b.store.Chunking()
	ix, err := index.Open(filepath.Join(b.dir, "index.sqlite"), &index.Options{Chunker: chunking.Name()})
	if err != nil {
		return nil, err
	}
	b.Index = ix
	if err := b.sync(ctx); err != nil {
		return nil, err
	}
	b.stops, err = functionWords(b.lines)
	return b, err
}

// sync fills the index. A file that can't be indexed is an error, because the questions about the
// file would count as failures of the search.
func (b *bench) sync(ctx context.Context) error {
	report, err := b.Index.Sync(ctx, b.files(ctx), b.chunks, nil)
	switch {
	case err != nil:
		return fmt.Errorf("index %s: %w", b.Dir, err)
	case len(report.Failed) > 0:
		return fmt.Errorf("index %s: %w", b.Dir, report.Failed[0])
	case report.ChunksAdded == 0:
		return fmt.Errorf("index %s: there is nothing to search", b.Dir)
	}
	return nil
}

// files lists the indexed files.
func (b *bench) files(ctx context.Context) iter.Seq2[index.FileStat, error] {
	return func(yield func(index.FileStat, error) bool) {
		for f, err := range b.store.Walk(ctx) {
			if err == nil && !f.Indexed {
				continue
			}
			if !yield(index.FileStat{Path: f.Path, Size: f.Size, ModTime: f.ModTime}, err) {
				return
			}
		}
	}
}

func (b *bench) chunks(path string) ([]index.Chunk, error) {
	f, err := b.store.ReadFile(path)
	if err != nil {
		return nil, err
	}
	d := markdownstore.Parse(path, f.Text)
	if d.Binary {
		return nil, fmt.Errorf("%s: %w", path, index.ErrSkip)
	}
	var out []index.Chunk
	words, over := d.Keywords(), d.Over()
	b.lines[path] = strings.Split(f.Text, "\n")
	for _, c := range b.store.Chunks(d) {
		b.cut = append(b.cut, cut{path, embed.Compose(c.Trail, c.Text), c.StartLine, c.EndLine})
		out = append(out, index.Chunk{ID: c.ID, StartLine: c.StartLine, EndLine: c.EndLine, Trail: c.Trail,
			Date: c.Date, Tokens: c.Tokens, Text: c.Text, Keywords: words, Over: over})
	}
	return out, nil
}

// Close removes the index.
func (b *bench) Close() error {
	if b.Index != nil {
		b.Index.Close()
	}
	if b.store != nil {
		b.store.Close()
	}
	if b.dir == "" {
		return nil
	}
	return os.RemoveAll(b.dir)
}

// hitLimit is the number of judged hits. So many hits have more tokens than the largest of
// tokenSizes.
const hitLimit = 80

// Answer is the result of one question.
type Answer struct {
	Question
	Metrics
	// Ranks has, for each line of the evidence, the rank of the first hit that covers the line,
	// from 1. It is 0 if no hit covers the line.
	Ranks []int
}

// finder returns the best places for a text, the best first.
type finder = func(ctx context.Context, text string, limit int) ([]retrieval.Hit, error)

// Ask asks all questions as if the time were now, and judges each answer.
func (b *bench) Ask(ctx context.Context, opts *retrieval.Options, now time.Time) ([]Answer, error) {
	return b.askAll(ctx, b.finder(opts, now))
}

// finder returns the judged search.
func (b *bench) finder(opts *retrieval.Options, now time.Time) finder {
	r := retrieval.New(b.Index, opts)
	return func(ctx context.Context, text string, limit int) ([]retrieval.Hit, error) {
		return b.search(ctx, r, text, limit, now)
	}
}

func (b *bench) askAll(ctx context.Context, find finder) (out []Answer, err error) {
	for _, q := range b.Questions {
		hits, err := find(ctx, q.Text, hitLimit)
		if err != nil {
			return nil, fmt.Errorf("ask %s: %w", q.ID, err)
		}
		out = append(out, b.judge(q, hits))
	}
	return out, nil
}

// AskOther asks another search all questions, and judges each answer. index gets the lines of the
// files, by path.
func (b *bench) AskOther(ctx context.Context, index func(files map[string][]string) (finder, error)) ([]Answer, error) {
	find, err := index(b.lines)
	if err != nil {
		return nil, err
	}
	return b.askAll(ctx, find)
}

// AskPlain searches FTS5 tables of the same lines for all questions, and judges each answer. Of
// tables with lines, paragraphs and sections as rows it takes the one that finds most within 1,000
// tokens, since the other figures grow with the size of the rows. rows names the kind of its rows.
func (b *bench) AskPlain(ctx context.Context) (best []Answer, rows string, err error) {
	most := -1.0
	for _, kind := range []string{rowsLine, rowsParagraph, rowsSection} {
		p, err := b.openPlain(ctx, kind)
		if err != nil {
			return nil, "", fmt.Errorf("make an FTS5 table of %s: %w", b.Dir, err)
		}
		defer p.db.Close()
		answers, err := b.askAll(ctx, p.find)
		if err != nil {
			return nil, "", err
		}
		m := Sum(answers).Metrics
		if found := m.WithinTokens["1000"] + m.NDCGAt10/1000; found > most { // nDCG decides between equals
			most, best, rows = found, answers, kind
		}
	}
	return best, rows, nil
}

func (b *bench) judge(q Question, hits []retrieval.Hit) Answer {
	m := rate(q, hits, b.count)
	if !b.Unpacked {
		m.pack(q, hits, b.count)
	}
	return Answer{q, m, ranksOf(q.Evidence, hits)}
}

func (b *bench) count(s string) int { return b.cache.Count(b.counter, s).Tokens }

// age returns the date of a file by the workspace's own rule.
func (b *bench) age(path, _ string, mod time.Time) (time.Time, bool) {
	class, _ := markdownstore.Classify(path)
	return markdownstore.File{Path: path, ModTime: mod, Class: class}.AgesFrom(time.UTC)
}

// newest returns the last date of the set's dated files, or zero if no file has a date. The
// questions could be asked only after that date.
func (b *bench) newest(ctx context.Context) (time.Time, error) {
	var last time.Time
	for f, err := range b.store.Walk(ctx) {
		if err != nil {
			return last, err
		}
		if day, ok := markdownstore.ParseDate(f.Date, time.UTC); ok && day.After(last) {
			last = day
		}
	}
	return last, nil
}

// Moment returns the default time of the questions. It is on the day after the newest note, or at
// any time if nothing in the set has a date.
func (b *bench) Moment(ctx context.Context) (time.Time, error) {
	last, err := b.newest(ctx)
	if last.IsZero() {
		last = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return last.AddDate(0, 0, 1), err
}
