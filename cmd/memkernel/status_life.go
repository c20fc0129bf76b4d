package main

import (
	"fmt"
	"strings"

	"github.com/memkernel/memkernel/kernel"
)

// lifeText says what the boundaries of a session left behind.
func lifeText(b *strings.Builder, l *kernel.LifeStatus) {
	newest := "none"
	if len(l.Checkpoints) > 0 {
		newest = l.Checkpoints[0]
	}
	fmt.Fprintf(b, "  reset %s; %s, the newest %s\n", plural(l.Epoch, "time"), plural(len(l.Checkpoints), "checkpoint"), newest)
	if l.Compactions > 0 {
		fmt.Fprintf(b, "  compacted %s, last%s\n", plural(l.Compactions, "time"), strings.TrimPrefix(atTime(l.LastCompaction), ", at"))
	}
	if l.Flushed > 0 {
		fmt.Fprintf(b, "  flushed %s, last%s\n", plural(l.Flushed, "time"), strings.TrimPrefix(atTime(l.LastFlush), ", at"))
	}
	if l.CutWaiting {
		b.WriteString("  the next plan cuts: a compaction was asked for\n")
	}
	if l.Warning != "" {
		for _, line := range wrap(l.Warning, columns-2) {
			fmt.Fprintf(b, "  %s\n", line)
		}
	}
}

// cutText says what the cuts of a conversation came to.
func cutText(b *strings.Builder, l *kernel.LineStatus) {
	if c := l.LastCut; c != nil {
		fmt.Fprintf(b, "    last cut%s: %s, from %s to %s tokens\n", strings.TrimPrefix(atTime(c.Time), ", at"), c.Reason, thousands(c.Before), thousands(c.After))
	}
	if l.BreakerOpen {
		fmt.Fprintf(b, "    %s came to nothing: no more until the prompt grows\n", plural(l.FutileCuts, "cut"))
	}
	if l.LearnedWindow > 0 {
		fmt.Fprintf(b, "    the provider takes %s tokens, as it said when it refused a call\n", thousands(l.LearnedWindow))
	}
}
