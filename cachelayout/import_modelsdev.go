package cachelayout

import (
	"encoding/json"
	"slices"
)

// firstParty lists the providers whose model ids have no prefix. Every other provider resells
// models at its own prices.
var firstParty = []string{"anthropic", "openai", "google", "deepseek", "xai", "mistral"}

// modelsDevCost is a price object; prices are dollars per million tokens.
type modelsDevCost struct {
	Input      *float64 `json:"input"`
	Output     *float64 `json:"output"`
	CacheRead  *float64 `json:"cache_read"`
	CacheWrite *float64 `json:"cache_write"`
}

func (c modelsDevCost) tier(above int) Tier {
	return Tier{AboveTokens: above, Input: c.Input, Output: c.Output, Write5m: c.CacheWrite, Read: c.CacheRead}
}

// modelsDevModel is a model; tiers come in three generations of the format.
type modelsDevModel struct {
	ID   string `json:"id"`
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

// importModelsDev reads an object that maps provider ids to {models: {id: model}}. The catalogue
// has only one write price, which is for the short lifetime.
func importModelsDev(d *json.Decoder) (rows []Row, skipped []Skipped, err error) {
	var all map[string]struct {
		Models map[string]modelsDevModel `json:"models"`
	}
	if err := d.Decode(&all); err != nil {
		return nil, nil, err
	}
	for provider, p := range all {
		for id, m := range p.Models {
			name := id
			if !slices.Contains(firstParty, provider) {
				name = provider + "/" + id
			}
			row := Row{ID: name, Provider: provider, ContextWindow: max(0, m.Limit.Context), MaxOutput: max(0, m.Limit.Output),
				Tiers: m.tiers(), Source: "models.dev api.json"}
			if row.Tiers == nil {
				skipped = append(skipped, Skipped{name, "no price per input token"})
				continue
			}
			row.Cache = cacheOf(provider, row.Tiers)
			rows = append(rows, row)
		}
	}
	return rows, skipped, nil
}

func (m modelsDevModel) tiers() []Tier {
	if m.Cost == nil {
		return nil
	}
	set := tierSet{}
	*set.at(0) = m.Cost.tier(0)
	if o := m.Cost.Over200k; o != nil {
		*set.at(200_000) = o.tier(200_000)
	}
	for _, t := range m.Cost.Tiers {
		if t.Tier.Type != "" && t.Tier.Type != "context" {
			continue
		}
		if above := max(t.Tier.Size, t.Context.Min); above > 0 {
			*set.at(above) = t.tier(above)
		}
	}
	return set.list()
}
