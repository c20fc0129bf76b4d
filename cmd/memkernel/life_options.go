package main

import (
	"time"

	"github.com/memkernel/memkernel/internal/config"
	"github.com/memkernel/memkernel/kernel"
)

// flushOptions are the settings of when memory is written by itself.
func flushOptions(c *config.Config) kernel.FlushOptions {
	f := &c.Flush
	return kernel.FlushOptions{Off: !f.Enabled, AtCuts: f.AtCuts, SoftTokens: int(f.SoftTokens), SoftShare: f.SoftShare, TranscriptBytes: int(f.TranscriptBytes)}
}

// progressOptions are the settings of the breaker.
func progressOptions(c *config.Config) kernel.ProgressOptions {
	p := &c.Compaction
	return kernel.ProgressOptions{MinTokens: int(p.MinTokens), Futile: p.Futile, Turns: p.Turns, OverflowTries: p.OverflowTries,
		SpiralCuts: p.SpiralCuts, SpiralWithin: time.Duration(p.SpiralWithin)}
}
