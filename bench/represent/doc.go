// Package represent measures what is left of a tool result when it is shown
// shortened.
//
// Each result is judged by its own facts, by patterns that know nothing of how the
// shortening works:
//
//	paths        with a slash, or a file name with an extension
//	identifiers  of five characters or more with a capital, a digit or an
//	             underscore inside
//	numbers      of three digits or more, or with a decimal point; the line numbers
//	             that a file reader puts in front of lines are none
//	error lines  lines of at most 480 bytes that speak of an error, failure, warning,
//	             panic or exception
//
// A fact survives if it is in the representation, letter by letter. Survival is the
// share of a result's distinct facts that do, as the mean over the results that
// have any; beside it is that of the first and last bytes of the result, cut to the
// same size. Tokens are those of o200k, and their share is of the sums: what is
// shown over what the same results are in full. Content kinds are those of
// [github.com/memkernel/memkernel/pagevm.ContentKind].
//
//	go test -C bench -v -run TestReport ./represent
//	go test -C bench -run '^$' -bench . ./represent
//
// The report is of the recorded sessions in ../shared/data, without which it is
// skipped. The benchmark gives the speed of all representations together as a share
// of that of sha256 over the same bytes in the same run.
package represent
