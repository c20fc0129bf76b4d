package telemetry

import (
	"slices"
	"strings"
)

// kind is the kind of a metric, such as a counter.
type kind string

// The kinds.
const (
	Counter   kind = "counter"
	Gauge     kind = "gauge"
	Histogram kind = "histogram"
)

// Metric is something that is measured.
type Metric struct {
	// Name is OpenTelemetry's name. Unit is a unit of UCUM, or USD.
	Name string
	Kind kind
	Unit string
	// Labels are the names of the metric's attributes. Each attribute has few values.
	Labels []string
	// Help describes it.
	Help string
	// Bounds are the upper bounds of a histogram's buckets.
	Bounds []float64
}

// suffixes are the words that a name in Prometheus ends with, by the unit.
var suffixes = map[string]string{"s": "_seconds", "By": "_bytes", "USD": "_usd"}

// Prometheus returns the name by which Prometheus knows the metric.
func (m *Metric) Prometheus() string {
	name := underscores(m.Name) + suffixes[m.Unit]
	if m.Kind == Counter {
		name += "_total"
	}
	return name
}

// underscores returns a name of OpenTelemetry as Prometheus writes it.
func underscores(name string) string { return strings.ReplaceAll(name, ".", "_") }

// The bounds of histograms. They are bounds for our own work in seconds, and the bounds that the
// conventions for generative AI recommend.
var (
	workBounds  = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}
	callBounds  = []float64{.01, .02, .04, .08, .16, .32, .64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}
	tokenBounds = []float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864}
)

// The attributes of the conventions that are labels of metrics, too.
const (
	attrOperation = "gen_ai.operation.name"
	attrProvider  = "gen_ai.provider.name"
	attrModel     = "gen_ai.request.model"
	attrTokenType = "gen_ai.token.type"
	attrError     = "error.type"
)

// All metrics.
var (
	requests  = &Metric{Name: "memkernel.proxy.requests", Kind: Counter, Labels: []string{"api", "outcome", "reason"}, Help: "Requests of the APIs that are read, by what became of them"}
	firstByte = &Metric{Name: "memkernel.proxy.time_to_first_byte", Kind: Histogram, Unit: "s", Labels: []string{"outcome"}, Help: "From the whole request to the first byte of the answer", Bounds: callBounds}
	rpc       = &Metric{Name: "memkernel.rpc.duration", Kind: Histogram, Unit: "s", Labels: []string{"method"}, Help: "How long calls of the daemon took", Bounds: workBounds}
	failures  = &Metric{Name: "memkernel.errors", Kind: Counter, Labels: []string{"where", "code"}, Help: "What failed, by where and by code"}

	calls      = &Metric{Name: "memkernel.calls", Kind: Counter, Labels: []string{"model"}, Help: "Calls of models that were billed"}
	unpriced   = &Metric{Name: "memkernel.calls.unpriced", Kind: Counter, Help: "Those of models without a price, which are in no cost"}
	tokens     = &Metric{Name: "memkernel.tokens", Kind: Counter, Labels: []string{"model", "kind"}, Help: "Tokens that were billed: input (not cached), cache_read, cache_write, output"}
	billed     = &Metric{Name: "memkernel.cost.billed", Kind: Counter, Unit: "USD", Labels: []string{"model"}, Help: "Cost of what was billed, by the price book"}
	without    = &Metric{Name: "memkernel.cost.without", Kind: Counter, Unit: "USD", Labels: []string{"model"}, Help: "Estimated cost of the same calls without memkernel"}
	tokenUsage = &Metric{Name: "gen_ai.client.token.usage", Kind: Histogram, Unit: "{token}", Labels: []string{attrOperation, attrProvider, attrModel, attrTokenType}, Help: "Number of input and output tokens used", Bounds: tokenBounds}
	operation  = &Metric{Name: "gen_ai.client.operation.duration", Kind: Histogram, Unit: "s", Labels: []string{attrOperation, attrProvider, attrModel, attrError}, Help: "GenAI operation duration", Bounds: callBounds}
	firstChunk = &Metric{Name: "gen_ai.client.operation.time_to_first_chunk", Kind: Histogram, Unit: "s", Labels: []string{attrOperation, attrProvider, attrModel}, Help: "Time to the first chunk of a streamed answer", Bounds: callBounds}

	planTime = &Metric{Name: "memkernel.plan.duration", Kind: Histogram, Unit: "s", Labels: []string{"op"}, Help: "How long plans took to make and record, or to peek at", Bounds: workBounds}
	cutTime  = &Metric{Name: "memkernel.cut.duration", Kind: Histogram, Unit: "s", Labels: []string{"by"}, Help: "How long the plans took that cut the prompt, and compactions", Bounds: workBounds}
	cuts     = &Metric{Name: "memkernel.cuts", Kind: Counter, Labels: []string{"reason"}, Help: "Cuts of prompts"}
	faults   = &Metric{Name: "memkernel.faults", Kind: Counter, Labels: []string{"code"}, Help: "Faults of plans, turns and compactions"}
	alerts   = &Metric{Name: "memkernel.alerts", Kind: Counter, Labels: []string{"code"}, Help: "Alerts of plans"}
	hits     = &Metric{Name: "memkernel.page.hits", Kind: Counter, Help: "Pages that were wanted and stood in the prompt"}
	thrash   = &Metric{Name: "memkernel.thrash.index", Kind: Gauge, Help: "Explicit paging faults and alerts over hits and one, since the start"}

	recalls   = &Metric{Name: "memkernel.recalls", Kind: Counter, Help: "Turns that something of memory was brought to"}
	recalled  = &Metric{Name: "memkernel.recalled.tokens", Kind: Counter, Help: "Tokens of what was brought"}
	search    = &Metric{Name: "memkernel.search.duration", Kind: Histogram, Unit: "s", Labels: []string{"op"}, Help: "How long searches of memory took: asked for, or made by plans", Bounds: workBounds}
	lagFiles  = &Metric{Name: "memkernel.index.lag.files", Kind: Gauge, Help: "Files that were written, came or went since they were indexed"}
	lagBytes  = &Metric{Name: "memkernel.index.lag.size", Kind: Gauge, Unit: "By", Help: "Size of those that are to be read"}
	indexRead = &Metric{Name: "memkernel.index.readable", Kind: Gauge, Help: "1 if the index can be read, 0 if there is none or it is damaged"}

	turns        = &Metric{Name: "memkernel.turns", Kind: Counter, Labels: []string{"outcome"}, Help: "Turns that were observed"}
	appendTime   = &Metric{Name: "memkernel.journal.append.duration", Kind: Histogram, Unit: "s", Help: "How long a plan, turn or compaction waited until what it wrote was durable", Bounds: workBounds}
	journalBytes = &Metric{Name: "memkernel.journal.written", Kind: Counter, Unit: "By", Help: "Bytes that were appended to journals"}
)

// metrics has all metrics, in the order of the documentation.
var metrics = []*Metric{requests, firstByte, rpc, failures,
	calls, unpriced, tokens, billed, without, tokenUsage, operation, firstChunk,
	planTime, cutTime, cuts, faults, alerts, hits, thrash,
	recalls, recalled, search, lagFiles, lagBytes, indexRead,
	turns, appendTime, journalBytes}

// Metrics returns all metrics. Callers must not change them.
func Metrics() []*Metric { return slices.Clone(metrics) }
