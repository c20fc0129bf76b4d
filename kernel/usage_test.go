package kernel_test

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/billing"
	"github.com/memkernel/memkernel/pagevm/journal"
)

// billed turns a plan's expectation into the bill of a provider that keeps to it.
func billed(p *api.ContextPlan) *memkernel.Usage {
	b := p.Layout.Bill
	return &memkernel.Usage{InputTokens: b.UncachedTokens, CacheReadTokens: b.ReadTokens, CacheWrite5mTokens: b.Write5mTokens, CacheWrite1hTokens: b.Write1hTokens}
}

func usage(t *testing.T, k *kernel.Kernel, opt billing.Options) *billing.Report {
	t.Helper()
	st, err := k.Usage(context.Background(), opt)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// TestUsageOfEveryCall plans and observes each call of a loop, once by another
// process, and expects each in the statistics, as it was planned and billed.
func TestUsageOfEveryCall(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	c := newConversation(3)
	c.user()
	for i := range 4 {
		p := mustPlan(t, k, request(c))
		if i == 2 { // the plan was made by a process that ended
			k.Close()
			k = openKernel(t, dir)
		}
		c.loop(2, 5000)
		for range 2 { // the second delivery counts for nothing
			if o := observe(t, k, api.Turn{Messages: c.msgs, PlanID: p.ID, Usage: billed(p), Now: c.now}); o.Outcome != api.OpenTurn || len(o.Faults) > 0 {
				t.Fatalf("call %d: %+v", i, o)
			}
		}
		c.gap(time.Minute)
	}
	p := mustPlan(t, k, request(c))
	c.say()
	observe(t, k, api.Turn{Messages: c.msgs, PlanID: p.ID, Usage: billed(p), Now: c.now})
	defer k.Close()
	st := usage(t, k, billing.Options{})
	if len(st.Calls) != 5 || st.Total.Calls != 5 || st.Total.Compared != 5 || len(st.Sessions) != 1 || len(st.Models) != 1 {
		t.Fatalf("%+v", st)
	}
	tot := st.Total
	if tot.Planned != tot.Billed || *tot.InputError != 0 || *tot.WriteError != 0 || math.Abs(*tot.PlannedCostUSD-*tot.BilledCostUSD) > 1e-12 {
		t.Errorf("planned and billed differ: %+v", tot)
	}
	if tot.ColdSeen != 0 || tot.ColdExpected != 0 || tot.Cuts != 0 || tot.SavedTokens != 0 || *tot.WithoutUSD != *tot.BilledUSD {
		t.Errorf("a warm loop without cuts: %+v", tot)
	}
	for i := range st.Calls {
		if cold := st.Calls[i].ColdSeen; (cold == nil) != (i < 2) { // the first prompt is too small to be cached
			t.Errorf("call %d: cold seen is %v", i, cold)
		}
	}
}

// TestUsageOfCutsAndColdCalls grows a session beyond its window and waits past the
// lifetime.
func TestUsageOfCutsAndColdCalls(t *testing.T) {
	k := memoryKernel(t)
	defer k.Close()
	c := newConversation(5)
	cuts := 0
	for i := 0; cuts == 0 || i < 12; i++ {
		c.user()
		p := mustPlan(t, k, request(c))
		if p.Layout.Made != nil {
			cuts++
		}
		u := billed(p)
		c.loop(2, 9000)
		c.say()
		observe(t, k, api.Turn{Messages: c.msgs, PlanID: p.ID, Usage: u, Now: c.now})
		c.gap(time.Duration(1+i%3*4) * time.Minute)
	}
	tot := usage(t, k, billing.Options{}).Total
	if tot.Cuts != cuts || tot.SavedTokens <= 0 || *tot.WithoutUSD <= *tot.BilledUSD {
		t.Errorf("%d cuts were made: %+v", cuts, tot)
	}
	if tot.ColdSeen == 0 || tot.ColdBoth != tot.ColdSeen {
		t.Errorf("every cold call was to be expected: %+v", tot)
	}
}

func TestUsageFilters(t *testing.T) {
	k := memoryKernel(t)
	defer k.Close()
	c := newConversation(6)
	var starts []time.Time
	for range 3 {
		c.user()
		p := mustPlan(t, k, request(c))
		starts = append(starts, request(c).Now)
		c.say()
		observe(t, k, api.Turn{Messages: c.msgs, PlanID: p.ID, Usage: billed(p), Now: c.now})
		c.gap(20 * time.Hour)
	}
	if st := usage(t, k, billing.Options{Session: "s", Since: starts[1]}); st.Total.Calls != 2 {
		t.Errorf("since the second call: %d calls", st.Total.Calls)
	}
	if st := usage(t, k, billing.Options{}); len(st.Days) < 2 {
		t.Errorf("40 hours are %d days", len(st.Days))
	}
	if _, err := k.Usage(context.Background(), billing.Options{Session: "nobody"}); !errors.Is(err, api.ErrNoSession) {
		t.Errorf("unknown session: %v", err)
	}
}

// TestUsageFileIsReadWithCare gives it what a disk may hold.
func TestUsageFileIsReadWithCare(t *testing.T) {
	const old = `{"plan":"p%","model":"m","planned_input_tokens":90,"usage":{"input_tokens":100},"added_later":{"x":1}}`
	dir := t.TempDir()
	path := filepath.Join(dir, ".memkernel", "sessions", "s", "usage.jsonl")
	os.MkdirAll(filepath.Dir(path), 0o700)
	var recs []store.Record
	for _, id := range []string{"1", "2", "3"} {
		recs = append(recs, store.Record{Op: "usage", ID: id, Time: time.Unix(1e9, 0), Body: []byte(strings.ReplaceAll(old, "%", id))})
	}
	j, err := journal.OpenJournalIn(store.Files(filepath.Dir(path)), filepath.Base(path), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := j.Append(false, append(recs, store.Record{Op: "of-tomorrow", ID: "4", Body: []byte(`{"plan":5}`)})...); err != nil {
		t.Fatal(err)
	}
	whole, _ := os.ReadFile(path)
	k := openKernel(t, dir)
	defer k.Close()
	st := usage(t, k, billing.Options{})
	if tot := st.Total; tot.Calls != 3 || tot.Compared != 0 || tot.BilledCostUSD != nil || tot.Unpriced != 3 || tot.InputError != nil || tot.Billed.InputTokens != 300 {
		t.Errorf("rows of another version, of a model without a price: %+v", tot)
	}
	lines := strings.SplitAfter(string(whole), "\n")
	os.WriteFile(path, []byte(lines[0]+lines[1]+lines[2][:len(lines[2])/2]), 0o600)
	if st = usage(t, k, billing.Options{}); st.Total.Calls != 2 || len(st.Torn) != 1 {
		t.Errorf("a torn last line: %+v", st)
	}
	os.WriteFile(path, []byte(lines[0]+strings.Replace(lines[1], `"m"`, `"n"`, 1)+lines[2]), 0o600)
	_, err = k.Usage(context.Background(), billing.Options{})
	if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("a damaged line: %v", err)
	}
	os.WriteFile(path, nil, 0o600)
	if st = usage(t, k, billing.Options{}); st.Total.Calls != 0 || st.Total.HitRatio != nil || st.Sessions == nil || st.Calls == nil {
		t.Errorf("an empty file: %+v", st)
	}
}
