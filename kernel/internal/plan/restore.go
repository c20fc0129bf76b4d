package plan

import (
	"slices"
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/pagevm"
)

// gauge holds how full the context is, and the consequences.
type gauge struct {
	Reading checkpoint.Reading
	// NextCut is the distance to the next cut.
	NextCut checkpoint.NextCut
	// crossed is the highest level of the gauge or of the next cut that this plan crossed.
	crossed checkpoint.Level
	// Trigger is the reason for a checkpoint that is due.
	Trigger checkpoint.Trigger
	// level and cutLevel are the highest levels that were announced.
	level, cutLevel int
}

// readGauge reads how full the context is. It decides whether the model gets a line about it and
// whether a checkpoint is due. A cut needs a checkpoint first.
func readGauge(c *call, l *limits, d *decision) gauge {
	g := gauge{level: c.prior.Before.Level}
	if !c.keepsWork() {
		return g
	}
	if c.hostCompacted() {
		g.Trigger = checkpoint.TriggerCompaction
	}
	g.Reading = checkpoint.Reading{Tokens: d.Before, Window: l.KnownWindow()}
	if d.Chosen.Made.Cut != nil {
		g.level, g.Trigger = int(checkpoint.LevelNone), checkpoint.TriggerCompaction
		return g
	}
	told := toldOfCut(c, d.Chosen.Proj)
	if g.Reading.Window == 0 || c.Align.At == len(c.Msgs) {
		// The window is unknown, or the host repeats the last request. In a repeated request a new
		// line would change bytes that were sent.
		g.level, g.cutLevel = c.Prev.Level, int(told)
		return g
	}
	t := c.prior.Life.Thresholds(l.Window, l.Reserve)
	now, crossed := t.Cross(checkpoint.Level(c.Prev.Level), g.Reading)
	g.level = int(now)
	for _, level := range crossed {
		g.crossed = max(g.crossed, level)
		if level >= checkpoint.LevelCheckpoint {
			g.Trigger = checkpoint.TriggerAuto
		}
	}
	if t.Show >= 1 {
		return g
	}
	// The next cut may come long before the window is full. Each level is announced once between
	// two cuts, even if the marks move.
	g.NextCut = checkpoint.NextCut{Told: told >= checkpoint.LevelCheckpoint, Low: d.Cut.Figures.LowWater, High: d.Cut.Next(), InLoop: c.InLoop(), Resolver: c.Request.Resolver}
	g.NextCut.Tool, g.NextCut.Maybe = memoryTool(c.Request.Tools)
	t.Compact = 1
	near := t.Level(g.NextCut.Way(d.Before))
	if near == checkpoint.LevelCompact && !c.InLoop() {
		near = told // the due cut was not made, so it is not announced
	}
	if g.crossed == checkpoint.LevelShow && told > checkpoint.LevelShow {
		g.crossed = checkpoint.LevelNone // a higher level was announced before
	}
	if near > told && g.level < int(near) {
		g.crossed = max(g.crossed, near)
	}
	g.cutLevel = int(max(told, near, g.crossed))
	return g
}

// keepsWork reports whether the working state of this conversation is kept and restored.
func (c *call) keepsWork() bool {
	return !c.prior.Life.Off && !c.prior.Life.NoRestore && c.Request.Branch == ""
}

// toldOfCut returns the highest level before the next cut that was announced since the last cut.
func toldOfCut(c *call, p *pagevm.Projection) checkpoint.Level {
	if p.Generation != c.Prev.Proj.Generation {
		return checkpoint.LevelNone
	}
	return checkpoint.Level(c.Prev.CutLevel)
}

// memoryTools are the names of tools that write memory, in memkernel and elsewhere.
var memoryTools = []string{"memory_append", "memory_write", "memory_save", "save_memory", "memory_add", "memory"}

// memoryTool returns the name of a request's tool that writes memory, with any server's prefix.
// maybe reports that the host does not show its tools, so that the name is a guess.
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

