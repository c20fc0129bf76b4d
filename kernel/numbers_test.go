package kernel_test

import (
	"context"
	"errors"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
)

// Numbers that can't be meant are refused by name at every call that takes them, and
// nothing is done.
func TestNonsenseNumbers(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	defer k.Close()
	c := session(230, 2, 1, 900)
	wantNumber := func(what string, err error, name string) {
		t.Helper()
		var n *api.NumberError
		if !errors.As(err, &n) || n.Name != name || n.Value == "" || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v, want a NumberError of %s", what, err, name)
		}
	}
	requests := map[string]func(*api.PlanRequest){
		"ContextWindow":  func(r *api.PlanRequest) { r.ContextWindow = -1 },
		"Reserve":        func(r *api.PlanRequest) { r.Reserve = math.MinInt },
		"FixedTokens":    func(r *api.PlanRequest) { r.FixedTokens = -200_000 },
		"TTL":            func(r *api.PlanRequest) { r.TTL = -time.Minute },
		"Overflow.Input": func(r *api.PlanRequest) { r.Overflow = &api.Overflow{Input: -5, Limit: 9} },
		"Overflow.Limit": func(r *api.PlanRequest) { r.Overflow = &api.Overflow{Input: 5, Limit: -9} },
	}
	for name, set := range requests {
		req := request(c)
		set(&req)
		_, err := k.PlanContext(context.Background(), req)
		wantNumber("plan", err, name)
		_, err = k.Peek(context.Background(), req)
		wantNumber("peek", err, name)
		_, err = k.Compact(context.Background(), api.Boundary{Now: c.now, Compact: &api.CompactWish{Call: &req}})
		wantNumber("compact", err, name)
	}
	for name, wish := range map[string]api.CompactWish{"Compact.Tokens": {Tokens: -1}, "Compact.Share": {Share: math.NaN()}, "Overflow.Limit": {Overflow: &api.Overflow{Limit: -1}}} {
		_, err := k.Compact(context.Background(), api.Boundary{Now: c.now, Compact: &wish})
		wantNumber("compact", err, name)
	}
	for _, share := range []float64{-.1, 1.1, math.Inf(1), math.Inf(-1)} {
		_, err := k.Compact(context.Background(), api.Boundary{Now: c.now, Compact: &api.CompactWish{Share: share}})
		wantNumber("compact", err, "Compact.Share")
	}
	if entries, err := os.ReadDir(dir + "/.memkernel/sessions"); len(entries) > 0 {
		t.Errorf("a refused request left %v, %v", entries, err)
	}
	if _, err := k.PlanContext(context.Background(), func() api.PlanRequest { r := request(c); r.TTL = api.ChooseTTL; return r }()); err != nil {
		t.Error(err)
	}
	options := map[string]func(*kernel.Options){
		"LowWater":                    func(o *kernel.Options) { o.LowWater = -1 },
		"KeepSessions":                func(o *kernel.Options) { o.KeepSessions = -3 },
		"TraceBytes":                  func(o *kernel.Options) { o.TraceBytes = -1 },
		"Memory.Ranking.VectorWeight": func(o *kernel.Options) { o.Memory.Ranking.VectorWeight = math.NaN() },
		"Memory.Ranking.Pool":         func(o *kernel.Options) { o.Memory.Ranking.Pool = -20 },
		"Life.Show":                   func(o *kernel.Options) { o.Life.Show = math.NaN() },
	}
	for name, set := range options {
		var o kernel.Options
		set(&o)
		empty := t.TempDir()
		_, err := kernel.Open(context.Background(), empty, &o)
		wantNumber("open", err, name)
		if entries, _ := os.ReadDir(empty); len(entries) > 0 {
			t.Errorf("%s: a refused option left %v", name, entries)
		}
	}
	// What says something by being negative still does.
	o := kernel.Options{Memory: kernel.MemoryOptions{RecallTokens: -1, WorkspaceTokens: -1}}
	o.Memory.Ranking.HalfLife, o.Memory.Ranking.Floor = -1, -1
	other, err := kernel.Open(context.Background(), t.TempDir(), &o)
	if err != nil {
		t.Fatal(err)
	}
	other.Close()
}
