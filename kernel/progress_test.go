package kernel_test

import (
	"context"
	"testing"
	"time"

	"github.com/memkernel/memkernel/internal/longwork"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
)

// TestProgressOfVerbs: what takes long as there is more of it tells how far it is: of each
// unit from 0 on, never back but to begin anew, and to its end.
func TestProgressOfVerbs(t *testing.T) {
	dir := t.TempDir()
	fillWorkspace(t, dir, map[string]string{"memory/birds.md": "# Birds\n\nThe heron stands in the reeds.\n"})
	k := openKernel(t, dir)
	defer k.Close()
	for i, key := range []string{"a", "b", "c"} {
		speak(t, k, key, said(int64(i+1), "Please make the export of parcels faster."))
	}
	reindex(t, k)
	verbs := map[string]struct {
		unit string
		all  int // 0: some
		run  func(ctx context.Context) error
	}{
		"check": {"session", 3, func(ctx context.Context) error { _, err := k.Check(ctx); return err }},
		"audit": {"session", 3, func(ctx context.Context) error {
			_, err := k.Maintenance().Audit(ctx, api.AuditOptions{})
			return err
		}},
		"doctor": {"check", 6, func(ctx context.Context) error {
			_, err := kernel.Doctor(ctx, dir, nil, nil)
			return err
		}},
		"retain": {"session", 3, func(ctx context.Context) error {
			_, err := k.Retain(ctx, api.RetainRequest{Blobs: time.Hour, Usage: time.Hour, Traces: time.Hour, Sessions: 1000 * time.Hour, Apply: true})
			return err
		}},
		"salvage": {"line", 0, func(ctx context.Context) error {
			_, err := k.Salvage(ctx, api.SalvageRequest{SessionKey: "a"})
			return err
		}},
		"curate": {"file", 0, func(ctx context.Context) error {
			_, err := k.Maintenance().Curate(ctx, api.CurateRequest{})
			return err
		}},
		"prune": {"file", 0, func(ctx context.Context) error {
			_, err := k.Maintenance().Prune(ctx, api.PruneRequest{})
			return err
		}},
		"nightly": {"step", 3, func(ctx context.Context) error {
			_, err := k.Maintenance().Nightly(ctx, api.NightlyRequest{})
			return err
		}},
		"forget": {"session", 1, func(ctx context.Context) error {
			_, err := k.Forget(ctx, api.ForgetRequest{SessionKey: "c", Session: true, Apply: true})
			return err
		}},
	}
	for _, name := range []string{"check", "audit", "doctor", "retain", "salvage", "curate", "prune", "nightly", "forget"} {
		v := verbs[name]
		type state struct{ done, all, rounds int }
		at := map[string]*state{}
		err := v.run(longwork.WithProgress(context.Background(), func(unit string, done, all int) {
			s := at[unit]
			if s == nil {
				s = &state{done: all, all: all}
				at[unit] = s
			}
			switch {
			case done == 0 && s.done == s.all: // it begins, or begins anew
				s.rounds, s.all = s.rounds+1, all
			case all != s.all || done < s.done || done > all:
				t.Errorf("%s: %d of %d %ss after %d of %d", name, done, all, unit, s.done, s.all)
			}
			s.done = done
		}))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		s := at[v.unit]
		if s == nil || v.all > 0 && s.all != v.all || s.all == 0 {
			t.Errorf("%s: nothing counts %d %ss: %+v", name, v.all, v.unit, s)
		}
		for unit, s := range at {
			if s.done != s.all || s.rounds == 0 {
				t.Errorf("%s ends at %d of %d %ss", name, s.done, s.all, unit)
			}
		}
	}
}
