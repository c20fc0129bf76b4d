package cachelayout

import (
	"bytes"
	_ "embed"
	"slices"
	"strings"
	"sync"
	"time"
)

// CacheKind is how a provider caches prompts.
type CacheKind string

const (
	// CacheAnthropic writes at marked blocks and looks back from them.
	CacheAnthropic CacheKind = "anthropic"
	// CacheOpenAIExplicit writes at marked blocks, without a look-back limit.
	CacheOpenAIExplicit CacheKind = "openai-explicit"
	// CacheOpenAIAuto caches any prefix by itself, in steps.
	CacheOpenAIAuto CacheKind = "openai-auto"
	// CacheGemini is Gemini's implicit cache: any prefix, no guarantee.
	CacheGemini CacheKind = "gemini"
	// CacheDeepSeek caches whole prefix units on disk.
	CacheDeepSeek CacheKind = "deepseek"
	// CacheNone is a model without a prompt cache, or an unknown one.
	CacheNone CacheKind = "none"
)

// marked reports whether entries are written only where a marker is.
func (k CacheKind) marked() bool {
	return k == CacheAnthropic || k == CacheOpenAIExplicit
}

// automatic reports whether the provider caches without markers.
func (k CacheKind) automatic() bool {
	return k == CacheOpenAIAuto || k == CacheGemini || k == CacheDeepSeek
}

// AssumedTTL is the lifetime assumed where a provider documents none, and the
// clock for models of which nothing is known: the shortest that any provider
// documents.
const AssumedTTL = 5 * time.Minute

// Tier holds the prices of a range of prompt sizes, in US dollars per million
// tokens. A nil price is unknown. A request that is larger than AboveTokens is
// priced by this tier as a whole.
type Tier struct {
	AboveTokens int      `json:"above_tokens"`
	Input       *float64 `json:"input"`
	Output      *float64 `json:"output"`
	// Write5m and Write1h are writes with the provider's short and long lifetime. They are nil
	// with automatic caches, which bill writing as plain input.
	Write5m *float64 `json:"write_5m"`
	Write1h *float64 `json:"write_1h"`
	Read    *float64 `json:"read"`
}

// Model holds the book's facts about a model at one point in time. The zero Model is unpriced and
// has no cache.
type Model struct {
	ID       string
	Provider string
	// Tokenizer is one of o200k, cl100k, claude-old, claude-new, gemini, bytes.
	Tokenizer string
	// ContextWindow and MaxOutput are tokens, 0 if unknown.
	ContextWindow, MaxOutput int
	// MinCacheTokens is the smallest prefix that is cached; a shorter one is
	// silently not.
	MinCacheTokens int
	Cache          CacheKind
	// PreservedThinking reports whether thinking is bound to the prefix that it was
	// produced in. DropsThinking reports whether the provider then drops thinking whose
	// prefix has changed without being asked to; others refuse the request.
	PreservedThinking, DropsThinking bool
	// TTLs are the lifetimes on offer, shortest first; empty if undocumented.
	TTLs []time.Duration
	// LookbackPositions is how far a breakpoint sees back, counting itself;
	// 0 is without limit.
	LookbackPositions int
	// MaxBreakpoints is how many markers a request may carry.
	MaxBreakpoints int
	// StepTokens is the step in which automatic hits are rounded down.
	StepTokens int
	// Tiers are the prices, base tier (AboveTokens 0) first; empty: unpriced.
	Tiers []Tier
	// EffectiveFrom is the first day (UTC) of these prices, "" if they hold
	// since ever; AsOf is the day they were last checked.
	EffectiveFrom, AsOf, Source, Note string
}

// Priced reports whether the book knows the price of an input token.
func (m Model) Priced() bool {
	return len(m.Tiers) > 0 && m.Tiers[0].Input != nil
}

// TierFor returns the tier that prices a prompt of so many tokens as a whole.
func (m Model) TierFor(tokens int) Tier {
	var t Tier
	for _, c := range m.Tiers {
		if c.AboveTokens <= 0 || tokens > c.AboveTokens {
			t = c
		}
	}
	return t
}

// Cliff returns the largest prompt that is still priced by the tier that
// prices a prompt of so many tokens; 0 if no dearer tier follows.
func (m Model) Cliff(tokens int) int {
	for _, t := range m.Tiers {
		if t.AboveTokens > 0 && t.AboveTokens >= tokens {
			return t.AboveTokens
		}
	}
	return 0
}

// TTL returns the lifetime that the provider offers for a wish: the shortest
// that is not shorter, else the longest. No wish gives the default, the
// shortest.
func (m Model) TTL(wish time.Duration) time.Duration {
	if len(m.TTLs) == 0 {
		return AssumedTTL
	}
	for _, t := range m.TTLs {
		if t >= wish {
			return t
		}
	}
	return m.TTLs[len(m.TTLs)-1]
}

