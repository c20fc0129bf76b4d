package kernel

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"time"

	"github.com/memkernel/memkernel/kernel/internal/folder"
)

// UsageOptions say which calls count.
type UsageOptions struct {
	// Session is a session's key, "" for all.
	Session string
	// Since leaves out what was planned before; zero takes all.
	Since time.Time
	// Location tells where days begin; nil is UTC.
	Location *time.Location
}

// UsageStats is what was planned against what was billed.
type UsageStats struct {
	Total UsageSum `json:"total"`
	// Sessions, Days and Models are the same calls by folder of the session, by
	// date, and by model id, each sorted by name.
	Sessions []UsageSum `json:"sessions"`
	Days     []UsageSum `json:"days"`
	Models   []UsageSum `json:"models"`
	// Calls are in the order of time.
	Calls []UsageRow `json:"-"`
	// Torn are files whose last line was cut off, as by a kill; it is left out.
	Torn []string `json:"torn"`
}

// UsageSum adds up calls.
type UsageSum struct {
	Name  string `json:"name"`
	Calls int    `json:"calls"`
	// Turns are those of the users in which the calls were made, as far as it was logged.
	Turns int `json:"turns"`
	// Compared calls have a plan to compare with: Planned, PlannedCostUSD and the
	// errors are over these alone, and so is BilledCompared.
	Compared       int         `json:"compared_calls"`
	Planned        UsageTokens `json:"planned"`
	BilledCompared UsageTokens `json:"billed_compared"`
	Billed         UsageTokens `json:"billed"`
	// Costs are the input side of the calls that have a price, nil if none has;
	// Unpriced counts the others. ComparedCostUSD is what the compared ones were billed.
	PlannedCostUSD  *float64 `json:"planned_cost_usd"`
	ComparedCostUSD *float64 `json:"billed_compared_cost_usd"`
	BilledCostUSD   *float64 `json:"billed_cost_usd"`
	Unpriced        int      `json:"unpriced_calls"`
	// HitRatio is the share of billed input that was read from the cache; nil of
	// nothing.
	HitRatio *float64 `json:"hit_ratio"`
	// Cuts were made by the plans. SavedTokens is what they kept out of all prompts,
	// SavedCostUSD what that would have cost, nil if no priced call says.
	Cuts         int      `json:"cuts"`
	SavedTokens  int      `json:"saved_tokens"`
	SavedCostUSD *float64 `json:"saved_cost_usd"`
	// ColdExpected were planned as cold, ColdSeen billed so, ColdBoth both; calls
	// that can't tell are in none of them.
	ColdExpected int `json:"cold_expected"`
	ColdSeen     int `json:"cold_seen"`
	ColdBoth     int `json:"cold_expected_and_seen"`
	// Errors are medians over compared calls of |planned − billed| / billed.
	InputError *float64 `json:"input_error_median"`
	ReadError  *float64 `json:"cache_read_error_median"`
	WriteError *float64 `json:"cache_write_error_median"`

	input, read, write []float64
	turns              map[[3]string]bool // by session, branch and message
}

// UsageTokens are input tokens by how they were billed, and their sum.
type UsageTokens struct {
	UncachedTokens     int `json:"uncached_tokens"`
	CacheReadTokens    int `json:"cache_read_tokens"`
	CacheWrite5mTokens int `json:"cache_write_5m_tokens"`
	CacheWrite1hTokens int `json:"cache_write_1h_tokens"`
	InputTokens        int `json:"input_tokens"`
}

func (t *UsageTokens) add(u UsageTokens) {
	t.UncachedTokens += u.UncachedTokens
	t.CacheReadTokens += u.CacheReadTokens
	t.CacheWrite5mTokens += u.CacheWrite5mTokens
	t.CacheWrite1hTokens += u.CacheWrite1hTokens
	t.InputTokens += u.InputTokens
}

func (t *UsageTokens) writes() int { return t.CacheWrite5mTokens + t.CacheWrite1hTokens }

// Billed is what the call was billed.
func (r *UsageRow) Billed() UsageTokens {
	u := r.Usage
	return UsageTokens{u.InputTokens, u.CacheReadTokens, u.CacheWrite5mTokens, u.CacheWrite1hTokens, u.InputTotal()}
}

// Expected is what the call was planned to be billed; false if that is not known.
func (r *UsageRow) Expected() (UsageTokens, bool) {
	e := r.Planned
	if e == nil {
		return UsageTokens{}, false
	}
	return UsageTokens{e.UncachedTokens, e.CacheReadTokens, e.CacheWrite5mTokens, e.CacheWrite1hTokens,
		e.UncachedTokens + e.CacheReadTokens + e.CacheWrite5mTokens + e.CacheWrite1hTokens}, true
}

