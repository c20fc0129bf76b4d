// Package trace records the decisions of plans, and repeats them.
//
// The decision trace of a session, trace.jsonl, holds one line for every plan that was recorded on
// this machine: the decisions in order, and for each decision the function that made it and all
// inputs of that function. A plan notes the calls while it is made ([plan.Step]), a [Writer] makes
// a line of them, and [Replay] repeats the decisions and compares the results.
//
// The inputs of a function are written field by field, as differences from the function's previous
// inputs in the trace. A new field of an input is therefore recorded without a change here.
//
// The package makes no decisions and never delays a plan. It writes keys, hashes, sizes and levels,
// and no content of a conversation.
package trace

import (
	"encoding/json"
	"path"
	"time"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/internal/plan"
	"github.com/memkernel/memkernel/pagevm"
)

// File is the trace in a session's folder. OldFile is the previous trace.
const (
	File    = "trace.jsonl"
	OldFile = "trace.1.jsonl"
)

// deciders are the functions that decide, with the version of their decisions. The version must
// go up when equal inputs no longer give equal decisions. Replay can then distinguish a decision
// of another version from a faulty record.
var deciders = map[string]int{
	stepAlign:   1, // pagevm.Align
	stepPlanCut: 5, // cachelayout.PlanCut
	stepSelect:  3, // pagevm.Select
	stepNext:    3, // pagevm.Next
}

// The names of the deciders in a trace.
const (
	stepAlign   = "align"
	stepPlanCut = "plan_cut"
	stepSelect  = "select"
	stepNext    = "next"
)

// opDecided is the operation of a trace's records: one plan.
const opDecided = "plan"

// Plan is a plan that was recorded.
type Plan struct {
	ID   string
	Time time.Time
	// Branch and Model name the conversation.
	Branch, Model string
	// Before is the projection from which the plan started. After is the plan's own projection.
	Before, After *pagevm.Projection
	// Host, Places and Align are common inputs of all steps of the trail.
	Host   []pagevm.HostMessage
	Places []pagevm.Place
	Align  pagevm.Alignment
	// Trail lists the decisions, in order.
	Trail []plan.Step
}

// conversation names a conversation of a session.
type conversation struct{ branch, model string }

// Writer writes a session's trace. A nil Writer writes nothing.
type Writer struct {
	file *store.Trace
	// lines holds the state of each conversation after its newest line. The next line records the
	// differences from this state.
	lines map[conversation]*traced
}

// traced is the state of a conversation after a line of the trace.
type traced struct {
	base
	plan string // "" after a plan whose decisions could not be repeated
}

// base is the state of a conversation from which its next line records the differences.
type base struct {
	proj   *pagevm.Projection
	hosts  []pagevm.HostMessage
	places []pagevm.Place
	cut    cachelayout.CutInput
}

// NewWriter prepares the trace of the session whose folder on this machine's disk is in. It reads
// and writes nothing. program is the version of the writing program. When the file reaches
// maxBytes, or four times the size of its first line if that is more, the file is put aside, and a
// new file is begun.
func NewWriter(disk store.Disk, in, program string, maxBytes int64) *Writer {
	head := store.TraceHeader{Program: program, Deciders: deciders}
	return &Writer{file: store.NewTrace(disk, path.Join(in, File), head, maxBytes), lines: map[conversation]*traced{}}
}

// Write records how a plan was decided, and returns the size of the written line in bytes. After
// an error the next line is complete by itself.
func (t *Writer) Write(p *Plan) (n int, err error) {
	if t == nil {
		return 0, nil
	}
	if n, err = t.write(p); err != nil {
		t.Forget()
	}
	return n, err
}

func (t *Writer) write(p *Plan) (int, error) {
	fresh, err := t.file.Begin()
	if err != nil {
		return 0, err
	}
	if fresh {
		clear(t.lines)
	}
	key := conversation{p.Branch, p.Model}
	line, after, err := lineOf(p, t.lines[key])
	if err != nil {
		return 0, err
	}
	body, err := json.Marshal(line)
	if err != nil {
		return 0, err
	}
	if err := t.file.Append(store.Record{Op: opDecided, ID: p.ID, Time: p.Time, Body: body}); err != nil {
		return 0, err
	}
	t.lines[key] = after
	return len(body), nil
}

// Forget makes the next line complete by itself.
func (t *Writer) Forget() {
	if t != nil {
		t.file.Forget()
		clear(t.lines)
	}
}
