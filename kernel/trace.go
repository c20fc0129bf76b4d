package kernel

import (
	"encoding/json"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/statedir"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/journal"
)

// The decision trace of a session, sessions/<key>/trace.jsonl, holds one line for
// every plan that was recorded: what was decided, in order, by which function, and
// all that it was decided from. [ReplayTrace] decides again and compares.
//
// What a function was given is written as what differs from what stands before it
// in the trace, field by field, so that a field that is added to an input is
// recorded without a word here. Nothing of a conversation's content is written:
// keys, hashes, sizes and levels.

// deciders are the functions that decide, with the version of what they decide. A
// version goes up when equal inputs no longer give the same: what another version
// decided is then told from what was recorded wrongly.
var deciders = map[string]int{
	stepAlign:   1, // pagevm.Align
	stepPlanCut: 3, // cachelayout.PlanCut
	stepSelect:  2, // pagevm.Select
	stepNext:    2, // pagevm.Next
}

// The names of the deciders in a trace.
const (
	stepAlign   = "align"
	stepPlanCut = "plan_cut"
	stepSelect  = "select"
	stepNext    = "next"
)

// TraceOptions say what is kept of how plans were decided.
type TraceOptions struct {
	// Off writes no traces.
	Off bool
	// MaxBytes is the size from which trace.jsonl is put aside, as trace.1.jsonl,
	// and begun anew, or four times its first line if that is more. Default:
	// DefaultTraceBytes.
	MaxBytes int64
}

// DefaultTraceBytes is the default of TraceOptions.MaxBytes.
const DefaultTraceBytes = 64 << 20

// traceFile is the trace in a session's folder, oldTraceFile the one before.
const (
	traceFile    = "trace.jsonl"
	oldTraceFile = "trace.1.jsonl"
)

// FaultNotTraced is the fault of a plan whose decisions could not be written down.
// The plan itself is recorded.
const FaultNotTraced = "not_traced"

// opDecided is the operation of a trace's records: one plan.
const opDecided = "plan"

// tracer writes a session's trace.
type tracer struct {
	file *journal.Trace
	// lines are the conversations by what the newest line of the file says of them:
	// the next one is written as what differs.
	lines map[lineKey]*traced
}

// traced is what a trace has of a conversation.
type traced struct {
	traceBase
	plan   string
	digest projectionDigest
}

// traceBase is what the next line of a conversation is written against, and read
// against.
type traceBase struct {
	proj   *pagevm.Projection
	hosts  []pagevm.HostMessage
	places []pagevm.Place
	cut    cachelayout.CutInput
}

// newTracer gives the tracer of the session in dir, nil if there is to be none.
func newTracer(dir statedir.Dir, opt TraceOptions) *tracer {
	if opt.Off {
		return nil
	}
	if opt.MaxBytes <= 0 {
		opt.MaxBytes = DefaultTraceBytes
	}
	head := journal.TraceHeader{Program: programVersion(), Deciders: deciders}
	return &tracer{file: journal.NewTrace(dir, traceFile, head, opt.MaxBytes), lines: map[lineKey]*traced{}}
}

// programVersion is the version of the module this program was built from.
var programVersion = sync.OnceValue(func() string {
	const path = "github.com/memkernel/memkernel"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	for _, m := range append(info.Deps, &info.Main) {
		if m.Path == path && m.Version != "" && m.Version != "(devel)" {
			return m.Version
		}
	}
	return "devel"
})

// trace writes down how a plan that was recorded was decided. If it can't, the plan
// says so and the next line stands by itself.
func (s *session) trace(w *planned, diff *branch.Record) {
	if s.tracer == nil {
		return
	}
	if err := s.tracer.write(w, diff); err != nil {
		s.tracer.forget()
		w.faults = append(w.faults, Fault{Code: FaultNotTraced, Detail: err.Error()})
	}
}

func (t *tracer) write(w *planned, diff *branch.Record) error {
	fresh, err := t.file.Begin()
	if err != nil {
		return err
	}
	if fresh {
		clear(t.lines)
	}
	key := lineKey{w.req.Branch, w.req.Model}
	before := t.lines[key]
	if before != nil && before.proj != w.Prev.Proj {
		before = nil // another process planned in between, or the projection was lost
	}
	line, after, err := w.traceLine(before, diff)
	if err != nil {
		return err
	}
	body, err := json.Marshal(line)
	if err != nil {
		return err
	}
	if err := t.file.Append(journal.Record{Op: opDecided, ID: w.Next.Plan, Time: w.req.Now, Body: body}); err != nil {
		return err
	}
	t.lines[key] = after
	w.stats.log(int64(len(body)))
	return nil
}

// forget makes the next line stand by itself.
func (t *tracer) forget() {
	if t != nil {
		t.file.Close()
		clear(t.lines)
	}
}

func (t *tracer) close() error {
	if t == nil {
		return nil
	}
	if err := t.file.Close(); err != nil {
		return fmt.Errorf("close trace: %w", err)
	}
	return nil
}
