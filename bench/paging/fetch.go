package paging

import (
	"slices"

	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/paging"
)

// Fetches is what it costs to get the contents that a run's turns needed and its
// prompts did not hold. It counts beside the faults: a policy that shows nothing
// but pointers has no fault, and pays here.
//
// A demand that a pointer meets is a hit, and a call of the resolver, or of
// the tool again if the turn does that: the page's full tokens are written
// anew behind the prompt, and later prompts carry that copy as far as the
// budget leaves room beside the pages, the oldest copy leaving first, up to
// the next compaction, reset or end of the session, or until the page changes
// or is made again. While a copy is there, the page need not be fetched. A
// page that a fault brings back (refetch, duplicate_tool) is written in full,
// too; from then on it is the engine's, and in the prompt's own tokens. So is
// one that the policy itself raises again from its pointer, or from nothing:
// what it shows of it is written once more, and only the call is saved.
type Fetches struct {
	// Resolutions are pointers followed, Refetches faults that brought a page back,
	// Restores pages that the policy raised again by itself.
	Resolutions int `json:"resolutions"`
	Refetches   int `json:"refetches"`
	Restores    int `json:"restores"`
	// FetchedTokens were written by all three. CarriedTokens is the sum over all
	// prompts of the copies that they carried.
	FetchedTokens int64 `json:"fetched_tokens"`
	CarriedTokens int64 `json:"carried_tokens"`
}

// perTurn returns what fetching cost in tokens, written and carried, by turn.
func (f *Fetches) perTurn(turns int) float64 {
	return float64(f.FetchedTokens+f.CarriedTokens) / float64(max(turns, 1))
}

// The prices of a cache write and a cache read in units of the base input price:
// Claude's with a lifetime of five minutes.
const writePrice, readPrice = 1.25, 0.1

// price returns what a turn's input costs in base input tokens, given the mean
// prompt: what is there is read, what was fetched is written and then carried,
// and every resolution or refetch is one more call that reads the prompt.
func (f *Fetches) price(turns int, prompt float64) float64 {
	n := float64(max(turns, 1))
	calls := 1 + float64(f.Resolutions+f.Refetches)/n
	return readPrice*(prompt*calls+float64(f.CarriedTokens)/n) + writePrice*float64(f.FetchedTokens)/n
}

// fetcher follows a run.
type fetcher struct {
	Fetches
	tokens map[string]paging.Tokens // by page
	copies map[string][]held        // by session, oldest first
	shown  map[[2]string]bool       // session and page whose content was there once
}

// held is a fetched copy that a prompt carries.
type held struct {
	page   string
	tokens int
}

func newFetcher(w *Workload) *fetcher {
	f := &fetcher{tokens: make(map[string]paging.Tokens, len(w.Pages)), copies: map[string][]held{}, shown: map[[2]string]bool{}}
	for i := range w.Pages {
		f.tokens[w.Pages[i].ID] = w.Pages[i].Tokens
	}
	return f
}

// see adds a turn and its outcome, under a budget.
func (f *fetcher) see(t *paging.Turn, out *paging.Outcome, budget int) {
	f.restores(t, out)
	cs := f.carry(f.copies[t.Session], budget-out.Tokens)
	for _, id := range out.Pointed {
		if slices.ContainsFunc(cs, func(c held) bool { return c.page == id }) {
			continue
		}
		f.Resolutions++
		f.FetchedTokens += int64(f.tokens[id].Full)
		cs = append(cs, held{id, f.tokens[id].Full})
	}
	for _, ft := range out.Faults {
		if ft.Code == paging.Refetch || ft.Code == paging.DuplicateTool {
			f.Refetches++
			f.FetchedTokens += int64(f.tokens[ft.Page].Full)
		}
	}
	f.copies[t.Session] = slices.DeleteFunc(cs, func(c held) bool { return stale(t, c.page) })
}

// restores counts what the policy raised again, and notes what is there now.
func (f *fetcher) restores(t *paging.Turn, out *paging.Outcome) {
	for _, c := range out.Changes {
		key := [2]string{t.Session, c.Page}
		if c.To <= pagevm.Pointer {
			continue
		}
		if c.From <= pagevm.Pointer && f.shown[key] {
			f.Restores++
			f.FetchedTokens += int64(f.tokens[c.Page].At(c.To))
		}
		f.shown[key] = true
	}
	for i := range t.Arrive {
		f.shown[[2]string{t.Session, t.Arrive[i].ID}] = true
	}
}

// carry returns what of the copies finds room in the next prompt.
func (f *fetcher) carry(cs []held, room int) []held {
	sum := 0
	for _, c := range cs {
		sum += c.tokens
	}
	for len(cs) > 0 && sum > room {
		sum -= cs[0].tokens
		cs = cs[1:]
	}
	f.CarriedTokens += int64(sum)
	return slices.Clone(cs)
}

// stale reports whether a turn makes a copy of a page worthless: the page changed
// or was made again, or the context was destroyed.
func stale(t *paging.Turn, page string) bool {
	return slices.Contains(t.Dirty, page) ||
		slices.ContainsFunc(t.Calls, func(c paging.Call) bool { return c.Page == page }) ||
		slices.ContainsFunc(t.Events, func(e paging.Event) bool { return e != paging.EventFlush })
}