// longLived reports whether an entry with this lifetime is written at the
// price of the long one.
func (m Model) longLived(ttl time.Duration) bool {
	return len(m.TTLs) > 1 && ttl >= m.TTLs[1]
}

// Book is a table of dated prices. It is never changed once made.
type Book struct {
	rows  []Row
	names map[string][]int // id or alias -> rows, oldest first
}

//go:embed prices.json
var pricesJSON []byte

// defaultBook is parsed once; it is constant, since it comes from the binary.
var defaultBook = sync.OnceValue(func() *Book {
	rows, err := parseRows(bytes.NewReader(pricesJSON), "prices.json")
	if err != nil {
		// A test holds the embedded table; an empty book means all unpriced.
		return newBook(nil)
	}
	return newBook(rows)
})

// DefaultBook returns the table embedded in the binary.
func DefaultBook() *Book { return defaultBook() }

func newBook(rows []Row) *Book {
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b Row) int {
		if c := strings.Compare(a.ID, b.ID); c != 0 {
			return c
		}
		return strings.Compare(a.EffectiveFrom, b.EffectiveFrom)
	})
	b := &Book{rows: rows, names: make(map[string][]int, 2*len(rows))}
	for i, r := range rows {
		b.names[strings.ToLower(r.ID)] = append(b.names[strings.ToLower(r.ID)], i)
	}
	// Aliases come second: an alias never hides a model of that name.
	for i, r := range rows {
		for _, a := range r.Aliases {
			if !b.named(strings.ToLower(a), r.ID) {
				b.names[strings.ToLower(a)] = append(b.names[strings.ToLower(a)], i)
			}
		}
	}
	return b
}

// named reports whether name already names a model other than id.
func (b *Book) named(name, id string) bool {
	rows := b.names[name]
	return len(rows) > 0 && b.rows[rows[0]].ID != id
}

// Lookup finds a model by id or alias, with or without provider prefix and
// snapshot date, as it was priced at a time; the zero time asks for the newest
// prices. Before the first known price the model is returned unpriced. An
// unknown model gives the zero Model and false: its cost is unpriced, never 0.
func (b *Book) Lookup(id string, at time.Time) (Model, bool) {
	rows := b.find(id)
	if len(rows) == 0 {
		return Model{}, false
	}
	if at.IsZero() {
		return b.rows[rows[len(rows)-1]].model(), true
	}
	day := at.UTC().Format(time.DateOnly)
	for _, i := range slices.Backward(rows) {
		if b.rows[i].EffectiveFrom <= day {
			return b.rows[i].model(), true
		}
	}
	m := b.rows[rows[0]].model()
	m.Tiers = nil
	return m, true
}

// find returns the rows of a model, oldest first. A full name wins over a stripped one, so that a
// gateway's own price can be listed next to the provider's.
func (b *Book) find(id string) []int {
	full := strings.ToLower(strings.TrimSpace(id))
	if full == "" {
		return nil
	}
	if rows, ok := b.names[full]; ok {
		return rows
	}
	return b.names[modelKey(full)]
}

// Models lists every row of the book, by id and then by date.
func (b *Book) Models() []Model {
	out := make([]Model, len(b.rows))
	for i, r := range b.rows {
		out[i] = r.model()
	}
	return out
}

// Assume describes how a model that is not in the book most likely behaves,
// judged by the family in its name: which tokenizer, how it caches. It never
// carries a price. An unrecognised name gets no cache and counts bytes.
func Assume(id string) Model {
	key := modelKey(id)
	row := Row{ID: key, Tokenizer: "bytes", Cache: CacheNone}
	switch {
	case strings.HasPrefix(key, "claude"):
		// The largest known minimum and the strictest thinking rule are safe.
		row.Provider, row.Tokenizer, row.Cache = "anthropic", "claude-new", CacheAnthropic
		row.MinCacheTokens, row.PreservedThinking = 4096, true
		row.TTLs = []string{"5m", "1h"}
	case strings.HasPrefix(key, "gpt-"), strings.HasPrefix(key, "codex"),
		len(key) > 1 && key[0] == 'o' && key[1] >= '1' && key[1] <= '9':
		row.Provider, row.Tokenizer, row.Cache = "openai", "o200k", CacheOpenAIAuto
		row.MinCacheTokens, row.TTLs = 1024, []string{"5m"}
	case strings.HasPrefix(key, "gemini"):
		row.Provider, row.Tokenizer, row.Cache, row.MinCacheTokens = "google", "gemini", CacheGemini, 4096
	case strings.HasPrefix(key, "deepseek"):
		row.Provider, row.Cache = "deepseek", CacheDeepSeek
	}
	return row.model()
}
