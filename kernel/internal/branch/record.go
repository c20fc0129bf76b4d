package branch

import (
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/kernel/billing"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/paging"
	"github.com/memkernel/memkernel/summary"
)

// Record holds the changes of a plan: the difference from the previous state. Losing a record
// costs a cache miss, never data.
type Record struct {
	Plan       string `json:"plan"`
	Branch     string `json:"branch,omitempty"`
	Model      string `json:"model"`
	Generation int    `json:"generation"`
	// Epoch is the session's epoch, which rises at every reset.
	Epoch int `json:"epoch,omitempty"`
	// KeepSeen, KeepItems and KeepIdle count the entries that are kept from the previous record.
	// Seen, Items and Pace.Idle are the entries after the kept entries. Carry and Fixed are nil if
	// they did not change.
	KeepSeen  int                 `json:"keep_seen"`
	KeepItems int                 `json:"keep_items"`
	KeepIdle  int                 `json:"keep_idle,omitempty"`
	Seen      []pagevm.Seen       `json:"seen,omitempty"`
	Items     []pagevm.Item       `json:"items,omitempty"`
	Carry     []pagevm.Item       `json:"carry,omitempty"`
	NewCarry  bool                `json:"new_carry,omitempty"`
	Cuts      []pagevm.CutPoint   `json:"cuts,omitempty"`
	Spans     []Span              `json:"spans,omitempty"`
	Summary   *summary.State      `json:"summary,omitempty"`
	Fixed     []cachelayout.Block `json:"fixed"`
	Recall    *pagevm.Recall      `json:"recall,omitempty"`
	carried
	// Ledger is the assumed content of the provider's cache.
	Ledger cachelayout.Ledger `json:"ledger"`
	sent
}

// carried is the part of a state that the next state takes over. Every record contains the whole
// part.
type carried struct {
	// Private: the conversation has been shown pages that only private sessions may see.
	Private bool `json:"private,omitempty"`
	// Level is the level of the gauge. It is kept so that a threshold is announced only once.
	Level int `json:"level,omitempty"`
	// CutLevel is the level on the way to the next cut. Only a cut lowers it.
	CutLevel int `json:"cut_level,omitempty"`
	// Window is the window of the newest plan in tokens, 0 in older records.
	Window int `json:"window,omitempty"`
	// Full is the whole input of the newest plan in calibrated tokens, 0 in older records.
	Full int `json:"full,omitempty"`
	// FlushAsked is the size at which a flush turn was last requested.
	FlushAsked int `json:"flush_asked,omitempty"`
	// FlushSeen is the number of messages that had been flushed because of their bytes.
	FlushSeen int `json:"flush_seen,omitempty"`
	// Call is the last call; nil in a record if it did not change.
	Call *Call `json:"call,omitempty"`
	// Overflow holds the limits learned from refusals.
	Overflow Refusals `json:"overflow,omitzero"`
	// Breaker holds the futile cuts.
	Breaker Breaker `json:"breaker,omitzero"`
	// Compacted is the newest boundary whose cut was made.
	Compacted int `json:"compacted,omitempty"`
	// Unsent: the newest plan belongs to a compaction, which sends no request.
	Unsent bool `json:"unsent,omitempty"`
	// Notes is the version of a model's notes that the carry block shows.
	Notes int `json:"notes,omitempty"`
	// Paging sums the paging counts of the conversation's plans.
	Paging paging.Counts `json:"paging,omitzero"`
}

// sent describes the newest plan as the provider has it.
type sent struct {
	// TTL is the cache lifetime that the host was seen to use; 0 if unknown.
	TTL time.Duration `json:"ttl,omitempty"`
	// Pace describes the gaps between the calls.
	Pace cachelayout.Pace `json:"pace,omitzero"`
	// Anchor is the last request that the provider measured for us.
	Anchor Anchor `json:"anchor,omitzero"`
	// Planned is the size of the plan's conversation in uncalibrated tokens.
	Planned int `json:"planned"`
	// Before is the size that the whole prompt would have without cuts, in calibrated tokens.
	Before int `json:"before"`
	// Expected is the planned bill; nil in records that lack it.
	Expected *billing.Expected `json:"expected,omitempty"`
	// Ratio is the number of calibrated tokens for a counted token.
	Ratio float64 `json:"ratio"`
	// Reported is the provider's report about the last request that was billed, nil if there was
	// no report.
	Reported *memkernel.Reported `json:"reported,omitempty"`
}

