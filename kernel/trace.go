package kernel

import (
	"cmp"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/internal/trace"
)

// defaultTraceBytes is the default of Options.TraceBytes.
const defaultTraceBytes = 64 << 20 // 64 MiB

// tracer returns the tracer of a session whose folder on the disk is in, nil if tracing is off.
func (o *Options) tracer(disk store.Disk, in string) *trace.Writer {
	if o.NoTrace {
		return nil
	}
	return trace.NewWriter(disk, in, trace.Version(), cmp.Or(o.TraceBytes, defaultTraceBytes))
}
