package summary

import (
	"strings"
)

// failMarks start a line of a test runner's or compiler's output that reports a failure.
// errorMarks are in a line that gives the reason of a failure. Both come from the fixed output
// formats of programs.
var (
	failMarks  = [...]string{"FAIL", "--- FAIL", "not ok ", "FAILED", "error[", "error:", "Error:", "ERROR", "npm ERR!", "npm error", "panic:", "fatal:", "make: ***", "Traceback (most recent call last)", "E   "}
	errorMarks = [...]string{"error", "Error", "ERROR", "FAIL", "panic:", "fatal", "Exception", "✗", "✖", "✘", "CONFLICT", "denied", "not found", "No such file"}
)

// failMark returns the first line of s that reports a failed check, "" if no line does. Such a
// line starts with a fail mark, or has a count of failures above zero.
func failMark(s string) string {
	found := ""
	lines(body(s), func(line string) bool {
		if strings.IndexByte(line, 0x1b) >= 0 {
			line = oneLine(line, errorRunes) // without a terminal's colors
		}
		t := strings.TrimLeft(line, " \t✗✖✘×●")
		if starts(t, failMarks[:]) || counted(t) {
			found = line
		}
		return found == ""
	})
	return found
}

// counted reports whether a line counts failures: "3 failed", "2 errors".
func counted(line string) bool {
	for _, w := range [...]string{" failed", " failing", " failures", " errors"} {
		for rest := line; ; {
			i := strings.Index(rest, w)
			if i < 0 {
				break
			}
			if d := digitsBefore(rest[:i]); d != "" && strings.Trim(d, "0") != "" {
				return true
			}
			rest = rest[i+len(w):]
		}
	}
	return false
}

func digitsBefore(s string) string {
	i := len(s)
	for i > 0 && s[i-1] >= '0' && s[i-1] <= '9' {
		i--
	}
	return s[i:]
}

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
		if marked != "" {
			break
		}
		lines(s, func(line string) bool {
			t := strings.TrimSpace(line)
			if _, code := exitCode(t); t == "" || code || starts(t, dull[:]) {
				return true
			}
			if any == "" {
				any = t
			}
			switch {
			case marked == "" && starts(t, failMarks[:]) && len(t) > len("FAILED"):
				marked = t
			case reasonFollows(marked) && !starts(t, failMarks[:]):
				marked += " / " + t
				return false
			case marked != "":
				return false
			}
			if named == "" && mentions(t) {
				named = t
			}
			return marked == "" || reasonFollows(marked)
		})
	}
	for _, t := range [...]string{marked, named, any} {
		if t != "" {
			return strings.TrimSuffix(strings.TrimPrefix(t, open), end)
		}
	}
	return ""
}

// reasonFollows reports whether a marked line names the failed test, as Go's tests do, and the
// next one gives the reason.
func reasonFollows(marked string) bool {
	return strings.HasPrefix(marked, "--- FAIL") && !strings.Contains(marked, " / ")
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
		if at > resultWindow && starts(strings.TrimSpace(line), failMarks[:]) { // the first may be a line's end
			found = at
			break
		}
		at += len(line)
	}
	return found
}

func starts(s string, marks []string) bool {
	for _, m := range marks {
		if strings.HasPrefix(s, m) {
			return true
		}
	}
	return false
}

// mentions reports whether a line holds an error mark and no count of zero.
func mentions(line string) bool {
	for _, m := range errorMarks {
		if strings.Contains(line, m) {
			return !strings.Contains(line, " 0 ") && !strings.HasPrefix(line, "0 ")
		}
	}
	return false
}
