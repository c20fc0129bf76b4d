package kernel

import (
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/summary"
)

// seedShare is how much of our own prompt the recorded one must at least have been
// for the provider's cache to be taken as ours. A host that had compacted sent
// less.
const seedShare = 0.6

// seed gives a session's first plan the clock and the ledger of the transcript's
// last recorded call, so that a kernel which takes over a session knows whether
// the cache is warm. Without a recorded call the cache is cold with nothing
// pending.
func (w *work) seed(grown *pagevm.Projection) {
	if w.sent() || len(w.prev.Proj.Seen) > 0 {
		return
	}
	i := lastCall(w.Msgs)
	if i < 0 {
		return
	}
	u := w.Msgs[i].Usage
	w.next.TTL = usageTTL(u)
	start := callStart(w.Msgs, i)
	if start.IsZero() {
		return
	}
	blocks := w.blocksBefore(grown, w.Msgs[i].Key)
	ours := 0
	for j := range blocks {
		ours += blocks[j].Tokens
	}
	if float64(u.InputTotal()) < seedShare*float64(ours) {
		return
	}
	id := w.identity(grown)
	id.Images = cachelayout.HasImage(blocks)
	w.next.Ledger = cachelayout.Seed(id, blocks, w.next.TTL, start)
}

// lastCall is the index of the last message that a model call is known to have
// produced, -1 if there is none.
func lastCall(msgs []memkernel.Message) int {
	for i := len(msgs) - 1; i >= 0; i-- {
		if msgs[i].Role == memkernel.RoleAssistant && msgs[i].Usage != nil && msgs[i].Usage.InputTotal() > 0 {
			return i
		}
	}
	return -1
}

// callStart is when the call that produced msgs[i] began: when what it answered
// was written.
func callStart(msgs []memkernel.Message, i int) time.Time {
	for j := i - 1; j >= 0; j-- {
		if !msgs[j].Time.IsZero() {
			return msgs[j].Time
		}
	}
	return msgs[i].Time
}

// usageTTL is the lifetime that a recorded call wrote its cache with.
func usageTTL(u *memkernel.Usage) time.Duration {
	switch {
	case u.CacheWrite1hTokens > 0:
		return time.Hour
	case u.CacheWrite5mTokens > 0:
		return 5 * time.Minute
	}
	return 0
}

// blocksBefore are the blocks of p in front of the message with key.
func (w *work) blocksBefore(p *pagevm.Projection, key string) []cachelayout.Block {
	blocks := w.blockList(p)
	at := len(blocks) - len(p.Items)
	for i := range p.Items {
		if p.Items[i].Key == key {
			return blocks[:at+i]
		}
	}
	return blocks
}

// advanceSummary brings the summary up to the newest message, so that what leaves
// at a cut is in it. Observed turns have done most of the work.
func (w *work) advanceSummary() {
	st := w.next.Summary
	if o := w.s.observed[w.req.Branch]; o.Offset.Messages > st.Offset.Messages {
		st = o
	}
	w.next.Summary = w.s.advance(st, w.Msgs)
}

// hostCompacted tells whether the host has put a summary of its own in the place of
// messages that stood: a compaction, to which a restore text belongs as to ours.
func (w *work) hostCompacted() bool {
	first := w.align.First
	return w.align.Rewrite == pagevm.RewriteBehind && first < len(w.Msgs) && w.Msgs[first].Origin == memkernel.OriginSummary
}

// renewed tells whether the carry block has to be made again, because the past that
// it speaks of is another one now.
func (w *work) renewed() bool { return w.align.Stale || w.hostCompacted() }

// renewSummary makes the summary again after the host rewrote what it was made
// from. A host that compacted has taken the originals away: then what we know
// stands. A fork has another past: then it begins anew.
func (w *work) renewSummary() {
	first := w.align.First
	if first < len(w.Msgs) && w.Msgs[first].Origin == memkernel.OriginSummary {
		w.advanceSummary()
		return
	}
	w.next.Summary = w.s.advance(summary.State{}, w.Msgs)
}

// carryIfGone is the carry block if anything is still out of the prompt.
func (w *work) carryIfGone() []pagevm.Block {
	for i := range w.align.Seen {
		if w.align.Seen[i].Gone {
			return w.carry()
		}
	}
	if first := w.align.First; first < len(w.Msgs) && w.Msgs[first].Origin == memkernel.OriginSummary {
		return w.carry()
	}
	w.next.Spans = nil
	return w.workspaceBlocks()
}

// anchorShift is the difference between the provider's count of the last prompt
// that it measured for us and our own, as long as p extends that prompt.
func (w *work) anchorShift(p *pagevm.Projection) int {
	a := w.next.Anchor
	if a.Total == 0 || a.Generation != p.Generation || a.Fixed != w.fixed || a.Items > len(p.Items) || a.Carry != len(p.Carry) {
		return 0
	}
	covered := pagevm.Projection{Carry: p.Carry, Items: p.Items[:a.Items]}
	return a.Total - w.fixed - w.conversation(&covered)
}

// calibrate takes the ratio between real and counted tokens from what this model
// was seen to bill: persisted observations, and the growth from call to call
// that the transcript recorded.
func (w *work) calibrate() {
	w.ratio, w.spread, w.kind = 1, w.Count.Spread(), w.Count.Kind
	cal := w.s.calib.of(w.req.Model)
	w.learnRecorded(&cal)
	if w.Count.Kind == budget.Estimated && cal.Trusted() {
		w.ratio, w.spread = cal.Factor()
		w.kind = budget.Calibrated
	}
}

// learnRecorded trains a calibration on the growth of the recorded prompt from
// one call to the next. What shrank, or was made by another model, teaches
// nothing.
func (w *work) learnRecorded(cal *budget.Calibration) {
	last, sum, n := 0, 0, 0
	for i := range w.Msgs {
		m := &w.Msgs[i]
		if m.Origin == memkernel.OriginSummary {
			last = 0
		}
		if m.Role == memkernel.RoleAssistant && m.Usage != nil && m.Usage.InputTotal() > 0 {
			total := m.Usage.InputTotal()
			if last > 0 && total > last && m.Model == w.req.Model {
				cal.Observe(budget.Count{Tokens: sum, Bound: sum, Kind: w.Count.Kind}, n, total-last)
			}
			last, sum, n = total, 0, 0
		}
		sum += w.Hosts[i].Tokens()
		n++
	}
}
