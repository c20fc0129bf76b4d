package kernel

import (
	"io"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/internal/trace"
)

// TraceOptions say what is kept of how plans were decided.
type TraceOptions struct {
	// Off writes no traces.
	Off bool
	// MaxBytes is the size from which trace.jsonl is put aside, as trace.1.jsonl,
	// and begun anew, or four times its first line if that is more. 0 takes
	// 64 MiB.
	MaxBytes int64
}

// defaultTraceBytes is the default of TraceOptions.MaxBytes.
const defaultTraceBytes = 64 << 20 // 64 MiB

// tracer gives the tracer of a session's folder, nil if there is to be none.
func (o TraceOptions) tracer(dir store.Store) *trace.Writer {
	if o.Off {
		return nil
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = defaultTraceBytes
	}
	return trace.NewWriter(dir, trace.Version(), o.MaxBytes)
}

// TraceReport is what deciding a trace again came to.
type TraceReport struct {
	// Program wrote the trace.
	Program string
	// Plans is how many plans came out the same, Decisions how many calls of
	// deciders in them.
	Plans, Decisions int
	// Difference is the first decision that does not come out as it was recorded,
	// nil if all do. Nothing behind it was looked at.
	Difference *TraceDifference
	// Other are the decisions of other versions that come out otherwise now, which
	// is no fault of the trace; FirstOther is the first. Skipped are the plans that
	// could not be decided again for that.
	Other, Skipped int
	FirstOther     *TraceDifference
}

// TraceDifference is a field of a trace that comes out otherwise.
type TraceDifference struct {
	// Line counts from 1; Plan is the plan that it is about.
	Line int
	Plan string
	// Decider is align, plan_cut, select or next, Field where in the line: align.at,
	// steps[3].out.kept, projection, ….
	Decider, Field string
	// Recorded is what is there and Now what the same input comes to, as JSON,
	// "" where there is nothing.
	Recorded, Now string
}

// ReplayTrace decides again all that the decision trace in r says was decided, and
// compares. Errors name the file as name; one that wraps [journal.ErrNoTrace] says
// that it is none.
func ReplayTrace(name string, r io.Reader) (*TraceReport, error) {
	t, err := trace.Replay(name, r)
	if t == nil {
		return nil, err
	}
	return &TraceReport{Program: t.Program, Plans: t.Plans, Decisions: t.Decisions, Difference: (*TraceDifference)(t.Difference),
		Other: t.Other, Skipped: t.Skipped, FirstOther: (*TraceDifference)(t.FirstOther)}, err
}
