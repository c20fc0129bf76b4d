package paging

import (
	"encoding/json"
	"fmt"
	"io"
)

// traceFormat is the version of the decision traces that are written.
const traceFormat = 2

// A decision trace is append-only JSON lines: a header, then one line per turn. The header holds
// the whole input, and equal inputs make equal traces.
//
//	{"paging_trace":2,"policy":{…},"budget":180,"workload":{…}}
//	{"turn":1,"outcome":{…}}
type traceHead struct {
	Trace    int       `json:"paging_trace"`
	Policy   *Policy   `json:"policy"`
	Budget   int       `json:"budget"`
	Workload *Workload `json:"workload"`
}

type traceLine struct {
	Turn    int      `json:"turn"`
	Outcome *Outcome `json:"outcome"`
}

// writeLine writes a line of a trace with one Write.
func writeLine(w io.Writer, line any) error {
	b, err := json.Marshal(line)
	if err == nil {
		_, err = w.Write(append(b, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write trace: %w", err)
	}
	return nil
}