// Usage reads what was billed. It writes nothing. A damaged line is an error that
// names file and line.
func (k *Kernel) Usage(ctx context.Context, opt UsageOptions) (*UsageStats, error) {
	folders, err := folder.All(k.state)
	if err != nil {
		return nil, err
	}
	if opt.Session != "" {
		name, err := folder.Of(k.state, opt.Session)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(folders, name) {
			return nil, fmt.Errorf("stats: %w", noSession(k.state, opt.Session))
		}
		folders = []string{name}
	}
	st := &UsageStats{Calls: []UsageRow{}, Torn: []string{}}
	for _, f := range folders {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		dir := folder.In(k.state, f)
		if _, err := dir.Stat(folder.UsageFile); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		key, err := folder.KeyIn(k.state, f)
		if err != nil {
			return nil, fmt.Errorf("stats: %w", err)
		}
		rows, torn, err := readUsage(dir, key)
		if err != nil {
			return nil, fmt.Errorf("stats: %w", err)
		}
		if torn {
			st.Torn = append(st.Torn, dir.Where(folder.UsageFile))
		}
		st.Calls = append(st.Calls, rows...)
	}
	st.Calls = slices.DeleteFunc(st.Calls, func(r UsageRow) bool { return r.Time.Before(opt.Since) })
	slices.SortStableFunc(st.Calls, func(a, b UsageRow) int { return a.Time.Compare(b.Time) })
	st.sum(opt.Location)
	return st, nil
}

func (st *UsageStats) sum(where *time.Location) {
	if where == nil {
		where = time.UTC
	}
	sessions, days, models := map[string]*UsageSum{}, map[string]*UsageSum{}, map[string]*UsageSum{}
	into := func(m map[string]*UsageSum, name string, r *UsageRow) {
		if m[name] == nil {
			m[name] = &UsageSum{Name: name}
		}
		m[name].take(r)
	}
	st.Total.Name = "total"
	for i := range st.Calls {
		r := &st.Calls[i]
		st.Total.take(r)
		into(sessions, r.Session, r)
		into(days, r.Time.In(where).Format(time.DateOnly), r)
		into(models, r.Model, r)
	}
	st.Total.settle()
	st.Sessions, st.Days, st.Models = settledSums(sessions), settledSums(days), settledSums(models)
}

func settledSums(m map[string]*UsageSum) []UsageSum {
	out := []UsageSum{}
	for _, name := range sortedKeys(m) {
		m[name].settle()
		out = append(out, *m[name])
	}
	return out
}

// take adds a call.
func (s *UsageSum) take(r *UsageRow) {
	billed := r.Billed()
	s.Calls++
	s.Billed.add(billed)
	if r.Turn != "" {
		if s.turns == nil {
			s.turns = map[[3]string]bool{}
		}
		s.turns[[3]string{r.Session, r.Branch, r.Turn}] = true
	}
	if r.BilledCostUSD == nil {
		s.Unpriced++
	}
	plus(&s.BilledCostUSD, r.BilledCostUSD)
	plus(&s.SavedCostUSD, r.SavedCostUSD)
	planned, ok := r.Expected()
	if !ok {
		return
	}
	s.Compared++
	s.Planned.add(planned)
	s.BilledCompared.add(billed)
	plus(&s.PlannedCostUSD, r.Planned.CostUSD)
	plus(&s.ComparedCostUSD, r.BilledCostUSD)
	s.SavedTokens += r.Planned.SavedTokens
	if r.Planned.Cut {
		s.Cuts++
	}
	if r.ColdSeen != nil {
		s.temper(r.Planned.Cold, *r.ColdSeen)
	}
	s.input = missed(s.input, planned.InputTokens, billed.InputTokens)
	s.read = missed(s.read, planned.CacheReadTokens, billed.CacheReadTokens)
	s.write = missed(s.write, planned.writes(), billed.writes())
}

// temper counts a call whose warm or cold is known.
func (s *UsageSum) temper(expected, seen bool) {
	if expected {
		s.ColdExpected++
	}
	if seen {
		s.ColdSeen++
	}
	if expected && seen {
		s.ColdBoth++
	}
}

func plus(sum **float64, v *float64) {
	if v == nil {
		return
	}
	total := *v
	if *sum != nil {
		total += **sum
	}
	*sum = &total
}

// missed adds a relative error; what was billed as nothing has none.
func missed(errs []float64, planned, billed int) []float64 {
	if billed <= 0 {
		return errs
	}
	return append(errs, math.Abs(float64(planned-billed))/float64(billed))
}

func (s *UsageSum) settle() {
	s.Turns = len(s.turns)
	if s.Billed.InputTokens > 0 {
		r := float64(s.Billed.CacheReadTokens) / float64(s.Billed.InputTokens)
		s.HitRatio = &r
	}
	s.InputError, s.ReadError, s.WriteError = middle(s.input), middle(s.read), middle(s.write)
}

// middle is the median, nil of nothing.
func middle(v []float64) *float64 {
	if len(v) == 0 {
		return nil
	}
	slices.Sort(v)
	m := v[(len(v)-1)/2]
	return &m
}
