package verbs

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
)

// replayTrace replays the decisions of a session's plans.
func replayTrace(a *cli.App, path string) error {
	f, err := a.OpenFile(path)
	if err != nil {
		return fmt.Errorf("read trace: %w", err)
	}
	defer f.Close()
	t, err := kernel.Stored.ReplayTrace(path, f)
	if err != nil {
		return cli.Hint(err, "a trace is trace.jsonl in a session's folder")
	}
	doc := decisionsJSON{Schema: "memkernel/trace/v1", Program: t.Program, Plans: t.Plans, Decisions: t.Decisions,
		Same: t.Difference == nil, Difference: newDecisionJSON(t.Difference)}
	if t.Other > 0 {
		doc.OtherVersion = &otherVersionJSON{t.Other, t.Skipped, newDecisionJSON(t.FirstOther)}
	}
	if a.JSON {
		err = a.WriteJSON(doc)
	} else {
		_, err = io.WriteString(a.Out, doc.text())
	}
	if err == nil && !doc.Same {
		err = cli.WithFindings(1)
	}
	return err
}

// decisionsJSON is the document of a session's trace.
type decisionsJSON struct {
	Schema string `json:"schema"`
	// Program is the version that wrote the trace.
	Program string `json:"program"`
	// Plans counts the plans whose replay had the same result. Decisions counts the decisions in
	// these plans.
	Plans     int `json:"plans"`
	Decisions int `json:"decisions"`
	// Same reports whether all plans had the same result. Otherwise the exit code is 3.
	Same bool `json:"same"`
	// Difference is the first decision with a different result. The replay ends at this decision.
	Difference *decisionJSON `json:"difference"`
	// OtherVersion describes decisions that another version of their decider made and that have a
	// different result now. Such decisions are not a fault of the trace.
	OtherVersion *otherVersionJSON `json:"other_version"`
}

type otherVersionJSON struct {
	Decisions int `json:"decisions"`
	// SkippedPlans counts the plans that could not be replayed because of such decisions.
	SkippedPlans int           `json:"skipped_plans"`
	First        *decisionJSON `json:"first"`
}

type decisionJSON struct {
	// Line counts from 1.
	Line int    `json:"line"`
	Plan string `json:"plan"`
	// Decider is align, plan_cut, select or next.
	Decider string `json:"decider"`
	// Field is the place in the line. Recorded and Replayed are JSON in a string, "" for no
	// value.
	Field    string `json:"field"`
	Recorded string `json:"recorded"`
	Replayed string `json:"replayed"`
}

func newDecisionJSON(d *api.TraceDifference) *decisionJSON {
	if d == nil {
		return nil
	}
	return &decisionJSON{d.Line, d.Plan, d.Decider, d.Field, d.Recorded, d.Now}
}

func (d *decisionsJSON) text() string {
	var b strings.Builder
	if x := d.Difference; x != nil {
		fmt.Fprintf(&b, "line %d differs, after %s plans that are the same\n", x.Line, display.Thousands(d.Plans))
		x.write(&b)
	} else {
		fmt.Fprintf(&b, "%s plans, %s decisions, every one the same\n", display.Thousands(d.Plans), display.Thousands(d.Decisions))
	}
	if o := d.OtherVersion; o != nil {
		fmt.Fprintf(&b, "%s more were decided by another version and come out otherwise now, first on line %d\n", display.Thousands(o.Decisions), o.First.Line)
		o.First.write(&b)
		if o.SkippedPlans > 0 {
			fmt.Fprintf(&b, "%s plans could not be decided again for that\n", display.Thousands(o.SkippedPlans))
		}
	}
	return b.String()
}

func (d *decisionJSON) write(b *strings.Builder) {
	for _, row := range [][2]string{{"plan", d.Plan}, {"decided by", d.Decider}, {"field", d.Field},
		{"recorded", cmp.Or(d.Recorded, "nothing")}, {"replayed", cmp.Or(d.Replayed, "nothing")}} {
		fmt.Fprintf(b, "  %-10s  %s\n", row[0], row[1])
	}
}
