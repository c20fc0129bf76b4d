package kernel

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/pagevm/journal"
)

const opUsage = "usage"

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

// coldShare is the share of the prompt before below which a read is a miss.
const coldShare = 0.6

// usageRow sets a bill beside the line's last plan.
func usageRow(t Turn, l *branch.State, m cachelayout.Model) UsageRow {
	u := t.Usage
	row := UsageRow{Plan: t.PlanID, Branch: t.Branch, Model: t.Model, PlannedInputTokens: l.Planned + l.LedgerFixed(), Planned: (*Expected)(l.Expected), Usage: *u}
	row.BilledCostUSD = m.Cost(u.CacheReadTokens, u.CacheWrite5mTokens, u.CacheWrite1hTokens, u.InputTokens, 0)
	e := row.Planned
	if e == nil {
		return row
	}
	row.PlannedInputTokens = e.UncachedTokens + e.CacheReadTokens + e.CacheWrite5mTokens + e.CacheWrite1hTokens
	cold := e.Cold
	if before := l.Anchor.Total; m.Cache != "" && m.Cache != cachelayout.CacheNone && before >= max(1, m.MinCacheTokens) && !e.Cut {
		cold = float64(u.CacheReadTokens) < coldShare*float64(before)
		row.ColdSeen = &cold
	}
	row.SavedCostUSD = savedCost(*u, e, cold, m)
	return row
}

// savedCost is how much dearer a call would have been without any cut. Without the
// cut of a warm cache, nearly all that was written would have been read.
func savedCost(u memkernel.Usage, e *Expected, cold bool, m cachelayout.Model) *float64 {
	read, w5, w1, plain := u.CacheReadTokens, u.CacheWrite5mTokens, u.CacheWrite1hTokens, u.InputTokens
	now, saved := m.Cost(read, w5, w1, plain, 0), e.SavedTokens
	switch {
	case !cold && e.Cut:
		read, w5, w1 = read+w5+w1+saved, 0, 0
	case !cold:
		read += saved
	case w1 > w5:
		w1 += saved
	case w5 > 0:
		w5 += saved
	default:
		plain += saved
	}
	more := m.Cost(read, w5, w1, plain, 0)
	if now == nil || more == nil {
		return nil
	}
	d := *more - *now
	return &d
}

// readUsage reads a usage.jsonl. A torn last line is left out; torn tells that
// there was one. What was logged again, by another process, counts once: a plan by its
// last row, a call by that of its plan.
func readUsage(dir store.Store, session string) (rows []UsageRow, torn bool, err error) {
	j, err := journal.OpenJournalIn(dir, folder.UsageFile, &journal.Options{ReadOnly: true, Derived: true})
	if err != nil {
		return nil, false, err
	}
	defer j.Close()
	plans, calls, n := map[string]int{}, map[string]int{}, 0
	for rec, err := range j.Records() {
		if err != nil {
			return nil, false, err
		}
		if n++; rec.Op != opUsage {
			continue // a newer version's
		}
		row := UsageRow{Session: session, Time: rec.Time}
		if err := row.read(rec.Body); err != nil {
			return nil, false, fmt.Errorf("%s, line %d: %w", dir.Where(folder.UsageFile), n, err)
		}
		if row.Planned != nil && !row.Planned.At.IsZero() {
			row.Time = row.Planned.At
		}
		i, ok := plans[row.Plan]
		if !ok || row.Plan == "" {
			i, ok = calls[row.Branch+"\x00"+row.Call]
			ok = ok && row.Call != "" && (row.Plan == "" || rows[i].Plan == "")
		}
		switch {
		case !ok:
			i = len(rows)
			rows = append(rows, row)
		case row.Plan != "":
			rows[i] = row
		}
		plans[row.Plan], calls[row.Branch+"\x00"+row.Call] = i, i
	}
	return rows, j.Torn() > 0, nil
}

// read takes figures as they were written, by whatever version.
func (r *UsageRow) read(body []byte) error {
	type figures memkernel.Usage // without the checks that hosts' figures get
	type plain UsageRow
	var usage struct {
		Usage figures `json:"usage"`
	}
	row := struct {
		*plain
		Usage struct{} `json:"usage"`
	}{plain: (*plain)(r)}
	err := errors.Join(json.Unmarshal(body, &row), json.Unmarshal(body, &usage))
	r.Usage = memkernel.Usage(usage.Usage)
	return err
}
