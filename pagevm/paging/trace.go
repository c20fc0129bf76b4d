package paging

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// traceFormat is the version of the traces that are written.
const traceFormat = 1

// errNewer is wrapped by the error for a trace of a newer format.
var errNewer = errors.New("written by a newer version")

// A trace is append-only JSON lines: a header, then one line per operation with its
// input and, for a turn, its outcome.
//
//	{"paging_trace":1,"config":{…}}
//	{"op":"add","page":{…}}
//	{"op":"step","turn":{…},"outcome":{…}}
//	{"op":"update","page":{…}}
//	{"op":"remove","id":"…"}
type traceLine struct {
	Trace   int      `json:"paging_trace,omitempty"`
	Config  *Config  `json:"config,omitempty"`
	Op      string   `json:"op,omitempty"`
	Page    *Page    `json:"page,omitempty"`
	ID      string   `json:"id,omitempty"`
	Turn    *Turn    `json:"turn,omitempty"`
	Outcome *Outcome `json:"outcome,omitempty"`
}

// Tracer runs an engine and writes down every operation. Failed operations leave no line. If a
// line could not be written, the method returns an error although the operation took place, and
// the trace ends there.
type Tracer struct {
	Engine *Engine
	w      io.Writer
}

// NewTracer makes a new engine and writes its trace to w, with one Write per line.
func NewTracer(cfg Config, w io.Writer) (*Tracer, error) {
	e, err := New(cfg)
	if err != nil {
		return nil, err
	}
	t := &Tracer{Engine: e, w: w}
	return t, t.write(&traceLine{Trace: traceFormat, Config: &e.cfg})
}

func (t *Tracer) write(l *traceLine) error {
	b, err := json.Marshal(l)
	if err == nil {
		_, err = t.w.Write(append(b, '\n'))
	}
	if err != nil {
		return fmt.Errorf("paging: write trace: %w", err)
	}
	return nil
}

// Add is Engine.Add.
func (t *Tracer) Add(p Page) error { return t.do(&traceLine{Op: "add", Page: &p}) }

// Update is Engine.Update.
func (t *Tracer) Update(p Page) error { return t.do(&traceLine{Op: "update", Page: &p}) }

// Remove is Engine.Remove.
func (t *Tracer) Remove(id string) error { return t.do(&traceLine{Op: "remove", ID: id}) }

// Step is Engine.Step.
func (t *Tracer) Step(turn *Turn) (*Outcome, error) {
	l := traceLine{Op: "step", Turn: turn}
	err := t.do(&l)
	return l.Outcome, err
}

func (t *Tracer) do(l *traceLine) error {
	if err := l.run(t.Engine); err != nil {
		return err
	}
	return t.write(l)
}

// run carries out an operation and fills in its outcome.
func (l *traceLine) run(e *Engine) (err error) {
	switch {
	case l.Op == "add" && l.Page != nil:
		return e.Add(*l.Page)
	case l.Op == "update" && l.Page != nil:
		return e.Update(*l.Page)
	case l.Op == "remove" && l.ID != "":
		return e.Remove(l.ID)
	case l.Op == "step" && l.Turn != nil:
		l.Outcome, err = e.Step(l.Turn)
		return err
	}
	return fmt.Errorf("no operation %q with what it needs", l.Op)
}

// Difference is the first line of a trace that a replay does not reproduce.
type Difference struct {
	// Line is the number of the line, counted from 1. Recorded is the line in the trace. Replayed
	// is the line that the same input makes now.
	Line               int
	Recorded, Replayed string
}

// maxTraceLine is the longest line that Replay reads, in bytes.
const maxTraceLine = 64 << 20

// Replay runs the operations of a trace again on a new engine and compares the bytes of every
// line. It returns the number of turns with equal lines and the first difference, nil if there is
// no difference. If the trace can't be read or its last line is torn, the error names the line.
func Replay(r io.Reader) (turns int, diff *Difference, err error) {
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, maxTraceLine)
	var e *Engine
	n := 0
	for sc.Scan() {
		n++
		var l traceLine
		dec := json.NewDecoder(bytes.NewReader(sc.Bytes()))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&l); err != nil {
			return turns, nil, fmt.Errorf("trace line %d: %w", n, err)
		}
		if e == nil {
			if e, err = l.open(); err != nil {
				return 0, nil, fmt.Errorf("trace line %d: %w", n, err)
			}
			continue
		}
		if diff, err = l.again(e, n, sc.Text()); diff != nil || err != nil {
			return turns, diff, err
		}
		if l.Op == "step" {
			turns++
		}
	}
	if err := sc.Err(); err != nil {
		return turns, nil, fmt.Errorf("trace line %d: %w", n+1, err)
	}
	if e == nil {
		return 0, nil, errors.New("the trace is empty")
	}
	return turns, nil, nil
}

func (l *traceLine) open() (*Engine, error) {
	switch {
	case l.Trace > traceFormat:
		return nil, fmt.Errorf("trace of format %d: %w; this program reads up to %d", l.Trace, errNewer, traceFormat)
	case l.Trace < 1 || l.Config == nil:
		return nil, errors.New("no paging trace: the first line names no format and configuration")
	}
	return New(*l.Config)
}

// again runs a recorded line again and compares the result with it.
func (l *traceLine) again(e *Engine, n int, recorded string) (*Difference, error) {
	l.Outcome = nil
	if err := l.run(e); err != nil {
		return &Difference{Line: n, Recorded: recorded, Replayed: err.Error()}, nil
	}
	b, err := json.Marshal(l)
	if err != nil {
		return nil, fmt.Errorf("trace line %d: %w", n, err)
	}
	if string(b) != recorded {
		return &Difference{Line: n, Recorded: recorded, Replayed: string(b)}, nil
	}
	return nil, nil
}
