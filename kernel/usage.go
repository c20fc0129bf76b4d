package kernel

import (
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/internal/usage"
)

// Expected is what a plan says that its call will be billed.
type Expected struct {
	// The four buckets are disjoint tokens, as in [memkernel.Usage].
	UncachedTokens     int `json:"uncached_tokens"`
	CacheReadTokens    int `json:"cache_read_tokens"`
	CacheWrite5mTokens int `json:"cache_write_5m_tokens"`
	CacheWrite1hTokens int `json:"cache_write_1h_tokens"`
	// CostUSD is the input side; nil if unpriced.
	CostUSD *float64 `json:"cost_usd"`
	// Cold tells that nothing of the messages was taken to be cached, Cut that the
	// plan made a cut, so that less is read than was sent before.
	Cold bool `json:"cold"`
	Cut  bool `json:"cut"`
	// SavedTokens is what cuts have kept out of the prompt.
	SavedTokens int `json:"saved_tokens"`
	// At is when the plan was made, by the host's clock.
	At time.Time `json:"at,omitzero"`
}

// UsageRow is one call of usage.jsonl: what was planned against what was billed.
type UsageRow struct {
	// Plan is "" for a call that was only observed.
	Plan string `json:"plan"`
	// Call and Turn name the message that the call produced and the one that began its
	// turn: ids that tell them apart within a branch, "" where that is not known.
	Call   string `json:"call,omitempty"`
	Turn   string `json:"turn,omitempty"`
	Branch string `json:"branch,omitempty"`
	Model  string `json:"model"`
	// PlannedInputTokens is the whole prompt as planned.
	PlannedInputTokens int `json:"planned_input_tokens"`
	// Planned is nil in rows of versions that did not keep it.
	Planned *Expected       `json:"planned"`
	Usage   memkernel.Usage `json:"usage"`
	// BilledCostUSD is the price of the input side, SavedCostUSD how much dearer it
	// would have been had nothing ever been cut: with what cuts kept out of it read
	// if the cache was warm, else written. A call whose plan cuts a warm cache pays
	// for that, so that its figure is negative. Nil if unpriced.
	BilledCostUSD *float64 `json:"billed_cost_usd"`
	SavedCostUSD  *float64 `json:"saved_cost_usd"`
	// ColdSeen tells that under 60 % of the prompt before was read; nil where that
	// says nothing: at the first call, after a cut, and where the prompt before was
	// too small to be cached.
	ColdSeen *bool `json:"cold_seen"`

	// Session and Time are those of the record, no part of it.
	Session string    `json:"-"`
	Time    time.Time `json:"-"`
}

// readUsage reads a usage.jsonl.
func readUsage(dir store.Store, session string) (rows []UsageRow, torn bool, err error) {
	read, torn, err := usage.Read(dir, session)
	for _, r := range read {
		rows = append(rows, UsageRow{Plan: r.Plan, Call: r.Call, Turn: r.Turn, Branch: r.Branch, Model: r.Model, PlannedInputTokens: r.PlannedInputTokens,
			Planned: (*Expected)(r.Planned), Usage: r.Usage, BilledCostUSD: r.BilledCostUSD, SavedCostUSD: r.SavedCostUSD, ColdSeen: r.ColdSeen,
			Session: r.Session, Time: r.Time})
	}
	return rows, torn, err
}
