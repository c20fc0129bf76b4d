package retrieval

import "time"

// The defaults of Options.
const (
	DefaultVectorWeight  = 0.7
	DefaultKeywordWeight = 0.3
	DefaultHalfLife      = 30 * 24 * time.Hour
	DefaultLambda        = 0.7
	DefaultEmbedTimeout  = 2 * time.Second
)

// defaultFloor is what age leaves of a score at least. Recency thus decides
// between hits that are nearly equal, and no more. On three conversations whose
// questions ask about any time alike, put on the day after the last note, which
// is the worst moment for old ones, passages as hits (mkbench eval --with
// floor=…):
//
//	floor                   .8     .9     .95    no decay
//	recall@10               .824   .837   .838   .846
//	recall in 1,000 tokens  .890   .889   .887   .890
//	mean reciprocal rank    .631   .634   .641   .643
//
// Put years later, any floor costs nothing. Where a question names or asks for a
// time nothing decays; where it asks how things stand now the floor is lower.
const defaultFloor = 0.9

// defaultPool is how many chunks each search contributes, and how many hits
// diversity looks at. More find no more, and the time grows with them.
const defaultPool = 20

// DefaultLimit is how many hits a Query gets.
const DefaultLimit = 10

// Options are settings of a Retriever; nil and zero fields mean the defaults.
type Options struct {
	// Embedder turns questions into vectors; nil searches by words alone.
	Embedder Embedder
	// EmbedTimeout is how long the Embedder may take. Past it the question is
	// answered by words alone.
	EmbedTimeout time.Duration
	// VectorWeight and KeywordWeight mix the scores of the two searches. If
	// only one is set, the other search is switched off.
	VectorWeight, KeywordWeight float64
	// Pool is how many candidates each search contributes, and how many of
	// them all diversity looks at; at least a Query's Limit.
	Pool int
	// HalfLife is the age at which decay has done half of its work; negative
	// switches decay off.
	HalfLife time.Duration
	// Floor is what age leaves of a score at least, 0 to 1; negative is none,
	// which buries whatever is some months old.
	Floor float64
	// Lambda weighs relevance against diversity, up to 1; 1 or more switches
	// diversity off. Passages are chosen by relevance alone, unless the best
	// is a turn of a conversation.
	Lambda float64
	// Signals weigh what a passage's score is made of; the zero value means
	// DefaultSignals.
	Signals Signals
}

func (o *Options) setDefaults() {
	o.VectorWeight, o.KeywordWeight = max(o.VectorWeight, 0), max(o.KeywordWeight, 0)
	if o.VectorWeight+o.KeywordWeight == 0 {
		o.VectorWeight, o.KeywordWeight = DefaultVectorWeight, DefaultKeywordWeight
	}
	if o.EmbedTimeout <= 0 {
		o.EmbedTimeout = DefaultEmbedTimeout
	}
	if o.Pool <= 0 {
		o.Pool = defaultPool
	}
	if o.HalfLife == 0 {
		o.HalfLife = DefaultHalfLife
	}
	if o.Floor == 0 {
		o.Floor = defaultFloor
	}
	o.Floor = min(max(o.Floor, 0), 1)
	if o.Signals == (Signals{}) {
		o.Signals = DefaultSignals()
	}
	if o.Lambda <= 0 {
		o.Lambda = DefaultLambda
	}
}
