package summary

import (
	"cmp"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/internal/textutil"
)

// failMarks start a line of a test runner's or compiler's output that reports a failure. errorMarks
// occur in lines that name the reason of a failure. Both come from the fixed output formats of
// programs.
var (
	failMarks  = [...]string{"FAIL", "--- FAIL", "not ok ", "FAILED", "error[", "error:", "Error:", "ERROR", "npm ERR!", "npm error", "panic:", "fatal:", "make: ***", "Traceback (most recent call last)", "E   "}
	errorMarks = [...]string{"error", "Error", "ERROR", "FAIL", "panic:", "fatal", "Exception", "✗", "✖", "✘", "CONFLICT", "denied", "not found", "No such file"}
)

// failMark returns the first line of s that reports a failed check, "" if no line does. Such a
// line starts with a fail mark, or has a count of failures above zero.
func failMark(s string) string {
	for line := range textutil.Lines(body(s)) {
		if strings.IndexByte(line, 0x1b) >= 0 {
			line = oneLine(line, errorRunes) // without a terminal's colors
		}
		t := strings.TrimLeft(line, " \t✗✖✘×●")
		if textutil.Begins(t, failMarks[:]) || failures.MatchString(t) {
			return line
		}
	}
	return ""
}

// failures matches a count of failures: "3 failed", "2 errors".
var failures = textutil.LazyRegexp(`[1-9]\d* (?:failed|failing|failures|errors)`)

// dull are starts of lines that report no error, even if they contain an error word. Such lines
// are a host's heading, a running or passed test, or the echo of a script.
var dull = [...]string{"Chunk ID: ", "Wall time", "Script completed", "Script failed", "Script error:", "Original token count: ", "Output:", "=== ", "--- PASS", "ok ", "PASS", "> ", "$ ", "+ ", "✓ ", "✔ "}

// errorLine returns the line that describes the error best. That is the first line with a fail
// mark at its start and more text after it. If there is none, it is the first line with an error
// mark. Else it is the first line that is not blank, an exit status or dull.
func errorLine(first, last string) string {
	const open, end = "<tool_use_error>", "</tool_use_error>" // one host's wrapping
	var marked, named, any string
	for _, s := range [...]string{body(first), last} {
		for line := range textutil.Lines(s) {
			t := strings.TrimSpace(line)
			if _, code := exitCode(t); t == "" || code || textutil.Begins(t, dull[:]) {
				continue
			}
			fails := textutil.Begins(t, failMarks[:])
			if marked != "" { // it names a test, and the reason follows
				if !fails {
					marked += " / " + t
				}
				break
			}
			any = cmp.Or(any, t)
			if fails && len(t) > len("FAILED") {
				if marked = t; !strings.HasPrefix(t, "--- FAIL") {
					break
				}
			} else if named == "" && mentions(t) {
				named = t
			}
		}
		if marked != "" {
			break
		}
	}
	return strings.TrimSuffix(strings.TrimPrefix(cmp.Or(marked, named, any), open), end)
}

// failedAt returns the beginning of the line that reports the first failure, in an output longer
// than the windows at its ends. It returns -1 if the windows contain that line or if no line
// reports a failure.
func failedAt(text string) int {
	if len(text) <= 2*resultWindow {
		return -1
	}
	at, found := resultWindow, -1
	for line := range strings.Lines(text[at : len(text)-resultWindow]) {
		if at > resultWindow && textutil.Begins(strings.TrimSpace(line), failMarks[:]) { // the first may be a line's end
			found = at
			break
		}
		at += len(line)
	}
	return found
}

// mentions reports whether a line holds an error mark and no count of zero.
func mentions(line string) bool {
	return slices.ContainsFunc(errorMarks[:], func(m string) bool { return strings.Contains(line, m) }) && !strings.Contains(line, " 0 ") && !strings.HasPrefix(line, "0 ")
}
