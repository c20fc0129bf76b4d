package summary

import (
	"path"
	"slices"
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/transcript"
)

// Functions by which other packages read a conversation, so that a message means the same to all
// of them.

// Excerpt returns the start of a text as one line of at most max runes, in the form of every
// excerpt of a summary: only UTF-8, no control characters, no terminal escapes, and "…" at its
// end if something was left out.
func Excerpt(s string, max int) string { return oneLine(s, max) }

// Outcome returns how the call ended that r answers. status is one of the words in command.Status, or
// "rejected" if a person refused the call. For a failure, line is the line of the result that
// describes the error best. Secrets in line are not masked.
func (c Call) Outcome(r *memkernel.ToolResult) (status, line string) {
	if _, no := transcript.Refusal(c.Name, r); no {
		return statusRejected, ""
	}
	status, first, last := c.read(r, resultText(r), func(s string) string { return s })
	if Failed(status) {
		line = errorLine(first, last)
	}
	return status, line
}

// read returns the outcome of a call that was not refused, with the parts of the result's text that
// show it: first is the start or, for a failure that the ends don't show, the place of the failure.
func (c Call) read(r *memkernel.ToolResult, text string, mask masker) (status, first, last string) {
	first, last = mask.ends(text)
	status = c.ended(r, first, last)
	if at := failedAt(text); at > 0 && Failed(status) && failMark(first) == "" {
		first = mask.source(text[at:], resultWindow)
	}
	return status, first, last
}

// ended returns the outcome of a call that was not refused. A check whose status a pipe or a
// script may hide has failed if its output shows a failure. A search that found nothing has succeeded.
func (c Call) ended(r *memkernel.ToolResult, first, last string) string {
	if c.Command != "" && strings.HasPrefix(first, scriptMark+"failed") {
		return statusStopped // commands don't end a script, so another call did
	}
	out := outcome(r, first, last)
	if out == statusFailed+" (exit 1)" && c.searches() && silent(first) {
		return statusOK
	}
	_, told := exitCode(textutil.Head(first, 400))
	unseen := c.Piped || !told && strings.HasPrefix(first, scriptMark)
	if out == statusOK && c.Check && unseen && failMark(last) != "" {
		return statusFailed
	}
	return out
}

// searches reports whether the last command of a call ends with status 1 if it finds nothing.
func (c Call) searches() bool {
	segs := split(c.Command)
	if len(segs) == 0 {
		return false
	}
	w := segs[len(segs)-1].words
	return len(w) > 0 && slices.Contains([]string{"grep", "egrep", "fgrep", "rg", "ag", "ack"}, path.Base(w[0])) || gitVerb(w) == "grep"
}

// silent reports whether a result has no output except its host's heading.
func silent(text string) bool {
	for line := range textutil.Lines(text) {
		t := strings.Trim(line, " \t()")
		if _, code := exitCode(t); t != "" && !code && !textutil.Begins(t, dull[:7]) && !strings.EqualFold(t, "no output") {
			return false
		}
	}
	return true
}
