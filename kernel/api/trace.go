package api

// TraceReport is the outcome of replaying a trace.
type TraceReport struct {
	// Program wrote the trace.
	Program string
	// Plans is how many plans came out the same, Decisions how many calls of
	// deciders in them.
	Plans, Decisions int
	// Difference is the first decision that differs from the recorded one, nil if all are equal.
	// Nothing after it was examined.
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
	// Recorded is the recorded value and Now the value that the same input gives, as JSON; "" is
	// a missing value.
	Recorded, Now string
}
