// Package billing compares the bills of calls with their plans. It has one row per call, and sums
// by session, day and model. It reads no file, and never sets a price.
package billing

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/cachelayout"
)

// Options select the calls to count.
type Options struct {
	// Session is a session's key, "" for all.
	Session string
	// Since leaves out calls that were planned before this time; zero takes all calls.
	Since time.Time
	// Location is the time zone of the days; nil is UTC.
	Location *time.Location
}

// Report compares planned and billed calls.
type Report struct {
	// Total sums all selected calls.
	Total Sum `json:"total"`
	// Sessions sums the calls by folder of the session, sorted by name.
	Sessions []Sum `json:"sessions"`
	// Days sums the calls by date, sorted by name.
	Days []Sum `json:"days"`
	// Models sums the calls by model id, sorted by name.
	Models []Sum `json:"models"`
	// Calls are in the order of time.
	Calls []Call `json:"-"`
	// Torn are files whose last line is incomplete, as after a kill. The incomplete line is left
	// out.
	Torn []string `json:"torn"`
}

// Sum adds up calls.
type Sum struct {
	// Name is total, the key of the session, the date, or the model.
	Name  string `json:"name"`
	Calls int    `json:"calls"`
	// Turns counts the user turns in which the calls were made, as far as the turns were logged.
	Turns int `json:"turns"`
	// Compared counts the calls that have a plan to compare with. Planned, PlannedCostUSD,
	// BilledCompared and the errors cover only these calls.
	Compared       int    `json:"compared_calls"`
	Planned        Tokens `json:"planned"`
	BilledCompared Tokens `json:"billed_compared"`
	// Billed covers all calls.
	Billed Tokens `json:"billed"`
	// The costs cover the input side of the calls with a price. They are nil if no call has a
	// price. ComparedCostUSD is the bill of the compared calls.
	PlannedCostUSD  *float64 `json:"planned_cost_usd"`
	ComparedCostUSD *float64 `json:"billed_compared_cost_usd"`
	BilledCostUSD   *float64 `json:"billed_cost_usd"`
	// Unpriced counts the calls without a price. They are in no cost.
	Unpriced int `json:"unpriced_calls"`
	// HitRatio is the share of billed input that was read from the cache; nil if nothing was
	// billed.
	HitRatio *float64 `json:"hit_ratio"`
	// Cuts counts the cuts that the plans made.
	Cuts int `json:"cuts"`
	// SavedTokens is the number of tokens that the cuts kept out of all prompts.
	SavedTokens int `json:"saved_tokens"`
	// Reasoning counts the lost reasoning of the models.
	Reasoning Reasoning `json:"reasoning"`
	// Broke sums up the warm caches that hosts broke, by the part of the request that the host
	// changed.
	Broke []Broken `json:"broke"`
	// FirstSight sums up the content that was left out of prompts at first sight, by kind.
	FirstSight []FirstSight `json:"first_sight"`
	// BilledUSD is the cost of the calls, answers included. It is nil if no call has a price.
	BilledUSD *float64 `json:"billed_usd"`
	// WithoutUSD is the estimated cost of the same calls without memkernel. It is nil if no call
	// has a price.
	WithoutUSD *float64 `json:"without_usd"`
	// Estimated counts the calls that the estimate was made for. All other calls cost the same
	// with and without memkernel.
	Estimated int `json:"estimated_calls"`
	// ColdExpected counts the calls that were planned as cold. Calls for which this is not known
	// are not counted.
	ColdExpected int `json:"cold_expected"`
	// ColdSeen counts the calls that were billed as cold.
	ColdSeen int `json:"cold_seen"`
	// ColdBoth counts the calls that were both planned and billed as cold.
	ColdBoth int `json:"cold_expected_and_seen"`
	// The errors are medians of |planned − billed| / billed over the compared calls.
	InputError *float64 `json:"input_error_median"`
	ReadError  *float64 `json:"cache_read_error_median"`
	WriteError *float64 `json:"cache_write_error_median"`

	input, read, write []float64
	turns              map[[3]string]bool // the keys are session, branch and message
}

// Tokens counts input tokens by the way in which they were billed, and their sum.
type Tokens struct {
	UncachedTokens     int `json:"uncached_tokens"`
	CacheReadTokens    int `json:"cache_read_tokens"`
	CacheWrite5mTokens int `json:"cache_write_5m_tokens"`
	CacheWrite1hTokens int `json:"cache_write_1h_tokens"`
	// InputTokens is the sum of the other fields.
	InputTokens int `json:"input_tokens"`
}

