package kernel_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/billing"
	"github.com/memkernel/memkernel/pagevm/journal"
)

// TestUsageOfMessages plans and observes turns of a host whose messages carry what they
// were billed: each call counts once, with its plan where it had one, whoever delivers it
// how often, and in how many processes.
func TestUsageOfMessages(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	other := openKernel(t, dir)
	defer func() { k.Close(); other.Close() }()
	c := newConversation(9)
	want := 0
	for i := range 6 {
		c.user()
		var plan *api.ContextPlan
		turn := api.Turn{}
		if i%2 == 0 {
			plan = mustPlan(t, k, request(c))
			turn.PlanID = plan.ID
		}
		c.say()
		last := &c.msgs[len(c.msgs)-1]
		last.Usage = &memkernel.Usage{InputTokens: 100 + i, CacheReadTokens: 3000}
		if plan != nil {
			last.Usage = billed(plan)
		}
		want += last.Usage.InputTotal()
		turn.Messages, turn.Usage, turn.Now = c.msgs, last.Usage, c.now
		for range 2 {
			observe(t, k, turn)
		}
		turn.PlanID = ""
		observe(t, other, turn)
		c.gap(time.Minute)
	}
	for _, k := range []*kernel.Kernel{k, other} {
		tot := usage(t, k, billing.Options{}).Total
		if tot.Calls != 6 || tot.Compared != 3 || tot.Turns != 6 || tot.Billed.InputTokens != want {
			t.Errorf("%d tokens were billed in 6 calls of 6 turns, 3 of them planned: %+v", want, tot)
		}
	}
}

// TestUsageWithoutAPlan: what is handed in beside a turn counts too, for the answer that
// the turn ends with, and never for one before it.
func TestUsageWithoutAPlan(t *testing.T) {
	k := memoryKernel(t)
	defer k.Close()
	c := newConversation(4)
	for range 3 {
		c.user()
		c.say()
		for range 2 {
			observe(t, k, api.Turn{Messages: c.msgs, Usage: &memkernel.Usage{InputTokens: 50, CacheReadTokens: 150}, Now: c.now})
		}
		c.gap(time.Minute)
	}
	c.user() // nobody has answered: whose bill is it?
	observe(t, k, api.Turn{Messages: c.msgs, Usage: &memkernel.Usage{InputTokens: 7}, Now: c.now})
	tot := usage(t, k, billing.Options{}).Total
	if tot.Calls != 3 || tot.Turns != 3 || tot.Compared != 0 || tot.Billed.InputTokens != 600 || *tot.HitRatio != 0.75 || tot.BilledCostUSD == nil {
		t.Errorf("%+v", tot)
	}
}

// TestUsageOfAHostThatCompacts takes messages without keys away from the front: their
// calls are known again by their times.
func TestUsageOfAHostThatCompacts(t *testing.T) {
	k := memoryKernel(t)
	defer k.Close()
	c := newConversation(6)
	for range 4 {
		c.user()
		c.say()
		c.msgs[len(c.msgs)-1].Usage = &memkernel.Usage{InputTokens: 1000}
		c.gap(time.Minute)
	}
	for i := range c.msgs {
		c.msgs[i].Key = ""
	}
	observe(t, k, api.Turn{Messages: c.msgs, Now: c.now})
	observe(t, k, api.Turn{Messages: c.msgs[4:], Now: c.now})
	if tot := usage(t, k, billing.Options{}).Total; tot.Calls != 4 || tot.Turns != 4 {
		t.Errorf("4 calls of 4 turns: %+v", tot)
	}
}

// TestUsageOfOldRows reads figures that no door lets in any more.
func TestUsageOfOldRows(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, ".memkernel", "sessions", "s", "usage.jsonl")
	os.MkdirAll(filepath.Dir(path), 0o700)
	j, err := journal.OpenJournalIn(store.Files(filepath.Dir(path)), filepath.Base(path), nil)
	if err != nil {
		t.Fatal(err)
	}
	row := []byte(`{"plan":"p","model":"m","usage":{"input_tokens":100,"cache_read_tokens":-20,"cache_write_5m_tokens":0,"output_tokens":5}}`)
	if _, err := j.Append(false, store.Record{Op: "usage", ID: "p", Body: row}); err != nil {
		t.Fatal(err)
	}
	k := openKernel(t, dir)
	defer k.Close()
	st, err := k.Usage(context.Background(), billing.Options{})
	if err != nil || st.Total.Calls != 1 || st.Total.Billed.InputTokens != 80 {
		t.Errorf("%+v, %v", st, err)
	}
}
