package kernel

import (
	"cmp"
	"fmt"

	"github.com/memkernel/memkernel/checkpoint"
)

// LifeOptions set how a session's working state is kept.
type LifeOptions struct {
	// Off keeps no working state: there is no gauge, checkpoint, SESSION-STATE.md, working buffer
	// or restore text.
	Off bool
	// Show is the share of the window from which the gauge is shown. Checkpoint is the share from
	// which a checkpoint is written. 0 takes the value of [checkpoint.DefaultThresholds].
	Show, Checkpoint float64
	// Compact is the share of the window at which the host compacts. 0 takes the share at which the
	// reserve begins.
	Compact float64
	// NoRestore hides the session's earlier conversations from a new one.
	NoRestore bool
	// NoFlush writes nothing to memory automatically, only the texts of [Kernel.Remember].
	NoFlush bool
	// NoStateFile leaves SESSION-STATE.md alone. New conversations then learn nothing about other
	// sessions.
	NoStateFile bool
	// NoBuffer leaves the working buffer alone.
	NoBuffer bool
	// BufferAt is the share of the window from which turns are appended to the working buffer. 0
	// takes .6.
	BufferAt float64
}

// Thresholds returns the thresholds for a window and a reserve, in tokens. Unless o.Compact is set,
// the host's compaction begins at the reserve. With a window of 0 that threshold has its default.
func (o *LifeOptions) Thresholds(window, reserve int) checkpoint.Thresholds {
	t := checkpoint.DefaultThresholds()
	t.Show, t.Checkpoint = cmp.Or(o.Show, t.Show), cmp.Or(o.Checkpoint, t.Checkpoint)
	t.Compact = cmp.Or(o.Compact, checkpoint.CompactionPoint(window, reserve), t.Compact)
	return t
}

func (o *LifeOptions) check() error {
	t := o.Thresholds(0, 0)
	if err := t.Check(); err != nil {
		return err
	}
	if o.BufferAt < 0 || o.BufferAt > 1 {
		return fmt.Errorf("working buffer at %g of the window: want a share of the window, 0 to 1", o.BufferAt)
	}
	return nil
}

// bufferShare is the default of LifeOptions.BufferAt.
const bufferShare = 0.6