func (t *Tokens) add(u Tokens) {
	t.UncachedTokens += u.UncachedTokens
	t.CacheReadTokens += u.CacheReadTokens
	t.CacheWrite5mTokens += u.CacheWrite5mTokens
	t.CacheWrite1hTokens += u.CacheWrite1hTokens
	t.InputTokens += u.InputTokens
}

func (t *Tokens) writes() int { return t.CacheWrite5mTokens + t.CacheWrite1hTokens }

// Billed returns the tokens that were billed for the call.
func (r *Call) Billed() Tokens {
	u := r.Usage
	return Tokens{u.InputTokens, u.CacheReadTokens, u.CacheWrite5mTokens, u.CacheWrite1hTokens, u.InputTotal()}
}

// Expected returns the tokens that the plan expected to be billed. It returns false if the call
// has no plan.
func (r *Call) Expected() (Tokens, bool) {
	e := r.Planned
	if e == nil {
		return Tokens{}, false
	}
	return Tokens{e.UncachedTokens, e.CacheReadTokens, e.CacheWrite5mTokens, e.CacheWrite1hTokens,
		e.UncachedTokens + e.CacheReadTokens + e.CacheWrite5mTokens + e.CacheWrite1hTokens}, true
}

// Without returns the amount that the call adds to [Sum.WithoutUSD].
func (r *Call) Without() *float64 { return cmp.Or(r.WithoutUSD, r.BilledUSD) }

// Ours reports whether the call went through memkernel.
func (r *Call) Ours() bool { return r.Plan != "" || r.Sent != "" }

// Session returns the calls of a session, nil if no call went through memkernel. Only a replay's
// simulation can describe such a session. The key may be the host's own id: memkernel's key is
// that id after the host's name.
func (r *Report) Session(key string) *Report {
	if r == nil || key == "" {
		return nil
	}
	calls := slices.Clone(r.Calls)
	calls = slices.DeleteFunc(calls, func(c Call) bool { return c.Session != key && !strings.HasSuffix(c.Session, ":"+key) })
	if !slices.ContainsFunc(calls, func(c Call) bool { return c.Ours() }) {
		return nil
	}
	return Of(calls, nil)
}

// Reasoning counts the lost reasoning of the models.
type Reasoning struct {
	// LeftOutItems counts the reasoning items that plans left out.
	LeftOutItems  int `json:"left_out_items"`
	LeftOutTokens int `json:"left_out_tokens"`
	// DroppedItems counts the thinking blocks that plans sent for the provider to drop, by the
	// plans' own count.
	DroppedItems  int `json:"dropped_items"`
	DroppedTokens int `json:"dropped_tokens"`
	// LostUSD is the price of the left out and the dropped reasoning as output. It is nil if
	// nothing is lost or no price is known.
	LostUSD *float64 `json:"lost_usd"`
	// Removed are the removals that the providers reported. If later calls send a removed item
	// again and the provider removes it again, it counts once.
	Removed []memkernel.Removal `json:"removed"`
}

// Broken sums up changes by which hosts broke warm caches.
type Broken struct {
	// What names the part that the hosts changed, as in [cachelayout.Broke].
	What  string `json:"what"`
	Times int    `json:"times"`
	// Tokens is the number of tokens that were written although they could have been read from
	// the cache.
	Tokens int `json:"tokens"`
	// USD is the additional cost of these tokens.
	USD *float64 `json:"usd"`
}

// FirstSight sums up results of a kind that were shortened before the model saw them.
type FirstSight struct {
	// Kind is the kind of content, as in [represent.Door].
	Kind    string `json:"kind"`
	Results int    `json:"results"`
	// Tokens is the number of tokens that were left out of the first prompts with the results.
	Tokens int `json:"tokens"`
	// FetchedTokens is the number of tokens that came back when the model read the results whole.
	FetchedTokens int `json:"fetched_tokens"`
}

// AddFirstSight adds f to the sum of its kind in list, which is sorted by kind.
func AddFirstSight(list []FirstSight, f FirstSight) []FirstSight {
	at, found := slices.BinarySearchFunc(list, f.Kind, func(k FirstSight, kind string) int { return strings.Compare(k.Kind, kind) })
	if !found {
		return slices.Insert(list, at, f)
	}
	k := &list[at]
	k.Results, k.Tokens, k.FetchedTokens = k.Results+f.Results, k.Tokens+f.Tokens, k.FetchedTokens+f.FetchedTokens
	return list
}

