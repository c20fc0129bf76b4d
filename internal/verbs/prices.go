package verbs

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/internal/document"
)

// pricesVerb is the verb prices.
func pricesVerb(a *cli.App) *cobra.Command {
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

// pricesJSON is the document of prices.
type pricesJSON struct {
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

func runPrices(a *cli.App, names []string) error {
	book, err := a.Book()
	if err != nil {
		return err
	}
	models := chooseModels(book.Models(), names)
	if a.JSON {
		doc := pricesJSON{Schema: "memkernel/prices/v1", Models: []priceJSON{}}
		for i := range models {
			doc.Models = append(doc.Models, priceDocument(&models[i]))
		}
		return a.WriteJSON(doc)
	}
	if len(models) == 0 {
		a.Tip("no model's id contains %s", strings.Join(names, " or "))
		return nil
	}
	return a.Print(func(s *display.Sheet) { showPrices(s, models) })
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
func newPricesImport(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "import FILE",
		Short: "convert models.dev's price catalogue to the price book's form",
		Long: `import reads models.dev's catalogue, https://models.dev/api.json, which you have
fetched (it never opens a connection), and prints a price file for --prices. Only stated
prices are taken: what the catalogue leaves out stays unknown.`,
		Args: takes(1, 1, "prices import takes one file, got %d arguments"),
		RunE: func(cmd *cobra.Command, args []string) error { return importPrices(a, args[0]) },
	}
}

func importPrices(a *cli.App, path string) error {
	in, err := a.OpenFile(path)
	if err != nil {
		return fmt.Errorf("import prices: %w", err)
	}
	defer in.Close()
	rows, skipped, err := cachelayout.Import(in)
	if err != nil {
		return cli.Hint(fmt.Errorf("%s: %w", path, err), "fetch https://models.dev/api.json and import that; rows of your own can be written by hand, as doc/schema.json has them in memkernel/prices/v1")
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

// showPrices lists models with a line per tier, and a numbered list of sources below.
func showPrices(s *display.Sheet, models []cachelayout.Model) {
	row := s.Table(0, []int{22, -7, -7, -7, -7, -6, -7, 2, 10, -5}, "model", "window", "input", "read", "short", "long", "output", "", "as of", "src")
	var sources []string
	for i := range models {
		m := &models[i]
		at := slices.Index(sources, m.Source)
		if at < 0 && m.Source != "" {
			at = len(sources)
			sources = append(sources, m.Source)
		}
		name, window, asOf, src := m.ID, shortTokens(m.ContextWindow), m.AsOf, ""
		if at >= 0 {
			src = fmt.Sprintf("[%d]", at+1)
		}
		if len(m.Tiers) == 0 {
			s.Table(0, []int{22, -7, 34, 2, 10, -5})(name, window, "  unpriced", "", asOf, src)
		}
		for n, t := range m.Tiers {
			if n > 0 {
				name, window, asOf, src = "  above "+shortTokens(t.AboveTokens), "", "", ""
			}
			row(name, window, rateOf(t.Input), rateOf(t.Read), rateOf(t.Write5m), rateOf(t.Write1h), rateOf(t.Output), "", asOf, src)
		}
		if m.EffectiveFrom != "" {
			s.Line("  {}", display.Inked("gray", "from "+m.EffectiveFrom))
		}
	}
	s.Line("\n{}", display.Inked("gray", "US dollars per million tokens; short and long are cache writes by lifetime"))
	for i, source := range sources {
		s.Hang(s.Paint("gray", display.Left(fmt.Sprintf("[%d]", i+1), 5)), 5, "gray", "{}", source)
	}
}

func rateOf(v *float64) string {
	if v == nil {
		return "-"
	}
	if s := fmt.Sprintf("%.5g", *v); len(s) < 7 {
		return s
	}
	return fmt.Sprintf("%.2g", *v)
}

// shortTokens writes 200000 as 200k.
func shortTokens(n int) string {
	switch {
	case n <= 0:
		return "-"
	case n >= 1_000_000:
		return fmt.Sprintf("%.3gm", float64(n)/1e6)
	case n%1000 == 0:
		return fmt.Sprintf("%dk", n/1000)
	}
	return display.Thousands(n)
}
