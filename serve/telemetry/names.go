package telemetry

import (
	"slices"
	"strings"
)

// Metric is something that is measured. It is a gauge, or a histogram if it has Bounds, or else a
// counter.
type Metric struct {
	// Name is OpenTelemetry's name. Unit is a unit of UCUM, or USD.
	Name, Unit string
	// Labels are the names of the metric's attributes. Each attribute has few values.
	Labels []string
	// Help describes it.
	Help  string
	Gauge bool
	// Bounds are the upper bounds of a histogram's buckets.
	Bounds []float64
}

// suffixes are the words that a name in Prometheus ends with, by the unit.
var suffixes = map[string]string{"s": "_seconds", "By": "_bytes", "USD": "_usd"}

// Prometheus returns the name by which Prometheus knows the metric.
func (m *Metric) Prometheus() string {
	name := underscores(m.Name) + suffixes[m.Unit]
	if m.Kind() == "counter" {
		name += "_total"
	}
	return name
}

// Kind returns Prometheus' word for the kind of the metric.
func (m *Metric) Kind() string {
	switch {
	case m.Gauge:
		return "gauge"
	case m.Bounds != nil:
		return "histogram"
	}
	return "counter"
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

// metrics has all metrics, in the order of the documentation.
var metrics []*Metric

func add(m *Metric) *Metric {
	metrics = append(metrics, m)
	return m
}

func counter(name, unit, help string, labels ...string) *Metric {
	return add(&Metric{Name: name, Unit: unit, Labels: labels, Help: help})
}

func gauge(name, unit, help string) *Metric {
	return add(&Metric{Name: name, Unit: unit, Help: help, Gauge: true})
}

func histogram(name, unit string, bounds []float64, help string, labels ...string) *Metric {
	return add(&Metric{Name: name, Unit: unit, Labels: labels, Help: help, Bounds: bounds})
}

// All metrics, in the order of the documentation.
var (
	requests  = counter("memkernel.proxy.requests", "", "Requests of the APIs that are read, by what became of them", "api", "outcome", "reason")
	firstByte = histogram("memkernel.proxy.time_to_first_byte", "s", callBounds, "From the whole request to the first byte of the answer", "outcome")
	rpc       = histogram("memkernel.rpc.duration", "s", workBounds, "How long calls of the daemon took", "method")
	failures  = counter("memkernel.errors", "", "What failed, by where and by code", "where", "code")

	calls      = counter("memkernel.calls", "", "Calls of models that were billed", "model")
	unpriced   = counter("memkernel.calls.unpriced", "", "Those of models without a price, which are in no cost")
	tokens     = counter("memkernel.tokens", "", "Tokens that were billed: input (not cached), cache_read, cache_write, output", "model", "kind")
	billed     = counter("memkernel.cost.billed", "USD", "Cost of what was billed, by the price book", "model")
	without    = counter("memkernel.cost.without", "USD", "Estimated cost of the same calls without memkernel", "model")
	tokenUsage = histogram("gen_ai.client.token.usage", "{token}", tokenBounds, "Number of input and output tokens used", attrOperation, attrProvider, attrModel, attrTokenType)
	operation  = histogram("gen_ai.client.operation.duration", "s", callBounds, "GenAI operation duration", attrOperation, attrProvider, attrModel, attrError)
	firstChunk = histogram("gen_ai.client.operation.time_to_first_chunk", "s", callBounds, "Time to the first chunk of a streamed answer", attrOperation, attrProvider, attrModel)

	planTime = histogram("memkernel.plan.duration", "s", workBounds, "How long plans took to make and record, or to peek at", "op")
	cutTime  = histogram("memkernel.cut.duration", "s", workBounds, "How long the plans took that cut the prompt, and compactions", "by")
	cuts     = counter("memkernel.cuts", "", "Cuts of prompts", "reason")
	faults   = counter("memkernel.faults", "", "Faults of plans, turns and compactions", "code")
	alerts   = counter("memkernel.alerts", "", "Alerts of plans", "code")
	hits     = counter("memkernel.page.hits", "", "Pages that were wanted and stood in the prompt")
	thrash   = gauge("memkernel.thrash.index", "", "Explicit paging faults and alerts over hits and one, since the start")

	recalls   = counter("memkernel.recalls", "", "Turns that something of memory was brought to")
	recalled  = counter("memkernel.recalled.tokens", "", "Tokens of what was brought")
	search    = histogram("memkernel.search.duration", "s", workBounds, "How long searches of memory took: asked for, or made by plans", "op")
	lagFiles  = gauge("memkernel.index.lag.files", "", "Files that were written, came or went since they were indexed")
	lagBytes  = gauge("memkernel.index.lag.size", "By", "Size of those that are to be read")
	indexRead = gauge("memkernel.index.readable", "", "1 if the index can be read, 0 if there is none or it is damaged")

	turns        = counter("memkernel.turns", "", "Turns that were observed", "outcome")
	appendTime   = histogram("memkernel.journal.append.duration", "s", workBounds, "How long a plan, turn or compaction waited until what it wrote was durable")
	journalBytes = counter("memkernel.journal.written", "By", "Bytes that were appended to journals")
)

// Metrics returns all metrics. Callers must not change them.
func Metrics() []*Metric { return slices.Clone(metrics) }
