package display

import (
	"io"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/memkernel/memkernel/kernel/indexing"
)

// Bars draw how far a reindex is: bytes of files that are read, then texts that
// are embedded. They use no colour.
type Bars struct {
	w     io.Writer
	stage string
	bar   *progressbar.ProgressBar
}

// NewBars draws on a terminal that can go back in a line.
func NewBars(w io.Writer) *Bars { return &Bars{w: Bare(w)} }

// Show moves the bar to where the reindex is.
func (b *Bars) Show(p indexing.Progress) {
	if p.Total <= 0 {
		return
	}
	if b.stage != p.Stage {
		b.Done()
		b.stage, b.bar = p.Stage, b.begin(p)
	}
	b.bar.ChangeMax64(p.Total)
	b.bar.Set64(min(p.Done, p.Total))
}

func (b *Bars) begin(p indexing.Progress) *progressbar.ProgressBar {
	name := "reading files"
	switch p.Stage {
	case indexing.StageEmbed:
		name = "embedding"
	case indexing.StageVectors:
		name = "copying vectors"
	}
	return progressbar.NewOptions64(p.Total, progressbar.OptionSetWriter(b.w), progressbar.OptionSetDescription(name),
		progressbar.OptionSetWidth(30), progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionShowCount(),
		progressbar.OptionShowBytes(p.Stage == indexing.StageIndex), progressbar.OptionShowIts(), progressbar.OptionClearOnFinish(), progressbar.OptionEnableColorCodes(false))
}

// Done wipes the bar.
func (b *Bars) Done() {
	if b != nil && b.bar != nil {
		b.bar.Clear()
		b.bar = nil
	}
}
