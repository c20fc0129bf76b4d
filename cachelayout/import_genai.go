package cachelayout

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// genaiProvider is a provider with its models.
type genaiProvider struct {
	ID     string `json:"id"`
	Models []struct {
		ID            string          `json:"id"`
		ContextWindow int             `json:"context_window"`
		Prices        json.RawMessage `json:"prices"`
	} `json:"models"`
}

// genaiDated is a price that holds under a condition; the last that holds
// counts.
type genaiDated struct {
	Constraint *struct {
		Start     string `json:"start"`
		StartDate string `json:"start_date"`
		StartTime string `json:"start_time"`
	} `json:"constraint"`
	Prices map[string]json.RawMessage `json:"prices"`
}

// importGenAI reads a list of providers. Prices are dollars per million
// tokens, a number or {base, tiers}; a list of prices is dated. Prices that
// depend on the time of day can't be expressed by a date and are skipped.
func importGenAI(d *json.Decoder) (rows []Row, skipped []Skipped, err error) {
	var raw json.RawMessage
	if err := d.Decode(&raw); err != nil {
		return nil, nil, err
	}
	var all []genaiProvider
	if err := json.Unmarshal(raw, &all); err != nil {
		var wrapped struct {
			Providers []genaiProvider `json:"providers"`
		}
		if json.Unmarshal(raw, &wrapped) != nil || wrapped.Providers == nil {
			return nil, nil, fmt.Errorf("not a list of providers: %w", err)
		}
		all = wrapped.Providers
	}
	for _, p := range all {
		for _, m := range p.Models {
			name := m.ID
			if !slices.Contains(firstParty, p.ID) {
				name = p.ID + "/" + m.ID
			}
			dated, err := genaiPrices(m.Prices)
			if err != nil {
				skipped = append(skipped, Skipped{name, err.Error()})
				continue
			}
			for _, t := range dated {
				rows = append(rows, Row{ID: name, Provider: p.ID, ContextWindow: max(0, m.ContextWindow), Tiers: t.tiers,
					EffectiveFrom: t.from, Cache: cacheOf(p.ID, t.tiers), Source: "pydantic/genai-prices data"})
			}
		}
	}
	return rows, skipped, nil
}

// datedTiers is one row's worth of prices.
type datedTiers struct {
	from  string
	tiers []Tier
}

func genaiPrices(raw json.RawMessage) ([]datedTiers, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, errors.New("no prices")
	}
	var list []genaiDated
	if json.Unmarshal(raw, &list) != nil {
		var one genaiDated
		if err := json.Unmarshal(raw, &one.Prices); err != nil {
			return nil, errors.New("prices in an unknown form")
		}
		list = []genaiDated{one}
	}
	var out []datedTiers
	for _, d := range list {
		t := datedTiers{tiers: genaiTiers(d.Prices)}
		if c := d.Constraint; c != nil {
			if c.StartTime != "" {
				return nil, errors.New("prices depend on the time of day")
			}
			t.from = c.StartDate + c.Start
			t.from = t.from[:min(len(t.from), len("2006-01-02"))]
		}
		if t.tiers == nil {
			return nil, errors.New("no price per input token")
		}
		out = append(out, t)
	}
	return out, nil
}

// genaiTiers turns {input_mtok: 3} or {input_mtok: {base, tiers}} around.
func genaiTiers(prices map[string]json.RawMessage) []Tier {
	set := tierSet{}
	for name, raw := range prices {
		var field func(*Tier) **float64
		switch name {
		case "input_mtok":
			field = func(t *Tier) **float64 { return &t.Input }
		case "output_mtok":
			field = func(t *Tier) **float64 { return &t.Output }
		case "cache_read_mtok":
			field = func(t *Tier) **float64 { return &t.Read }
		case "cache_write_mtok":
			field = func(t *Tier) **float64 { return &t.Write5m }
		case "cache_write_1h_mtok":
			field = func(t *Tier) **float64 { return &t.Write1h }
		default:
			continue
		}
		var tiered struct {
			Base  *float64 `json:"base"`
			Tiers []struct {
				Start int      `json:"start"`
				Price *float64 `json:"price"`
			} `json:"tiers"`
		}
		if f, ok := rawFloat(raw); ok {
			tiered.Base = &f
		} else if json.Unmarshal(raw, &tiered) != nil {
			continue
		}
		*field(set.at(0)) = tiered.Base
		for _, t := range tiered.Tiers {
			*field(set.at(t.Start)) = t.Price
		}
	}
	return set.list()
}
