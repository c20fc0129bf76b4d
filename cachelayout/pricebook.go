package cachelayout

import (
	"bytes"
	"cmp"
	_ "embed"
	"slices"
	"strings"
	"sync"
	"time"
)

// cacheKind names the way in which a provider caches prompts.
type cacheKind string

const (
	// CacheAnthropic writes at marked blocks and looks back from them.
	CacheAnthropic cacheKind = "anthropic"
	// CacheOpenAIExplicit writes at marked blocks, without a look-back limit.
	CacheOpenAIExplicit cacheKind = "openai-explicit"
	// CacheOpenAIAuto caches any prefix by itself, in steps.
	CacheOpenAIAuto cacheKind = "openai-auto"
	// cacheGemini is Gemini's implicit cache. It may hold any prefix, and guarantees no hit.
	cacheGemini cacheKind = "gemini"
	// cacheDeepSeek caches whole prefix units on disk.
	cacheDeepSeek cacheKind = "deepseek"
	// CacheNone is a model without a prompt cache, or an unknown one.
	CacheNone cacheKind = "none"
)

// marked reports whether entries are written only where a marker is.
func (k cacheKind) marked() bool {
	return k == CacheAnthropic || k == CacheOpenAIExplicit
}

// automatic reports whether the provider caches without markers.
func (k cacheKind) automatic() bool {
	return k == CacheOpenAIAuto || k == cacheGemini || k == cacheDeepSeek
}

// AssumedTTL is the assumed lifetime for providers that document none and for unknown models. It
// is the shortest lifetime that any provider documents.
const AssumedTTL = 5 * time.Minute

// Tier holds the prices of a range of prompt sizes, in US dollars per million tokens. A nil price
// is unknown. The whole of a request that is larger than AboveTokens is priced by this tier.
type Tier struct {
	AboveTokens int      `json:"above_tokens"`
	Input       *float64 `json:"input"`
	Output      *float64 `json:"output"`
	// Write5m is the price of writing with the provider's short lifetime. Write1h is the price of
	// writing with the long lifetime. Both are nil for automatic caches, which bill writing as
	// plain input.
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
	// MinCacheTokens is the smallest prefix that is cached. The provider silently does not cache
	// a shorter prefix.
	MinCacheTokens int
	Cache          cacheKind
	// PreservedThinking reports whether thinking is bound to the prefix that it was produced in.
	// DropsThinking reports whether the provider drops thinking whose prefix has changed without
	// being told to. Other providers refuse such a request.
	PreservedThinking, DropsThinking bool
	// TTLs are the offered lifetimes, shortest first. TTLs is empty if they are undocumented.
	TTLs []time.Duration
	// LookbackPositions is the number of positions that a breakpoint looks back over, including
	// its own. 0 means no limit.
	LookbackPositions int
	// MaxBreakpoints is the largest number of markers in a request.
	MaxBreakpoints int
	// StepTokens is the step in which automatic hits are rounded down.
	StepTokens int
	// Tiers are the prices, with the base tier (AboveTokens 0) first. Tiers is empty for an
	// unpriced model.
	Tiers []Tier
	// EffectiveFrom is the first day (UTC) of these prices, "" if no first day is known. AsOf is
	// the day on which they were last checked.
	EffectiveFrom, AsOf, Source, Note string
}

// Priced reports whether the book knows the price of an input token.
func (m Model) Priced() bool {
	return len(m.Tiers) > 0 && m.Tiers[0].Input != nil
}

// TierFor returns the tier that prices a prompt of the given size.
func (m Model) TierFor(tokens int) Tier {
	var t Tier
	for _, c := range m.Tiers {
		if c.AboveTokens <= 0 || tokens > c.AboveTokens {
			t = c
		}
	}
	return t
}

// TTL returns the offered lifetime for a wished one. It is the shortest offered lifetime that is
// not shorter than wish, or the longest if all are shorter. A wish of 0 gives the default, which
// is the shortest.
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

// longLived reports whether an entry with this lifetime is written at the price of the long
// lifetime.
func (m Model) longLived(ttl time.Duration) bool {
	return len(m.TTLs) > 1 && ttl >= m.TTLs[1]
}

// Book is a table of dated prices. It is never changed once made.
type Book struct {
	rows  []priceRow
	names map[string][]int // id or alias -> rows, oldest first
}

//go:embed prices.json
var pricesJSON []byte

// defaultBook is parsed once; it is constant, since it comes from the binary.
var defaultBook = sync.OnceValue(func() *Book {
	rows, err := parseRows(bytes.NewReader(pricesJSON), "prices.json")
	if err != nil {
		// A test checks the embedded table. In an empty book all models are unpriced.
		return newBook(nil)
	}
	return newBook(rows)
})

// DefaultBook returns the table embedded in the binary.
func DefaultBook() *Book { return defaultBook() }

func newBook(rows []priceRow) *Book {
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b priceRow) int {
		return cmp.Or(strings.Compare(a.ID, b.ID), strings.Compare(a.EffectiveFrom, b.EffectiveFrom))
	})
	b := &Book{rows: rows, names: make(map[string][]int, 2*len(rows))}
	for i, r := range rows {
		b.names[strings.ToLower(r.ID)] = append(b.names[strings.ToLower(r.ID)], i)
	}
	// Aliases are added after all names, so that an alias never hides a model of that name.
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

// Lookup finds a model by id or alias, with or without provider prefix and snapshot date, as it
// was priced at the given time. The zero time means the newest prices. Before the first known
// price the model is returned unpriced. An unknown model gives the zero Model and false: its cost
// is unpriced, never 0.
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

// find returns the rows of a model, oldest first. A full name takes precedence over a stripped
// one, so that a gateway's own price can be listed next to the provider's price.
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

// Assume returns the most likely behaviour of a model that is not in the book. It judges
// tokenizer and cache by the family in the model's name. The result never has a price. An
// unrecognised name gets no cache and counts bytes.
func Assume(id string) Model {
	key := modelKey(id)
	row := priceRow{ID: key, Tokenizer: "bytes", Cache: CacheNone}
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
		row.Provider, row.Tokenizer, row.Cache, row.MinCacheTokens = "google", "gemini", cacheGemini, 4096
	case strings.HasPrefix(key, "deepseek"):
		row.Provider, row.Cache = "deepseek", cacheDeepSeek
	}
	return row.model()
}
