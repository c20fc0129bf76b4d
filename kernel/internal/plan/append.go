package plan

import (
	"context"
	"slices"

	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/pagevm"
)

// appended is the prompt with the kernel's blocks after the newest message.
type appended struct {
	Proj *pagevm.Projection
	Made pagevm.Decision
	// Flush is why the host should run a flush turn, "" if it should not run one.
	Flush                 string
	flushAsked, flushSeen int
	// Left are the hits that were not recalled.
	Left []api.Excluded
	// level and cutLevel are the highest levels of the gauge that were announced.
	level, cutLevel int
}

// appendBlocks calls Next once more for the same projection, with notes and recalled memory
// added. These blocks come after the newest message and before system messages that end the
// request. If such system messages were sent already, nothing may come before them, and all
// blocks wait for the next call. Recalled memory comes last. It takes the remaining room, and
// makes no cut.
func appendBlocks(ctx context.Context, c *call, l *limits, d *decision) appended {
	a := appended{Proj: d.Chosen.Proj, Made: d.Chosen.Made, flushAsked: c.Prev.FlushAsked, flushSeen: c.Prev.FlushSeen}
	// The gauge's line is announced only if the prompt shows it. Otherwise it waits for the next
	// call.
	a.level, a.cutLevel = min(d.Gauge.level, c.Prev.Level), int(toldOfCut(c, a.Proj))
	if c.Request.Demand != nil {
		return a
	}
	a.Flush, a.flushAsked, a.flushSeen = flushDue(c, l, d)
	wishes := d.Chosen.wishes
	for n := len(c.Msgs); wishes.Ahead < n && ingest.SystemRole(c.Msgs[n-1-wishes.Ahead].Role); {
		wishes.Ahead++
	}
	if n := len(c.Msgs); wishes.Ahead == n || wishes.Ahead > n-c.Align.At {
		return a
	}
	line := gaugeNote(c, d)
	blocks := withRoom(l, a.Proj, slices.Concat(pinNotes(c, a.Proj), line, tellings(c, d)))
	if len(line) == 0 || slices.Contains(blocks, line[0]) {
		a.level, a.cutLevel = d.Gauge.level, d.Gauge.cutLevel
	}
	if len(blocks) > 0 {
		wishes.Append = blocks
		a.Proj, a.Made = c.nextProjection(wishes, d.Chosen.cache)
	}
	r := recalled(ctx, c, l, d, a.Proj)
	if a.Left = r.left; r.recall != nil {
		wishes.Append, wishes.Recall = append(blocks, r.blocks...), r.recall
		a.Proj, a.Made = c.nextProjection(wishes, d.Chosen.cache)
	}
	if d.Chosen.Made.Cut == nil && a.Proj != d.Chosen.Proj {
		// The second call of Next repeats a granted cut, but not the refusals of a cut.
		a.Made.Refused = slices.Concat(d.Chosen.Made.Refused, a.Made.Refused)
	}
	return a
}

// flushDue returns why the host should run a flush turn before its next call, "" if it should not.
// It also returns the size and the message at which a flush turn was last requested. A flush turn
// is due if the conversation is about to be compacted or has grown by much, and has not been
// flushed since.
func flushDue(c *call, l *limits, d *decision) (why string, asked, seen int) {
	asked, seen = c.Prev.FlushAsked, c.Prev.FlushSeen
	if c.prior.Life.FlushOff || c.workspace == nil || c.Request.Branch != "" {
		return "", asked, seen
	}
	soft := min(l.Window/20, 10_000) // the distance before a compaction
	if asked > d.Before || d.Chosen.Made.Cut != nil {
		asked = 0 // a new compaction cycle
	}
	mark := l.Window - l.Reserve
	if h := d.Cut.Figures.HighWater; h > 0 {
		mark = min(mark, h) // where the kernel's own cut is due
	}
	if d.Gauge.Reading.Window > 0 && d.Before >= mark-soft && (asked == 0 || d.Before-asked >= soft) {
		asked, why = d.Before, "tokens"
	}
	if c.bytesFrom(seen) >= flushBytes {
		seen, why = len(c.Msgs), "transcript_bytes"
	}
	return why, asked, seen
}

// flushBytes is the growth of a conversation after which a flush turn is requested: 2 MiB.
const flushBytes = 2 << 20
