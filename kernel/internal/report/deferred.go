package report

import (
	"fmt"

	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/internal/plan"
	"github.com/memkernel/memkernel/pagevm"
)

// DeferredIn lists the changes of a plan that wait for a cut.
func DeferredIn(pl *plan.Result) []api.Deferred {
	out := []api.Deferred{}
	waits := waits(pl)
	stale := stale(pl)
	for i := range pl.Proj.Items {
		it := &pl.Proj.Items[i]
		switch p := pl.Page(it.Page); {
		case it.Kind == pagevm.ItemNote && p != nil && p.Type != pagevm.Plan:
			out = append(out, api.Deferred{Page: it.Page, From: it.Level, To: pagevm.Gone, SavedTokens: pl.Scale(it.Tokens), Why: api.WhyChanged, Waits: waits})
		case stale[it.Page] != nil && it.Level == pagevm.Full: // a cut already lowered the others
			s := stale[it.Page]
			if to := s.Lowest(pl.Request.Resolver != ""); to < it.Level {
				out = append(out, api.Deferred{Page: it.Page, From: it.Level, To: to, Why: api.WhySuperseded, Waits: waits,
					SavedTokens: pl.Scale(it.Tokens - s.At[to].Tokens)})
			}
		}
	}
	return out
}

// stale returns the shown results in closed atoms that were superseded, by page.
func stale(pl *plan.Result) map[string]*pagevm.Segment {
	out := map[string]*pagevm.Segment{}
	for i, h := range pl.Supersede() {
		for j := range h.Segments {
			if s := &h.Segments[j]; s.Superseded && s.Kind == pagevm.ItemResult && pl.Places[i].Closed {
				out[s.Page] = s
			}
		}
	}
	return out
}

// waits names the event that the next cut waits for.
func waits(pl *plan.Result) string {
	f := pl.Cut.Figures
	mark := fmt.Sprintf("the high-water mark, %d tokens from here", max(f.HighWater-pl.Planned(pl.Proj), 0))
	switch {
	case pl.BoundLoop():
		return "the end of the open tool loop, whose thinking a cut would make invalid, or the limit of the window"
	case len(pl.Places) > 0 && pl.Places[len(pl.Places)-1].InLoop:
		return "the end of the open tool loop, and then " + mark + ", or a cold cache"
	}
	return mark + ", or a cold cache"
}
