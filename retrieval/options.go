package retrieval

import "time"

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
