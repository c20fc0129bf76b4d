package kernel

import (
	"fmt"

	"github.com/memkernel/memkernel/pagevm"
)

// Deferred is a change that would be right and has not been made, because making it
// now would rewrite what the provider has cached. It is made at the cut that comes
// first, but for a superseded result that names what nothing else shows: that one may
// be worth its room.
type Deferred struct {
	// Page is what changes, From and To how it is and would be shown.
	Page string       `json:"page"`
	From pagevm.Level `json:"from"`
	To   pagevm.Level `json:"to"`
	// SavedTokens is what the prompt would hold less.
	SavedTokens int `json:"saved_tokens"`
	// Why is superseded (a newer read, an edit or the same call made it stale) or
	// changed_in_workspace (a note tells what the carry block does not say yet).
	Why string `json:"why"`
	// Waits is what it waits for, a sentence's end.
	Waits string `json:"waits_for"`
}

// The reasons of [Deferred.Why].
const (
	WhySuperseded = "superseded"
	WhyChanged    = "changed_in_workspace"
)

// deferred lists what waits for a cut.
func (pl *planned) deferred() []Deferred {
	out := []Deferred{}
	waits := pl.waits()
	stale := pl.stale()
	for i := range pl.Proj.Items {
		it := &pl.Proj.Items[i]
		switch p := pl.Page(it.Page); {
		case it.Kind == pagevm.ItemNote && p != nil && p.Type != pagevm.Plan:
			out = append(out, Deferred{Page: it.Page, From: it.Level, To: pagevm.Gone, SavedTokens: pl.Scale(it.Tokens), Why: WhyChanged, Waits: waits})
		case stale[it.Page] != nil && it.Level == pagevm.Full: // a lower one is what a cut made of it
			s := stale[it.Page]
			if to := s.Lowest(pl.req.Resolver != ""); to < it.Level {
				out = append(out, Deferred{Page: it.Page, From: it.Level, To: to, Why: WhySuperseded, Waits: waits,
					SavedTokens: pl.Scale(it.Tokens - s.At[to].Tokens)})
			}
		}
	}
	return out
}

// stale are the standing results that were superseded, in atoms that are closed, by
// page.
func (pl *planned) stale() map[string]*pagevm.Segment {
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

// waits names what the next cut waits for.
func (pl *planned) waits() string {
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
