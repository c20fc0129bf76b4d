package paging

import (
	"maps"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/pagevm"
)

// PageTable is the page table of a running conversation, as of one plan, with the pages that its
// plans have shown so far.
type PageTable struct {
	Report
	// Pages are those in the prompt, in its order, followed by those that are not in it and can
	// be had.
	Pages []PageRow `json:"pages"`
}

// PageRow is a page of a running conversation. Sizes are calibrated tokens.
type PageRow struct {
	// ID is the id by which a caller gets the page.
	ID    string          `json:"id"`
	Type  pagevm.Type     `json:"type"`
	Scope memkernel.Scope `json:"scope"`
	Origin
	// Tokens is the cost of each level that the page has.
	Tokens Tokens `json:"tokens"`
	// Level is the level that the prompt shows, and ShownTokens is its cost. Floor is the lowest
	// level that may ever be shown in place of the page.
	Level       pagevm.Level `json:"level"`
	ShownTokens int          `json:"shown_tokens"`
	Floor       pagevm.Level `json:"floor"`
	// Bare: it is shown without its thinking, which a cut made invalid.
	Bare bool `json:"without_thinking,omitempty"`
	// Pin is hard or soft for a page that a host pinned.
	Pin Pin `json:"pin"`
	// Dirty: nothing durable holds the content yet.
	Dirty bool `json:"dirty"`
	// Place is the place of the page; Span is the span that it left with, if it did.
	Place Place  `json:"place"`
	Span  string `json:"span,omitempty"`
	// Last is its newest use.
	Last Access `json:"last_access"`
	// RecomputeCost is how many tool calls would make the content again: 1 for a result whose
	// call only looks; 0 for content that the kernel makes again itself, from files, memory and
	// journal. It is nil for words, and for the result of a call that acts or may act: such a
	// call must not be run again to get its result back.
	RecomputeCost *float64 `json:"recompute_cost"`
}

// Origin is a page's provenance.
type Origin struct {
	// Tool and Path are the tool that made it and the path that its call names.
	Tool string `json:"tool,omitempty"`
	Path string `json:"path,omitempty"`
	// Key is the host message that holds it, or after which it is placed. CallID is its call.
	Key    string `json:"key,omitempty"`
	CallID string `json:"call_id,omitempty"`
	// Refs are the places it was taken from.
	Refs []memkernel.Ref `json:"refs,omitempty"`
}

// Place is the place of a page.
type Place string

// The places of pages.
const (
	InCarry        Place = "carry"        // in front of the messages
	InConversation Place = "conversation" // in a message of the host's
	InNote         Place = "note"         // after one
	InRetrieval    Place = "retrieval"    // recalled after one
	InSpan         Place = "span"         // left, and held by a span that the carry block names
	Nowhere        Place = "gone"         // not in the prompt: to be had by its id alone
)

// Access is the newest use of a page: in which of the user's turns and which model call
// of the conversation, both from 1, and how.
type Access struct {
	// Turn counts the user's turns from 1, 0 before the first; Call the conversation's model
	// calls, 0 for a page that was never in a prompt.
	Turn int `json:"turn"`
	Call int `json:"call"`
	How  Use `json:"how"`
}

// Use is how a page was used.
type Use string

// The uses of pages.
const (
	UseShown    Use = "shown"    // it was new in the prompt
	UseRepeated Use = "repeated" // its call, which only looks, ran again
	UseFetched  Use = "fetched"  // the model asked for it by its id
	UseNamed    Use = "named"    // the model named its id, or a call its path
)

// Counts are the paging events of a conversation.
type Counts struct {
	// Faults are counted by code.
	Faults map[Code]int `json:"faults,omitempty"`
	Alerts int          `json:"alerts,omitempty"`
	Hits   int          `json:"hits,omitempty"`
}

// Plus is the sum of two, which share nothing with it that changes.
func (c Counts) Plus(o Counts) Counts {
	sum := Counts{Faults: c.Faults, Alerts: c.Alerts + o.Alerts, Hits: c.Hits + o.Hits}
	if len(o.Faults) > 0 {
		sum.Faults = maps.Clone(c.Faults)
		if sum.Faults == nil {
			sum.Faults = map[Code]int{}
		}
		for code, n := range o.Faults {
			sum.Faults[code] += n
		}
	}
	return sum
}

// Report is the summary of counts.
type Report struct {
	// ExplicitFaults are all but pinned misses; Faults counts all, by code.
	ExplicitFaults int          `json:"explicit_faults"`
	Faults         map[Code]int `json:"fault_codes"`
	// Alerts counts duplicate_signature.
	Alerts int `json:"alerts"`
	Hits   int `json:"hits"`
	// Thrash is as [Totals.Thrash].
	Thrash float64 `json:"thrash"`
}

// Report sums the counts up.
func (c Counts) Report() Report {
	t := Totals{Alerts: c.Alerts, Hits: c.Hits}
	r := Report{Faults: map[Code]int{}, Alerts: c.Alerts, Hits: c.Hits}
	for i, code := range codes {
		if n := c.Faults[code]; n > 0 {
			t.Faults[i], r.Faults[code] = n, n
		}
	}
	r.ExplicitFaults, r.Thrash = t.Explicit(), t.Thrash()
	return r
}
