package api

// TraceReport is the outcome of replaying a trace.
type TraceReport struct {
	// Program wrote the trace.
	Program string
	// Plans counts the plans whose outcome is the same. Decisions counts the calls of deciders in
	// these plans.
	Plans, Decisions int
	// Difference is the first decision that differs from the recorded one, nil if all are equal.
	// Nothing after it was examined.
	Difference *TraceDifference
	// Other counts the decisions of other versions that differ now. Such a difference is not a
	// fault of the trace. Skipped counts the plans that could not be replayed because of such
	// differences.
	Other, Skipped int
	// FirstOther is the first decision that Other counts.
	FirstOther *TraceDifference
}

// TraceDifference is a field of a trace whose replayed value differs.
type TraceDifference struct {
	// Line is the line of the trace, counted from 1.
	Line int `json:"line"`
	// Plan is the plan that the line is about.
	Plan string `json:"plan"`
	// Decider is align, plan_cut, select or next. Field is its path in the line: align.at,
	// steps[3].out.kept, projection, ….
	Decider string `json:"decider"`
	Field   string `json:"field"`
	// Recorded is the recorded value as JSON. Now is the value that the same input gives, as
	// JSON. "" is a missing value.
	Recorded string `json:"recorded"`
	Now      string `json:"replayed"`
}
