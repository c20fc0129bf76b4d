package plan

import (
	"slices"
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/internal/longwork"
	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/kernel/internal/ids"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/pagevm"
)

// gauge reads how full the context is. It decides on a line for the model and on a checkpoint. If
// a cut is made, it decides on a checkpoint before the cut.
func gauge(d *deciding) {
	if d.prior.Life.Off || d.prior.Life.NoRestore || d.req.Branch != "" {
		return
	}
	d.Reading = checkpoint.Reading{Tokens: d.Before, Window: d.KnownWindow(), Estimated: d.Prev.Anchor.Total == 0}
	if d.Made.Cut != nil {
		d.level, d.Trigger = int(checkpoint.LevelNone), checkpoint.TriggerCompaction
		return
	}
	if d.Reading.Window == 0 || d.Align.At == len(d.Msgs) {
		// The window is unknown, or the host repeats the same request. In a repeated request the
		// blocks of the previous plan filled the prompt, and a new line would change bytes that
		// were sent.
		d.level, d.cutLevel = d.Prev.Level, int(d.toldOfCut())
		return
	}
	t := d.prior.Life.Thresholds(d.Window, d.Reserve)
	now, crossed := t.Cross(checkpoint.Level(d.Prev.Level), d.Reading)
	d.level = int(now)
	for _, l := range crossed {
		d.crossed = max(d.crossed, l)
		if l >= checkpoint.LevelCheckpoint {
			d.Trigger = checkpoint.TriggerAuto
		}
	}
	gaugeCut(d, t)
}

// gaugeCut reads how near the next cut is, which may come long before the window is full. Each
// level is announced once between two cuts, even if the marks move.
func gaugeCut(d *deciding, t checkpoint.Thresholds) {
	if t.Show >= 1 {
		return
	}
	told := d.toldOfCut()
	d.NextCut = checkpoint.NextCut{Told: told >= checkpoint.LevelCheckpoint, Low: d.Cut.Figures.LowWater, High: d.Cut.Next(), InLoop: d.InLoop(), Resolver: d.req.Resolver}
	d.NextCut.Tool, d.NextCut.Maybe = memoryTool(d.req.Tools)
	t.Compact = 1
	now := t.Level(d.NextCut.Way(d.Before))
	if now == checkpoint.LevelCompact && !d.InLoop() {
		now = told // the due cut was not made: it is not announced
	}
	if d.crossed == checkpoint.LevelShow && told > checkpoint.LevelShow {
		d.crossed = checkpoint.LevelNone // a higher level was announced
	}
	if now > told && d.level < int(now) {
		d.crossed = max(d.crossed, now)
	}
	d.cutLevel = int(max(told, now, d.crossed))
}

// toldOfCut returns the level on the way to the next cut that was announced since the last cut.
func (d *decision) toldOfCut() checkpoint.Level {
	if d.Proj.Generation != d.Prev.Proj.Generation {
		return checkpoint.LevelNone
	}
	return checkpoint.Level(d.Prev.CutLevel)
}

// memoryTools are the names by which models write memory, in memkernel and elsewhere.
var memoryTools = []string{"memory_append", "memory_write", "memory_save", "save_memory", "memory_add", "memory"}

// memoryTool returns the name of the tool in a request by which a model writes memory, under any
// server's name. The result maybe reports that the host does not show its tools.
func memoryTool(tools []memkernel.Tool) (name string, maybe bool) {
	for _, want := range memoryTools {
		for i := range tools {
			if got := tools[i].Name; got == want || strings.HasSuffix(got, "__"+want) {
				return got, false
			}
		}
	}
	if len(tools) == 0 {
		return memoryTools[0], true
	}
	return "", false
}

// stateNow returns the working state including the plan's messages.
func stateNow(d *deciding, ws *WorkState) checkpoint.State {
	if d.Captured == nil {
		st := checkpoint.UpdateMasked(ws.State, d.Msgs, d.Mask.Text)
		ws.Tell(&st)
		d.Captured = &st
	}
	return *d.Captured
}

// captureAhead begins to make the working state for a restore text while a cut is decided, since
// both take equally long. The caller must call wait before it uses d.Captured.
func captureAhead(d *deciding) (wait func()) {
	if d.restoreRoom() <= 0 || d.Captured != nil {
		return func() {}
	}
	ws, err := d.session.WorkState()
	if err != nil {
		return func() {} // the first reader reports it
	}
	var st checkpoint.State
	made := longwork.Aside(func() { st = checkpoint.UpdateMasked(ws.State, d.Msgs, d.Mask.Text) })
	return func() {
		made()
		ws.Tell(&st)
		d.Captured = &st
	}
}

// restoreRoom returns the greatest length of a restore text, 0 if no restore text is made.
func (d *deciding) restoreRoom() int {
	if d.prior.Life.Off || d.prior.Life.NoRestore || d.req.Branch != "" {
		return 0
	}
	return RestoreRoom(d.Window)
}

// worked reads the session's working state. It returns nil if it can't be read.
func worked(d *deciding) *WorkState {
	ws, err := d.session.WorkState()
	if err != nil {
		d.fault(fault.Fault{Code: fault.Checkpoint, Detail: err.Error()})
		return nil
	}
	return ws
}

