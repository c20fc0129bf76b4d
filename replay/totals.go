package replay

import "github.com/memkernel/memkernel/replay/recall"

// Totals holds the sums of a replay. Costs are US dollars of the input side, and nil if a price
// is unknown.
type Totals struct {
	// Calls counts the planned calls.
	Calls int `json:"calls"`
	// Unplanned counts the other calls by reason.
	Unplanned        map[string]int `json:"unplanned"`
	InputTokens      int            `json:"input_tokens"`
	CacheReadTokens  int            `json:"cache_read_tokens"`
	CacheWriteTokens int            `json:"cache_write_tokens"`
	Write5mTokens    int            `json:"cache_write_5m_tokens"`
	Write1hTokens    int            `json:"cache_write_1h_tokens"`
	UncachedTokens   int            `json:"uncached_tokens"`
	// NetInputTokens leaves out the fixed part.
	NetInputTokens int `json:"net_input_tokens"`
	// NetWriteTokens is the part of NetInputTokens that is written or uncached.
	NetWriteTokens int `json:"net_write_tokens"`
	// CostUSD is the cost of the input and of summary calls, null if a price is unknown.
	CostUSD *float64 `json:"cost_usd"`
	// NetCostUSD leaves out the cost of the fixed part.
	NetCostUSD *float64 `json:"net_cost_usd"`
	// OutputCostUSD is what the recorded answers cost: with CostUSD the whole bill.
	OutputTokens  int      `json:"output_tokens"`
	OutputCostUSD *float64 `json:"output_cost_usd"`
	Cuts          int      `json:"cuts"`
	ColdEvents    int      `json:"cold_events"`
	// Overflows are prompts over window minus reserve.
	Overflows int `json:"overflows"`
	// Violations are broken rules of the provider.
	Violations int `json:"violations"`
	// Faults counts all faults of the plans.
	Faults int `json:"faults"`
	// FaultCodes counts the faults by name.
	FaultCodes map[string]int `json:"fault_codes"`
	// Controllable counts the faults that a better choice of the shown items would have
	// prevented.
	Controllable int `json:"controllable_faults"`
	// ReferenceRecall is the share of references whose line was shown.
	ReferenceRecall float64 `json:"reference_recall"`
	// Named is the share of references that were only named.
	Named float64 `json:"named"`
	// Pointer is the share of references that only a pointer leads to.
	Pointer    float64 `json:"behind_pointer"`
	References int     `json:"references"`
	// AnchorRecall is the share of earlier seen edit anchors that were shown.
	AnchorRecall float64 `json:"anchor_recall"`
	// Actions counts the tool calls with input that was seen before.
	Actions int `json:"actions"`
	// ActionsReady is the share of Actions whose earlier seen input was all in the prompt.
	ActionsReady float64 `json:"actions_ready"`
	// Edits counts edits of a line that was seen before.
	Edits int `json:"edits"`
	// BlindEdits counts the Edits whose line the prompt did not show.
	BlindEdits int `json:"blind_edits"`
	// HitRatio is cache reads over all input.
	HitRatio float64 `json:"hit_ratio"`
	// WarmHitRatio is HitRatio without the calls that found the cache cold.
	WarmHitRatio float64 `json:"warm_hit_ratio"`
	Held         held    `json:"-"`
}

// sum adds the calls up.
func (r *Result) sum() {
	t := Totals{Calls: len(r.Calls), Unplanned: map[string]int{}, FaultCodes: map[string]int{}, CostUSD: new(float64), NetCostUSD: new(float64),
		OutputCostUSD: new(float64)}
	for _, u := range r.Unplanned {
		t.Unplanned[u.Reason]++
	}
	r.Bound = bound{CostUSD: new(float64), NetCostUSD: new(float64)}
	var score recall.Score
	warmRead, warm, ready := 0, 0, 0
	for i := range r.Calls {
		c := &r.Calls[i]
		r.Bound.add(c.bound)
		t.tokens(c)
		t.events(c, i)
		if !c.Cold {
			warmRead, warm = warmRead+c.Read, warm+c.Input
		}
		score.Add(c.Recall)
		ready += c.ActionsReady
	}
	t.ActionsReady = shareOrAll(ready, t.Actions)
	t.References, r.Shown = score.References, score.Shown
	t.ReferenceRecall, t.Named, t.Pointer = score.Recall(), share(score.Named, score.References), share(score.Pointer, score.References)
	t.AnchorRecall = shareOrAll(score.EditsShown, score.Edits)
	t.HitRatio, t.WarmHitRatio = share(t.CacheReadTokens, t.InputTokens), share(warmRead, warm)
	r.Totals = t
}

func (t *Totals) tokens(c *Call) {
	t.InputTokens += c.Input
	t.CacheReadTokens += c.Read
	t.CacheWriteTokens += c.Write
	t.Write5mTokens += c.Write5m
	t.Write1hTokens += c.Write1h
	t.UncachedTokens += c.Uncached
	t.NetInputTokens += c.NetInput
	t.NetWriteTokens += c.NetWrite
	t.CostUSD, t.NetCostUSD = add(t.CostUSD, c.CostUSD), add(t.NetCostUSD, c.NetCostUSD)
	t.OutputTokens += c.Output
	t.OutputCostUSD = add(t.OutputCostUSD, c.OutputCostUSD)
}

func (t *Totals) events(c *Call, n int) {
	t.Violations += c.Violations
	t.Faults += c.Faults
	for code, k := range c.Codes {
		t.FaultCodes[code] += k
		if controllable[code] {
			t.Controllable += k
		}
	}
	t.Actions += c.Actions
	t.Edits += c.Edits
	t.BlindEdits += c.BlindEdits
	t.Held.add(&c.Held)
	t.Cuts += count(c.Cut != "")
	t.ColdEvents += count(c.Cold && n > 0)
	t.Overflows += count(c.Overflow)
}

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func share(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// shareOrAll returns a's share of b, 1 if b is 0.
func shareOrAll(a, b int) float64 {
	if b == 0 {
		return 1
	}
	return share(a, b)
}

// BillUSD returns the cost of the input side, the summary calls and the answers, nil if a price
// is unknown.
func (t *Totals) BillUSD() *float64 { return add(t.CostUSD, t.OutputCostUSD) }
