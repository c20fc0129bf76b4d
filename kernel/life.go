package kernel

import (
	"fmt"

	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/kernel/internal/plan"
	"github.com/memkernel/memkernel/kernel/internal/workstate"
)

// LifeOptions set how a session's working state is kept.
type LifeOptions struct {
	// Off keeps no working state: no gauge, no checkpoints, no SESSION-STATE.md, no working
	// buffer, no restore text.
	Off bool
	// Show is the share of the window from which the gauge is shown. Checkpoint is the share from
	// which a checkpoint is written. 0 takes the value of [checkpoint.DefaultThresholds].
	Show, Checkpoint float64
	// Compact is the share at which the host compacts. 0 takes the share at which the reserve
	// begins.
	Compact float64
	// NoRestore hides the session's earlier conversations from a new one.
	NoRestore bool
	// Flush sets when memory is written automatically.
	Flush FlushOptions
	// StateFile sets how SESSION-STATE.md is kept.
	StateFile StateFileOptions
	// Buffer sets how the working buffer is kept.
	Buffer BufferOptions
}

// thresholds returns the thresholds of a window. The host's compaction begins at its reserve.
func (o *LifeOptions) thresholds(window, reserve int) checkpoint.Thresholds {
	t := checkpoint.DefaultThresholds()
	if o.Show > 0 {
		t.Show = o.Show
	}
	if o.Checkpoint > 0 {
		t.Checkpoint = o.Checkpoint
	}
	if at := checkpoint.CompactionPoint(window, reserve); at > 0 {
		t.Compact = at
	}
	if o.Compact > 0 {
		t.Compact = o.Compact
	}
	return t
}

// room returns the options with their defaults.
func (o *LifeOptions) room() workstate.Options {
	return workstate.Options{Off: o.Off, Thresholds: o.thresholds,
		FlushOff: o.Flush.Off, StateFileOff: o.StateFile.Off,
		BufferOff: o.Buffer.Off, BufferAt: o.Buffer.at()}
}

// plan returns the options that plans use.
func (o *LifeOptions) plan() plan.Life {
	return plan.Life{Off: o.Off, NoRestore: o.NoRestore,
		Thresholds: o.thresholds, FlushOff: o.Flush.Off}
}

func (o *LifeOptions) check() error {
	t := o.thresholds(0, 0)
	if err := t.Check(); err != nil {
		return err
	}
	return o.Buffer.check()
}

// StateFileOptions set how SESSION-STATE.md is kept.
type StateFileOptions struct {
	// Off leaves the file alone. New conversations then learn nothing about other sessions.
	Off bool
}

// BufferOptions set how the working buffer is kept.
type BufferOptions struct {
	// Off leaves the buffer alone.
	Off bool
	// At is the share of the window from which turns are appended; 0 takes .6.
	At float64
}

// bufferShare is the default of BufferOptions.At.
const bufferShare = 0.6

func (o *BufferOptions) at() float64 {
	if o.At > 0 {
		return o.At
	}
	return bufferShare
}

func (o *BufferOptions) check() error {
	if o.At < 0 || o.At > 1 {
		return fmt.Errorf("working buffer at %g of the window: want a share of the window, 0 to 1", o.At)
	}
	return nil
}

// FlushOptions set when memory is written automatically.
type FlushOptions struct {
	// Off writes nothing except the texts of [Kernel.Remember].
	Off bool
}