// checkpointNow returns the checkpoint for a restore text: the state including the plan's
// messages, whether it has been written or not.
func checkpointNow(d *deciding, ws *WorkState) *checkpoint.Checkpoint {
	st := stateNow(d, ws)
	if st.Thread.Captured == 0 || !st.Changed(ws.Written) && ws.Written != nil {
		return ws.Latest
	}
	d.Trigger = checkpoint.TriggerCompaction
	return checkpoint.Build(st, ws.Latest, ws.Input(d.Trigger, d.Reading))
}

// besideSummary are the sections of a restore text that follows a summary of the kernel. The
// summary lacks these sections.
var besideSummary = []checkpoint.Section{checkpoint.SectionWorking, checkpoint.SectionThread, checkpoint.SectionLearnings}

// restoreBlock returns the text from which the model continues, for the carry block.
func restoreBlock(d *deciding, occasion checkpoint.Occasion, beside bool) []pagevm.Block {
	room := d.restoreRoom()
	if room <= 0 {
		return nil
	}
	ws := worked(d)
	if ws == nil {
		return nil
	}
	if beside {
		return restored(d, ws, checkpointNow(d, ws), checkpoint.RestoreOptions{Occasion: occasion, Cap: room / 2, Sections: besideSummary})
	}
	return restored(d, ws, checkpointNow(d, ws), checkpoint.RestoreOptions{Occasion: occasion, Cap: room})
}

// resumed returns the restore text of a new conversation, if an earlier conversation of the
// session left a checkpoint.
func resumed(d *deciding) []pagevm.Block {
	room := d.restoreRoom()
	if room <= 0 {
		return nil
	}
	ws := worked(d)
	if ws == nil {
		return nil
	}
	if ws.State.Thread.Captured == 0 && ws.Latest == nil {
		return neighbour(d, ws)
	}
	if key := ws.State.Thread.Reader.Offset.Key; key != "" && ingest.Unseen(key, d.Msgs) > 0 {
		return nil // the same conversation, taken up again
	}
	return restored(d, ws, leftBehind(d, ws), checkpoint.RestoreOptions{Occasion: checkpoint.NewSession, Cap: room})
}

// neighbour returns a line that names the session that was at work before a new conversation. If
// the user wants to continue from that session, it returns the session's state instead.
func neighbour(d *deciding, ws *WorkState) []pagevm.Block {
	if !d.req.Private || d.hostShows(checkpoint.BesideMark) || slices.ContainsFunc(d.Msgs, func(m memkernel.Message) bool { return m.Role == memkernel.RoleAssistant }) {
		return nil
	}
	n := d.session.Neighbour()
	if n == nil {
		return nil
	}
	if _, words, _ := d.userTurn(); checkpoint.GoesOn(words) {
		c, err := n.State()
		if err != nil {
			d.fault(fault.Fault{Code: fault.Checkpoint, Detail: err.Error()})
		}
		return restored(d, ws, c, checkpoint.RestoreOptions{Occasion: checkpoint.OtherSession, Cap: d.restoreRoom()})
	}
	return d.restoreText(checkpoint.Beside(n.Key, n.At))
}

// leftBehind returns the state that an earlier conversation of the session left. It is the
// conversation's checkpoint with the state that was captured since. A checkpoint for this state
// is written now.
func leftBehind(d *deciding, ws *WorkState) *checkpoint.Checkpoint {
	if ws.State.Thread.Captured == 0 || !ws.State.Changed(ws.Written) {
		return ws.Latest
	}
	d.Behind = true
	return checkpoint.Build(ws.State, ws.Latest, ws.Input(checkpoint.TriggerSessionEnd, checkpoint.Reading{}))
}

// anew returns the restore text if the host's messages differ from the first message on, because
// they are another conversation of the session. It returns nil if the host compacted the same
// conversation.
func anew(d *deciding) []pagevm.Block {
	if len(d.Prev.Proj.Seen) == 0 || d.Align.Rewrite != pagevm.RewriteBehind || d.Align.First > 0 || d.hostCompacted() {
		return nil
	}
	return resumed(d)
}

// restored makes the block of a checkpoint. It returns no block if there is no checkpoint.
func restored(d *deciding, ws *WorkState, c *checkpoint.Checkpoint, opt checkpoint.RestoreOptions) []pagevm.Block {
	if c == nil {
		return nil
	}
	opt.Count = d.Count.Text
	if opt.Occasion != checkpoint.OtherSession { // whose ids lead nowhere in this one
		opt.More, opt.Source, opt.Resolver = More(c), ws.Source(c), d.req.Resolver
	}
	return d.restoreText(checkpoint.Restore(c, &opt))
}

// restoreText makes the block of a restore text. It returns no block if a hook put the text into
// the prompt.
func (d *deciding) restoreText(text string) []pagevm.Block {
	first, _, _ := strings.Cut(text, "\n")
	if text == "" || d.hostShows(first) {
		return nil
	}
	return []pagevm.Block{d.carryBlock(pagevm.ItemCarry, ids.Page("rs", d.prior.Name), pagevm.Structured, text)}
}

// More names the id by which a whole section of a checkpoint can be fetched.
func More(c *checkpoint.Checkpoint) func(checkpoint.Section, int) string {
	return func(sec checkpoint.Section, _ int) string { return string(c.Meta.CheckpointID) + "." + string(sec) }
}

// RestoreRoom returns the greatest length of a restore text, which is smaller in small windows.
func RestoreRoom(window int) int { return min(checkpoint.RestoreCap, window/100) }
