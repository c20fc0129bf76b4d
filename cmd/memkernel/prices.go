package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/document"
)

func newPrices(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "prices [MODEL...]",
		Short: "list the price book, or convert a public catalogue",
		Long: `prices lists what the price book knows: windows, cache behaviour and prices in US
dollars per million tokens, each with the day it was checked and its source. With
names it lists the models whose id contains one of them. A model that is not in
the book is unpriced, never free.`,
		Example: `  memkernel prices opus
  memkernel prices import catalogue.json --format litellm > prices.json
  memkernel plan -t session.jsonl --prices prices.json`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.runPrices(args) },
	}
	a.pricesFlag(cmd)
	cmd.AddCommand(newPricesImport(a))
	return cmd
}

type pricesJSON struct {
	Schema string      `json:"schema"`
	Models []priceJSON `json:"models"`
}

type priceJSON struct {
	ID                string             `json:"id"`
	Provider          string             `json:"provider"`
	Tokenizer         string             `json:"tokenizer"`
	ContextWindow     int                `json:"context_window"`
	MaxOutput         int                `json:"max_output"`
	MinCacheTokens    int                `json:"min_cache_tokens"`
	Cache             string             `json:"cache"`
	TTLSeconds        []int              `json:"ttl_seconds"`
	PreservedThinking bool               `json:"preserved_thinking"`
	EffectiveFrom     string             `json:"effective_from"`
	AsOf              string             `json:"as_of"`
	Source            string             `json:"source"`
	Note              string             `json:"note"`
	Priced            bool               `json:"priced"`
	Tiers             []cachelayout.Tier `json:"tiers"`
}

func (a *app) runPrices(names []string) error {
	book, err := a.book()
	if err != nil {
		return err
	}
	models := chooseModels(book.Models(), names)
	if a.json {
		doc := pricesJSON{Schema: "memkernel/prices/v1", Models: []priceJSON{}}
		for i := range models {
			doc.Models = append(doc.Models, priceDocument(&models[i]))
		}
		return a.writeJSON(doc)
	}
	if len(models) == 0 {
		a.tip("no model's id contains %s", strings.Join(names, " or "))
		return nil
	}
	_, err = a.out.Write([]byte(pricesTable(models, a.painter())))
	return err
}

// chooseModels keeps the models whose id contains one of the names.
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
		MinCacheTokens: m.MinCacheTokens, Cache: string(m.Cache), TTLSeconds: []int{}, PreservedThinking: m.PreservedThinking,
		EffectiveFrom: m.EffectiveFrom, AsOf: m.AsOf, Source: m.Source, Note: m.Note, Priced: m.Priced(), Tiers: document.List(m.Tiers)}
	for _, t := range m.TTLs {
		p.TTLSeconds = append(p.TTLSeconds, int(t/time.Second))
	}
	return p
}

// pricesTable lists models, a line per tier, and numbers the sources below.
func pricesTable(models []cachelayout.Model, p painter) string {
	var b strings.Builder
	b.WriteString(p.do(bold, left("model", 22)+right("window", 7)+right("input", 7)+right("read", 7)+right("short", 7)+right("long", 6)+right("output", 7)+"  "+left("as of", 10)+right("src", 4)) + "\n")
	var sources []string
	for i := range models {
		m := &models[i]
		at := slices.Index(sources, m.Source)
		if at < 0 && m.Source != "" {
			at = len(sources)
			sources = append(sources, m.Source)
		}
		name, window, rest := m.ID, shortTokens(m.ContextWindow), "  "+left(m.AsOf, 10)
		if at >= 0 {
			rest += right(fmt.Sprintf("[%d]", at+1), 5)
		}
		tiers := m.Tiers
		if len(tiers) == 0 {
			b.WriteString(left(name, 22) + right(window, 7) + left("  unpriced", 34) + rest + "\n")
		}
		for n, t := range tiers {
			if n > 0 {
				name, window, rest = "  above "+shortTokens(t.AboveTokens), "", ""
			}
			b.WriteString(strings.TrimRight(left(name, 22)+right(window, 7)+right(rateOf(t.Input), 7)+right(rateOf(t.Read), 7)+right(rateOf(t.Write5m), 7)+right(rateOf(t.Write1h), 6)+right(rateOf(t.Output), 7)+rest, " ") + "\n")
		}
		if m.EffectiveFrom != "" {
			b.WriteString(p.do(gray, "  from "+m.EffectiveFrom) + "\n")
		}
	}
	b.WriteString("\n" + p.do(gray, "US dollars per million tokens; short and long are cache writes by lifetime") + "\n")
	for i, s := range sources {
		for n, l := range wrap(s, columns-6) {
			head := "     "
			if n == 0 {
				head = left(fmt.Sprintf("[%d]", i+1), 5)
			}
			b.WriteString(p.do(gray, head+l) + "\n")
		}
	}
	return b.String()
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
	return thousands(n)
}

// newPricesImport converts a public catalogue that the user has fetched.
func newPricesImport(a *app) *cobra.Command {
	format := choice{of: []string{"litellm", "models.dev", "genai"}}
	var output string
	cmd := &cobra.Command{
		Use:   "import FILE --format FORMAT",
		Short: "convert a public price catalogue to the price book's form",
		Long: `import reads a catalogue that you have fetched (it never opens a connection) and
writes a price file for --prices. Only stated prices are taken: what a catalogue
leaves out stays unknown.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("prices import takes one file, got %d arguments", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return a.importPrices(args[0], format.value, output) },
	}
	cmd.Flags().Var(&format, "format", "the catalogue")
	cmd.Flags().StringVarP(&output, "output", "o", "-", "`file` to write, - for standard output; an existing one is kept")
	completeWords(cmd, "format", format.of)
	return cmd
}

func (a *app) importPrices(path, format, output string) error {
	if format == "" {
		return usagef("prices import needs --format litellm, models.dev or genai")
	}
	in, err := a.open(path)
	if err != nil {
		return fmt.Errorf("import prices: %w", err)
	}
	defer in.Close()
	rows, skipped, err := cachelayout.Import(format, in)
	if err != nil {
		return hint(fmt.Errorf("%s: %w", path, err), "the file is the catalogue as its project publishes it; check --format")
	}
	if output == "-" {
		err = cachelayout.WriteRows(a.data(), rows)
	} else {
		err = writeNew(output, rows)
	}
	if err != nil {
		return err
	}
	a.tip("%s imported, %d left out", plural(len(rows), "row"), len(skipped))
	for _, s := range skipped[:min(len(skipped), 3)] {
		a.tip("left out: %s: %s", s.ID, s.Reason)
	}
	return nil
}

// writeNew writes a price file and never over another one.
func writeNew(path string, rows []cachelayout.Row) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if os.IsExist(err) {
		return hint(fmt.Errorf("write prices: %s exists already", path), "choose another name, or remove it first")
	}
	if err != nil {
		return fmt.Errorf("write prices: %w", err)
	}
	err = cachelayout.WriteRows(f, rows)
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		os.Remove(path)
	}
	return err
}
