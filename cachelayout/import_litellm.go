package cachelayout

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
)

// litellmPrice is a price field: what it prices, the lifetime of a write, and
// the prompt size above which it holds.
var litellmPrice = regexp.MustCompile(`^(input_cost_per_token|output_cost_per_token|cache_read_input_token_cost|cache_creation_input_token_cost)(_above_1hr)?(?:_above_(\d+)k_tokens)?$`)

// importLiteLLM reads an object of model id to a flat object of fields; prices
// are dollars per token.
func importLiteLLM(d *json.Decoder) (rows []Row, skipped []Skipped, err error) {
	var all map[string]map[string]json.RawMessage
	if err := d.Decode(&all); err != nil {
		return nil, nil, err
	}
	for id, fields := range all {
		if id == "sample_spec" || id == "fallback_generalizations" {
			continue
		}
		tiers := tierSet{}
		for name, raw := range fields {
			litellmField(tiers, name, raw)
		}
		row := Row{ID: id, Tiers: tiers.list(), Source: "litellm model_prices_and_context_window.json"}
		if row.Tiers == nil {
			skipped = append(skipped, Skipped{id, "no price per input token"})
			continue
		}
		row.Provider = rawString(fields["litellm_provider"])
		row.ContextWindow = rawInt(fields["max_input_tokens"])
		row.MaxOutput = rawInt(fields["max_output_tokens"])
		row.Cache = cacheOf(row.Provider, row.Tiers)
		rows = append(rows, row)
	}
	return rows, skipped, nil
}

// litellmField files one price under its tier.
func litellmField(tiers tierSet, name string, raw json.RawMessage) {
	m := litellmPrice.FindStringSubmatch(name)
	if m == nil {
		return
	}
	perToken, ok := rawFloat(raw)
	if !ok {
		return
	}
	above := 0
	if m[3] != "" {
		k, err := strconv.Atoi(m[3])
		if err != nil {
			return
		}
		above = k * 1000
	}
	price := perMillion(perToken)
	t := tiers.at(above)
	switch {
	case m[1] == "input_cost_per_token":
		t.Input = price
	case m[1] == "output_cost_per_token":
		t.Output = price
	case m[1] == "cache_read_input_token_cost":
		t.Read = price
	case m[2] != "":
		t.Write1h = price
	default:
		t.Write5m = price
	}
}

// perMillion scales a price per token and removes the noise of binary
// fractions, so that 1.25e-06 becomes 1.25.
func perMillion(perToken float64) *float64 {
	v, err := strconv.ParseFloat(strconv.FormatFloat(perToken*1e6, 'g', 10, 64), 64)
	if err != nil {
		v = perToken * 1e6
	}
	return &v
}

// rawFloat reads a JSON number, or a string that holds one.
func rawFloat(raw json.RawMessage) (float64, bool) {
	s := strings.Trim(string(raw), `"`)
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil
}

func rawInt(raw json.RawMessage) int {
	f, ok := rawFloat(raw)
	if !ok || f < 0 {
		return 0
	}
	return int(f)
}

func rawString(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}
