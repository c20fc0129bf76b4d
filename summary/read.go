package summary

import (
	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/transcript"
)

// What other packages read a conversation with, so that a message means the same
// to all of them.

// Excerpt returns the start of a text as one line of at most max runes, in the form
// that every excerpt of a summary has: no control characters, no terminal
// escapes, nothing but UTF-8, "…" at its end if something was left out.
func Excerpt(s string, max int) string { return oneLine(s, max) }

// Outcome returns how the call ended that r answers: a status in the words of
// [Command], or "rejected" where a person refused it. For a failure, line is the
// line of the result that shows best what went wrong; nothing in it is masked.
func (c Call) Outcome(r *memkernel.ToolResult) (status, line string) {
	text := resultText(r)
	first, last := head(text, resultWindow), tail(text, resultWindow)
	if _, no := transcript.Refusal(c.Name, r); no {
		return statusRejected, ""
	}
	if status = c.ended(r, first, last); Failed(status) {
		if at := failedAt(text); at > 0 && failMark(first) == "" {
			first = head(text[at:], resultWindow)
		}
		line = errorLine(first, last)
	}
	return status, line
}

// Failed reports whether a status is that of a failure.
func Failed(status string) bool { return failed(status) }

// ended returns the outcome of a call that nobody refused. A check whose status a
// pipe may hide failed if its output shows it.
func (c Call) ended(r *memkernel.ToolResult, first, last string) string {
	out := outcome(r, first, last)
	if out == statusOK && c.Check && c.Piped && failMark(last) != "" {
		return statusFailed
	}
	return out
}
