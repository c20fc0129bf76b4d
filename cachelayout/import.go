package cachelayout

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// skippedRow is an entry of a catalogue that was not imported.
type skippedRow struct {
	ID     string `json:"id"`
	Reason string `json:"reason"`
}

// firstParty lists the providers whose model ids have no prefix. Every other provider resells
// models at its own prices.
var firstParty = []string{"anthropic", "openai", "google", "deepseek", "xai", "mistral"}

// modelsDevCost is a price object of models.dev; prices are dollars per million tokens.
type modelsDevCost struct {
	Input      *float64 `json:"input"`
	Output     *float64 `json:"output"`
	CacheRead  *float64 `json:"cache_read"`
	CacheWrite *float64 `json:"cache_write"`
}

// modelsDevModel is a model of models.dev. Its price tiers have one of three forms, by the age of
// the entry.
type modelsDevModel struct {
	Cost *struct {
		modelsDevCost
		Over200k *modelsDevCost `json:"context_over_200k"`
		Tiers    []struct {
			modelsDevCost
			Tier struct {
				Type string `json:"type"`
				Size int    `json:"size"`
			} `json:"tier"`
			Context struct {
				Min int `json:"min"`
			} `json:"context"`
		} `json:"tiers"`
	} `json:"cost"`
	Limit struct {
		Context int `json:"context"`
		Output  int `json:"output"`
	} `json:"limit"`
}

// Import turns the api.json of models.dev into rows, which [WriteRows] writes and [Book.Overlay]
// adds to a book. It takes only stated prices. A price that the catalogue leaves out stays
// unknown, so that no bill rests on a guess. The catalogue has only one write price, which is for
// the short lifetime. Import returns entries without token prices as skipped. Rows are sorted by
// id. A file without a model is an error.
func Import(r io.Reader) (rows []priceRow, skipped []skippedRow, err error) {
	var all map[string]struct {
		Models map[string]modelsDevModel `json:"models"`
	}
	if err = json.NewDecoder(r).Decode(&all); err == nil {
		for provider, p := range all {
			for id, m := range p.Models {
				row := m.row(provider, id)
				if row.Tiers == nil {
					skipped = append(skipped, skippedRow{row.ID, "no price per input token"})
				} else if err := row.check(); err != nil {
					skipped = append(skipped, skippedRow{row.ID, err.Error()})
				} else {
					rows = append(rows, row)
				}
			}
		}
		if len(rows)+len(skipped) == 0 {
			err = errors.New("no provider in it has models")
		}
	}
	if err != nil {
		return nil, nil, fmt.Errorf("import prices: no api.json of models.dev: %w", err)
	}
	slices.SortFunc(rows, func(a, b priceRow) int { return strings.Compare(a.ID, b.ID) })
	slices.SortFunc(skipped, func(a, b skippedRow) int { return strings.Compare(a.ID, b.ID) })
	return rows, skipped, nil
}

// row returns a model as a row, without tiers if it has no base input price. Only OpenAI models
// with explicit breakpoints charge for cache writes. For all other models the base row decides on
// the cache.
func (m modelsDevModel) row(provider, id string) priceRow {
	r := priceRow{ID: id, Provider: provider, ContextWindow: max(0, m.Limit.Context), MaxOutput: max(0, m.Limit.Output), Source: "models.dev api.json"}
	if !slices.Contains(firstParty, provider) {
		r.ID = provider + "/" + id
	}
	if m.Cost == nil || m.Cost.Input == nil {
		return r
	}
	tiers := map[int]modelsDevCost{0: m.Cost.modelsDevCost}
	if o := m.Cost.Over200k; o != nil {
		tiers[200_000] = *o
	}
	for _, t := range m.Cost.Tiers {
		if above := max(t.Tier.Size, t.Context.Min); above > 0 && (t.Tier.Type == "" || t.Tier.Type == "context") {
			tiers[above] = t.modelsDevCost
		}
	}
	for above, c := range tiers {
		r.Tiers = append(r.Tiers, Tier{AboveTokens: above, Input: c.Input, Output: c.Output, Write5m: c.CacheWrite, Read: c.CacheRead})
	}
	slices.SortFunc(r.Tiers, func(a, b Tier) int { return a.AboveTokens - b.AboveTokens })
	if w := m.Cost.CacheWrite; provider == "openai" && w != nil && *w > 0 {
		r.Cache = CacheOpenAIExplicit
	}
	return r
}
