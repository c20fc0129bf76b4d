package kernel

import (
	"io"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/internal/trace"
)

// TraceOptions set the records that are kept of a plan's decisions.
type TraceOptions struct {
	// Off writes no traces.
	Off bool
	// MaxBytes is the size from which trace.jsonl is renamed to trace.1.jsonl and a new file
	// begins. The file is never renamed before it is four times as large as its first line. 0
	// takes 64 MiB.
	MaxBytes int64
}

// defaultTraceBytes is the default of TraceOptions.MaxBytes.
const defaultTraceBytes = 64 << 20 // 64 MiB

// tracer returns the tracer of a session whose folder on the disk is in, nil if tracing is off.
func (o TraceOptions) tracer(disk store.Disk, in string) *trace.Writer {
	if o.Off {
		return nil
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = defaultTraceBytes
	}
	return trace.NewWriter(disk, in, trace.Version(), o.MaxBytes)
}

// ReplayTrace repeats all decisions in the decision trace r, and compares the results. Errors
// name the file as name. An error that wraps [store.ErrNoTrace] means that r holds no trace.
func ReplayTrace(name string, r io.Reader) (*api.TraceReport, error) { return trace.Replay(name, r) }
