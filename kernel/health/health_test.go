package health_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/memkernel/memkernel/kernel/health"
)

// A table runs in order up to the first check that can't look; findings have the code of
// their check unless they bring one, and are sorted by checks, then by places.
func TestRun(t *testing.T) {
	add := func(found ...health.Finding) func(context.Context, string, *health.Report) error {
		return func(_ context.Context, subject string, r *health.Report) error {
			for i := range found {
				found[i].What = subject
			}
			r.Add(found...)
			return nil
		}
	}
	stop := errors.New("stop")
	r := &health.Report{}
	r.Add(health.Finding{Code: health.Config, Severity: health.OK})
	err := health.Run(t.Context(), r, []health.Check[string]{
		{Code: health.Links, Run: add(health.Finding{Severity: health.Note, Place: health.Lines("b", 2, 2)}, health.Finding{Severity: health.Error, Place: health.Lines("a", 9, 9)})},
		{Code: health.Blobs, Run: func(_ context.Context, _ string, r *health.Report) error { r.Skip("no state"); return nil }},
		{Code: health.Files, Run: add(health.Finding{Severity: health.Error, Place: health.Place{Path: "a"}}, health.Finding{Code: health.Links, Severity: health.Error})},
		{Code: health.Index, Run: func(context.Context, string, *health.Report) error { return stop }},
		{Code: health.State, Run: add(health.Finding{})},
	}, "x")
	if !errors.Is(err, stop) {
		t.Fatal(err)
	}
	runs := []health.CheckRun{{ID: health.Links, Findings: 2}, {ID: health.Blobs, Skipped: "no state"}, {ID: health.Files, Findings: 2}, {ID: health.Index}}
	if !slices.Equal(r.Checks, runs) {
		t.Errorf("checks %+v", r.Checks)
	}
	if r.Count(health.Error) != 3 || r.Count(health.Note) != 1 || r.Count(health.OK) != 1 || r.Count(health.Warning) != 0 {
		t.Errorf("counts of %+v", r.Findings)
	}
	if r.Faults() != len(r.Findings)-1 {
		t.Errorf("%d faults of %+v", r.Faults(), r.Findings)
	}
	r.Sort()
	var got []string
	for _, f := range r.Findings {
		got = append(got, string(f.Code)+" "+f.Place.String())
	}
	if want := []string{"config ", "links ", "links a:9", "links b:2", "files a"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := health.Run(ctx, r, []health.Check[string]{{Code: health.State, Run: add()}}, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}

// A finding prints as what it is, with or without a place.
func TestFindingString(t *testing.T) {
	for want, f := range map[string]health.Finding{
		"s: page x is gone (salvage it)": {Session: "s", What: "page x is gone", Hint: "salvage it"},
		"MEMORY.md:3: is empty":          {Place: health.Lines("MEMORY.md", 3, 3), What: "is empty"},
	} {
		if got := f.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