// broke adds a change to the sum of its kind. The sums are sorted by kind.
func (s *Sum) broke(b *cachelayout.Broke) {
	at, found := slices.BinarySearchFunc(s.Broke, b.What, func(k Broken, what string) int { return strings.Compare(k.What, what) })
	if !found {
		s.Broke = slices.Insert(s.Broke, at, Broken{What: b.What})
	}
	k := &s.Broke[at]
	k.Times, k.Tokens = k.Times+1, k.Tokens+b.Tokens
	plus(&k.USD, b.USD)
}

func (r *Reasoning) plan(lost cachelayout.Reasoning) {
	r.LeftOutItems, r.LeftOutTokens = r.LeftOutItems+lost.LeftOutItems, r.LeftOutTokens+lost.LeftOutTokens
	r.DroppedItems, r.DroppedTokens = r.DroppedItems+lost.DroppedItems, r.DroppedTokens+lost.DroppedTokens
	plus(&r.LostUSD, lost.LostUSD)
}

// Expected is a plan's estimate of its call's bill.
type Expected struct {
	// The four buckets are disjoint tokens, as in [memkernel.Usage].
	UncachedTokens     int `json:"uncached_tokens"`
	CacheReadTokens    int `json:"cache_read_tokens"`
	CacheWrite5mTokens int `json:"cache_write_5m_tokens"`
	CacheWrite1hTokens int `json:"cache_write_1h_tokens"`
	// CostUSD is the cost of the input side; nil if the call has no price.
	CostUSD *float64 `json:"cost_usd"`
	// Cold: the plan assumed that none of the messages was cached.
	Cold bool `json:"cold"`
	// Cut: the plan made a cut, so that less is read from the cache than was sent before.
	Cut bool `json:"cut"`
	// SavedTokens is the number of tokens that cuts have kept out of the prompt.
	SavedTokens int `json:"saved_tokens"`
	// BeforeTokens is the size of the previous request.
	BeforeTokens int `json:"before_tokens,omitempty"`
	// Reasoning counts the model's reasoning that the plan lost, zero if nothing was lost.
	Reasoning cachelayout.Reasoning `json:"reasoning,omitzero"`
	// Broke describes the warm cache that the host broke with this call, nil if the host broke no
	// cache.
	Broke *cachelayout.Broke `json:"broke,omitempty"`
	// FirstSight lists the results that this plan was the first to show shortened, and the
	// shortened results that the model fetched since the last plan.
	FirstSight []FirstSight `json:"first_sight,omitempty"`
	// At is the time at which the plan was made, by the host's clock.
	At time.Time `json:"at,omitzero"`
	// Alone is the host's own request for the call, zero in rows of versions that did not
	// keep it.
	Alone cachelayout.Alone `json:"alone,omitzero"`
}

// Call is one call of usage.jsonl, with its plan and its bill.
type Call struct {
	// Plan is "" for a call that was only observed.
	Plan string `json:"plan"`
	// Call is the id of the message that the call produced. It is unique within a branch, "" if
	// not known.
	Call string `json:"call,omitempty"`
	// Turn is the id of the message that began the call's turn. It is unique within a branch, ""
	// if not known.
	Turn   string `json:"turn,omitempty"`
	Branch string `json:"branch,omitempty"`
	Model  string `json:"model"`
	// Sent is how a call without its own plan was sent. It is "" if the call did not go through
	// memkernel.
	Sent string `json:"sent,omitempty"`
	// PlannedInputTokens is the whole prompt as planned.
	PlannedInputTokens int `json:"planned_input_tokens"`
	// Planned is nil in rows of versions that did not keep it.
	Planned *Expected       `json:"planned"`
	Usage   memkernel.Usage `json:"usage"`
	// Reported is the provider's report about the request, nil if there was none.
	Reported *memkernel.Reported `json:"reported,omitempty"`
	// FirstSight lists the results that a hook shortened before a call that was only observed, and
	// the shortened results that the model fetched.
	FirstSight []FirstSight `json:"first_sight,omitempty"`
	// BilledCostUSD is the price of the input side, nil if the call has no price.
	BilledCostUSD *float64 `json:"billed_cost_usd"`
	// BilledUSD is the price of the whole call, nil if the call has no price.
	BilledUSD *float64 `json:"billed_usd"`
	// WithoutUSD is the only estimate of the call's cost without memkernel. The estimate is made
	// when the bill is known. It equals BilledUSD if nothing was cut, left out or added. It is
	// nil for a call that did not go through memkernel.
	WithoutUSD *float64 `json:"without_usd"`
	// ColdSeen reports whether less than 60 % of the previous prompt was read from the cache. It
	// is nil for the first call, after a cut, and if the previous prompt was too small to be
	// cached.
	ColdSeen *bool `json:"cold_seen"`

	// Session is the session of the record. It is not part of the JSON.
	Session string `json:"-"`
	// Time is the time of the record. It is not part of the JSON.
	Time time.Time `json:"-"`

	removed []memkernel.Removal // that the previous call did not report
}

