package retrieval

import (
	"context"
	"time"

	"github.com/memkernel/memkernel/index"
)

// Index finds candidates; *index.Index does.
type Index interface {
	Search(ctx context.Context, q index.Query) (index.Hits, error)
}

var _ Index = (*index.Index)(nil)

// embedder turns questions into vectors. It must return when its context ends.
type embedder interface {
	// Model returns the name of the model, as the index stores it.
	Model() string
	EmbedQuery(ctx context.Context, text string) ([]float32, error)
}

// Retriever answers questions. It is safe for concurrent use if its Index and
// its Embedder are.
type Retriever struct {
	ix   Index
	opts Options
	// outlines caches the outlines of the chunks that were found last.
	outlines *outlines
}

// New makes a Retriever over an index. If ix is nil, the Retriever searches only spans.
func New(ix Index, opts *Options) *Retriever {
	r := &Retriever{ix: ix, outlines: &outlines{}}
	if opts != nil {
		r.opts = *opts
	}
	r.opts.SetDefaults()
	return r
}

// Query is a question and the bounds of its answer.
type Query struct {
	// Text is the question in the user's words. Nothing in it is syntax.
	Text string
	// Limit is the largest number of returned hits. 0 means DefaultLimit.
	Limit int
	// MinScore is the least score of a hit. MinBest is the least score of the best hit. If the
	// best hit has a lower score, Search returns no hits.
	MinScore, MinBest float64
	// MinShare is the share of the best hit's score that a hit needs, 0 to 1.
	MinShare float64
	// Passages requests turns, items, paragraphs and parts of long paragraphs, scored by their own
	// words and by their surroundings, instead of chunks.
	Passages bool
	// Prompt reports whether the hits are for a prompt and nobody asked for them. Files whose front
	// matter says that they are no longer valid then have no hits, unless the question is about the
	// past.
	Prompt bool
	// Lines requests a hit for each chunk or passage. Otherwise a hit is a place: the best lines
	// of one section, or of one session if they are close to each other.
	Lines bool
	// NoSnippets saves the time for snippets, which Pack does not need.
	NoSnippets bool
	// Want, if not nil, reports whether a file's hits may be returned.
	Want func(path string) bool
	// Denied, if not "", is the reason why this session may not search memory, as a clause for a
	// message. The index is then not searched.
	Denied string
	// StaleBy is the number of files that have changed since they were indexed, in words, or "" if
	// none has.
	StaleBy string
	// Now is the moment at which ages are measured. The zero value means the present.
	Now time.Time
	// Age returns the time from which a file ages. Its arguments are the file's path, its date
	// (YYYY-MM-DD or "") and its modification time. ages is false for a file that never ages. If
	// Age is nil, no file ages.
	Age func(path, date string, mod time.Time) (from time.Time, ages bool)
	// Spans are searched in addition to the files. It is nil if there are no spans.
	Spans *Spans
	// MostSpans is the largest number of spans that are candidates. 0 means the number of chunks
	// that are candidates.
	MostSpans int
	// WantSpan, if not nil, reports whether a span may be among the hits.
	WantSpan func(*Span) bool
}

const (
	defaultVectorWeight  = 0.7
	defaultKeywordWeight = 0.3
	defaultHalfLife      = 30 * 24 * time.Hour
	defaultLambda        = 0.7
	defaultEmbedTimeout  = 2 * time.Second
)

// defaultFloor is the least share of a score that age leaves. Recency thus decides between hits
// that are nearly equal, and no more. The table is for three conversations, with passages as hits
// (mkbench eval --with floor=…). Their questions are about all times equally and are put on the
// day after the last note, which is the worst moment for old notes:
//
//	floor                   .8     .9     .95    no decay
//	recall@10               .824   .837   .838   .846
//	recall in 1,000 tokens  .890   .889   .887   .890
//	mean reciprocal rank    .631   .634   .641   .643
//
// With notes that are years older, any floor costs as much as no floor. If a question names a
// time or asks for a time, nothing decays. If a question is about the present state, the floor is
// lower.
const defaultFloor = 0.9

// defaultPool is the number of chunks that each search contributes, and the number of hits that
// diversity looks at. A larger pool finds no more and takes more time.
const defaultPool = 20

// DefaultLimit is the default of Query.Limit.
const DefaultLimit = 10

// Options are settings of a Retriever. A nil *Options and zero fields mean the defaults.
type Options struct {
	// Embedder turns questions into vectors. If it is nil, searches use words alone.
	Embedder embedder
	// EmbedTimeout is how long the Embedder may take. After that time the question is answered by
	// words alone.
	EmbedTimeout time.Duration
	// VectorWeight and KeywordWeight mix the scores of the two searches. If
	// only one is set, the other search is switched off.
	VectorWeight, KeywordWeight float64
	// Pool is the number of candidates that each search contributes, and the number of candidates
	// that diversity looks at. A Query with a larger Limit uses its Limit instead.
	Pool int
	// HalfLife is the age at which decay has done half of its work. A negative value switches
	// decay off.
	HalfLife time.Duration
	// Floor is the least share of a score that remains at any age, 0 to 1. A negative value means
	// no floor, which buries everything that is some months old.
	Floor float64
	// Lambda is the weight of relevance against diversity. 1 or more switches diversity off.
	// Passages are chosen by relevance alone, unless the best is a turn of a conversation.
	Lambda float64
	// Signals are the weights of the parts of a passage's score. The zero value means
	// DefaultSignals.
	Signals Signals
}

// SetDefaults sets the fields that have no value to their defaults.
func (o *Options) SetDefaults() {
	o.VectorWeight, o.KeywordWeight = max(o.VectorWeight, 0), max(o.KeywordWeight, 0)
	if o.VectorWeight+o.KeywordWeight == 0 {
		o.VectorWeight, o.KeywordWeight = defaultVectorWeight, defaultKeywordWeight
	}
	if o.EmbedTimeout <= 0 {
		o.EmbedTimeout = defaultEmbedTimeout
	}
	if o.Pool <= 0 {
		o.Pool = defaultPool
	}
	if o.HalfLife == 0 {
		o.HalfLife = defaultHalfLife
	}
	if o.Floor == 0 {
		o.Floor = defaultFloor
	}
	o.Floor = min(max(o.Floor, 0), 1)
	if o.Signals == (Signals{}) {
		o.Signals = DefaultSignals()
	}
	if o.Lambda <= 0 {
		o.Lambda = defaultLambda
	}
}
