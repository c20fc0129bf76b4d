package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/internal/document"
)

// PricesVerb is the verb prices.
func PricesVerb(a *App) *cobra.Command {
	cmd := &cobra.Command{
		Long: `prices lists what the price book knows: windows, cache behaviour and prices in US
dollars per million tokens, each with the day it was checked and its source. With
names it lists the models whose id contains one of them. A model that is not in
the book is unpriced, never free.`,
		Example: `  memkernel prices opus
  memkernel prices import api.json > prices.json
  memkernel plan -t session.jsonl --prices prices.json`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return runPrices(a, args) },
	}
	a.PricesFlag(cmd)
	cmd.AddCommand(newPricesImport(a))
	return cmd
}

// PricesJSON is the document of prices.
type PricesJSON struct {
	Schema string `json:"schema"`
	// Models are ordered by id, then by date.
	Models []priceJSON `json:"models"`
}

type priceJSON struct {
	ID        string `json:"id"`
	Provider  string `json:"provider"`
	Tokenizer string `json:"tokenizer"`
	// ContextWindow and MaxOutput are 0 if unknown.
	ContextWindow int `json:"context_window"`
	MaxOutput     int `json:"max_output"`
	// MinCacheTokens is the smallest prefix that is cached.
	MinCacheTokens int `json:"min_cache_tokens"`
	// Cache is the provider's way to cache. TTLSeconds are the lifetimes it offers.
	Cache      string `json:"cache"`
	TTLSeconds []int  `json:"ttl_seconds"`
	// PreservedThinking reports whether thinking is bound to its prefix.
	PreservedThinking bool `json:"preserved_thinking"`
	// DropsThinking reports whether the provider drops thinking whose prefix changed. Other
	// providers refuse the request.
	DropsThinking bool `json:"drops_thinking"`
	// EffectiveFrom is the first day of these prices, "" if they have no first day. AsOf is the
	// day on which the prices were checked.
	EffectiveFrom string `json:"effective_from"`
	AsOf          string `json:"as_of"`
	Source        string `json:"source"`
	Note          string `json:"note"`
	Priced        bool   `json:"priced"`
	// Tiers have the base tier first.
	Tiers []cachelayout.Tier `json:"tiers"`
}

func runPrices(a *App, names []string) error {
	book, err := a.Book()
	if err != nil {
		return err
	}
	models := chooseModels(book.Models(), names)
	if a.JSON {
		doc := PricesJSON{Schema: "memkernel/prices/v1", Models: []priceJSON{}}
		for i := range models {
			doc.Models = append(doc.Models, priceDocument(&models[i]))
		}
		return a.WriteJSON(doc)
	}
	if len(models) == 0 {
		a.Tip("no model's id contains %s", strings.Join(names, " or "))
		return nil
	}
	return a.Print(func(s *display.Sheet) { display.Prices(s, models) })
}

// chooseModels returns the models whose id contains one of the names.
func chooseModels(all []cachelayout.Model, names []string) []cachelayout.Model {
	if len(names) == 0 {
		return all
	}
	return slices.DeleteFunc(all, func(m cachelayout.Model) bool {
		return !slices.ContainsFunc(names, func(n string) bool {
			return strings.Contains(strings.ToLower(m.ID), strings.ToLower(n))
		})
	})
}

func priceDocument(m *cachelayout.Model) priceJSON {
	p := priceJSON{ID: m.ID, Provider: m.Provider, Tokenizer: m.Tokenizer, ContextWindow: m.ContextWindow, MaxOutput: m.MaxOutput,
		MinCacheTokens: m.MinCacheTokens, Cache: string(m.Cache), TTLSeconds: []int{}, PreservedThinking: m.PreservedThinking, DropsThinking: m.DropsThinking,
		EffectiveFrom: m.EffectiveFrom, AsOf: m.AsOf, Source: m.Source, Note: m.Note, Priced: m.Priced(), Tiers: document.List(m.Tiers)}
	for _, t := range m.TTLs {
		p.TTLSeconds = append(p.TTLSeconds, int(t/time.Second))
	}
	return p
}

// newPricesImport returns the verb that converts a public catalogue, which the user has
// downloaded.
func newPricesImport(a *App) *cobra.Command {
	return &cobra.Command{
		Use:   "import FILE",
		Short: "convert models.dev's price catalogue to the price book's form",
		Long: `import reads models.dev's catalogue, https://models.dev/api.json, which you have
fetched (it never opens a connection), and prints a price file for --prices. Only stated
prices are taken: what the catalogue leaves out stays unknown.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return Usagef("prices import takes one file, got %d arguments", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return importPrices(a, args[0]) },
	}
}

func importPrices(a *App, path string) error {
	in, err := a.OpenFile(path)
	if err != nil {
		return fmt.Errorf("import prices: %w", err)
	}
	defer in.Close()
	rows, skipped, err := cachelayout.Import(in)
	if err != nil {
		return Hint(fmt.Errorf("%s: %w", path, err), "fetch https://models.dev/api.json and import that; rows of your own can be written by hand, as doc/schema.json has them in memkernel/prices/v1")
	}
	if err := cachelayout.WriteRows(a.Data(), rows); err != nil {
		return err
	}
	a.Tip("%s imported, %d left out", display.Plural(len(rows), "row"), len(skipped))
	for _, s := range skipped[:min(len(skipped), 3)] {
		a.Tip("left out: %s: %s", s.ID, s.Reason)
	}
	return nil
}
