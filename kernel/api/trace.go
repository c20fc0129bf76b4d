package api

// TraceReport is the outcome of replaying a trace.
type TraceReport struct {
	// Program wrote the trace.
	Program string
	// Plans counts the plans whose outcome is the same, Decisions the calls of deciders in them.
	Plans, Decisions int
	// Difference is the first decision that differs from the recorded one, nil if all are equal.
	// Nothing after it was examined.
	Difference *TraceDifference
	// Other are decisions of other versions that now differ, which is no fault of the trace.
	// FirstOther is the first of them. Skipped are the plans that could not be replayed for that
	// reason.
	Other, Skipped int
	FirstOther     *TraceDifference
}

// TraceDifference is a field of a trace whose replayed value differs.
type TraceDifference struct {
	// Line counts from 1. Plan is the plan that the line is about.
	Line int
	Plan string
	// Decider is align, plan_cut, select or next. Field is its path in the line: align.at,
	// steps[3].out.kept, projection, ….
	Decider, Field string
	// Recorded is the recorded value and Now the value that the same input gives, as JSON; "" is
	// a missing value.
	Recorded, Now string
}
