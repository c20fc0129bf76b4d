package kernel_test

import (
	"context"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
)

// sentUnplanned is a plan with what was new behind it, as a host sends it that could
// not wait for the next plan.
func sentUnplanned(p *api.ContextPlan, fresh []memkernel.Message) *api.ContextPlan {
	q := *p
	q.Messages = append(p.Messages[:len(p.Messages):len(p.Messages)], fresh...)
	return &q
}

// TestUnplannedStands: whatever went out without a plan stands with every byte in the
// next plan, unless that makes a cut: large results too, over restarts and rewinds; and
// the record on disk says the same.
func TestUnplannedStands(t *testing.T) {
	for seed := range int64(suite.Pick(1, 60)) {
		rng := rand.New(rand.NewSource(seed))
		k, dir := workspaceKernel(t, nil)
		c := newConversation(seed)
		c.user()
		sent := mustPlan(t, k, private(c))
		var told *api.Unplanned
		upto, large, missed, cuts := len(c.msgs), 0, 0, 0 // upto is of the newest plan
		for range 40 {
			switch rng.Intn(5) {
			case 0:
				c.say()
				c.user()
			case 1:
				c.loop(1, 30_000) // shown by its preview where it is planned
				large++
			default:
				c.loop(1+rng.Intn(2), 200+rng.Intn(3000))
			}
			if rng.Intn(12) == 0 {
				c.gap(7 * time.Minute)
			}
			if rng.Intn(5) == 0 {
				k.Close()
				k = openKernel(t, dir)
			}
			if rng.Intn(2) == 0 {
				from := upto
				if told != nil {
					from = len(told.Messages)
				}
				sent = sentUnplanned(sent, c.msgs[from:])
				told = &api.Unplanned{Messages: c.msgs[:len(c.msgs):len(c.msgs)], Now: c.now.Add(time.Second)}
				missed++
				continue
			}
			req := private(c)
			req.Unplanned = told
			p := mustPlan(t, k, req)
			if p.Layout.Made != nil {
				cuts++
			} else if !strings.HasPrefix(stream(p), stream(sent)) {
				t.Fatalf("seed %d: what was sent does not stand at message %d", seed, len(c.msgs))
			}
			if young := told != nil && c.now.Add(time.Second).Sub(told.Now) < 4*time.Minute; young && p.Layout.Cold {
				t.Fatalf("seed %d: the cache was written %s ago and counts as cold", seed, req.Now.Sub(told.Now))
			}
			sent, told, upto = p, nil, len(c.msgs)
		}
		k.Close()
		k = openKernel(t, dir)
		t.Cleanup(func() { k.Close() })
		if p := mustPlan(t, k, private(c)); told == nil && p.Layout.Made == nil && !strings.HasPrefix(stream(p), stream(sent)) {
			t.Fatalf("seed %d: the record on disk is not what was sent", seed)
		}
		if large == 0 || missed == 0 {
			t.Errorf("seed %d: %d large results, %d unplanned, %d cuts: nothing was shown", seed, large, missed, cuts)
		}
		if r := replayFile(t, filepath.Join(dir, ".memkernel", "sessions", "s", "trace.jsonl")); r.Difference != nil {
			t.Errorf("seed %d: the trace does not replay: %+v", seed, r.Difference)
		}
	}
}

// countdown is a context that ends when it was asked so many times.
type countdown struct {
	context.Context
	left int
}

func (c *countdown) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// written is all that stands below a folder, by file.
func written(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, f := range tree(t, filepath.Join(dir, ".memkernel", "sessions")) {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		out[f] = string(b)
	}
	return out
}

// TestPlanStopsWhereAsked cancels a plan at every point at which it looks: it says so
// and leaves nothing behind, or it stands recorded; the next plan is the one that would
// have been made at once.
func TestPlanStopsWhereAsked(t *testing.T) {
	first, second := session(7, 2, 2, 3000), session(7, 4, 3, 3000) // the second begins as the first
	want := ""
	looks := 0
	for stop := 0; ; stop++ {
		if stop > 3 && !suite.Long() {
			stop += stop / 4
		}
		dir := t.TempDir()
		k := openKernel(t, dir)
		mustPlan(t, k, request(first))
		before := written(t, dir)
		p, err := k.PlanContext(&countdown{t.Context(), stop}, request(second))
		if err == nil {
			if p.ID == "" {
				t.Fatal("a plan that was not cancelled is not recorded")
			}
			looks = stop
			k.Close()
			break
		}
		if !strings.Contains(err.Error(), context.Canceled.Error()) {
			t.Fatalf("stopped at look %d: %v", stop, err)
		}
		if after := written(t, dir); fmt.Sprint(after) != fmt.Sprint(before) {
			t.Fatalf("stopped at look %d: something was written", stop)
		}
		got := stream(mustPlan(t, k, request(second)))
		if want == "" {
			want = got
		}
		if got != want {
			t.Fatalf("stopped at look %d: the next plan is another one", stop)
		}
		k.Close()
	}
	if looks < len(second.msgs)-len(first.msgs) {
		t.Errorf("the plan looks %d times whether it is still wanted, with %d messages to take in", looks, len(second.msgs)-len(first.msgs))
	}
}

// TestWaitingForALineEnds: who waits for a session that is at work waits no longer than
// its context.
func TestWaitingForALineEnds(t *testing.T) {
	asked, stop := make(chan bool), make(chan bool)
	var first sync.Once
	k, err := kernel.Open(t.Context(), t.TempDir(), &kernel.Options{Now: func() time.Time {
		first.Do(func() {
			close(asked)
			<-stop
		})
		return time.Now()
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	done := make(chan error, 1)
	go func() {
		r := request(session(8, 1, 1, 9000))
		r.Now = time.Time{}
		_, err := k.PlanContext(t.Context(), r)
		done <- err
	}()
	<-asked // by a plan that holds the session
	late, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := k.PlanContext(late, request(session(8, 1, 1, 9000))); err == nil {
		t.Error("the session was at work, and a plan was made")
	}
	waiting, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := k.Peek(waiting, request(session(8, 1, 1, 9000))); err == nil {
		t.Error("the session was at work, and a plan was made")
	}
	close(stop)
	if err := <-done; err != nil {
		t.Error(err)
	}
}
