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

// DefaultFloor is what age leaves of a score at least. Recency thus decides
// between hits that are nearly equal, and no more. On three conversations whose
// questions ask about any time alike, put on the day after the last note, which
// is the worst moment for old ones (means over their questions; BenchmarkSets and
// BenchmarkChoices of bench/relevance):
//
//	floor                   none    .2     .5     .8   no decay
//	recall@10               .749   .875   .902   .901   .906
//	recall in 2,000 tokens  .604   .768   .856   .873   .884
//	mean reciprocal rank    .454   .569   .712   .790   .807
//
// Put years later, any floor costs nothing, and none costs the same again.
const DefaultFloor = 0.8

// DefaultPool is how many candidates each search contributes. On the same
// conversations 30, 50 and 100 find no more (recall@10 .896 against .901), and
// the time of diversity grows with them.
const DefaultPool = 20

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
	// diversity off.
	Lambda float64
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
		o.Pool = DefaultPool
	}
	if o.HalfLife == 0 {
		o.HalfLife = DefaultHalfLife
	}
	if o.Floor == 0 {
		o.Floor = DefaultFloor
	}
	o.Floor = min(max(o.Floor, 0), 1)
	if o.Lambda <= 0 {
		o.Lambda = DefaultLambda
	}
}
