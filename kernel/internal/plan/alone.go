package plan

import (
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/pagevm"
)

// Alone returns the request that the host would have sent for this call without memkernel. A
// compaction on demand makes no request. For a compaction Alone returns the value of the previous
// request.
func (r *Result) Alone() cachelayout.Alone {
	var before cachelayout.Alone
	if e := r.Prev.Expected; e != nil {
		before = e.Alone
	}
	if r.call.Request.Demand != nil {
		return before
	}
	h := cachelayout.HostRequest{Fixed: r.Fixed, FixedHash: r.toolHash, Window: r.Window, Sent: r.sentWhole()}
	h.FixedHash = ingest.Hash(h.FixedHash + r.systemHash)[:16]
	for i, s := range r.segments(0) {
		n := r.Scale(s.At[pagevm.Full].Tokens)
		if h.Messages += n; i < r.Align.First {
			h.Common += n
		}
	}
	return before.Next(h)
}

// sentWhole reports whether the plan sends all that the host wrote, and nothing else.
func (r *Result) sentWhole() bool {
	if len(r.Proj.Carry) > 0 {
		return false
	}
	for i := range r.Proj.Items {
		if it := &r.Proj.Items[i]; !it.Hosted() || it.Level != pagevm.Full || it.Bare {
			return false
		}
	}
	return !anyGone(r.Proj.Seen)
}