// Of sums up calls. The days of the report begin in the time zone where; nil is UTC. The report
// takes over the calls and sorts them.
func Of(calls []Call, where *time.Location) *Report {
	st := &Report{Calls: calls, Torn: []string{}}
	slices.SortStableFunc(st.Calls, func(a, b Call) int { return a.Time.Compare(b.Time) })
	if where == nil {
		where = time.UTC
	}
	sessions, days, models := map[string]*Sum{}, map[string]*Sum{}, map[string]*Sum{}
	into := func(m map[string]*Sum, name string, r *Call) {
		if m[name] == nil {
			m[name] = &Sum{Name: name}
		}
		m[name].take(r)
	}
	st.Total.Name = "total"
	newRemovals(st.Calls)
	for i := range st.Calls {
		r := &st.Calls[i]
		st.Total.take(r)
		into(sessions, r.Session, r)
		into(days, r.Time.In(where).Format(time.DateOnly), r)
		into(models, r.Model, r)
	}
	st.Total.settle()
	st.Sessions, st.Days, st.Models = settledSums(sessions), settledSums(days), settledSums(models)
	return st
}

// newRemovals finds the removals that each call was the first to report in its conversation.
// These are the removals that the previous call did not report. After a cut they are the removals
// that exceed those that the plan knew to be stale.
func newRemovals(calls []Call) {
	before := map[[3]string]*memkernel.Reported{}
	for i := range calls {
		r := &calls[i]
		r.removed = nil
		key := [3]string{r.Session, r.Branch, r.Model}
		if r.Reported != nil {
			for _, now := range r.Reported.Removed {
				known := before[key].Of(now.Reason)
				if r.Planned != nil && r.Planned.Cut && now.Reason == memkernel.RemovedPrefix {
					known = r.Planned.Reasoning.StaleItems
				}
				if now.Items -= known; now.Items > 0 {
					r.removed = append(r.removed, now)
				}
			}
		}
		before[key] = r.Reported
	}
}

func settledSums(m map[string]*Sum) []Sum {
	out := []Sum{}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		m[name].settle()
		out = append(out, *m[name])
	}
	return out
}

// take adds a call to the sum.
func (s *Sum) take(r *Call) {
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
	plus(&s.BilledUSD, r.BilledUSD)
	if r.WithoutUSD != nil {
		s.Estimated++
	}
	plus(&s.WithoutUSD, r.Without())
	removed := memkernel.Reported{Removed: s.Reasoning.Removed}
	for _, n := range r.removed {
		removed.Add(n)
	}
	s.Reasoning.Removed = removed.Removed
	for _, f := range r.FirstSight {
		s.FirstSight = AddFirstSight(s.FirstSight, f)
	}
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
	s.Reasoning.plan(r.Planned.Reasoning)
	for _, f := range r.Planned.FirstSight {
		s.FirstSight = AddFirstSight(s.FirstSight, f)
	}
	if r.Planned.Broke != nil {
		s.broke(r.Planned.Broke)
	}
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

// temper counts a call as cold by its plan, by its bill, or by both.
func (s *Sum) temper(expected, seen bool) {
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

// missed adds a relative error to errs. A call that was billed nothing has no error.
func missed(errs []float64, planned, billed int) []float64 {
	if billed <= 0 {
		return errs
	}
	return append(errs, math.Abs(float64(planned-billed))/float64(billed))
}

func (s *Sum) settle() {
	if s.Reasoning.Removed == nil {
		s.Reasoning.Removed = []memkernel.Removal{}
	}
	if s.Broke == nil {
		s.Broke = []Broken{}
	}
	if s.FirstSight == nil {
		s.FirstSight = []FirstSight{}
	}
	s.Turns = len(s.turns)
	if s.Billed.InputTokens > 0 {
		r := float64(s.Billed.CacheReadTokens) / float64(s.Billed.InputTokens)
		s.HitRatio = &r
	}
	s.InputError, s.ReadError, s.WriteError = middle(s.input), middle(s.read), middle(s.write)
}

// middle returns the median of the values, nil if there are no values.
func middle(v []float64) *float64 {
	if len(v) == 0 {
		return nil
	}
	slices.Sort(v)
	m := v[(len(v)-1)/2]
	return &m
}
