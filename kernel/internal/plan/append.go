package plan

import (
	"context"
	"slices"

	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/pagevm"
)

// appended is a decision with the kernel's blocks after the newest message.
type appended struct {
	decision
	// Flush is why the host should run a flush turn, "" if it should not run one.
	Flush                 string
	flushAsked, flushSeen int
	// Left are the hits that were not recalled.
	Left []api.Excluded
}

// appendBlocks calls Next once more for the same projection, with notes and recalled memory
// added. These blocks come after the newest message and before system messages that end the
// request. If such system messages were sent already, nothing may come before them, and all
// blocks wait for the next call. Recalled memory comes last. It takes the remaining room, and
// makes no cut.
func appendBlocks(ctx context.Context, d decision) appended {
	a := appended{decision: d, flushAsked: d.Prev.FlushAsked, flushSeen: d.Prev.FlushSeen}
	if a.req.Demand != nil {
		untold(&a)
		return a
	}
	flushDue(&a)
	for n := len(a.Msgs); a.Wishes.Ahead < n && ingest.SystemRole(a.Msgs[n-1-a.Wishes.Ahead].Role); {
		a.Wishes.Ahead++
	}
	if n := len(a.Msgs); a.Wishes.Ahead == n || a.Wishes.Ahead > n-a.Align.At {
		untold(&a)
		return a
	}
	a.leadGone = a.Proj.Seen[0].Gone
	line := gaugeNote(&a)
	blocks := fitting(&a, slices.Concat(pinNotes(&a), line, tellings(&a)))
	if len(line) > 0 && !slices.Contains(blocks, line[0]) {
		untold(&a)
	}
	if len(blocks) > 0 {
		grant(&a, blocks, nil)
	}
	recall, recalled := recalled(ctx, &a)
	if recall != nil {
		grant(&a, append(blocks, recalled...), recall)
	}
	return a
}

// untold defers the gauge's line to the next call.
func untold(a *appended) {
	a.level, a.cutLevel = min(a.level, a.Prev.Level), int(a.toldOfCut())
}

// grant requests the same projection with blocks after it.
func grant(a *appended, blocks []pagevm.Block, recall *pagevm.Recall) {
	wishes := a.Wishes
	wishes.Append, wishes.Recall = blocks, recall
	a.Proj, a.Made = a.nextProjection(a.delta(), wishes, a.granted)
}

// flushDue decides whether the host should run a flush turn before its next call. A flush turn is
// due if the conversation is about to be compacted or has grown by much, and has not been flushed
// since.
func flushDue(a *appended) {
	if a.prior.Life.FlushOff || a.workspace == nil || a.req.Branch != "" {
		return
	}
	soft := min(a.Window/20, 10_000) // the distance before a compaction
	last := a.Prev.FlushAsked
	if last > a.Before || a.Made.Cut != nil {
		last = 0 // another compaction cycle
	}
	a.flushAsked = last
	mark := a.Window - a.Reserve
	if h := a.Cut.Figures.HighWater; h > 0 {
		mark = min(mark, h) // where the kernel's own cut is due
	}
	if a.Reading.Window > 0 && a.Before >= mark-soft && (last == 0 || a.Before-last >= soft) {
		a.flushAsked, a.Flush = a.Before, api.FlushTokens
	}
	if a.bytesFrom(a.Prev.FlushSeen) >= flushBytes {
		a.flushSeen, a.Flush = len(a.Msgs), api.FlushBytes
	}
}

// flushBytes is the growth of a conversation after which a flush turn is requested: 2 MiB.
const flushBytes = 2 << 20