// Diff returns the changes from the state on to s. The parameter carry reports that the carry block
// was made again, and fixed are the blocks in front of the carry block.
func (s *State) Diff(on *State, epoch int, fixed []cachelayout.Block, carry bool) Record {
	p, q := on.Proj, s.Proj
	b := Record{Plan: s.Plan, Branch: s.Branch, Model: s.Model, Generation: q.Generation, Epoch: epoch, Fixed: fixed,
		carried: s.carried, Ledger: s.Ledger, sent: s.sent}
	b.KeepSeen, b.Seen = kept(p.Seen, q.Seen)
	b.KeepItems, b.Items = kept(p.Items, q.Items)
	b.KeepIdle, b.Pace.Idle = kept(on.Pace.Idle, s.Pace.Idle)
	if carry || len(p.Carry) != len(q.Carry) {
		b.NewCarry, b.Carry, b.Spans, b.Summary = true, q.Carry, s.Spans, &s.Summary
	}
	if p.Recall != q.Recall {
		b.Recall = &q.Recall
	}
	if s.LastCall() == on.LastCall() {
		b.Call = nil
	}
	b.Cuts = q.Cuts[min(len(p.Cuts), len(q.Cuts)):]
	return b
}

// kept counts the entries at the head of two lists that are equal, and returns the rest of next.
func kept[T comparable](before, next []T) (int, []T) {
	n := 0
	for n < len(before) && n < len(next) && before[n] == next[n] {
		n++
	}
	return n, next[n:]
}

// Apply advances a state by one record. If another process compacted the file or a record was
// lost, the record may not fit the state. Apply then starts from an empty state.
func (s *State) Apply(session string, b *Record) *State {
	n, p := *s, *s.Proj
	if b.KeepSeen > len(p.Seen) || b.KeepItems > len(p.Items) || b.KeepIdle > len(s.Pace.Idle) {
		return New(session, b.Branch, b.Model)
	}
	p.Generation = b.Generation
	p.Seen = append(p.Seen[:b.KeepSeen:b.KeepSeen], b.Seen...)
	p.Items = append(p.Items[:b.KeepItems:b.KeepItems], b.Items...)
	p.Cuts = append(p.Cuts[:len(p.Cuts):len(p.Cuts)], b.Cuts...)
	if b.NewCarry {
		p.Carry, n.Spans = b.Carry, b.Spans
		if b.Summary != nil {
			n.Summary = *b.Summary
		}
	}
	if b.Recall != nil {
		p.Recall = *b.Recall
	}
	n.Plan, n.Proj, n.carried, n.sent, n.restored = b.Plan, &p, b.carried, b.sent, b
	n.Pace.Idle = append(s.Pace.Idle[:b.KeepIdle:b.KeepIdle], b.Pace.Idle...)
	if b.Call == nil {
		n.Call = s.Call
	} else {
		n.System, n.Tools = nil, nil
	}
	return &n
}

// RestoreLedger makes the ledger of a state that was read from disk. If that is impossible, the
// ledger assumes that nothing is cached.
func (s *State) RestoreLedger() {
	b := s.restored
	if b == nil {
		return
	}
	s.Ledger, _ = b.Ledger.Restore(Blocks(b.Fixed, s.Proj, b.Ratio))
	s.restored = nil
}

// OpCut is the operation of a journal record with a [Cut].
const OpCut = "cut"

// Cut holds the spans that left the prompt, and the summary that replaces them.
type Cut struct {
	Branch  string        `json:"branch,omitempty"`
	Model   string        `json:"model"`
	Spans   []Span        `json:"spans"`
	Summary summary.State `json:"summary"`
	// Texts are the kernel's own blocks, by hash.
	Texts map[string]string `json:"texts"`
}
