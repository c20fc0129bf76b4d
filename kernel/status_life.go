package kernel

import (
	"strings"
	"time"

	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/kernel/internal/session"
)

// LifeStatus is what the boundaries of a session left behind.
type LifeStatus struct {
	// Epoch counts the resets, Compactions the host's since the last one;
	// LastCompaction is when the newest was.
	Epoch          int       `json:"epoch"`
	Compactions    int       `json:"compactions"`
	LastCompaction time.Time `json:"last_compaction,omitzero"`
	// Checkpoints are on disk, newest first.
	Checkpoints []string `json:"checkpoints"`
	// Flushed counts the entries of the day's logs that flushes wrote, LastFlush is
	// when the newest was.
	Flushed   int       `json:"flushed"`
	LastFlush time.Time `json:"last_flush,omitzero"`
	// CutWaiting: a compaction was asked for that the next plan makes.
	CutWaiting bool `json:"cut_waiting"`
	// Warning tells of a session that was compacted again and again of late.
	Warning string `json:"warning,omitempty"`
}

// CutStatus is a cut of a line, its tokens without tools and system, as counted.
type CutStatus struct {
	Time   time.Time `json:"time,omitzero"`
	Reason string    `json:"reason"`
	Before int       `json:"tokens_before"`
	After  int       `json:"tokens_after"`
}

// lifeStatus reads what the boundaries left, by the clock now.
func lifeStatus(s *session.Session, o ProgressOptions, now time.Time) LifeStatus {
	st := LifeStatus{Epoch: s.Account.Epoch, Compactions: s.Account.Compactions, Checkpoints: []string{}}
	if n := len(s.Account.Compacted); n > 0 {
		st.LastCompaction = s.Account.Compacted[n-1]
	}
	if ids, err := checkpoint.NewStore(s.Files).List(); err == nil {
		st.Checkpoints = append(st.Checkpoints, ids...)
	}
	for _, e := range s.Promised() {
		if strings.HasPrefix(e.ID, "fl-") {
			st.Flushed++
			if t := e.Current().Time; t.After(st.LastFlush) {
				st.LastFlush = t
			}
		}
	}
	for branch, n := range s.Account.Pending {
		done := 0
		for key, l := range s.Branches.All {
			if key.Branch == branch {
				done = max(done, l.Compacted)
			}
		}
		st.CutWaiting = st.CutWaiting || done < n
	}
	st.Warning = spiral(o, s, s.Branches.Newest("", "").Proj, now)
	return st
}

// breakerStatus fills in what cuts of a line came to.
func (st *LineStatus) breakerStatus(l *branch.State, o ProgressOptions) {
	st.FutileCuts, st.Refusals, st.LearnedWindow = l.Breaker.Futile, l.Overflow.Tries, l.Overflow.Window
	st.BreakerOpen = l.Breaker.Futile >= o.withDefaults().Futile
	if n := len(l.Proj.Cuts); n > 0 {
		c := &l.Proj.Cuts[n-1]
		st.LastCut = &CutStatus{Time: c.Time, Reason: c.Reason, Before: c.Before, After: c.After}
	}
}
