package display

import (
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/memkernel/memkernel/kernel/api"
)

// Bars draw how far a reindex is: bytes of files that are read, then texts that
// are embedded. They use no colour.
type Bars struct {
	w     io.Writer
	stage string
	bar   *progressbar.ProgressBar
	// now is the clock of the lines that are printed in place of bars, nil for bars. last
	// is when one was printed.
	now  func() time.Time
	last time.Time
}

// NewBars draws on a terminal that can go back in a line.
func NewBars(w io.Writer) *Bars { return &Bars{w: Bare(w)} }

// NewLines prints a line every ten seconds, for an output that is no terminal.
func NewLines(w io.Writer, now func() time.Time) *Bars {
	return &Bars{w: Bare(w), now: now, last: now()}
}

// lineEvery is how often a line is printed.
const lineEvery = 10 * time.Second

// print prints where the reindex is, if it is time to.
func (b *Bars) print(p api.ReindexProgress) {
	now := b.now()
	if now.Sub(b.last) < lineEvery {
		return
	}
	b.last = now
	done, all, unit := int(p.Done), int(p.Total), "text"
	switch p.Stage {
	case api.StageIndex:
		done, all, unit = p.Files, p.FilesTotal, "file"
	case api.StageVectors:
		unit = "vector"
	}
	fmt.Fprintf(b.w, "memkernel: %s: %s of %s, %d %%\n", stageName(p.Stage), Thousands(done), Plural(all, unit), 100*p.Done/p.Total)
}

// Show moves the bar to where the reindex is.
func (b *Bars) Show(p api.ReindexProgress) {
	if p.Total <= 0 {
		return
	}
	if b.now != nil {
		b.print(p)
		return
	}
	if b.stage != p.Stage {
		b.Done()
		b.stage, b.bar = p.Stage, b.begin(p)
	}
	b.bar.ChangeMax64(p.Total)
	b.bar.Set64(min(p.Done, p.Total))
}

func stageName(stage string) string {
	switch stage {
	case api.StageEmbed:
		return "embedding"
	case api.StageVectors:
		return "copying vectors"
	}
	return "reading files"
}

func (b *Bars) begin(p api.ReindexProgress) *progressbar.ProgressBar {
	return progressbar.NewOptions64(p.Total, progressbar.OptionSetWriter(b.w), progressbar.OptionSetDescription(stageName(p.Stage)),
		progressbar.OptionSetWidth(30), progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionShowCount(),
		progressbar.OptionShowBytes(p.Stage == api.StageIndex), progressbar.OptionShowIts(), progressbar.OptionClearOnFinish(), progressbar.OptionEnableColorCodes(false))
}

// Done wipes the bar.
func (b *Bars) Done() {
	if b != nil && b.bar != nil {
		b.bar.Clear()
		b.bar = nil
	}
}