// restoreRoom returns the greatest length of a restore text in tokens, 0 if no restore text is
// made.
func (c *call) restoreRoom(l *limits) int {
	if !c.keepsWork() {
		return 0
	}
	return RestoreRoom(l.Window)
}

// worked reads the session's working state. It returns nil if no restore text is made, or if the
// state can't be read.
func worked(c *call, l *limits) *WorkState {
	if c.restoreRoom(l) <= 0 {
		return nil
	}
	ws, err := c.session.WorkState()
	if err != nil {
		c.fault(fault.Fault{Code: fault.Checkpoint, Detail: err.Error()})
		return nil
	}
	return ws
}

// resumed returns the restore text for a new conversation if an earlier conversation of the session
// left a state.
func resumed(c *call, l *limits, m material) ([]textBlock, material) {
	ws := worked(c, l)
	if ws == nil {
		return nil, m
	}
	if ws.State.Thread.Captured == 0 && ws.Latest == nil {
		return neighbour(c, l, ws), m
	}
	if key := ws.State.Thread.Reader.Offset.Key; key != "" && ingest.Unseen(key, c.Msgs) > 0 {
		return nil, m // the same conversation was resumed
	}
	left := ws.Latest
	if ws.State.Changed(ws.Written) {
		// The captured state is newer than the newest checkpoint, so a checkpoint is written now.
		m.behind = true
		left = checkpoint.Build(ws.State, ws.Latest, ws.Input(checkpoint.TriggerSessionEnd, checkpoint.Reading{}))
	}
	return restored(c, ws, left, checkpoint.RestoreOptions{Occasion: checkpoint.NewSession, Cap: c.restoreRoom(l)}), m
}

// neighbour returns a line that names the session that was at work before a new conversation. If
// the user wants to continue from that session, it returns the session's state instead.
func neighbour(c *call, l *limits, ws *WorkState) []textBlock {
	if !c.Request.Private || c.hostShows(checkpoint.BesideMark, c.leadGone()) || slices.ContainsFunc(c.Msgs, func(m memkernel.Message) bool { return m.Role == memkernel.RoleAssistant }) {
		return nil
	}
	n := c.session.Neighbour()
	if n == nil {
		return nil
	}
	if _, words, _ := c.userTurn(); checkpoint.GoesOn(words) {
		left, err := n.State()
		if err != nil {
			c.fault(fault.Fault{Code: fault.Checkpoint, Detail: err.Error()})
		}
		return restored(c, ws, left, checkpoint.RestoreOptions{Occasion: checkpoint.OtherSession, Cap: c.restoreRoom(l)})
	}
	return restoreText(c, checkpoint.Beside(n.Key, n.At))
}

// restored makes the block of a checkpoint. It returns no block if there is no checkpoint.
func restored(c *call, ws *WorkState, cp *checkpoint.Checkpoint, opt checkpoint.RestoreOptions) []textBlock {
	if cp == nil {
		return nil
	}
	opt.Count = c.Maker.Count.Text
	if opt.Occasion != checkpoint.OtherSession { // the other session's ids can't be read in this one
		opt.Source, opt.Resolver = ws.Source(cp), c.Request.Resolver
	}
	return restoreText(c, checkpoint.Restore(cp, &opt))
}

// restoreText makes the block of a restore text. It returns no block if a hook put the text into
// the prompt.
func restoreText(c *call, text string) []textBlock {
	first, _, _ := strings.Cut(text, "\n")
	if text == "" || c.hostShows(first, c.leadGone()) {
		return nil
	}
	return []textBlock{c.ownBlock(pagevm.ItemCarry, ingest.PageID("rs", c.prior.Name), pagevm.Structured, text)}
}

// RestoreRoom returns the greatest length of a restore text in tokens. It is smaller in small
// windows.
func RestoreRoom(window int) int { return min(checkpoint.RestoreCap, window/100) }
